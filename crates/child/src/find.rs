//! Where a program is. Not in the current folder, which may be a stranger's: an empty or relative entry of the `PATH`
//! means that one.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program's absolute path. A name that has a slash is somebody's own word, and means what it says.
pub fn find_program(name: &OsStr) -> io::Result<PathBuf> {
    find_in(name, &std::env::var_os("PATH").unwrap_or_default())
}

pub(super) fn find_in(name: &OsStr, path: &OsStr) -> io::Result<PathBuf> {
    if Path::new(name).components().count() > 1 || Path::new(name).is_absolute() {
        return std::path::absolute(name);
    }
    let mut places = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let found = places.find_map(|folder| Some(folder.join(name)).filter(|program| is_program(program)));
    found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

/// The `PATH` for what a child looks for itself.
pub fn absolute_path() -> Option<OsString> {
    let path = std::env::var_os("PATH")?;
    std::env::join_paths(std::env::split_paths(&path).filter(|folder| folder.is_absolute())).ok()
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
