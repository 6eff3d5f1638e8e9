//! `GET /v1/skills` and `GET /v1/skills/{id}`: what this client may call.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::calls::{read_id, tell_problem};
use super::guard::RequestInfo;
use super::{Api, Problem};
use crate::{Client, SkillCard, SkillView, Warmth};

#[derive(Serialize, JsonSchema)]
pub(super) struct SkillList {
    skills: Vec<SkillRow>,
}

/// A skill in a list.
#[derive(Serialize, JsonSchema)]
struct SkillRow {
    /// To be percent-encoded in a path.
    id: String,
    /// `waiting`, `ready` or `failed`: whether its next call starts from an image.
    state: String,
    /// What it does, in short; once its manifest was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
}

pub(super) async fn list_skills(State(api): State<Api>, Extension(client): Extension<Client>) -> Json<SkillList> {
    let mut skills = api.service().warmth();
    skills.retain(|(id, _)| client.may_call(id));
    Json(SkillList { skills: skills.into_iter().map(|(id, warmth)| make_row(id, &warmth)).collect() })
}

fn make_row(id: String, warmth: &Warmth) -> SkillRow {
    let summary = match warmth {
        Warmth::Ready(card) => card.summary.clone(),
        _ => None,
    };
    SkillRow { id, state: warmth.name().to_owned(), summary }
}

/// A skill by itself.
#[derive(Serialize, JsonSchema)]
pub(super) struct SkillPage {
    id: String,
    /// Of every file's path and content.
    digest: String,
    /// As in the list.
    state: String,
    /// What it calls itself.
    name: Option<String>,
    version: Option<String>,
    summary: Option<String>,
    /// The JSON Schema of its params.
    parameters: Option<Value>,
    /// What its manifest asks for; null if it does not say.
    permissions: Option<Value>,
    /// The scripts that it has, if it is in the Agent Skills format: a call names one of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    scripts: Vec<String>,
    /// What a call would do, as `skillcell run --dry-run --json` has it; without what is the operator's.
    plan: Value,
}

pub(super) async fn show_skill(
    State(api): State<Api>,
    Extension(client): Extension<Client>,
    Extension(info): Extension<RequestInfo>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<SkillPage>, Problem> {
    let id = read_id(id)?;
    let view = api.service().view_skill(&client, &id).await.map_err(|error| tell_problem(error, &info))?;
    let SkillView { id, digest, state, card, scripts, plan } = view;
    let SkillCard { name, version, summary, parameters, permissions } = card;
    let state = state.to_owned();
    Ok(Json(SkillPage { id, digest, state, name, version, summary, parameters, permissions, scripts, plan }))
}
