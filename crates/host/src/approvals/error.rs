//! What can go wrong with approvals, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use super::place::FOLDER_VARIABLE;
use skillcell_cache::is_shared;
use skillcell_quote::{brief, shell_word};

/// Approvals that can't be read or kept. Nothing is run by approvals in doubt, so this is an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// No folder was named, and the environment has no hint of one.
    #[error("no place for approvals: neither `{FOLDER_VARIABLE}`, `XDG_DATA_HOME` nor `HOME` is set")]
    NoPlace,
    /// The system did not let the folder or a file in it be used.
    #[error("can't {what} `{}`", path.display())]
    Io {
        /// What was tried: a verb, as `open`.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Someone else could write there, and so decide what skills may do.
    #[error("`{}` could be changed by others (owner {owner}, mode {mode:04o}), and decides what skills may do", path.display())]
    Open {
        /// The file or folder.
        path: PathBuf,
        /// The number of the user that it belongs to.
        owner: u32,
        /// Its permission bits.
        mode: u32,
    },
    /// The file is not of the form that it should have.
    #[error("the approvals in `{}` can't be read: {problem}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, in words.
        problem: String,
    },
    /// The file would get longer than 16 MiB; revoke something first.
    #[error("there is no room for another approval in `{}`", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
}

impl ApprovalError {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ApprovalError {
        move |source| ApprovalError::Io { what, path: path.to_owned(), source }
    }

    pub(super) fn bad_file(path: &Path, problem: impl ToString) -> ApprovalError {
        ApprovalError::Bad { path: path.to_owned(), problem: brief(&problem.to_string()) }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            ApprovalError::NoPlace => Some(format!("set `{FOLDER_VARIABLE}` to a folder of your own")),
            ApprovalError::Open { path, .. } if is_shared(path) => {
                Some(format!("name another folder with `{FOLDER_VARIABLE}`"))
            }
            ApprovalError::Open { path, .. } => {
                let path = shell_word(&path.to_string_lossy());
                Some(format!("if it is yours and as you left it, `chmod go-w {path}` closes it"))
            }
            ApprovalError::Bad { path, .. } => {
                let path = shell_word(&path.to_string_lossy());
                Some(format!("move it away (`mv {path} {path}.bad`) and approve your skills again"))
            }
            ApprovalError::Full { .. } => {
                Some("`skillcell approve --list` shows them, `skillcell approve --revoke SKILL` removes one".into())
            }
            ApprovalError::Io { .. } => None,
        }
    }
}
