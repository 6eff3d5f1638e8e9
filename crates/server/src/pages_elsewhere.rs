//! Pages of other sites that the operator lets in: what a browser has to be told before it lets them call (CORS). Who is not on the
//! list is told nothing here and refused behind it.

use axum::Router;
use http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

/// What a page may read of an answer's head.
const READABLE: [&str; 3] = ["x-request-id", "retry-after", "mcp-session-id"];

/// The same routes, for pages of these origins too. A browser asks first, without a token; that question leads nowhere else.
pub fn admit_pages(router: Router, origins: &[String]) -> Router {
    if origins.is_empty() {
        return router;
    }
    let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    let layer = CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        // A page of the web that asks a server on this machine.
        .allow_private_network(true)
        .expose_headers(READABLE.map(HeaderName::from_static))
        .vary([header::ORIGIN, header::ACCESS_CONTROL_REQUEST_HEADERS]);
    router.layer(layer)
}
