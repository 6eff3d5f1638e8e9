//! The plain HTTP API: JSON in, the envelope of `skillcell run --json` out. docs/reference/serve.md describes it.
//!
//! ```text
//!   request ─▶ guard: Host, Origin, token, request id ─▶ route ─▶ Service ─▶ envelope | problem
//! ```
//!
//! How a call ended is in the envelope, with status 200. A problem (RFC 9457) is what kept a request from becoming a call.

mod bodies;
mod body;
mod calls;
mod guard;
mod health;
mod metrics;
mod openapi;
mod printed;
mod problem;
mod skills;
mod stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};

pub use self::bodies::Bodies;
pub(crate) use self::body::read_form;
pub use self::guard::RequestInfo;
pub(crate) use self::guard::is_traceparent;
pub use self::problem::Problem;
use super::{Service, Tokens, admit_pages};

/// What the API takes, and from whom.
///
/// Defaults: bodies of 8 MiB and 256 MiB of them at once, 30 s to send one, no names but `localhost`, no other origins.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApiOptions {
    /// The longest body of a request.
    pub max_body_bytes: usize,
    /// All longer bodies together, while their calls wait and run.
    pub max_bodies_bytes: usize,
    /// How long sending a body may take.
    pub body_timeout: Duration,
    /// Names that the server goes by besides `localhost` and addresses.
    pub allow_hosts: Vec<String>,
    /// Origins of other sites' pages that may call, such as `https://console.example.org`.
    pub allow_origins: Vec<String>,
}

impl Default for ApiOptions {
    fn default() -> ApiOptions {
        ApiOptions {
            max_body_bytes: 8 << 20,
            max_bodies_bytes: 256 << 20,
            body_timeout: Duration::from_secs(30),
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
        }
    }
}

/// The API of one service. Clones share everything.
#[derive(Clone)]
pub struct Api {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub service: Service,
    pub tokens: Tokens,
    pub options: ApiOptions,
    pub bodies: Bodies,
    pub connections: AtomicUsize,
    /// The server is about to end: connections are not kept.
    pub draining: AtomicBool,
}

impl Api {
    /// The API of this service, for the bearers of these tokens; without any, for whoever can reach it.
    pub fn new(service: Service, tokens: Tokens, options: ApiOptions) -> Api {
        let bodies = Bodies::new(options.max_body_bytes, options.max_bodies_bytes, options.body_timeout);
        let (connections, draining) = (AtomicUsize::new(0), AtomicBool::new(false));
        Api { inner: Arc::new(Inner { service, tokens, options, bodies, connections, draining }) }
    }

    /// What calls are made on.
    pub fn service(&self) -> &Service {
        &self.inner.service
    }

    /// The room for bodies: what else is served behind the same guard takes of it too.
    pub fn bodies(&self) -> &Bodies {
        &self.inner.bodies
    }

    /// The routes, and others behind the same guard: it puts a [`Client`](crate::Client) and a [`RequestInfo`] into the
    /// extensions of each request that it lets through.
    pub fn router(&self, others: Router) -> Router {
        let own = Router::new()
            .route("/v1/skills", get(skills::list_skills))
            .route("/v1/skills/{id}", get(skills::show_skill))
            .route("/v1/skills/{id}/calls", post(calls::make_call))
            .route("/v1/skills/{id}/sessions/{session}", delete(calls::close_session))
            .route("/healthz", get(health::tell_health))
            .route("/readyz", get(health::tell_readiness))
            .route("/metrics", get(metrics::tell_metrics))
            .route("/openapi.json", get(openapi::tell_document))
            .with_state(self.clone());
        let guarded = own
            .merge(others)
            .fallback(problem::no_such_page)
            .method_not_allowed_fallback(problem::wrong_method)
            .layer(from_fn_with_state(self.clone(), guard::guard_request));
        admit_pages(guarded, &self.inner.options.allow_origins)
    }

    /// From now on each answer asks its client to connect anew, elsewhere.
    pub fn start_draining(&self) {
        self.inner.draining.store(true, Ordering::Relaxed);
    }

    /// Whether the server is about to end.
    pub(crate) fn is_draining(&self) -> bool {
        self.inner.draining.load(Ordering::Relaxed)
    }

    /// Counts a connection until this is dropped.
    pub(crate) fn count_connection(&self) -> Connected {
        self.inner.connections.fetch_add(1, Ordering::Relaxed);
        Connected(self.clone())
    }
}

/// A connection that is counted.
pub(crate) struct Connected(Api);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.inner.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
