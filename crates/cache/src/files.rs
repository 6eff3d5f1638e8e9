//! The few file operations that the cache allows itself, with the modes it insists on.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::{Error, Result};

/// Opens a file of the cache for reading; a symbolic link in its place is an error. With `O_NONBLOCK` a planted pipe
/// can't block the open before its type is checked.
pub(super) fn open_plain(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    OpenOptions::new().read(true).custom_flags(flags as i32).open(path)
}

/// Creates a file that must not exist yet.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Creates a folder that must not exist yet.
pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Why this open file can't be one that the cache wrote; `None` if it can.
pub(super) fn why_foreign(meta: &Metadata) -> Option<&'static str> {
    if !meta.is_file() {
        Some("it is not a regular file")
    } else if ![0, rustix::process::geteuid().as_raw()].contains(&meta.uid()) {
        Some("another user owns it")
    } else if meta.mode() & 0o022 != 0 {
        Some("others can write to it")
    } else {
        None
    }
}

/// Removes whatever is at `path`; nothing there is fine, and a link is removed, not followed.
pub(super) fn remove_any(path: &Path) -> Result<()> {
    let gone = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match gone {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(Error::io("remove", path)),
    }
}

/// Makes renames in a folder survive a power cut.
pub(super) fn sync_dir(path: &Path) -> Result<()> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(Error::io("flush", path))
}

/// The size of all files below a folder; links count nothing.
pub fn tree_size(dir: &Path) -> u64 {
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => tree_size(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    fs::read_dir(dir).map_or(0, |entries| entries.flatten().map(size).sum())
}
