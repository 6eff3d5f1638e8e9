//! A captured standard stream. What a cell prints stays here until the host takes it; nothing reaches the host's own streams.

use std::fmt;

/// Told of what is printed, when it is printed. It runs in the cell's own thread, so it must not wait.
pub type Follower = Box<dyn FnMut(&[u8]) + Send>;

/// Bytes printed so far, never more than `limit`.
#[derive(Default)]
pub struct Output {
    pub bytes: Vec<u8>,
    pub limit: usize,
    follower: Option<Follower>,
}

impl Output {
    pub fn new(limit: usize) -> Output {
        Output { bytes: Vec::new(), limit, follower: None }
    }

    /// Keeps what fits of `data`; `false` when that was not all of it.
    pub fn push(&mut self, data: &[u8]) -> bool {
        let fits = data.len().min(self.limit.saturating_sub(self.bytes.len()));
        self.bytes.extend_from_slice(&data[..fits]);
        if let Some(tell) = &mut self.follower {
            tell(&data[..fits]);
        }
        fits == data.len()
    }

    /// Tells of what was printed so far, and from now on of what is kept, until it is taken.
    pub fn follow(&mut self, mut tell: Follower) {
        tell(&self.bytes);
        self.follower = Some(tell);
    }

    /// Takes what was printed. Nobody is told of more.
    pub fn take(&mut self) -> Vec<u8> {
        self.follower = None;
        std::mem::take(&mut self.bytes)
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("bytes", &self.bytes.len()).field("limit", &self.limit).finish_non_exhaustive()
    }
}
