//! `POST /v1/skills/{id}/calls`.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};

use super::body::{CallBody, ReadBody, read_body};
use super::guard::RequestInfo;
use super::{Api, Problem, stream};
use crate::{CallError, CallRequest, Client, OpenedSession};
use skillcell_host::call::Report;

/// What asks for a session of its own.
const NEW_SESSION: &str = "new";
/// Of all files that a script wrote, together; the content of others is left out.
const MAX_FILES_BYTES: usize = 16 << 20;

pub(super) async fn make_call(
    State(api): State<Api>,
    Extension(client): Extension<Client>,
    Extension(info): Extension<RequestInfo>,
    id: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let id = read_id(id)?;
    // Before the body: who may not call a skill sends nothing for it.
    if api.service().skill_for(&client, &id).is_none() {
        return Err(Problem::no_such_skill(&id));
    }
    let wants_events = accepts_events(request.headers());
    let body = read_body(&api, request).await?;
    let mut call = call_request(id, &body, &info)?;
    let opened = open_session(&api, &client, &mut call)?;
    let session = call.session.clone();
    if wants_events {
        return Ok(stream::stream_call(api.service().clone(), client, call, opened, body, info));
    }
    let report = api.service().call(&client, call).await.map_err(|error| tell_problem(error, &info))?;
    if let Some(opened) = opened {
        opened.keep();
    }
    Ok(([(CONTENT_TYPE, "application/json")], envelope_text(&report, session.as_deref())).into_response())
}

/// Opens the session that a call asks for.
fn open_session(api: &Api, client: &Client, call: &mut CallRequest) -> Result<Option<OpenedSession>, Problem> {
    if call.session.as_deref() != Some(NEW_SESSION) {
        return Ok(None);
    }
    let opened = api.service().open_session(client, &call.skill).map_err(CallError::from)?;
    call.session = Some(opened.handle().to_owned());
    Ok(Some(opened))
}

/// `DELETE /v1/skills/{id}/sessions/{session}`.
pub(super) async fn close_session(
    State(api): State<Api>,
    Extension(client): Extension<Client>,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<StatusCode, Problem> {
    let Path((id, handle)) = path.map_err(|_| Problem::bad_request("bad_id", "the path is not UTF-8"))?;
    api.service().sessions().close(&client, &id, &handle).map_err(CallError::from)?;
    Ok(StatusCode::NO_CONTENT)
}

/// One percent-encoded segment of the path.
pub(super) fn read_id(id: Result<Path<String>, PathRejection>) -> Result<String, Problem> {
    id.map(|Path(id)| id).map_err(|_| Problem::bad_request("bad_id", "the skill's id is not UTF-8"))
}

fn call_request(id: String, body: &ReadBody, info: &RequestInfo) -> Result<CallRequest, Problem> {
    let CallBody { params, script, config, limits, session } = body.parse()?;
    if script.is_some() && (params.is_some() || config.is_some() || session.is_some()) {
        return Err(Problem::bad_request("bad_script_call", "a script has no params, config or session"));
    }
    let mut call = CallRequest::new(id, params.map_or("{}", |params| params.get()));
    let wrong = |words: String| Problem::bad_request("bad_script_call", skillcell_quote::brief(&words));
    call.script = script.map(|script| script.into_request().map_err(wrong)).transpose()?;
    call.config = config;
    call.limits = limits;
    call.session = session;
    call.origin = Some(info.origin());
    Ok(call)
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.any(|value| value.split(',').any(|kind| kind.trim().starts_with("text/event-stream")))
}

/// The envelope, and the handle of the session that the call was made in.
pub(super) fn envelope_text(report: &Report, session: Option<&str>) -> String {
    // An envelope is made of texts, numbers and JSON that was checked: it can always be written.
    let mut text = serde_json::to_string(&report.envelope_with_files(MAX_FILES_BYTES)).unwrap_or_default();
    if let Some(handle) = session {
        // Appended as text, since the result in it is text too. A handle is hexadecimal digits.
        text.pop();
        text.push_str(&format!(",\"session\":\"{handle}\"}}"));
    }
    text
}

/// A problem for the client; what is the operator's goes to stderr.
pub(super) fn tell_problem(error: CallError, info: &RequestInfo) -> Problem {
    if let CallError::Host(host_error) = &error {
        let chain = skillcell_quote::one_line(&skillcell_quote::error_chain(host_error));
        eprintln!("error: request {}: {chain}", info.id);
    }
    error.into()
}
