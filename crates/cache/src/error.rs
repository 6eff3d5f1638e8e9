//! What can go wrong with the cache, and what to do about it.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A cache that can't be used, or work in it that failed. A damaged artefact is not an error: it is discarded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither a setting nor the environment says where the cache is.
    #[error("no place for the cache: neither `SKILLCELL_CACHE_DIR`, `XDG_CACHE_HOME` nor `HOME` is set")]
    NoPlace,
    /// Something else is where a folder should be.
    #[error("the cache folder `{}` is not a directory", path.display())]
    NotADirectory { path: PathBuf },
    /// Someone else owns the folder, so they decide what is in it.
    #[error("the cache folder `{}` belongs to user {owner}, but this process runs as user {user}", path.display())]
    Owner { path: PathBuf, owner: u32, user: u32 },
    /// Others may write into the folder.
    #[error("the cache folder `{}` can be written by others (mode {mode:04o})", path.display())]
    Open { path: PathBuf, mode: u32 },
    /// Others may replace the cache by way of a folder above it.
    #[error("the cache folder `{}` is not safe: others can write to `{}` above it (mode {mode:04o})", path.display(), ancestor.display())]
    AncestorOpen { path: PathBuf, ancestor: PathBuf, mode: u32 },
    /// Someone else may replace the cache, since a folder above it is theirs.
    #[error("the cache folder `{}` is not safe: `{}` above it belongs to user {owner}", path.display(), ancestor.display())]
    AncestorOwner { path: PathBuf, ancestor: PathBuf, owner: u32 },
    /// Not a plain file name.
    #[error("`{name}` can't name a cache entry")]
    Name { name: String },
    /// Writing failed, most likely for want of space.
    #[error("can't write `{}` ({needed} bytes needed so far)", path.display())]
    Write { path: PathBuf, needed: u64, source: io::Error },
    /// What is needed is not in the cache, and can't be put there.
    #[error("the cache lacks something that is needed, and can't be written: `{}`", path.display())]
    ReadOnly { path: PathBuf },
    /// Any other failed file operation.
    #[error("can't {what} `{}`", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    /// The caller's description of an artefact is larger than a seal may be.
    #[error("the description of `{name}` takes {bytes} bytes, more than the {limit} that a seal may hold")]
    SealSize { name: String, bytes: u64, limit: u64 },
    /// It was written and published, yet it does not open.
    #[error("`{}` was published but can't be opened again", path.display())]
    Vanished { path: PathBuf },
    /// A sealed pack whose index makes no sense: another format, not a damaged disk.
    #[error("the pack `{}` can't be used: {what}", path.display())]
    Pack { path: PathBuf, what: String },
}

impl Error {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { what, path: path.to_owned(), source }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        let elsewhere = "name another folder with `SKILLCELL_CACHE_DIR`";
        match self {
            Error::NoPlace => Some("set `SKILLCELL_CACHE_DIR` to a folder of your own".into()),
            Error::NotADirectory { .. } => Some(format!("move it away, or {elsewhere}")),
            Error::Owner { path, user, .. } => {
                let path = path.display();
                Some(format!("run `sudo chown -R {user} '{path}'`, or {elsewhere}"))
            }
            // A folder for everybody, such as /tmp, is to stay one.
            Error::Open { path, .. } | Error::AncestorOpen { ancestor: path, .. } if is_shared(path) => {
                Some(elsewhere.to_owned())
            }
            Error::Open { path, .. } => Some(format!("run `chmod -R go-w '{}'`, or {elsewhere}", path.display())),
            Error::AncestorOpen { ancestor, .. } => {
                Some(format!("run `chmod go-w '{}'`, or {elsewhere}", ancestor.display()))
            }
            Error::AncestorOwner { .. } => Some(elsewhere.to_owned()),
            Error::ReadOnly { .. } => Some(format!(
                "make it where it can be written, with `skillcell build SKILL` for each skill that is to be called, or {elsewhere}"
            )),
            Error::Write { .. } => Some("free some space, or move the cache folder with `SKILLCELL_CACHE_DIR`".into()),
            Error::Io { what: "lock", .. } => {
                Some(format!("some network file systems have no locks: {elsewhere} on a local disk"))
            }
            Error::Vanished { .. } => Some("does something else clean or alter the cache folder?".into()),
            _ => None,
        }
    }
}

/// Whether others are meant to write to a folder: it has the sticky bit.
pub fn is_shared(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o1000 != 0)
}
