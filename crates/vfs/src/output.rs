//! A captured standard stream. What a cell prints stays here until the host takes it; nothing reaches the host's own streams.

/// Bytes printed so far, never more than `limit`.
#[derive(Debug, Default)]
pub struct Output {
    pub bytes: Vec<u8>,
    pub limit: usize,
}

impl Output {
    pub fn new(limit: usize) -> Output {
        Output { bytes: Vec::new(), limit }
    }

    /// Keeps what fits of `data`; `false` when that was not all of it.
    pub fn push(&mut self, data: &[u8]) -> bool {
        let fits = data.len().min(self.limit.saturating_sub(self.bytes.len()));
        self.bytes.extend_from_slice(&data[..fits]);
        fits == data.len()
    }
}
