//! The server over HTTP, for one route of an `axum` router. Each request stands for itself, in both eras.
//!
//! Of the older era there are sessions in name only: `initialize` is answered with one, so that a client's cancellation, which
//! is a request of its own, finds the call that it means. A closed connection ends its call in either era.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::handler::Handler;
use super::shelf::Server;
use crate::Client;
use crate::api::Bodies;

const SESSION: &str = "mcp-session-id";
const MAX_SESSION_CHARS: usize = 128;

/// Who may ask, as far as MCP itself checks that.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    /// Whether who mounts the route looks at `Host` and `Origin` itself, so that neither is looked at here.
    pub is_guarded: bool,
    /// Names in `Host` that are answered, with a port or for any.
    pub hosts: Vec<String>,
    /// Pages that may ask, as `scheme://host:port`. A request that names another `Origin` is refused.
    pub origins: Vec<String>,
    /// What bounds bodies.
    pub bodies: Bodies,
}

impl Default for HttpSettings {
    /// This machine's own names, no pages, bodies of 16 MiB and 256 MiB of them at once, 30 s to send one.
    fn default() -> HttpSettings {
        let hosts = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        let bodies = Bodies::new(16 << 20, 256 << 20, Duration::from_secs(30));
        HttpSettings { is_guarded: false, hosts, origins: Vec::new(), bodies }
    }
}

type Inner = StreamableHttpService<Handler, NeverSessionManager>;

struct Route {
    server: Server,
    inner: Inner,
    bodies: Bodies,
}

/// The route to mount, at `/mcp` say. A [`Client`] in a request's extensions is who asks; without one it is who needs no token.
pub fn http_service<S: Clone + Send + Sync + 'static>(server: &Server, settings: &HttpSettings) -> MethodRouter<S> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_retry(None)
        .with_cancellation_token(server.0.closing.clone())
        // What comes here was read within bounds before.
        .with_max_request_body_bytes(usize::MAX);
    let config = match settings.is_guarded {
        true => config.disable_allowed_hosts().disable_allowed_origins(),
        false => config
            .with_allowed_hosts(settings.hosts.clone())
            .with_allowed_origins(settings.origins.clone())
            .enforce_origin_validation(),
    };
    let handler = Handler::new(server.clone(), false);
    let inner = Inner::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config);
    let route = Arc::new(Route { server: server.clone(), inner, bodies: settings.bodies.clone() });
    any(move |request: Request<Body>| {
        let route = route.clone();
        async move { route.answer(request).await }
    })
}

impl Route {
    async fn answer(&self, request: Request<Body>) -> Response {
        if request.method() != Method::POST {
            return self.inner.handle(request).await.into_response();
        }
        let (mut parts, body) = request.into_parts();
        let body = match self.bodies.receive(&parts.headers, body).await {
            Ok(received) => {
                // Its room is taken for as long as the request is there.
                parts.extensions.insert(received.room);
                received.bytes
            }
            Err(problem) => return problem.into_response(),
        };
        let message = Message::read(&body);
        let (is_initialize, cancelled) = (message.is_initialize(), message.cancelled_call());
        let name = cancelled.and_then(|id| {
            let client = parts.extensions.get::<Client>().and_then(|client| client.name.clone());
            Some((session_of(&parts.headers)?, client, id))
        });
        let mut response = self.inner.handle(Request::from_parts(parts, Body::from(body))).await.into_response();
        if let Some(name) = name.filter(|_| response.status() == StatusCode::ACCEPTED) {
            self.server.0.running.cancel(&name);
        }
        if is_initialize && response.status() == StatusCode::OK {
            name_session(response.headers_mut());
        }
        response
    }
}

/// The session that a request says it belongs to.
pub fn session_of(headers: &HeaderMap) -> Option<String> {
    let name = headers.get(SESSION)?.to_str().ok()?;
    (name.len() <= MAX_SESSION_CHARS).then(|| name.to_owned())
}

/// Without randomness there is no session, and no cancelling by name.
fn name_session(headers: &mut HeaderMap) {
    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        return;
    }
    let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    if let Ok(name) = HeaderValue::from_str(&name) {
        headers.insert(SESSION, name);
    }
}

/// As much of a message as matters here; what is no message says nothing.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Cancelled<'a> {
    #[serde(borrow, rename = "requestId")]
    id: &'a RawValue,
}

impl Message<'_> {
    fn read(body: &[u8]) -> Message<'_> {
        serde_json::from_slice(body).unwrap_or_default()
    }

    fn is_initialize(&self) -> bool {
        self.method.as_deref() == Some("initialize")
    }

    /// The id of the request that it cancels, as JSON.
    fn cancelled_call(&self) -> Option<String> {
        let is_cancelling = self.method.as_deref() == Some("notifications/cancelled");
        let params = self.params.filter(|_| is_cancelling)?;
        serde_json::from_str::<Cancelled<'_>>(params.get()).ok().map(|cancelled| cancelled.id.get().to_owned())
    }
}
