//! `/healthz`: it answers. `/readyz`: every image is baked, is not needed since calls are refused, or can't be.

use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::StatusCode;
use serde_json::json;

use super::Api;
use crate::{Client, Warmth};

pub(super) async fn tell_health() -> Json<serde_json::Value> {
    Json(json!({"status": "ok"}))
}

/// Who has no token learns whether it is ready, and no more.
pub(super) async fn tell_readiness(State(api): State<Api>, Extension(client): Extension<Client>) -> Response {
    let is_draining = api.inner.draining.load(Ordering::Relaxed);
    let is_ready = api.service().is_warm() && !is_draining;
    let mut body = json!({"ready": is_ready});
    if api.inner.tokens.is_empty() || client.name.is_some() {
        let mut skills = api.service().warmth();
        skills.retain(|(id, _)| client.may_call(id));
        let waiting = skills.iter().filter(|(_, warmth)| matches!(warmth, Warmth::Waiting));
        body["waiting"] = waiting.map(|(id, _)| id.as_str()).collect();
        let told = |name| skills.iter().filter_map(|(id, warmth)| tell_reason(&client, id, warmth, name)).collect();
        body["refused"] = told("refused");
        body["failed"] = told("failed");
    }
    (if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, Json(body)).into_response()
}

/// A skill that is not ready in this way; the reason is the operator's.
fn tell_reason(client: &Client, id: &str, warmth: &Warmth, name: &str) -> Option<serde_json::Value> {
    let (Warmth::Refused(why) | Warmth::Failed(why)) = warmth else { return None };
    if warmth.name() != name {
        return None;
    }
    Some(if client.is_operator() { json!({"id": id, "why": why}) } else { json!({"id": id}) })
}
