//! `/openapi.json`: OpenAPI 3.1, its schemas made from the types. The paths are written here; a test compares them with the
//! routes.

use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use super::body::CallBody;
use super::problem::ProblemBody;
use super::skills::{SkillList, SkillPage};

static DOCUMENT: LazyLock<String> = LazyLock::new(|| make_document().to_string());

pub(super) async fn tell_document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT.as_str()).into_response()
}

/// Limits that a client may tighten. Sizes are bytes, or texts such as `64M`; times are seconds, or texts such as `500ms`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Limits")]
#[allow(dead_code, reason = "the shape of `LimitOverrides`, which a test compares")]
pub(super) struct LimitsSchema {
    #[schemars(default)]
    timeout: Option<Amount>,
    memory: Option<Amount>,
    max_stdout: Option<Amount>,
    max_stderr: Option<Amount>,
    max_result: Option<Amount>,
    max_open_files: Option<u32>,
    max_scratch: Option<Amount>,
    max_scratch_files: Option<u32>,
    max_host_calls: Option<u64>,
    max_inflated: Option<Amount>,
    fuel: Option<u64>,
}

/// A number, or a text with a unit.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "a schema")]
enum Amount {
    Number(f64),
    Text(String),
}

/// The envelope of a call: docs/reference/json-contract.md. Version 1 only grows.
#[derive(JsonSchema)]
#[schemars(rename = "Envelope")]
#[allow(dead_code, reason = "the shape of the envelope, which a test compares")]
struct EnvelopeSchema {
    schema: u32,
    skill: String,
    tier: String,
    tier_reason: Option<String>,
    /// The Python of the cell, and why that one.
    runtime: Option<String>,
    runtime_reason: Option<String>,
    /// `returned`, `raised`, `refused`, `exceeded`, `cancelled` or `busy`.
    outcome: String,
    /// What `execute` returned.
    result: Value,
    /// The exception.
    error: Option<serde_json::Map<String, Value>>,
    /// The limit that ended the call.
    limit: Option<String>,
    /// The status that a script ended with.
    exit_code: Option<u8>,
    /// What a script wrote in its folder: path, number of bytes, and the content in base64 as far as there is room.
    files: Option<Vec<serde_json::Map<String, Value>>>,
    denials: Vec<serde_json::Map<String, Value>>,
    stdout: String,
    stderr: String,
    usage: serde_json::Map<String, Value>,
    image: Option<serde_json::Map<String, Value>>,
    notes: Vec<serde_json::Map<String, Value>>,
    /// The handle of the session that it was made in.
    session: Option<String>,
}

fn make_document() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let schemas = [
        reference::<CallBody<'_>>(&mut generator),
        reference::<EnvelopeSchema>(&mut generator),
        reference::<SkillList>(&mut generator),
        reference::<SkillPage>(&mut generator),
        reference::<ProblemBody<'_>>(&mut generator),
    ];
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "skillcell",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Calls of skills, each in a fresh cell. How a call ended is in its envelope.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": make_paths(&schemas),
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    })
}

/// A reference to a type's schema, which is added to the definitions.
fn reference<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

fn make_paths([call, envelope, list, page, problem]: &[Schema; 5]) -> Value {
    let id = json!([{
        "name": "id", "in": "path", "required": true, "schema": {"type": "string", "minLength": 1},
        "description": "The skill's id, as one percent-encoded segment: `office%2Fmail`.",
    }]);
    let answer = |description: &str, kind: &str, schema: Value| json!({"description": description, "content": {(kind): {"schema": schema}}});
    let problems = |statuses: &[u16]| {
        let answers = statuses
            .iter()
            .map(|status| (status.to_string(), answer("A problem.", "application/problem+json", json!(problem))));
        answers.collect::<serde_json::Map<String, Value>>()
    };
    let operation = |name: &str, summary: &str, ok: Value, statuses: &[u16]| {
        let mut responses = problems(statuses);
        responses.insert("200".to_owned(), ok);
        json!({"operationId": name, "summary": summary, "responses": responses})
    };
    let common = &[400, 401, 403, 421];
    let mut make_call = operation(
        "makeCall",
        "Make a call",
        json!({"description": "How it ended.", "content": {
            "application/json": {"schema": envelope}, "text/event-stream": {"schema": {"type": "string"}},
        }}),
        &[400, 401, 403, 404, 408, 413, 415, 421, 429, 500, 503],
    );
    make_call["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": call}}});
    let session = json!({"name": "session", "in": "path", "required": true, "schema": {"type": "string"}});
    let mut close_session = operation("closeSession", "Close a session", Value::Null, &[400, 401, 403, 404, 421]);
    if let Some(responses) = close_session["responses"].as_object_mut() {
        responses.remove("200");
        responses.insert("204".to_owned(), json!({"description": "It is closed."}));
    }
    let object = || json!({"type": "object"});
    let json_of = |schema: Value| answer("As asked for.", "application/json", schema);
    let mut ready = operation("tellReadiness", "Whether every image is baked", json_of(object()), common);
    ready["responses"]["503"] = json_of(object());
    json!({
        "/v1/skills": {"get": operation("listSkills", "The skills that you may call", json_of(json!(list)), common)},
        "/v1/skills/{id}": {
            "parameters": id,
            "get": operation("showSkill", "A skill: schema, permissions, plan", json_of(json!(page)),
                &[400, 401, 403, 404, 421, 429, 500, 503]),
        },
        "/v1/skills/{id}/calls": {"parameters": id, "post": make_call},
        "/v1/skills/{id}/sessions/{session}": {"parameters": [id[0], session], "delete": close_session},
        "/healthz": {"get": operation("tellHealth", "Whether it answers", json_of(object()), common)},
        "/readyz": {"get": ready},
        "/metrics": {"get": operation("tellMetrics", "Figures for Prometheus",
            answer("Text.", "text/plain", json!({"type": "string"})), common)},
        "/openapi.json": {"get": operation("tellDocument", "This document", json_of(object()), common)},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_to_a_schema() {
        fn check(document: &Value, value: &Value) {
            if let Some(Value::String(place)) = value.get("$ref") {
                let found = document.pointer(place.strip_prefix('#').unwrap());
                assert!(found.is_some(), "{place}");
            }
            match value {
                Value::Object(map) => map.values().for_each(|value| check(document, value)),
                Value::Array(list) => list.iter().for_each(|value| check(document, value)),
                _ => {}
            }
        }
        let document = make_document();
        check(&document, &document);
    }

    #[test]
    fn the_limits_of_the_document_are_those_that_are_read() {
        let document = make_document();
        let schema = &document["components"]["schemas"]["Limits"]["properties"];
        let names: Vec<&String> = schema.as_object().unwrap().keys().collect();
        for name in &names {
            let text = json!({(name.as_str()): 1}).to_string();
            assert!(serde_json::from_str::<skillcell_settings::LimitOverrides>(&text).is_ok(), "{name}");
        }
        assert_eq!(names.len(), 11);
    }
}
