//! A call as a stream of events: `accepted`, `started`, then `stdout`, `stderr` and `end` once it is over. A cell gives its
//! output at its end, so nothing of it comes earlier; comments keep the connection alive meanwhile. A closed connection
//! cancels the call.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use http::header::HeaderValue;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::body::ReadBody;
use super::calls::{envelope_text, tell_problem};
use super::guard::RequestInfo;
use crate::{CallRequest, Client, Service};
use skillcell_host::call::Report;

const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// More than a call has events, so that sending one never waits.
const MAX_EVENTS: usize = 8;

type Events = mpsc::Sender<Result<Event, Infallible>>;

pub(super) fn stream_call(
    service: Service,
    client: Client,
    mut call: CallRequest,
    body: ReadBody,
    info: RequestInfo,
) -> Response {
    let (events, stream) = mpsc::channel(MAX_EVENTS);
    let session = call.session.clone();
    send_event(&events, "accepted", &json!({"request": info.id, "session": session}).to_string());
    let on_start = events.clone();
    call.on_start = Some(Box::new(move || send_event(&on_start, "started", "{}")));
    tokio::spawn(async move {
        // Its room is taken for as long as the call needs it.
        let _body = body;
        tokio::select! {
            made = service.call(&client, call) => match made {
                Ok(report) => send_report(&events, &report, session.as_deref()),
                Err(error) => send_problem(&events, error, &info).await,
            },
            // Nobody reads any more: the call's future is dropped, which cancels it.
            () = events.closed() => {}
        }
    });
    let mut response =
        Sse::new(ReceiverStream::new(stream)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn send_report(events: &Events, report: &Report, session: Option<&str>) {
    for (name, bytes) in [("stdout", &report.stdout), ("stderr", &report.stderr)] {
        if !bytes.is_empty() {
            send_event(events, name, &json!({"text": String::from_utf8_lossy(bytes)}).to_string());
        }
    }
    send_event(events, "end", &envelope_text(report, session));
}

/// The status was sent already, so a problem is an event.
async fn send_problem(events: &Events, error: crate::CallError, info: &RequestInfo) {
    let body = tell_problem(error, info).into_response().into_body();
    let text = axum::body::to_bytes(body, 64 << 10).await.unwrap_or_default();
    send_event(events, "problem", &String::from_utf8_lossy(&text));
}

fn send_event(events: &Events, name: &str, json: &str) {
    // In JSON a line's end can only be between tokens, where a space does as well.
    let line: String = json.chars().map(|c| if matches!(c, '\r' | '\n') { ' ' } else { c }).collect();
    let _ = events.try_send(Ok(Event::default().event(name).data(line)));
}
