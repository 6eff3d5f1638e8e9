//! What a request says of itself: who asks, in which era's words, in which session, and as part of what.

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{CacheScope, ProtocolVersion};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::cancelling::CallName;
use super::http::session_of;
use super::session_tools::META_KEY;
use crate::api::is_traceparent;
use crate::{Client, RequestInfo};
use skillcell_door::audit::RequestOrigin;

/// Who asks: whoever the HTTP server let in, or, over stdio, whoever started the program.
pub fn client_of(context: &RequestContext<RoleServer>) -> Client {
    let parts = context.extensions.get::<Parts>();
    parts.and_then(|parts| parts.extensions.get::<Client>()).cloned().unwrap_or_default()
}

/// How a later request names this call: only over HTTP, in a session.
pub fn call_name(client: &Client, context: &RequestContext<RoleServer>) -> Option<CallName> {
    let parts = context.extensions.get::<Parts>()?;
    let id = serde_json::to_string(&context.id).ok()?;
    Some((session_of(&parts.headers)?, client.name.clone(), id))
}

/// The session that a program asks for, by its handle or as `new`: a call without one has a fresh cell.
pub fn asked_session(context: &RequestContext<RoleServer>) -> Option<String> {
    context.meta.0.0.get(META_KEY).and_then(Value::as_str).map(str::to_owned)
}

/// The request's own name and trace, if an HTTP server gave it one; a message may bring its own trace.
pub fn origin_of(context: &RequestContext<RoleServer>) -> RequestOrigin {
    let parts = context.extensions.get::<Parts>();
    let mut origin = match parts.and_then(|parts| parts.extensions.get::<RequestInfo>()) {
        Some(info) => info.origin(),
        None => RequestOrigin::new(format!("mcp:{}", skillcell_quote::brief(&context.id.to_string()))),
    };
    let traced = context.meta.get_traceparent().filter(|parent| is_traceparent(parent));
    origin.traceparent = traced.map(str::to_owned).or(origin.traceparent);
    origin
}

pub fn is_legacy(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version.as_str() < ProtocolVersion::V_2026_07_28.as_str())
}

/// What one token's bearer sees is nobody else's to keep.
pub fn scope_of(client: &Client) -> CacheScope {
    if client.name.is_some() { CacheScope::Private } else { CacheScope::Public }
}
