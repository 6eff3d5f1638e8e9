//! What happens, for the page's script: `figures` each second, and `calls` that began and ended, some at a time. However
//! busy the server is, who watches gets no more than a list's length at a time.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use axum::extract::State;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::HeaderValue;
use serde::Serialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use super::calls::{CallRow, MAX_ROWS};
use super::figures::Figures;
use super::{Page, tell};
use crate::CallEvent;

/// Between two looks at what happened.
const PAUSE: Duration = Duration::from_millis(250);
/// Figures come with each so many looks.
const LOOKS: u32 = 4;

/// What happened since the last look.
#[derive(Default, Serialize)]
struct Batch {
    rows: Vec<CallRow>,
    /// Events that are not among them.
    missed: u64,
}

pub async fn stream_events(State(page): State<Page>) -> Response {
    let Ok(place) = page.inner.watchers.clone().try_acquire_owned() else {
        return tell(StatusCode::SERVICE_UNAVAILABLE, "Too many watch", "Close another page first.");
    };
    let (events, stream) = mpsc::channel(2);
    let feed = page.inner.api.service().activity().watch();
    tokio::spawn(send_events(page, feed, events, place));
    let mut response = Sse::new(ReceiverStream::new(stream)).into_response();
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

type Events = mpsc::Sender<Result<Event, Infallible>>;

/// Until nobody reads, or the server is about to end: it would wait for this otherwise.
async fn send_events(page: Page, mut feed: Receiver<CallEvent>, events: Events, _place: OwnedSemaphorePermit) {
    let api = &page.inner.api;
    for look in 0u32.. {
        let mut told = Vec::new();
        if look % LOOKS == 0 {
            told.push(make_event("figures", &Figures::new(api.service())));
        }
        let batch = take_batch(&mut feed);
        if !batch.rows.is_empty() {
            told.push(make_event("calls", &batch));
        }
        for event in told {
            if events.send(Ok(event)).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = events.closed() => return,
        }
        if api.is_draining() {
            return;
        }
    }
}

fn make_event(name: &str, value: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(value).unwrap_or_default())
}

/// The last events that came; those before them are counted.
fn take_batch(feed: &mut Receiver<CallEvent>) -> Batch {
    let (mut events, mut batch) = (Vec::new(), Batch::default());
    loop {
        match feed.try_recv() {
            Ok(event) => events.push(event),
            Err(TryRecvError::Lagged(missed)) => batch.missed += missed,
            Err(TryRecvError::Empty | TryRecvError::Closed) => break,
        }
        // A busy server goes on sending meanwhile.
        if events.len() >= 8 * MAX_ROWS {
            break;
        }
    }
    let left_out = events.len().saturating_sub(MAX_ROWS);
    batch.missed += left_out as u64;
    let now = SystemTime::now();
    batch.rows = events[left_out..].iter().map(|event| CallRow::new(now, event)).collect();
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::broadcast;

    #[test]
    fn who_watches_a_busy_server_gets_the_last_events_and_how_many_were_before() {
        let sender = broadcast::Sender::new(256);
        let mut feed = sender.subscribe();
        for call in 0..1000 {
            let _ = sender.send(CallEvent::Started { call, skill: "a".to_owned(), client: None, waited_ms: 0.0 });
        }
        let batch = take_batch(&mut feed);
        assert_eq!((batch.rows.len(), batch.missed), (MAX_ROWS, 1000 - MAX_ROWS as u64));
        assert!(take_batch(&mut feed).rows.is_empty());
    }
}
