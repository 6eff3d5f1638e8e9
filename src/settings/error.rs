//! What is wrong with settings, and where.

use std::path::PathBuf;

use crate::policy::BadPolicyFile;

/// Why settings can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    #[error("the policy file `{path}` can't be read", path = path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("the policy file `{path}` is wrong", path = path.display())]
    NotText { path: PathBuf, source: std::string::FromUtf8Error },
    /// The source has the line.
    #[error("the policy file `{path}` is wrong", path = path.display())]
    BadFile { path: PathBuf, source: BadPolicyFile },
    #[error("the variable `{name}` is `{value}`: {why}")]
    BadVariable { name: &'static str, value: String, why: String },
}
