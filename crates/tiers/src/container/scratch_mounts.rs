//! Counts the files in a container's scratch space: inodes take kernel memory that the size of a tmpfs does not bound.

use std::fs::File;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::arguments::SCRATCH;
use crate::scratch::count_files;

/// The scratch mounts of a container, opened from the host once its first process exists.
pub struct ScratchMounts<'a> {
    pid_file: &'a Path,
    open: Vec<File>,
}

impl ScratchMounts<'_> {
    pub fn new(pid_file: &Path) -> ScratchMounts<'_> {
        ScratchMounts { pid_file, open: Vec::new() }
    }

    /// Whether one of them has more files than this. Mounts that can't be opened yet count as empty.
    pub fn has_more_files_than(&mut self, most: u32) -> bool {
        if self.open.is_empty() {
            self.open = self.open_mounts();
        }
        self.open.iter().any(|place| rustix::fs::fstatfs(place).map_or(0, count_files) > u64::from(most))
    }

    fn open_mounts(&self) -> Vec<File> {
        let Some(pid) = std::fs::read_to_string(self.pid_file).ok().and_then(|text| text.trim().parse::<u32>().ok())
        else {
            return Vec::new();
        };
        let root = format!("/proc/{pid}/root");
        let Ok(root) = rustix::fs::open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
            return Vec::new();
        };
        let open = |place: &str| {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            rustix::fs::openat(&root, place.trim_start_matches('/'), flags, Mode::empty()).ok().map(File::from)
        };
        let found: Option<Vec<File>> = SCRATCH.into_iter().map(open).collect();
        // Until all are mounted, these paths may be the image's own folders.
        found.filter(|places| places.iter().all(is_in_memory)).unwrap_or_default()
    }
}

fn is_in_memory(place: &File) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    rustix::fs::fstatfs(place).is_ok_and(|found| found.f_type == TMPFS)
}
