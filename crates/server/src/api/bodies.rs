//! Bodies of requests as they arrive: how long one may be, how long it may take, and how much of them is held at once. It does
//! not look into them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_LENGTH, HeaderMap};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Problem;

/// Bodies up to this size are not counted together: the number of connections bounds them.
const SMALL_BYTES: usize = 64 << 10;
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Bounds of bodies, and the room for them. Clones share the room.
#[derive(Debug, Clone)]
pub struct Bodies {
    longest: usize,
    time: Duration,
    /// In KiB.
    room: Arc<Semaphore>,
}

/// A body, and its share of the room while that is alive.
pub(crate) struct Received {
    pub bytes: Bytes,
    pub room: Option<Arc<OwnedSemaphorePermit>>,
}

impl Bodies {
    /// Bodies of up to `longest` bytes that arrive within `time`; those that are not small have `together` bytes at once.
    pub fn new(longest: usize, together: usize, time: Duration) -> Bodies {
        Bodies { longest, time, room: Arc::new(Semaphore::new((together >> 10).min(Semaphore::MAX_PERMITS))) }
    }

    /// Reads one to its end.
    pub(crate) async fn receive(&self, headers: &HeaderMap, body: Body) -> Result<Received, Problem> {
        let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
        let most = length.unwrap_or(self.longest);
        if most > self.longest {
            return Err(self.too_large());
        }
        let room = if most > SMALL_BYTES { Some(Arc::new(self.take_room(most)?)) } else { None };
        let slow = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "slow_body", "the body took too long to arrive");
        let bytes = tokio::time::timeout(self.time, self.collect(body)).await.map_err(slow)??;
        Ok(Received { bytes, room })
    }

    async fn collect(&self, body: Body) -> Result<Bytes, Problem> {
        match Limited::new(body, self.longest).collect().await {
            Ok(read) => Ok(read.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(self.too_large()),
            Err(_) => Err(Problem::bad_request("bad_body", "the body was not sent to its end")),
        }
    }

    fn take_room(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let kib = u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        self.room.clone().try_acquire_many_owned(kib).map_err(|_| Problem::busy(RETRY_AFTER))
    }

    fn too_large(&self) -> Problem {
        let detail = format!("a body may have {} bytes", self.longest);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    }
}
