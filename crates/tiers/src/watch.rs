//! A thread that periodically checks limits which the kernel does not enforce.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use skillcell_limits::LimitKind;

/// The pause between checks: minimum, maximum, and within these a multiple of how long a check takes.
const LOOK: (Duration, Duration, u32) = (Duration::from_millis(20), Duration::from_millis(100), 4);

/// Dropping it ends the thread.
pub struct Watch {
    exceeded: Arc<OnceLock<LimitKind>>,
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Watch {
    /// Once `look` returns a limit, shuts down `wake`, which ends a blocked read from that socket.
    pub fn start(wake: UnixStream, mut look: impl FnMut() -> Option<LimitKind> + Send + 'static) -> Watch {
        let exceeded = Arc::new(OnceLock::new());
        let found = exceeded.clone();
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut rest = LOOK.0;
            while stopped.recv_timeout(rest) == Err(RecvTimeoutError::Timeout) {
                let started = Instant::now();
                if let Some(limit) = look() {
                    let _ = found.set(limit);
                    let _ = wake.shutdown(Shutdown::Both);
                    return;
                }
                rest = (started.elapsed() * LOOK.2).clamp(LOOK.0, LOOK.1);
            }
        });
        Watch { exceeded, thread: Some((stop, thread)) }
    }

    /// The limit that was exceeded, if one was.
    pub fn exceeded_limit(&self) -> Option<LimitKind> {
        self.exceeded.get().copied()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.thread.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}
