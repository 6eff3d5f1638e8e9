//! Removes a tree that a stranger made: however deep it is, no path gets long, nothing recurses, and three descriptors
//! do. A folder in a folder is moved to the top, and is taken apart there.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir};

use super::used::{make_accessible, open_folder};

/// Rounds in which nothing went, before it is given up.
const MAX_ROUNDS: u32 = 1000;

/// Removes a folder with all that is in it. Nobody may be writing to it.
pub fn tree(folder: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let name = CString::new(name.as_encoded_bytes())?;
    let parent = std::fs::File::open(parent)?;
    let top = open_folder(parent.as_fd(), &name).ok_or(io::ErrorKind::NotFound)?;
    let (mut moved, mut stuck) = (0u64, 0);
    loop {
        let names = names(top.as_fd())?;
        if names.is_empty() {
            return Ok(rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR)?);
        }
        let gone = names.iter().filter(|name| take_apart(top.as_fd(), name, &mut moved)).count();
        stuck += u32::from(gone == 0);
        if stuck > MAX_ROUNDS {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
    }
}

/// Whether it is gone. A folder's files are removed with it, and its folders moved to the top.
fn take_apart(top: BorrowedFd<'_>, name: &CString, moved: &mut u64) -> bool {
    if rustix::fs::unlinkat(top, name, AtFlags::empty()).is_ok() {
        return true;
    }
    make_accessible(top, name);
    if let Some(folder) = open_folder(top, name) {
        for inner in names(folder.as_fd()).unwrap_or_default() {
            if rustix::fs::unlinkat(&folder, &inner, AtFlags::empty()).is_err() {
                // Moving a folder changes what is above it, which is written in it.
                make_accessible(folder.as_fd(), &inner);
                *moved += 1;
                let _ = rustix::fs::renameat(&folder, &inner, top, format!(".skillcell-{moved}"));
            }
        }
    }
    rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR).is_ok()
}

fn names(folder: BorrowedFd<'_>) -> io::Result<Vec<CString>> {
    let entries = Dir::read_from(folder)?;
    let names = entries.flatten().map(|entry| entry.file_name().to_owned());
    Ok(names.filter(|name| !matches!(name.as_bytes(), b"." | b"..")).collect())
}
