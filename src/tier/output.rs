//! What a process prints: kept up to a cap, and told of once it goes over.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A stream that is read by a thread of its own, until it ends or is too long.
pub struct Output {
    reader: Option<JoinHandle<Vec<u8>>>,
    over: Arc<AtomicBool>,
}

impl Output {
    /// Where there is more than `cap`, `wake` is shut down, which ends whoever reads from it.
    pub fn capture(mut from: impl Read + Send + 'static, cap: u64, wake: UnixStream) -> Output {
        let over = Arc::new(AtomicBool::new(false));
        let tell = over.clone();
        let reader = std::thread::spawn(move || {
            let mut kept = Vec::new();
            let _ = (&mut from).take(cap.saturating_add(1)).read_to_end(&mut kept);
            if kept.len() as u64 > cap {
                kept.truncate(cap as usize);
                tell.store(true, Ordering::SeqCst);
                let _ = wake.shutdown(std::net::Shutdown::Both);
            }
            kept
        });
        Output { reader: Some(reader), over }
    }

    /// What was printed, and whether it was more than that. To be called once every process that could print is gone.
    pub fn finish(mut self) -> (Vec<u8>, bool) {
        let kept = self.reader.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        (kept, self.over.load(Ordering::SeqCst))
    }
}
