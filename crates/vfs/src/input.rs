//! What a cell reads as standard input: nothing, bytes that are there, or a stream of the host's that is read as the cell asks.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::errno::Errno;

/// How long one look at a stream waits; between two looks the call's deadline counts.
const LOOK: Duration = Duration::from_millis(20);

/// Standard input. A clone of a stream goes on where the other is.
#[derive(Clone, Default)]
pub enum Input {
    /// It is at its end.
    #[default]
    Empty,
    /// These bytes, from the first on.
    Bytes(Arc<[u8]>),
    /// Whatever comes.
    Stream(Arc<dyn InputStream>),
}

/// Input that comes in its own time. Nothing of it is read before a cell asks.
pub trait InputStream: Send + Sync {
    /// Reads what is there, and waits no longer than `wait` if that is nothing: then it is `None`. 0 is the end.
    fn read(&self, buf: &mut [u8], wait: Duration) -> io::Result<Option<usize>>;

    /// Whether somebody types it.
    fn is_terminal(&self) -> bool;
}

impl Input {
    /// Reads from `offset` on, which is where the last read ended. `Again` if nothing came for a while.
    pub(super) fn read(&self, buf: &mut [u8], offset: u64) -> Result<usize, Errno> {
        match self {
            _ if buf.is_empty() => Ok(0),
            Input::Empty => Ok(0),
            Input::Bytes(bytes) => {
                let left = usize::try_from(offset).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
                let count = left.len().min(buf.len());
                buf[..count].copy_from_slice(&left[..count]);
                Ok(count)
            }
            Input::Stream(stream) => match stream.read(buf, LOOK) {
                Ok(Some(count)) => Ok(count.min(buf.len())),
                Ok(None) => Err(Errno::Again),
                Err(_) => Err(Errno::Io),
            },
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Input::Stream(stream) if stream.is_terminal())
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::Empty => f.write_str("Empty"),
            Input::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Input::Stream(_) => f.write_str("Stream"),
        }
    }
}
