//! The audit of calls: a line of JSON for each decision and each host call that matters, in a file that calls and
//! processes may share.
//!
//! ```text
//!   Host::call ─▶ AuditLog::begin ─▶ Trail ─▶ begin, grants (before the skill runs)
//!   door, http, vfs ─▶ Trail ─▶ a line (before what was allowed is done) ─▶ one appended write
//!   Host::call ─▶ Trail::record_end ─▶ end (outcome, usage)
//! ```
//!
//! An allowed action is recorded before it happens, so that the file is complete up to the moment a call, or this
//! process, is killed. If it can't be recorded, it doesn't happen, and the call ends in an error. A line's text is
//! scrubbed of secrets, escaped and truncated; see [`Line`].

mod describe;
mod file;
mod grants;
mod http;
mod line;
mod origin;
mod paths;
mod trail;
pub mod when;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::describe::Verdict;
use self::file::LogFile;
pub use self::line::{Event, Line, MAX_LINE_BYTES};
pub use self::origin::RequestOrigin;
pub use self::trail::{Ended, Trail};

/// Why a call can't be audited, and is therefore not made or aborted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The file can't be opened or made.
    #[error("the audit file `{path}` can't be opened", path = path.display())]
    Open {
        /// As it was named.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is a pipe, a device or the like.
    #[error("the audit file `{path}` is not a plain file", path = path.display())]
    NotAFile {
        /// As it was named.
        path: PathBuf,
    },
    /// A line could not be written, so whatever it was about was not let through, nor anything after it.
    #[error("the audit file `{path}` can't be written, so nothing more was let through", path = path.display())]
    Write {
        /// As it was named.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A skill could change what is recorded of it.
    #[error("the audit file `{path}` lies in `{folder}`, which the skill may change", path = path.display())]
    Exposed {
        /// The audit file.
        path: PathBuf,
        /// The mounted folder that it lies in, as the grant names it.
        folder: String,
    },
    /// The system gave no random numbers.
    #[error("there are no random numbers for the name of the call")]
    NoEntropy,
}

impl AuditError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            AuditError::Exposed { .. } => Some("write the audit elsewhere, or mount the folder read-only".into()),
            AuditError::NotAFile { .. } => Some("lines of several writers stay apart only in a plain file".into()),
            _ => None,
        }
    }
}

/// Receives each line in addition to the file.
pub type Listener = dyn Fn(&Line) + Send + Sync;

/// Where calls are recorded: a file, a listener, or both. Clones share both.
#[derive(Clone, Default)]
pub struct AuditLog {
    file: Option<Arc<LogFile>>,
    listener: Option<Arc<Listener>>,
    /// The request that its calls came with.
    origin: Option<Arc<RequestOrigin>>,
}

impl AuditLog {
    /// A log that goes nowhere yet.
    pub fn new() -> AuditLog {
        AuditLog::default()
    }

    /// Appends to this file. It is made if it is not there, readable and writable by its owner only.
    pub fn to_file(self, path: &Path) -> Result<AuditLog, AuditError> {
        Ok(AuditLog { file: Some(Arc::new(LogFile::open(path)?)), ..self })
    }

    /// Tells someone of each line, once it is written.
    #[must_use]
    pub fn to_listener(self, listener: Arc<Listener>) -> AuditLog {
        AuditLog { listener: Some(listener), ..self }
    }

    /// The same log, for a call that came with a request.
    #[must_use]
    pub fn for_request(self, origin: Option<RequestOrigin>) -> AuditLog {
        // What goes nowhere needs no origin either.
        let origin = origin.filter(|_| !self.is_null()).map(Arc::new);
        AuditLog { origin, ..self }
    }

    /// Whether it goes nowhere.
    pub fn is_null(&self) -> bool {
        self.file.is_none() && self.listener.is_none()
    }

    fn write(&self, line: &Line) -> Result<(), AuditError> {
        if let Some(file) = &self.file {
            file.append(&line.to_json_line())?;
        }
        if let Some(listener) = &self.listener {
            listener(line);
        }
        Ok(())
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog").field("file", &self.file).finish_non_exhaustive()
    }
}
