//! Messages as lines, over `rmcp`'s own transport, which drops what it can't read and reads on whatever its client does. Here a
//! request that is no JSON for `rmcp` is answered that it is none, so that nobody waits for it, and a client that takes no
//! answers is not read until it does.

use std::future::Future;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream,
};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// The longest message that is read; a longer one is dropped.
const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// Messages that wait for the client to take them, before it is not read any more.
const MAX_UNSENT: usize = 256;
/// Between the reader and `rmcp`.
const BUFFER_BYTES: usize = 64 << 10;

/// One client's messages and ours.
pub(super) struct Lines<W: AsyncWrite> {
    inner: AsyncRwTransport<RoleServer, DuplexStream, W>,
    unreadable: mpsc::Receiver<Unreadable>,
    room: Arc<Semaphore>,
}

/// A request that is no JSON here.
struct Unreadable {
    id: RequestId,
    why: String,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Lines<W> {
    /// Reads and writes these; `ended` is cancelled at the end of the input.
    pub fn new(input: impl AsyncRead + Send + Unpin + 'static, output: W, ended: CancellationToken) -> Lines<W> {
        let (passed, received) = tokio::io::duplex(BUFFER_BYTES);
        let (tell, unreadable) = mpsc::channel(1);
        tokio::spawn(async move {
            // What fails is the client's end: there is nobody to tell.
            let _ = pass_lines(BufReader::new(input), passed, tell).await;
            ended.cancel();
        });
        let inner = AsyncRwTransport::new_server(received, output).with_max_line_length(MAX_MESSAGE_BYTES);
        Lines { inner, unreadable, room: Arc::new(Semaphore::new(MAX_UNSENT)) }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Lines<W> {
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // What is more than there is room for is sent all the same: it answers what was read before.
        let place = self.room.clone().try_acquire_owned();
        let sending = self.inner.send(message);
        async move {
            let _place = place;
            sending.await
        }
    }

    /// Dropped at any moment, it loses nothing.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            drop(self.room.acquire().await);
            let Unreadable { id, why } = tokio::select! {
                biased;
                Some(unreadable) = self.unreadable.recv() => unreadable,
                message = self.inner.receive() => return message,
            };
            let error = ErrorData::parse_error(format!("the request can't be read: {why}"), None);
            tokio::spawn(self.send(TxJsonRpcMessage::<RoleServer>::error(error, Some(id))));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.inner.close().await
    }
}

/// Passes on every line but requests that nobody could read.
async fn pass_lines(
    mut input: impl AsyncBufRead + Unpin,
    mut passed: DuplexStream,
    tell: mpsc::Sender<Unreadable>,
) -> io::Result<()> {
    while let Some(line) = next_line(&mut input).await? {
        match find_unreadable(&line) {
            Some(unreadable) => tell.send(unreadable).await.map_err(io::Error::other)?,
            None => passed.write_all(&line).await?,
        }
    }
    Ok(())
}

/// The next line, or nothing in the place of one that is too long; none at the end, where a line without its end is no message.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    input.take(MAX_MESSAGE_BYTES as u64).read_until(b'\n', &mut line).await?;
    if line.ends_with(b"\n") {
        return Ok(Some(line));
    }
    if line.len() < MAX_MESSAGE_BYTES {
        return Ok(None);
    }
    drop(line);
    loop {
        let available = input.fill_buf().await?;
        let end = available.iter().position(|byte| *byte == b'\n');
        let (taken, is_end) = (end.map_or(available.len(), |at| at + 1), available.is_empty());
        input.consume(taken);
        match end {
            Some(_) => return Ok(Some(Vec::new())),
            None if is_end => return Ok(None),
            None => {}
        }
    }
}

/// A request's id where the rest of it is no JSON here: half a surrogate pair, or too deep, say.
fn find_unreadable(line: &[u8]) -> Option<Unreadable> {
    /// Read without a look at texts and depth.
    #[derive(Deserialize)]
    struct Request<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
        #[serde(rename = "method")]
        _method: IgnoredAny,
    }
    let why = serde_json::from_slice::<Value>(line).err()?.to_string();
    let request: Request<'_> = serde_json::from_slice(line).ok()?;
    Some(Unreadable { id: serde_json::from_str(request.id.get()).ok()?, why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_that_is_no_json_here_is_taken_out() {
        let of = |text: &str| find_unreadable(text.as_bytes()).map(|found| found.id.to_string());
        assert_eq!(of(r#"{"params": {"a": "\ud800"}, "id": 7, "method": "m"}"#).as_deref(), Some("7"));
        let deep = format!(r#"{{"id": "x", "method": "m", "params": {}{}}}"#, "[".repeat(9000), "]".repeat(9000));
        assert_eq!(of(&deep).as_deref(), Some("x"));
        for other in [
            r#"{"id": 7, "method": "m"}"#,
            r#"{"method": "\ud800"}"#,
            r#"{"id": {}, "method": "\ud800"}"#,
            "{",
            "",
            "[]",
        ] {
            assert!(of(other).is_none(), "{other}");
        }
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_left_out_and_the_next_is_not() {
        let long = vec![b'x'; MAX_MESSAGE_BYTES + 5];
        let text = [&long[..], b"\nnext\nrest"].concat();
        let mut input = BufReader::new(&text[..]);
        assert_eq!(next_line(&mut input).await.unwrap().as_deref(), Some(&b""[..]));
        assert_eq!(next_line(&mut input).await.unwrap().as_deref(), Some(&b"next\n"[..]));
        assert_eq!(next_line(&mut input).await.unwrap(), None);
    }
}
