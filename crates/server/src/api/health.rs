//! `/healthz`: it answers. `/readyz`: every image is baked, or can't be.

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
        body["failed"] = skills.iter().filter_map(|(id, warmth)| tell_failure(&client, id, warmth)).collect();
    }
    (if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, Json(body)).into_response()
}

fn tell_failure(client: &Client, id: &str, warmth: &Warmth) -> Option<serde_json::Value> {
    let Warmth::Failed(why) = warmth else { return None };
    Some(if client.is_operator() { json!({"id": id, "why": why}) } else { json!({"id": id}) })
}
