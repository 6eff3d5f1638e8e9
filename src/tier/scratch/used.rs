//! How much is in a folder that somebody else writes to meanwhile.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

/// Folders in folders that are looked into; each is a descriptor meanwhile. What goes deeper counts as more than any limit.
const MAX_DEPTH: usize = 64;

/// Bytes on disk, and files and folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    pub bytes: u64,
    pub files: u64,
}

/// What is below a folder, or the first part of it that is more than `most`.
pub fn below(folder: &Path, most: &Used) -> Used {
    let mut used = Used::default();
    let Ok(root) = rustix::fs::open(folder, FOLDER, Mode::empty()) else { return used };
    let Ok(root) = Dir::new(root) else { return used };
    let mut open = vec![root];
    while let Some(dir) = open.last_mut() {
        let Some(Ok(entry)) = dir.next() else {
            open.pop();
            continue;
        };
        let name = entry.file_name().to_owned();
        if name.as_bytes() == b"." || name.as_bytes() == b".." {
            continue;
        }
        let Ok(parent) = dir.fd() else { continue };
        // It may be gone by now.
        let Ok(found) = rustix::fs::statat(parent, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        used.files += 1;
        used.bytes = used.bytes.saturating_add(u64::try_from(found.st_blocks).unwrap_or_default().saturating_mul(512));
        if used.files > most.files || used.bytes > most.bytes {
            return used;
        }
        if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
            let inner = open_folder(parent, &name).and_then(|inner| Dir::new(inner).ok());
            open.extend(inner);
            if open.len() > MAX_DEPTH {
                return Used { files: u64::MAX, ..used };
            }
        }
    }
    used
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder in a folder, never what a link leads to. One that its maker closed even to itself is opened first.
pub fn open_folder(parent: BorrowedFd<'_>, name: &CString) -> Option<OwnedFd> {
    match rustix::fs::openat(parent, name, FOLDER, Mode::empty()) {
        Err(Errno::ACCESS) => {
            make_accessible(parent, name);
            rustix::fs::openat(parent, name, FOLDER, Mode::empty()).ok()
        }
        opened => opened.ok(),
    }
}

pub fn make_accessible(parent: BorrowedFd<'_>, name: &CString) {
    let path_only = (FOLDER - OFlags::RDONLY) | OFlags::PATH;
    if let Ok(folder) = rustix::fs::openat(parent, name, path_only, Mode::empty()) {
        let path = format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd());
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700));
    }
}
