//! The server on standard input and output: one client, which started this program. Nothing else may write to stdout.

use std::io;
use std::time::Duration;

use rmcp::serve_server;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::lines::Lines;
use super::shelf::Server;

/// How long calls may still take once the client has nothing more to say. It may be a pipe that ended: answers are due then.
const GRACE: Duration = Duration::from_secs(1);

/// Serves the client on stdio until it goes away, or `stop` is cancelled. Then its calls are ended.
pub async fn serve_stdio(server: &Server, stop: CancellationToken) -> io::Result<()> {
    let (input, output) = stdio_pipes();
    let ended = CancellationToken::new();
    let lines = Lines::new(input, output, ended.clone());
    let closes = tokio::spawn(close_after(server.clone(), ended, stop.clone()));
    let served = tokio::select! {
        served = serve_server(Handler::new(server.clone(), true), lines) => served,
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
