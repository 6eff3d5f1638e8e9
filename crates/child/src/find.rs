//! Looks up programs in the `PATH`. Empty and relative entries are skipped: they mean the current folder, which may be
//! untrusted.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program's absolute path. A name with a slash is a path already and is not looked up in the `PATH`.
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

/// The `PATH` without empty and relative entries, for a child that looks up programs itself.
pub fn absolute_path() -> Option<OsString> {
    let path = std::env::var_os("PATH")?;
    std::env::join_paths(std::env::split_paths(&path).filter(|folder| folder.is_absolute())).ok()
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
