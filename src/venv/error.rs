//! Why an environment could not be made, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{cache, provision};

/// An environment that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VenvError {
    #[error(transparent)]
    Cache(#[from] cache::Error),
    /// No Python was found.
    #[error(transparent)]
    Provision(#[from] provision::Error),
    /// A requirement that is not a name with versions: an option, an address, a path.
    #[error("the requirement `{requirement}` is refused: {why}")]
    Requirement { requirement: String, why: &'static str },
    /// A Python that can't be asked about itself.
    #[error("`{}` can't be used: {why}", python.display())]
    Python { python: PathBuf, why: String },
    /// A step of the work failed.
    #[error("can't {what}:\n{output}")]
    Failed { what: String, output: String },
    /// A step took too long.
    #[error("gave up to {what} after {} s", after.as_secs())]
    Timeout { what: String, after: Duration },
    /// pip's report makes no sense.
    #[error("pip's report can't be used: {0}")]
    Report(String),
    /// A package that is pinned came with other bytes.
    #[error("`{name}` {version} is not the pinned one: its sha256 is {found}, expected {expected}")]
    Pinned { name: String, version: String, found: String, expected: String },
    #[error("can't {what} `{}`", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
}

impl VenvError {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> VenvError {
        move |source| VenvError::Io { what, path: path.to_owned(), source }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            VenvError::Cache(error) => error.hint(),
            VenvError::Provision(error) => error.hint(),
            VenvError::Requirement { .. } => Some("write it as a name with versions, such as `pymupdf>=1.24`".into()),
            VenvError::Failed { output, .. } if output.contains("no such option") => {
                Some("this needs pip 22.3 or newer: `python3 -m pip install --upgrade pip`".into())
            }
            VenvError::Failed { output, .. } if output.contains("No matching distribution") => Some(
                "only wheels are taken, since building a package would run its code here; check pip's index settings \
                 (`pip config list`), or give wheels with `--from-wheel`"
                    .into(),
            ),
            VenvError::Failed { .. } | VenvError::Timeout { .. } => Some(
                "check pip's index and proxy settings (`pip config list`), or give wheels with `--from-wheel`".into(),
            ),
            VenvError::Python { .. } => Some("name another Python with `SKILLCELL_PYTHON`".into()),
            _ => None,
        }
    }
}
