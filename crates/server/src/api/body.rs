//! The body of a call: read within bounds of size and time, and taken apart without copying the params.

use axum::body::Body;
use axum::extract::Request;
use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;

use super::{Api, Problem};
use crate::page::Filled;
use crate::script_body::ScriptBody;
use skillcell_settings::LimitOverrides;

/// Bodies up to this size are not counted together: the number of connections bounds them.
const SMALL_BYTES: usize = 64 << 10;
/// More than a form of the page has.
const MAX_FORM_FIELDS: usize = 100;
const RETRY_AFTER: std::time::Duration = std::time::Duration::from_secs(1);

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

/// A body, and its share of the room for bodies while it is alive.
pub(super) struct ReadBody {
    pub bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl ReadBody {
    pub fn parse(&self) -> Result<CallBody<'_>, Problem> {
        // serde would take a list for the fields in their order.
        if !self.bytes.trim_ascii_start().starts_with(b"{") {
            return Err(Problem::bad_request("bad_body", "the body must be a JSON object such as `{\"params\": {…}}`"));
        }
        serde_json::from_slice(&self.bytes).map_err(|error| {
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
    let pairs = form_urlencoded::parse(&body.bytes).take(MAX_FORM_FIELDS);
    Ok(pairs.map(|(name, text)| (name.into_owned(), text.into_owned())).collect())
}

async fn read_any(api: &Api, request: Request) -> Result<ReadBody, Problem> {
    let options = &api.inner.options;
    let (parts, body) = request.into_parts();
    let length = parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    let most = length.unwrap_or(options.max_body_bytes);
    if most > options.max_body_bytes {
        return Err(too_large(options.max_body_bytes));
    }
    let room = if most > SMALL_BYTES { Some(take_room(api, most)?) } else { None };
    let reading = tokio::time::timeout(options.body_timeout, collect_body(body, options.max_body_bytes));
    let slow = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "slow_body", "the body took too long to arrive");
    Ok(ReadBody { bytes: reading.await.map_err(slow)??, _room: room })
}

async fn collect_body(body: Body, most: usize) -> Result<Bytes, Problem> {
    match Limited::new(body, most).collect().await {
        Ok(read) => Ok(read.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(most)),
        Err(_) => Err(Problem::bad_request("bad_body", "the body was not sent to its end")),
    }
}

fn take_room(api: &Api, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
    let kib = u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX);
    api.inner.bodies.clone().try_acquire_many_owned(kib).map_err(|_| Problem::busy(RETRY_AFTER))
}

fn too_large(most: usize) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("a body may have {most} bytes"))
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
