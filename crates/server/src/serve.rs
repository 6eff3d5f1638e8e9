//! The server: takes connections, within bounds of number and time, and ends them in good order.
//!
//! ```text
//!   running ─▶ draining: no new connections, each answer closes its own ─▶ closing: no new calls ─▶ ended
//! ```
//!
//! HTTP/1.1 only: a proxy in front speaks the rest, and TLS.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::{Api, Listeners};

/// Clients that send their next request within this time after a shutdown began are still answered.
const DRAIN_TIME: Duration = Duration::from_secs(1);
/// How often sessions are looked at.
const SWEEP_TIME: Duration = Duration::from_secs(5);
/// After a failure to accept, which is most likely a want of descriptors.
const PAUSE: Duration = Duration::from_millis(50);
const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: usize = 16 << 10;
const BUFFER_BYTES: usize = 64 << 10;

/// Bounds of connections.
///
/// Defaults: 1,024 connections, 10 s for a request's head, 30 s for what was sent to be taken, 40 s to end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Connections at once; more wait until others end.
    pub max_connections: usize,
    /// How long a request's head may take, from the end of the request before it.
    pub head_timeout: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub send_timeout: Duration,
    /// How long calls may go on after a shutdown began.
    pub grace: Duration,
}

impl Default for ServeOptions {
    fn default() -> ServeOptions {
        ServeOptions {
            max_connections: 1024,
            head_timeout: Duration::from_secs(10),
            send_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(40),
        }
    }
}

/// A server that is to be run.
pub struct Server {
    /// What answers.
    pub api: Api,
    /// What else answers, behind the same guard.
    pub others: Router,
    /// Its bounds.
    pub options: ServeOptions,
}

impl Server {
    /// Takes connections until `stop` is ready, then ends in good order; `abort` ends it at once. To be run on a runtime with
    /// I/O and time.
    pub async fn run(
        self,
        listeners: Listeners,
        stop: impl Future<Output = ()>,
        abort: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let router = self.api.router(self.others);
        let (closing, is_closing) = watch::channel(false);
        let places = Arc::new(Semaphore::new(self.options.max_connections.max(1)));
        let mut accepting = JoinSet::new();
        for listener in listeners.0 {
            listener.set_nonblocking(true)?;
            let listener = TcpListener::from_std(listener)?;
            let door = Door { api: self.api.clone(), router: router.clone(), options: self.options.clone() };
            accepting.spawn(accept_all(listener, door, places.clone(), is_closing.clone()));
        }
        accepting.spawn(sweep_sessions(self.api.clone()));
        stop.await;
        self.api.start_draining();
        accepting.shutdown().await;
        tokio::select! {
            () = drain(&self.api, &self.options, &places, closing) => {}
            () = abort => {}
        }
        Ok(())
    }
}

/// Ends sessions that are past their bounds.
async fn sweep_sessions(api: Api) {
    loop {
        tokio::time::sleep(SWEEP_TIME).await;
        api.service().sessions().sweep();
    }
}

/// Waits for the connections to end, first by themselves.
async fn drain(api: &Api, options: &ServeOptions, places: &Semaphore, closing: watch::Sender<bool>) {
    let all = u32::try_from(options.max_connections.max(1)).unwrap_or(u32::MAX);
    let ended = places.acquire_many(all);
    tokio::pin!(ended);
    if tokio::time::timeout(DRAIN_TIME, &mut ended).await.is_ok() {
        return;
    }
    api.service().close();
    let _ = closing.send(true);
    let _ = tokio::time::timeout(options.grace, ended).await;
}

/// What each connection leads to.
#[derive(Clone)]
struct Door {
    api: Api,
    router: Router,
    options: ServeOptions,
}

async fn accept_all(listener: TcpListener, door: Door, places: Arc<Semaphore>, is_closing: watch::Receiver<bool>) {
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (door, is_closing) = (door.clone(), is_closing.clone());
                tokio::spawn(async move {
                    door.serve_connection(stream, is_closing).await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

impl Door {
    async fn serve_connection(self, stream: TcpStream, mut is_closing: watch::Receiver<bool>) {
        let _counted = self.api.count_connection();
        let _ = stream.set_nodelay(true);
        // Ends a connection whose client takes nothing; the kernel counts.
        let timeout_ms = u32::try_from(self.options.send_timeout.as_millis()).unwrap_or(u32::MAX);
        let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, timeout_ms);
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.options.head_timeout)
            .max_headers(MAX_HEADERS)
            .max_header_size(MAX_HEADER_BYTES)
            .max_buf_size(BUFFER_BYTES);
        let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(self.router));
        tokio::pin!(connection);
        // What goes wrong with a connection is its client's to know.
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = is_closing.wait_for(|is_closing| *is_closing) => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }
}
