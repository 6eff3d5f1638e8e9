//! A call as a stream of events: `accepted`, `started`, `stdout` and `stderr` as it prints, and `end` once it is over. Comments
//! keep the connection alive meanwhile. A closed connection cancels the call.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use http::header::HeaderValue;
use serde_json::json;
use tokio::sync::mpsc::{self, error::SendError};
use tokio_stream::wrappers::ReceiverStream;

use super::body::ReadBody;
use super::calls::{envelope_text, tell_problem};
use super::guard::RequestInfo;
use super::printed::{Piece, Printed};
use crate::{CallRequest, Client, OpenedSession, Service};

const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// Events that wait for the client. `accepted` and `started` find room in it without waiting.
const MAX_EVENTS: usize = 8;

type Events = mpsc::Sender<Result<Event, Infallible>>;
/// Nobody reads any more.
type Gone = SendError<Result<Event, Infallible>>;

pub(super) fn stream_call(
    service: Service,
    client: Client,
    mut call: CallRequest,
    opened: Option<OpenedSession>,
    body: ReadBody,
    info: RequestInfo,
) -> Response {
    let (events, stream) = mpsc::channel(MAX_EVENTS);
    let accepted = json!({"request": info.id, "session": call.session}).to_string();
    let _ = events.try_send(Ok(event("accepted", &accepted)));
    let on_start = events.clone();
    call.on_start = Some(Box::new(move || drop(on_start.try_send(Ok(event("started", "{}"))))));
    tokio::spawn(async move {
        // Its room is taken for as long as the call needs it.
        let _body = body;
        tokio::select! {
            // The client has gone if this is an error, as below.
            _ = tell_call(&service, &client, call, opened, &events, &info) => {}
            // The call's future is dropped, which cancels it.
            () = events.closed() => {}
        }
    });
    let mut response =
        Sse::new(ReceiverStream::new(stream)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Makes the call, and tells of it. Where the client is slow this waits; the call does not.
async fn tell_call(
    service: &Service,
    client: &Client,
    mut call: CallRequest,
    opened: Option<OpenedSession>,
    events: &Events,
    info: &RequestInfo,
) -> Result<(), Gone> {
    let (printed, session) = (Arc::new(Printed::default()), call.session.clone());
    call.on_output = Some(printed.listener());
    let mut making = std::pin::pin!(service.call(client, call));
    let made = loop {
        tokio::select! {
            made = &mut making => break made,
            pieces = printed.take() => send_pieces(events, pieces).await?,
        }
    };
    match made {
        Ok(report) => {
            if let Some(opened) = opened {
                opened.keep();
            }
            send_pieces(events, printed.rest(&report)).await?;
            events.send(Ok(event("end", &envelope_text(&report, session.as_deref())))).await
        }
        Err(error) => send_problem(events, error, info).await,
    }
}

async fn send_pieces(events: &Events, pieces: Vec<Piece>) -> Result<(), Gone> {
    for (name, text) in pieces {
        events.send(Ok(event(name, &json!({"text": text}).to_string()))).await?;
    }
    Ok(())
}

/// The status was sent already, so a problem is an event.
async fn send_problem(events: &Events, error: crate::CallError, info: &RequestInfo) -> Result<(), Gone> {
    let body = tell_problem(error, info).into_response().into_body();
    let text = axum::body::to_bytes(body, 64 << 10).await.unwrap_or_default();
    events.send(Ok(event("problem", &String::from_utf8_lossy(&text)))).await
}

fn event(name: &str, json: &str) -> Event {
    // In JSON a line's end can only be between tokens, where a space does as well.
    let line: String = json.chars().map(|c| if matches!(c, '\r' | '\n') { ' ' } else { c }).collect();
    Event::default().event(name).data(line)
}
