//! What keeps a request from becoming a call: RFC 9457, with a code that stays.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, StatusCode, Uri};
use serde::Serialize;

use super::super::{CallError, NoSession};
use skillcell_host::HostError;

/// Sessions end within minutes.
const SESSION_RETRY: Duration = Duration::from_secs(10);

/// A request that did not become a call. Its detail says nothing of this machine.
#[derive(Debug, Clone)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    retry_after: Option<Duration>,
}

/// As it is sent; docs/reference/serve.md lists the codes.
#[derive(Serialize, schemars::JsonSchema)]
#[schemars(rename = "Problem")]
pub(super) struct ProblemBody<'a> {
    /// `urn:skillcell:problem:` and the code.
    r#type: String,
    title: &'a str,
    status: u16,
    /// For programs: it stays the same.
    code: &'a str,
    /// For people: it may change.
    detail: &'a str,
}

impl Problem {
    /// A problem with this status, code and explanation.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Problem {
        Problem { status, code, detail: detail.into(), retry_after: None }
    }

    /// 400: the request makes no sense.
    pub fn bad_request(code: &'static str, detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// 401: there is no token, or it is nobody's.
    pub fn unauthorized() -> Problem {
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "a token is needed: `Authorization: Bearer …`")
    }

    /// 404: there is no such skill, or not for this client.
    pub fn no_such_skill(id: &str) -> Problem {
        let id = skillcell_quote::brief(id);
        Problem::new(StatusCode::NOT_FOUND, "no_such_skill", format!("there is no skill `{id}`"))
    }

    /// 429: nothing ran, and it may be tried again.
    pub fn busy(retry_after: Duration) -> Problem {
        let detail = "too many calls are waiting, and nothing of this one ran";
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "busy", detail).after(retry_after)
    }

    /// Its status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Its explanation.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    fn after(self, time: Duration) -> Problem {
        Problem { retry_after: Some(time), ..self }
    }
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Problem {
        match error {
            CallError::NoSuchSkill(id) => Problem::no_such_skill(&id),
            CallError::NoSuchScript { skill, script } => {
                let detail =
                    format!("`{}` has no script `{}`", skillcell_quote::brief(&skill), skillcell_quote::brief(&script));
                Problem::new(StatusCode::NOT_FOUND, "no_such_script", detail)
            }
            error @ (CallError::OnlyScripts(_) | CallError::Files(_)) => {
                Problem::bad_request("bad_script_call", skillcell_quote::brief(&error.to_string()))
            }
            CallError::Params(error) => Problem::bad_request("params_not_json", format!("params: {error}")),
            CallError::NotOffered(limit) => {
                Problem::bad_request("limit_not_offered", format!("the limit `{limit}` is not offered here"))
            }
            CallError::Host(HostError::ConfigNotAnObject) => {
                Problem::bad_request("config_not_an_object", "the config must be a JSON object")
            }
            CallError::Host(HostError::ParamsTooLarge { .. }) => {
                Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the params are too long")
            }
            CallError::Session(NoSession::NotFound) => {
                Problem::new(StatusCode::NOT_FOUND, "no_such_session", "there is no such session")
            }
            CallError::Session(why) => {
                Problem::new(StatusCode::TOO_MANY_REQUESTS, "no_session", why.to_string()).after(SESSION_RETRY)
            }
            CallError::Busy { retry_after } => Problem::busy(retry_after),
            CallError::RateExceeded { retry_after } => {
                let detail = "this token may not call that often, and nothing of this one ran";
                Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate_exceeded", detail).after(retry_after)
            }
            CallError::ShuttingDown => {
                let detail = "the server is shutting down, and nothing of this one ran";
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "shutting_down", detail).after(Duration::from_secs(1))
            }
            // Its words may name files of this machine: they are the operator's, on stderr.
            CallError::Host(_) | CallError::Failed => {
                let detail = "the server could not do its part; its operator can find why by the request's id";
                Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "host_error", detail)
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = ProblemBody {
            r#type: format!("urn:skillcell:problem:{}", self.code),
            title: self.status.canonical_reason().unwrap_or("Problem"),
            status: self.status.as_u16(),
            code: self.code,
            detail: &self.detail,
        };
        let text = serde_json::to_string(&body).unwrap_or_default();
        let mut response = (self.status, text).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(time) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from((time.as_secs_f64().ceil() as u64).max(1)));
        }
        response
    }
}

pub(super) async fn no_such_page(uri: Uri) -> Problem {
    let path = skillcell_quote::brief(uri.path());
    Problem::new(StatusCode::NOT_FOUND, "no_such_page", format!("there is nothing at `{path}`"))
}

pub(super) async fn wrong_method(method: Method) -> Problem {
    let detail = format!("`{}` is not for this path", skillcell_quote::brief(method.as_str()));
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", detail)
}
