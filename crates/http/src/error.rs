//! Errors as the guest sees them: a small set that the shim maps to the exceptions of `socket` and `ssl`.

use crate::gate::Refusal;

/// Why an operation on a guest's connection failed.
///
/// [`TimedOut`](HttpError::TimedOut) while reading and [`NotReady`](HttpError::NotReady) leave the connection as it was;
/// after any other error it stays failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// Refused by policy, or by a built-in check that no policy can override.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("`{host}` has no address")]
    NameNotFound { host: String },
    #[error("connecting to `{place}` failed: {reason}")]
    ConnectionRefused { place: String, reason: String },
    /// The server is unreachable, or connecting failed for another reason.
    #[error("connecting to `{place}` failed: {reason}")]
    Unreachable { place: String, reason: String },
    #[error("timed out while {doing}")]
    TimedOut { doing: &'static str },
    /// The call was cancelled.
    #[error("the call was cancelled")]
    Cancelled,
    #[error("TLS with `{host}` failed: {reason}")]
    Tls { host: String, reason: String },
    /// The server's certificate is not trusted, or is for another name.
    #[error("TLS with `{host}` failed: {reason}")]
    Certificate { host: String, reason: String },
    #[error("{what} exceeds {cap}")]
    TooLarge { what: &'static str, cap: u64 },
    /// The guest's bytes are not an unambiguous request.
    #[error("bad request: {0}")]
    BadRequest(&'static str),
    /// The server's bytes are not an answer.
    #[error("bad answer: {0}")]
    BadAnswer(&'static str),
    /// The server reset the connection. An orderly close is reported as end of data instead, as by a socket.
    #[error("the connection was reset while {doing}")]
    Reset { doing: &'static str },
    /// No request was completed yet, so reading would wait for ever.
    #[error("there is nothing to read before a request is complete")]
    NotReady,
    /// No such connection.
    #[error("the connection is not open")]
    NotOpen,
}

impl HttpError {
    /// The name in audit lines. The codes that the guest sees are in docs/reference/door.md.
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

    /// Whether the connection stays usable after this error.
    pub fn is_transient(&self) -> bool {
        matches!(self, HttpError::TimedOut { .. } | HttpError::NotReady)
    }
}
