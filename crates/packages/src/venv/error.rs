//! Why an environment could not be made, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate as packages;
use crate::provision;
use skillcell_cache as cache;

/// An environment that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum VenvError {
    #[error(transparent)]
    Cache(#[from] cache::Error),
    /// No Python was found.
    #[error(transparent)]
    Provision(#[from] provision::Error),
    /// What is to be in it could not be found out.
    #[error(transparent)]
    Packages(#[from] packages::Error),
    /// A requirement that is not a name with versions: an option, an address, a path. It has the chain that leads to it.
    #[error("the requirement `{requirement}` is refused: {why}")]
    Requirement { requirement: String, why: String },
    /// A package that can't be had.
    #[error("can't resolve the requirements: {what}")]
    Unmet { what: String },
    /// A Python that can't be asked about itself.
    #[error("`{}` can't be used: {why}", python.display())]
    Python { python: PathBuf, why: String },
    /// A step of the work failed.
    #[error("can't {what}:\n{output}")]
    Failed { what: String, output: String },
    /// A step took too long.
    #[error("gave up to {what} after {} s", after.as_secs())]
    Timeout { what: String, after: Duration },
    /// What is kept of an environment makes no sense.
    #[error("the list of an environment's packages can't be read: {0}")]
    Lock(String),
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
            VenvError::Packages(error) => error.hint(),
            VenvError::Requirement { .. } => Some("write it as a name with versions, such as `pymupdf>=1.24`".into()),
            VenvError::Unmet { .. } => Some(
                "only wheels are taken, since building a package would run its code here; check pip's index settings \
                 (`pip config list`), or give wheels with `--from-wheel`"
                    .into(),
            ),
            VenvError::Python { .. } | VenvError::Failed { .. } => {
                Some("name another Python with `SKILLCELL_PYTHON`".into())
            }
            _ => None,
        }
    }
}
