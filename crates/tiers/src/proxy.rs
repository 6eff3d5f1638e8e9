//! The HTTP of a process: a Unix socket that only its sandbox has, with the HTTP session of a cell behind it. Rules, addresses,
//! secrets, caps and audit are those of a cell, since it is the same session that is asked.
//!
//! A process that may connect to nothing has a stream instead, on which it asks for a connection with one byte and is
//! handed a fresh one.
//!
//! ```text
//!   process ──▶ proxy   u32 length, `o` or `n` as through the door, or `e` <u32 connection>
//!   proxy ──▶ process   u32 length, the door's answer
//!   after a good `o`    the stream is the connection's: HTTP/1.1 one way, answers the other.
//!                       0x16 "skillcell " <name> "\n" first asks for TLS, and is answered with 0x16 <how> <u16> <text>
//! ```
//!
//! A connection that was refused, or failed, is closed; `e` then says why. Nothing is answered until the skill has taken
//! its call: it is imported without the network, as in a cell.

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

use skillcell_child::spawn::hand_over;
use skillcell_door::{Denials, HttpSession};
use skillcell_limits::cancel::CancelToken;

/// Streams at once; each takes a thread.
const MAX_STREAMS: usize = 32;
/// Ends of connections that are remembered.
const MAX_ENDS: usize = 256;

/// Dropping it ends every connection.
pub struct Proxy {
    shared: Arc<Shared>,
    entrance: Entrance,
    listener: Option<JoinHandle<()>>,
}

/// How a process gets at it; kept to wake who waits there.
enum Entrance {
    Path(Short),
    Hand(UnixStream),
}

/// A path that is never too long for a socket's address, which has room for 107 bytes: by the descriptor of its folder.
struct Short {
    folder: File,
    name: OsString,
}

impl Short {
    fn new(path: &Path) -> io::Result<Short> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        Ok(Short { folder: File::open(folder)?, name: name.to_owned() })
    }

    fn to_path(&self) -> PathBuf {
        Path::new("/proc/self/fd").join(self.folder.as_raw_fd().to_string()).join(&self.name)
    }
}

struct Shared {
    /// HTTP, where any of it is granted.
    web: Option<Mutex<HttpSession>>,
    denials: Arc<Denials>,
    deadline: Instant,
    open: AtomicBool,
    /// Cancelled at the end, so that no stream waits for a server any more.
    stopped: CancelToken,
    streams: AtomicUsize,
    next: AtomicU32,
    /// How connections ended: what the door said.
    ends: Mutex<HashMap<u32, Vec<u8>>>,
    /// To be woken at the end, by number.
    live: Mutex<HashMap<u32, UnixStream>>,
}

impl Proxy {
    /// One that is reached by a path.
    pub fn start(
        web: Option<&HttpSession>,
        denials: Arc<Denials>,
        path: &Path,
        deadline: Instant,
    ) -> io::Result<Proxy> {
        let path = Short::new(path)?;
        let listener = UnixListener::bind(path.to_path())?;
        let shared = Shared::new(web, denials, deadline);
        let serving = shared.clone();
        let thread = std::thread::spawn(move || listen(&listener, &serving));
        Ok(Proxy { shared, entrance: Entrance::Path(path), listener: Some(thread) })
    }

    /// One that hands out connections; and the end that is for the process.
    pub fn hand_out(
        web: Option<&HttpSession>,
        denials: Arc<Denials>,
        deadline: Instant,
    ) -> io::Result<(Proxy, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        let entrance = Entrance::Hand(ours.try_clone()?);
        let shared = Shared::new(web, denials, deadline);
        let serving = shared.clone();
        let thread = std::thread::spawn(move || hand_out(&ours, &serving));
        Ok((Proxy { shared, entrance, listener: Some(thread) }, theirs))
    }

    /// From now on it answers.
    pub fn open(&self) {
        self.shared.open.store(true, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stopped.cancel();
        // Wakes the listener.
        let _ = match &self.entrance {
            Entrance::Path(path) => UnixStream::connect(path.to_path()).map(drop),
            Entrance::Hand(stream) => stream.shutdown(std::net::Shutdown::Both),
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

fn listen(listener: &UnixListener, shared: &Arc<Shared>) {
    std::thread::scope(|scope| {
        for stream in listener.incoming() {
            if shared.stopped.is_cancelled() {
                return;
            }
            let Ok(stream) = stream else { continue };
            serve(scope, stream, shared);
        }
    });
}

fn hand_out(mut asked: &UnixStream, shared: &Arc<Shared>) {
    std::thread::scope(|scope| {
        while matches!(asked.read(&mut [0]), Ok(1)) && !shared.stopped.is_cancelled() {
            let Ok((ours, theirs)) = UnixStream::pair() else { continue };
            // Whoever asks and takes nothing gets no more.
            if hand_over(asked.as_fd(), theirs.as_fd()).is_ok() {
                serve(scope, ours, shared);
            }
        }
    });
}

/// Serves a stream in a thread of its own; closes it where there are too many.
fn serve<'scope>(scope: &'scope Scope<'scope, '_>, stream: UnixStream, shared: &'scope Arc<Shared>) {
    if shared.streams.fetch_add(1, Ordering::SeqCst) >= MAX_STREAMS {
        shared.streams.fetch_sub(1, Ordering::SeqCst);
        return;
    }
    scope.spawn(move || {
        let id = shared.next.fetch_add(1, Ordering::SeqCst);
        if let Ok(copy) = stream.try_clone() {
            lock(&shared.live).insert(id, copy);
            let end = pump::serve(&stream, id, shared);
            lock(&shared.live).remove(&id);
            shared.remember(id, end);
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

    /// Connections for one stream, where anything is granted. What there is to spend is shared.
    fn session(&self) -> Option<HttpSession> {
        self.web.as_ref().map(|web| lock(web).with_same_grants(self.stopped.clone()))
    }

    fn remember(&self, id: u32, end: Option<Vec<u8>>) {
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
        let proxy = Proxy::start(None, Arc::default(), &path, Instant::now()).unwrap();
        assert!(std::fs::symlink_metadata(&path).is_ok());
        drop(proxy);
    }
}
