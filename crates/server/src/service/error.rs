//! Why there is no report of a call.

use std::time::Duration;

use crate::NoSession;
use skillcell_host::HostError;
use skillcell_packages::skill::BundleError;

/// Why there is no report of a call. What the skill did is never an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No skill with this id is served, or not to this client.
    #[error("there is no skill `{0}`")]
    NoSuchSkill(String),
    /// The params are no JSON.
    #[error("the params are not JSON: {0}")]
    Params(#[from] serde_json::Error),
    /// The skill has no such script, or none at all.
    #[error("the skill `{skill}` has no script `{script}`")]
    NoSuchScript {
        /// The skill's id.
        skill: String,
        /// As it was asked for.
        script: String,
    },
    /// The skill is in the Agent Skills format, and the call names none of its scripts.
    #[error("the skill `{0}` has no `execute`: name one of its scripts")]
    OnlyScripts(String),
    /// The files of a call can't be laid into the skill's folder.
    #[error("the files can't be laid into the skill's folder: {0}")]
    Files(BundleError),
    /// Too many calls wait already, or this one waited for all of its time. Nothing ran.
    #[error("too many calls are waiting; try again in {} s", retry_after.as_secs())]
    Busy {
        /// When it is worth trying again.
        retry_after: Duration,
    },
    /// The client calls more often than its token allows. Nothing ran.
    #[error("this token may not call that often; try again in {} s", retry_after.as_secs_f64().ceil())]
    RateExceeded {
        /// When it may call again.
        retry_after: Duration,
    },
    /// The session is not this client's, or another can't be opened. Nothing ran.
    #[error(transparent)]
    Session(#[from] NoSession),
    /// The server is about to end. Nothing ran.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// A limit that this server does not count.
    #[error("the limit `{0}` is not offered here")]
    NotOffered(&'static str),
    /// The host could not do its part. Its words are for the operator: they may name files of this machine.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The call was lost by a mistake of this program.
    #[error("the call failed in the server")]
    Failed,
}

impl CallError {
    /// What it is counted as, if it is a call that did not get a worker.
    pub(crate) fn turned_away(&self) -> Option<&'static str> {
        match self {
            CallError::Busy { .. } => Some("busy"),
            CallError::RateExceeded { .. } => Some("rate_exceeded"),
            CallError::ShuttingDown => Some("shutting_down"),
            _ => None,
        }
    }
}
