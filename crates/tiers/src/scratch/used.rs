//! Measures a folder while a process writes to it.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

/// How many nested folders are opened, each with a descriptor. A deeper tree counts as over any limit.
const MAX_DEPTH: usize = 64;

/// Bytes on disk, and files and folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    pub bytes: u64,
    pub files: u64,
}

impl Used {
    fn exceeds(&self, most: &Used) -> bool {
        self.bytes > most.bytes || self.files > most.files
    }

    /// Adds the entries of a folder, and returns the names of its subfolders. Names are read before any `stat`, which takes
    /// longer while a process creates files, so that too many files are noticed early.
    fn add_folder(&mut self, folder: BorrowedFd<'_>, most: &Used) -> Vec<CString> {
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        for entry in Dir::read_from(folder).into_iter().flatten().flatten() {
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            self.files += 1;
            if self.exceeds(most) {
                return Vec::new();
            }
            let list = if entry.file_type() == FileType::Directory { &mut folders } else { &mut files };
            list.push(entry.file_name().to_owned());
        }
        for name in files {
            // It may be gone by now.
            let Ok(file) = rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let bytes = u64::try_from(file.st_blocks).unwrap_or_default().saturating_mul(512);
            self.bytes = self.bytes.saturating_add(bytes);
            // Not every file system reports types in directory entries.
            if FileType::from_raw_mode(file.st_mode) == FileType::Directory {
                folders.push(name);
            }
        }
        folders
    }
}

/// What is below a folder; stops early once that exceeds `most`.
pub fn measure_tree(folder: &Path, most: &Used) -> Used {
    let mut used = Used::default();
    let Ok(folder) = rustix::fs::open(folder, FOLDER, Mode::empty()) else { return used };
    let inner = used.add_folder(folder.as_fd(), most);
    let mut open = vec![(folder, inner)];
    while let Some((folder, inner)) = open.last_mut() {
        let Some(name) = inner.pop() else {
            open.pop();
            continue;
        };
        let Some(folder) = open_folder(folder.as_fd(), &name) else { continue };
        let inner = used.add_folder(folder.as_fd(), most);
        open.push((folder, inner));
        if used.exceeds(most) {
            return used;
        }
        if open.len() > MAX_DEPTH {
            return Used { files: u64::MAX, ..used };
        }
    }
    used
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a subfolder without following links. If its mode denies access even to its owner, the mode is changed first.
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
    if let Ok(folder) = rustix::fs::openat(parent, name, FOLDER | OFlags::PATH, Mode::empty()) {
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700));
    }
}
