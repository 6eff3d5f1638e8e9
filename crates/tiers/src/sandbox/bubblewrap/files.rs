//! How many files are in the scratch folders of a process that has a file system of its own. Bubblewrap bounds their bytes;
//! a file without any is memory of the kernel's all the same, and takes its time to go.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

use super::{HOME, RUNNER};
use crate::scratch::count_files;
use skillcell_limits::LimitKind;

const SCRATCH: [&str; 3] = ["/tmp", HOME, "/dev/shm"];

/// The file systems of one process, seen from outside.
pub struct ScratchFiles {
    root: PathBuf,
    places: [PathBuf; 3],
    /// A file that is there once all is mounted; before that, these are the host's own folders.
    marker: Metadata,
    most: u64,
}

impl ScratchFiles {
    /// `runner` is the file `run.py`, as the host has it.
    pub fn new(init: Pid, runner: &Path, most: u32) -> std::io::Result<ScratchFiles> {
        let root = PathBuf::from(format!("/proc/{}/root", init.as_raw_nonzero()));
        // Nothing is ever mounted over them, only in them.
        let places = SCRATCH.map(|place| join_root(&root, Path::new(place)));
        Ok(ScratchFiles { root, places, marker: runner.metadata()?, most: u64::from(most) })
    }

    /// All of them together, whether they have a name or not.
    pub fn exceeded_limit(&self) -> Option<LimitKind> {
        let marker = join_root(&self.root, &Path::new(RUNNER).join("run.py")).metadata().ok()?;
        if (marker.dev(), marker.ino()) != (self.marker.dev(), self.marker.ino()) {
            return None;
        }
        let sum: u64 = self.places.iter().map(|place| rustix::fs::statfs(place).map_or(0, count_files)).sum();
        (sum > self.most).then_some(LimitKind::ScratchFiles)
    }
}

fn join_root(root: &Path, place: &Path) -> PathBuf {
    root.join(place.strip_prefix("/").unwrap_or(place))
}
