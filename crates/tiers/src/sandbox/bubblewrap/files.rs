//! Counts the files in the scratch folders of a bubblewrap process. Bubblewrap bounds their bytes, but not the number of
//! inodes: empty files take kernel memory too, and time to remove.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

use super::{HOME, RUNNER};
use crate::scratch::count_files;
use skillcell_limits::LimitKind;

const SCRATCH: [&str; 3] = ["/tmp", HOME, "/dev/shm"];

/// The scratch file systems of one process, as seen from the host.
pub struct ScratchFiles {
    root: PathBuf,
    places: [PathBuf; 3],
    /// A file that is visible once all mounts are made; before that, these paths are the host's own folders.
    marker: Metadata,
    most: u64,
}

impl ScratchFiles {
    /// `runner` is the host's path of `run.py`.
    pub fn new(init: Pid, runner: &Path, most: u32) -> std::io::Result<ScratchFiles> {
        let root = PathBuf::from(format!("/proc/{}/root", init.as_raw_nonzero()));
        // Nothing can be mounted over these folders, only within them.
        let places = SCRATCH.map(|place| join_root(&root, Path::new(place)));
        Ok(ScratchFiles { root, places, marker: runner.metadata()?, most: u64::from(most) })
    }

    /// Checks the number of files in all folders together, unlinked files included.
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
