//! This process's standard input, read as a script asks for it: a script that reads nothing waits for nobody.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use skillcell_host::entry::InputStream;

const CHUNK: usize = 64 << 10;

/// Reading begins with the first question. A thread waits for what comes, since a read can't be called off.
#[derive(Default)]
pub struct HostStdin(Mutex<State>);

#[derive(Default)]
struct State {
    chunks: Option<Receiver<io::Result<Vec<u8>>>>,
    /// What was received and not asked for yet.
    rest: Vec<u8>,
    at_end: bool,
}

impl InputStream for HostStdin {
    fn read(&self, buf: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.rest.is_empty() && !state.at_end {
            match state.chunks.get_or_insert_with(start_reading).recv_timeout(wait) {
                Ok(chunk) => state.rest = chunk?,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {}
            }
            state.at_end = state.rest.is_empty();
        }
        let count = state.rest.len().min(buf.len());
        buf[..count].copy_from_slice(&state.rest[..count]);
        state.rest.drain(..count);
        Ok(Some(count))
    }

    fn is_terminal(&self) -> bool {
        io::stdin().is_terminal()
    }
}

/// Sends what is read, one piece ahead at most; nothing is the end. The thread ends with the input, or with the process.
fn start_reading() -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        loop {
            let mut chunk = vec![0; CHUNK];
            let read = io::stdin().lock().read(&mut chunk).map(|count| {
                chunk.truncate(count);
                chunk
            });
            let is_last = !matches!(&read, Ok(chunk) if !chunk.is_empty());
            if sender.send(read).is_err() || is_last {
                break;
            }
        }
    });
    receiver
}
