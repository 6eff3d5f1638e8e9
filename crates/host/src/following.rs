//! Tells whoever asked of what a cell prints, while it runs. What a call may not show is not told: with secrets, the text is
//! held back until no value can start in it, and the rest of it is in the report.

use std::fmt;
use std::sync::Arc;

use skillcell_cell::Cell;
use skillcell_http::{Scrubber, Scrubbing};
use skillcell_vfs::Follower;

/// Which of the two streams it was printed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintedTo {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

type Tell = dyn Fn(PrintedTo, &[u8]) + Send + Sync;

/// Told of each piece that a cell prints. It is called in the call's thread, which waits for it: it must not block. All pieces of
/// a stream together are the beginning of what the report has of it.
#[derive(Clone)]
pub struct OnOutput(Arc<Tell>);

impl OnOutput {
    /// Has this called with each piece.
    pub fn new(tell: impl Fn(PrintedTo, &[u8]) + Send + Sync + 'static) -> OnOutput {
        OnOutput(Arc::new(tell))
    }

    /// Follows both streams of a cell, from what it printed already.
    pub(crate) fn follow_cell(&self, cell: &mut Cell, scrubber: Option<&Arc<Scrubber>>) {
        let vfs = &mut cell.store().data_mut().wasi.vfs;
        vfs.stdout.follow(self.follower(PrintedTo::Stdout, scrubber));
        vfs.stderr.follow(self.follower(PrintedTo::Stderr, scrubber));
    }

    fn follower(&self, stream: PrintedTo, scrubber: Option<&Arc<Scrubber>>) -> Follower {
        let tell = self.0.clone();
        let Some(scrubber) = scrubber else { return Box::new(move |piece| tell(stream, piece)) };
        let (mut scrubbing, mut clean) = (Scrubbing::new(scrubber.clone()), Vec::new());
        Box::new(move |piece| {
            scrubbing.push(piece, &mut clean);
            tell(stream, &clean);
            clean.clear();
        })
    }
}

impl fmt::Debug for OnOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnOutput(..)")
    }
}
