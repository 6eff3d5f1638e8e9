//! How many files are in the scratch folders of a process that has a file system of its own. Bubblewrap bounds their bytes;
//! a file without any is memory of the kernel's all the same, and takes its time to go.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

use super::{HOME, OURS};
use crate::limits::LimitKind;
use crate::tier::scratch::files_in;

const SCRATCH: [&str; 3] = ["/tmp", HOME, "/dev/shm"];

/// The file systems of one process, seen from outside.
pub struct Counted {
    root: PathBuf,
    places: [PathBuf; 3],
    /// A file that is there once all is mounted; before that, these are the host's own folders.
    sign: Metadata,
    most: u64,
}

impl Counted {
    /// `ours` is the file `run.py`, as the host has it.
    pub fn new(first: Pid, ours: &Path, most: u32) -> std::io::Result<Counted> {
        let root = PathBuf::from(format!("/proc/{}/root", first.as_raw_nonzero()));
        // Nothing is ever mounted over them, only in them.
        let places = SCRATCH.map(|place| below(&root, Path::new(place)));
        Ok(Counted { root, places, sign: ours.metadata()?, most: u64::from(most) })
    }

    /// All of them together, whether they have a name or not.
    pub fn exceeded(&self) -> Option<LimitKind> {
        let sign = below(&self.root, &Path::new(OURS).join("run.py")).metadata().ok()?;
        if (sign.dev(), sign.ino()) != (self.sign.dev(), self.sign.ino()) {
            return None;
        }
        let sum: u64 = self.places.iter().map(|place| rustix::fs::statfs(place).map_or(0, files_in)).sum();
        (sum > self.most).then_some(LimitKind::ScratchFiles)
    }
}

fn below(root: &Path, place: &Path) -> PathBuf {
    root.join(place.strip_prefix("/").unwrap_or(place))
}
