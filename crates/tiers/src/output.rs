//! What a process prints: kept up to a cap, and told of once it goes over.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const PIECE: usize = 64 << 10;
/// How long what is left in a stream is waited for once nobody prints any more. Its end may never come: whoever printed
/// may have given the stream away, to a process in another session or into a socket where it lies unread.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(300);

/// A stream that is read by a thread of its own, until it ends or is too long.
pub struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    over: Arc<AtomicBool>,
    /// Ends with the thread.
    reader: Receiver<()>,
}

impl Output {
    /// Where there is more than `cap`, `wake` is shut down, which ends whoever reads from it.
    pub fn capture(mut from: impl Read + Send + 'static, cap: u64, wake: UnixStream) -> Output {
        let (kept, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (alive, reader) = mpsc::channel();
        let (keep, tell) = (kept.clone(), over.clone());
        std::thread::spawn(move || {
            let _alive: mpsc::Sender<()> = alive;
            let mut buffer = vec![0; PIECE];
            while let Some(piece) = read_piece(&mut from, &mut buffer) {
                let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
                let room = usize::try_from(cap).unwrap_or(usize::MAX).saturating_sub(kept.len());
                kept.extend_from_slice(&piece[..piece.len().min(room)]);
                if piece.len() > room {
                    tell.store(true, Ordering::SeqCst);
                    let _ = wake.shutdown(std::net::Shutdown::Both);
                    return;
                }
            }
        });
        Output { kept, over, reader }
    }

    /// What was printed, and whether it was more than that. To be called once every process that could print is gone.
    pub fn finish(self) -> (Vec<u8>, bool) {
        let _ = self.reader.recv_timeout(DRAIN_TIMEOUT);
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        (kept, self.over.load(Ordering::SeqCst))
    }
}

/// What comes next; none at the end.
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
