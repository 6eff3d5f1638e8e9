//! The HTTP of a process: a Unix socket that only its sandbox has, with the door's own HTTP behind it. Rules, addresses,
//! secrets, caps and audit are those of a cell, since it is the same code that is asked.
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
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use crate::door::{Denials, Door, Web};

/// Streams at once; each takes a thread.
const MAX_STREAMS: usize = 32;
/// Ends of connections that are remembered.
const MAX_ENDS: usize = 256;

/// Dropping it ends every connection.
pub struct Proxy {
    shared: Arc<Shared>,
    path: PathBuf,
    listener: Option<JoinHandle<()>>,
}

struct Shared {
    /// HTTP, where any of it is granted.
    web: Option<Mutex<Web>>,
    denials: Arc<Denials>,
    deadline: Instant,
    open: AtomicBool,
    stopped: AtomicBool,
    streams: AtomicUsize,
    next: AtomicU32,
    /// How connections ended: what the door said.
    ends: Mutex<HashMap<u32, Vec<u8>>>,
    /// To be woken at the end, by number.
    live: Mutex<HashMap<u32, UnixStream>>,
}

impl Proxy {
    pub fn start(web: Option<&Web>, denials: Arc<Denials>, path: &Path, deadline: Instant) -> io::Result<Proxy> {
        let listener = UnixListener::bind(path)?;
        let shared = Arc::new(Shared {
            web: web.map(|web| Mutex::new(web.sibling())),
            denials,
            deadline,
            open: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            streams: AtomicUsize::new(0),
            next: AtomicU32::new(1),
            ends: Mutex::default(),
            live: Mutex::default(),
        });
        let serving = shared.clone();
        let listener = std::thread::spawn(move || listen(&listener, &serving));
        Ok(Proxy { shared, path: path.to_owned(), listener: Some(listener) })
    }

    /// From now on it answers.
    pub fn open(&self) {
        self.shared.open.store(true, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = UnixStream::connect(&self.path);
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
            if shared.stopped.load(Ordering::SeqCst) {
                return;
            }
            let Ok(stream) = stream else { continue };
            if shared.streams.fetch_add(1, Ordering::SeqCst) >= MAX_STREAMS {
                shared.streams.fetch_sub(1, Ordering::SeqCst);
                continue; // it is closed
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
    });
}

impl Shared {
    /// A door for one stream, of which only the web is used. What there is to spend is shared.
    fn door(&self) -> Door {
        let web = self.web.as_ref().map(|web| Box::new(lock(web).sibling()));
        Door { web, denials: Some(self.denials.clone()), ..Door::default() }
    }

    fn remember(&self, id: u32, end: Option<Vec<u8>>) {
        let Some(end) = end else { return };
        let mut ends = lock(&self.ends);
        if ends.len() < MAX_ENDS {
            ends.insert(id, end);
        }
    }
}
