//! The server on standard input and output: one client, which started this program. Nothing else may write to stdout.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use rmcp::{RoleServer, serve_server};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::shelf::Server;

/// The longest message that is read; a longer one is dropped.
const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// How long calls may still take once the client has nothing more to say. It may be a pipe that ended: answers are due then.
const GRACE: Duration = Duration::from_secs(1);

/// Serves the client on stdio until it goes away, or `stop` is cancelled. Then its calls are ended.
pub async fn serve_stdio(server: &Server, stop: CancellationToken) -> io::Result<()> {
    let (input, output) = stdio_pipes();
    let ended = CancellationToken::new();
    let transport =
        AsyncRwTransport::<RoleServer, _, _>::new_server(Input { inner: input, ended: ended.clone() }, output)
            .with_max_line_length(MAX_MESSAGE_BYTES);
    let closes = tokio::spawn(close_after(server.clone(), ended, stop.clone()));
    let served = tokio::select! {
        served = serve_server(Handler::new(server.clone(), true), transport) => served,
        () = stop.cancelled() => return Ok(()),
    };
    let running = match served {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    let ends = running.cancellation_token();
    let mut waiting = std::pin::pin!(running.waiting());
    tokio::select! {
        _ = &mut waiting => {}
        () = stop.cancelled() => {
            ends.cancel();
            drop(tokio::time::timeout(2 * GRACE, waiting).await);
        }
    }
    closes.abort();
    server.close();
    Ok(())
}

/// Ends the calls when the client has been gone for a while, or at once when the program is to stop.
async fn close_after(server: Server, ended: CancellationToken, stop: CancellationToken) {
    tokio::select! {
        () = async { ended.cancelled().await; tokio::time::sleep(GRACE).await } => {}
        () = stop.cancelled() => {}
    }
    server.close();
}

/// Standard input, which tells when it is at its end.
struct Input<R> {
    inner: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        let is_end = matches!(&read, Poll::Ready(Ok(()))) && buffer.filled().len() == before && buffer.capacity() > 0;
        if is_end || matches!(&read, Poll::Ready(Err(_))) {
            self.ended.cancel();
        }
        read
    }
}
