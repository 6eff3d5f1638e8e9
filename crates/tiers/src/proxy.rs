//! HTTP for processes: a Unix socket that only the sandbox can reach, with the same HTTP session behind it that a cell uses.
//! So rules, address checks, secrets, caps and audit are those of a cell.
//!
//! A process that may not call `connect` has a stream instead. It sends one byte there for each connection that it wants, and
//! is sent the descriptor of a new one.
//!
//! ```text
//!   process ──▶ proxy   u32 length, `o` or `n` as through the door, or `e` <u32 connection>
//!   proxy ──▶ process   u32 length, the door's answer
//!   after a good `o`    the stream is the connection's: HTTP/1.1 one way, answers the other.
//!                       0x16 "skillcell " <name> "\n" first asks for TLS, and is answered with 0x16 <how> <u16> <text>
//! ```
//!
//! A connection that was refused or failed is closed; `e` then says why. Until the skill has taken its call, every question
//! is refused: as in a cell, it is imported without the network.

mod pump;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, Scope};
use std::time::Instant;

use skillcell_child::spawn::send_descriptor;
use skillcell_door::{Denials, HttpSession};
use skillcell_limits::cancel::CancelToken;

/// Concurrent streams; each takes a thread.
const MAX_STREAMS: usize = 32;
/// For how many connections the reason of their end is kept.
const MAX_ENDS: usize = 256;

/// Dropping it ends every connection.
pub struct Proxy {
    shared: Arc<Shared>,
    entrance: Entrance,
    listener: Option<JoinHandle<()>>,
}

/// How a process reaches the proxy. Kept to wake the listener at the end.
enum Entrance {
    Path(ShortSocketPath),
    Stream(UnixStream),
}

/// A socket path by way of `/proc/self/fd`, since a socket address has room for 107 bytes only.
struct ShortSocketPath {
    folder: File,
    name: OsString,
}

impl ShortSocketPath {
    fn new(path: &Path) -> io::Result<ShortSocketPath> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        Ok(ShortSocketPath { folder: File::open(folder)?, name: name.to_owned() })
    }

    fn to_path(&self) -> PathBuf {
        Path::new("/proc/self/fd").join(self.folder.as_raw_fd().to_string()).join(&self.name)
    }
}

struct Shared {
    /// The HTTP session, if any HTTP is granted.
    web: Option<Mutex<HttpSession>>,
    denials: Arc<Denials>,
    deadline: Instant,
    open: AtomicBool,
    /// Cancelled at the end, so that no stream keeps waiting for a server.
    stopped: CancelToken,
    streams: AtomicUsize,
    next: AtomicU32,
    /// Why connections ended, as the door's answer, by id.
    ends: Mutex<HashMap<u32, Vec<u8>>>,
    /// Open streams by id, to be shut down at the end.
    live: Mutex<HashMap<u32, UnixStream>>,
}

impl Proxy {
    /// Starts a proxy that listens on a socket at this path.
    pub fn start_at_path(
        web: Option<&HttpSession>,
        denials: Arc<Denials>,
        path: &Path,
        deadline: Instant,
    ) -> io::Result<Proxy> {
        let path = ShortSocketPath::new(path)?;
        let listener = UnixListener::bind(path.to_path())?;
        let shared = Shared::new(web, denials, deadline);
        let serving = shared.clone();
        let thread = std::thread::spawn(move || accept_connections(&listener, &serving));
        Ok(Proxy { shared, entrance: Entrance::Path(path), listener: Some(thread) })
    }

    /// Starts a proxy that hands out connections on a stream; returns the process's end of that stream too.
    pub fn start_on_stream(
        web: Option<&HttpSession>,
        denials: Arc<Denials>,
        deadline: Instant,
    ) -> io::Result<(Proxy, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        let entrance = Entrance::Stream(ours.try_clone()?);
        let shared = Shared::new(web, denials, deadline);
        let serving = shared.clone();
        let thread = std::thread::spawn(move || hand_out_connections(&ours, &serving));
        Ok((Proxy { shared, entrance, listener: Some(thread) }, theirs))
    }

    /// Questions are refused before this is called.
    pub fn allow_requests(&self) {
        self.shared.open.store(true, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stopped.cancel();
        // Wakes the listener.
        let _ = match &self.entrance {
            Entrance::Path(path) => UnixStream::connect(path.to_path()).map(drop),
            Entrance::Stream(stream) => stream.shutdown(std::net::Shutdown::Both),
        };
        for stream in lock(&self.shared.live).values() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept_connections(listener: &UnixListener, shared: &Arc<Shared>) {
    std::thread::scope(|scope| {
        for stream in listener.incoming() {
            if shared.stopped.is_cancelled() {
                return;
            }
            let Ok(stream) = stream else { continue };
            serve_in_thread(scope, stream, shared);
        }
    });
}

fn hand_out_connections(mut asked: &UnixStream, shared: &Arc<Shared>) {
    std::thread::scope(|scope| {
        while matches!(asked.read(&mut [0]), Ok(1)) && !shared.stopped.is_cancelled() {
            let Ok((ours, theirs)) = UnixStream::pair() else { continue };
            // Sending fails once the process leaves too many descriptors unread.
            if send_descriptor(asked.as_fd(), theirs.as_fd()).is_ok() {
                serve_in_thread(scope, ours, shared);
            }
        }
    });
}

/// Serves a stream in a new thread, or closes it if there are too many.
fn serve_in_thread<'scope>(scope: &'scope Scope<'scope, '_>, stream: UnixStream, shared: &'scope Arc<Shared>) {
    if shared.streams.fetch_add(1, Ordering::SeqCst) >= MAX_STREAMS {
        shared.streams.fetch_sub(1, Ordering::SeqCst);
        return;
    }
    scope.spawn(move || {
        let id = shared.next.fetch_add(1, Ordering::SeqCst);
        if let Ok(copy) = stream.try_clone() {
            lock(&shared.live).insert(id, copy);
            let end = pump::serve_stream(&stream, id, shared);
            lock(&shared.live).remove(&id);
            shared.remember_end(id, end);
        }
        let _ = stream.shutdown(std::net::Shutdown::Both);
        shared.streams.fetch_sub(1, Ordering::SeqCst);
    });
}

impl Shared {
    fn new(web: Option<&HttpSession>, denials: Arc<Denials>, deadline: Instant) -> Arc<Shared> {
        let stopped = CancelToken::new();
        Arc::new(Shared {
            web: web.map(|web| Mutex::new(web.with_same_grants(stopped.clone()))),
            denials,
            deadline,
            open: AtomicBool::new(false),
            stopped,
            streams: AtomicUsize::new(0),
            next: AtomicU32::new(1),
            ends: Mutex::default(),
            live: Mutex::default(),
        })
    }

    /// A session for one stream, if any HTTP is granted. Budgets are shared between sessions.
    fn new_session(&self) -> Option<HttpSession> {
        self.web.as_ref().map(|web| lock(web).with_same_grants(self.stopped.clone()))
    }

    fn remember_end(&self, id: u32, end: Option<Vec<u8>>) {
        let Some(end) = end else { return };
        let mut ends = lock(&self.ends);
        if ends.len() < MAX_ENDS {
            ends.insert(id, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_bound_however_long_its_path_is() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("f".repeat(200));
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("http");
        let proxy = Proxy::start_at_path(None, Arc::default(), &path, Instant::now()).unwrap();
        assert!(std::fs::symlink_metadata(&path).is_ok());
        drop(proxy);
    }
}
