//! Captures the output of a process up to a cap, and ends the call once there is more.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const PIECE: usize = 64 << 10;
/// How long to wait for the end of a stream after all processes are gone. It may never come: the descriptor may have been
/// passed to a process in another session, or lie unread in a socket.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(300);

/// A stream that a thread reads until it ends or exceeds its cap.
pub struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    overflowed: Arc<AtomicBool>,
    /// Disconnected when the thread ends.
    reader: Receiver<()>,
}

impl Output {
    /// Captures up to `cap` bytes. If there is more, shuts down `wake`, which ends a blocked read from that socket.
    pub fn capture(mut from: impl Read + Send + 'static, cap: u64, wake: UnixStream) -> Output {
        let (kept, overflowed) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (alive, reader) = mpsc::channel();
        let (keep, mark_overflow) = (kept.clone(), overflowed.clone());
        std::thread::spawn(move || {
            let _alive: mpsc::Sender<()> = alive;
            let mut buffer = vec![0; PIECE];
            while let Some(piece) = read_piece(&mut from, &mut buffer) {
                let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
                let room = usize::try_from(cap).unwrap_or(usize::MAX).saturating_sub(kept.len());
                kept.extend_from_slice(&piece[..piece.len().min(room)]);
                if piece.len() > room {
                    mark_overflow.store(true, Ordering::SeqCst);
                    let _ = wake.shutdown(std::net::Shutdown::Both);
                    return;
                }
            }
        });
        Output { kept, overflowed, reader }
    }

    /// The captured bytes, and whether there were more. Call it once every process that could print is gone.
    pub fn finish(self) -> (Vec<u8>, bool) {
        let _ = self.reader.recv_timeout(DRAIN_TIMEOUT);
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        (kept, self.overflowed.load(Ordering::SeqCst))
    }
}

/// The next piece, or `None` at the end.
fn read_piece<'a>(from: &mut impl Read, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    loop {
        match from.read(buffer) {
            Ok(0) => return None,
            Ok(size) => return Some(&buffer[..size]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
