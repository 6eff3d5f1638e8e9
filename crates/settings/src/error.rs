//! What is wrong with settings, and where.

use std::path::PathBuf;

use super::BadToken;
use skillcell_policy::BadPolicyFile;

/// Why settings can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The policy file can't be read.
    #[error("the policy file `{path}` can't be read", path = path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: std::io::Error,
    },
    /// The policy file is no UTF-8.
    #[error("the policy file `{path}` is wrong", path = path.display())]
    NotText {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: std::string::FromUtf8Error,
    },
    /// The source has the line.
    #[error("the policy file `{path}` is wrong", path = path.display())]
    BadFile {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: BadPolicyFile,
    },
    /// A token of the policy file makes no sense.
    #[error("the policy file `{path}` is wrong", path = path.display())]
    BadToken {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: BadToken,
    },
    /// A variable of the environment makes no sense.
    #[error("the variable `{name}` is `{value}`: {why}")]
    BadVariable {
        /// Which variable.
        name: &'static str,
        /// What it holds.
        value: String,
        /// What is wrong with that.
        why: String,
    },
}
