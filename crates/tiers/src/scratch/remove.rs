//! Removes an untrusted tree of any depth, without long paths, without recursion and with few descriptors. Folders that are
//! too deep are moved to the top and removed from there.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir};

use super::used::{make_accessible, open_folder};

/// How many nested folders are open at once.
const MAX_DEPTH: usize = 48;
/// Gives up after this many rounds that removed nothing.
const MAX_IDLE: u32 = 100;

/// Removes a folder and its content. No process may be writing to it.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let name = CString::new(name.as_encoded_bytes())?;
    let parent = std::fs::File::open(parent)?;
    let top = open_folder(parent.as_fd(), &name).ok_or(io::ErrorKind::NotFound)?;
    let (mut moved, mut idle) = (0, 0);
    while idle < MAX_IDLE {
        if entry_names(top.as_fd())?.is_empty() {
            return Ok(rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR)?);
        }
        idle += u32::from(take_apart(top.as_fd(), &mut moved)? == 0);
    }
    Err(io::ErrorKind::DirectoryNotEmpty.into())
}

/// An open folder, and the names in it that are left to remove.
struct Level {
    folder: OwnedFd,
    name: CString,
    left: Vec<CString>,
}

/// Walks the tree once, and returns how many entries were removed.
fn take_apart(top: BorrowedFd<'_>, moved: &mut u64) -> io::Result<u64> {
    let mut gone = 0;
    let mut open: Vec<Level> = Vec::new();
    let mut at_top = entry_names(top)?;
    loop {
        let depth = open.len();
        let (folder, left) = match open.last_mut() {
            Some(level) => (level.folder.as_fd(), &mut level.left),
            None => (top, &mut at_top),
        };
        if let Some(name) = left.pop() {
            if try_remove(folder, &name) {
                gone += 1;
                continue;
            }
            make_accessible(folder, &name);
            // A folder that is not empty: go down, or move it up if that would be too deep.
            if depth == MAX_DEPTH {
                *moved += 1;
                let _ = rustix::fs::renameat(folder, &name, top, format!(".skillcell-{moved}"));
            } else if let Some(folder) = open_folder(folder, &name) {
                let left = entry_names(folder.as_fd())?;
                open.push(Level { folder, name, left });
            }
        } else if let Some(level) = open.pop() {
            let parent = open.last().map_or(top, |level| level.folder.as_fd());
            gone += u64::from(rustix::fs::unlinkat(parent, &level.name, AtFlags::REMOVEDIR).is_ok());
        } else {
            return Ok(gone);
        }
    }
}

/// Removes a file or an empty folder; returns whether that worked.
fn try_remove(folder: BorrowedFd<'_>, name: &CString) -> bool {
    let remove = |flags| rustix::fs::unlinkat(folder, name, flags).is_ok();
    remove(AtFlags::empty()) || remove(AtFlags::REMOVEDIR)
}

fn entry_names(folder: BorrowedFd<'_>) -> io::Result<Vec<CString>> {
    let entries = Dir::read_from(folder)?;
    let names = entries.flatten().map(|entry| entry.file_name().to_owned());
    Ok(names.filter(|name| !matches!(name.as_bytes(), b"." | b"..")).collect())
}
