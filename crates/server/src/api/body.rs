//! The body of a call, taken apart without copying the params.

use axum::extract::Request;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::bodies::Received;
use super::{Api, Problem};
use crate::page::Filled;
use crate::script_body::ScriptBody;
use skillcell_settings::LimitOverrides;

/// More than a form of the page has.
const MAX_FORM_FIELDS: usize = 100;

/// What a client sends to make a call. Every field may be left out.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CallBody<'a> {
    /// What `execute` gets, as the skill's schema asks for it.
    #[serde(borrow, default)]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub params: Option<&'a RawValue>,
    /// Runs this script of an Agent Skills folder, instead of `execute`; such a call has no params, config or session.
    #[serde(default)]
    pub script: Option<ScriptBody>,
    /// What the skill's constructor gets.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub config: Option<Value>,
    /// Tighter limits than the server's; wider ones are cut to them.
    #[serde(default)]
    #[schemars(with = "super::openapi::LimitsSchema")]
    pub limits: LimitOverrides,
    /// `new` opens a session, whose handle is in the answer; a handle makes the call in that session's cell.
    #[serde(default)]
    pub session: Option<String>,
}

/// A body that was read to its end.
pub(super) struct ReadBody(Received);

impl ReadBody {
    pub fn parse(&self) -> Result<CallBody<'_>, Problem> {
        // serde would take a list for the fields in their order.
        if !self.0.bytes.trim_ascii_start().starts_with(b"{") {
            return Err(Problem::bad_request("bad_body", "the body must be a JSON object such as `{\"params\": {…}}`"));
        }
        serde_json::from_slice(&self.0.bytes).map_err(|error| {
            Problem::bad_request("bad_body", format!("the body: {}", skillcell_quote::brief(&error.to_string())))
        })
    }
}

/// Reads the body of a request, which must be JSON.
pub(super) async fn read_body(api: &Api, request: Request) -> Result<ReadBody, Problem> {
    check_type(request.headers())?;
    read_any(api, request).await
}

/// Reads what a form of the page brings; the guard refused those of other sites.
pub(crate) async fn read_form(api: &Api, request: Request) -> Result<Filled, Problem> {
    let kind = request.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    if !kind.starts_with(b"application/x-www-form-urlencoded") {
        let detail = "the `Content-Type` must be that of a form";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_a_form", detail));
    }
    let body = read_any(api, request).await?;
    let pairs = form_urlencoded::parse(&body.0.bytes).take(MAX_FORM_FIELDS);
    Ok(pairs.map(|(name, text)| (name.into_owned(), text.into_owned())).collect())
}

async fn read_any(api: &Api, request: Request) -> Result<ReadBody, Problem> {
    let (parts, body) = request.into_parts();
    api.inner.bodies.receive(&parts.headers, body).await.map(ReadBody)
}

/// Forms of other sites' pages can't send JSON unasked.
fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = given.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", "the `Content-Type` must be `application/json`"))
}
