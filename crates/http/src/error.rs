//! What can go wrong, as the guest sees it: a small set that the shim turns into the exceptions of sockets and `ssl`.

use crate::gate::Refusal;

/// Why an operation on a guest's connection failed.
///
/// [`TimedOut`](HttpError::TimedOut) while reading and [`NotReady`](HttpError::NotReady) leave the connection as it was;
/// after any other error it stays failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// Policy, or a check that no policy can waive.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("`{host}` has no address")]
    NameNotFound { host: String },
    #[error("connecting to `{place}` failed: {reason}")]
    ConnectionRefused { place: String, reason: String },
    /// There is no way to the server, or it could not be connected to for another reason.
    #[error("connecting to `{place}` failed: {reason}")]
    Unreachable { place: String, reason: String },
    #[error("timed out while {doing}")]
    TimedOut { doing: &'static str },
    /// The call was cancelled, so nobody waits for what was to come.
    #[error("the call was cancelled")]
    Cancelled,
    #[error("TLS with `{host}` failed: {reason}")]
    Tls { host: String, reason: String },
    /// The server's certificate is not trusted, or is for another name.
    #[error("TLS with `{host}` failed: {reason}")]
    Certificate { host: String, reason: String },
    #[error("{what} exceeds {cap}")]
    TooLarge { what: &'static str, cap: u64 },
    /// The guest's bytes are not a request that can be read in one way only.
    #[error("bad request: {0}")]
    BadRequest(&'static str),
    /// The server's bytes are not an answer.
    #[error("bad answer: {0}")]
    BadAnswer(&'static str),
    /// The server broke off. An orderly end comes as an end of data instead, as from a socket.
    #[error("the connection was reset while {doing}")]
    Reset { doing: &'static str },
    /// Nothing was asked yet, or not completely: reading would wait for ever.
    #[error("there is nothing to read before a request is complete")]
    NotReady,
    /// No such connection.
    #[error("the connection is not open")]
    NotOpen,
}

impl HttpError {
    /// The name that goes into audit lines. What goes through the door is in docs/reference/door.md.
    pub fn code(&self) -> &'static str {
        match self {
            HttpError::Refused(_) => "refused",
            HttpError::NameNotFound { .. } => "name_not_found",
            HttpError::ConnectionRefused { .. } | HttpError::Unreachable { .. } => "connection_refused",
            HttpError::TimedOut { .. } => "timed_out",
            HttpError::Cancelled => "cancelled",
            HttpError::Tls { .. } | HttpError::Certificate { .. } => "tls_failed",
            HttpError::TooLarge { .. } => "too_large",
            HttpError::BadRequest(_) | HttpError::BadAnswer(_) => "protocol",
            HttpError::Reset { .. } => "reset",
            HttpError::NotReady => "not_ready",
            HttpError::NotOpen => "not_open",
        }
    }

    /// Whether the connection can be used on as if nothing had been asked.
    pub fn is_transient(&self) -> bool {
        matches!(self, HttpError::TimedOut { .. } | HttpError::NotReady)
    }
}
