//! The interface to policy. This crate itself refuses only what is malformed or deceptive under any policy.

use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

use crate::place::Place;
use skillcell_policy::{Allowed, AllowedRequest, BadUrl, DecidedBy, NO_RULE, Scheme, Target};

/// One request, as it will be sent if the gate allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// `https`; otherwise `http`.
    pub tls: bool,
    pub place: Place,
    /// As written by the guest; methods are case-sensitive. Where a header overrides it, that method is asked for too.
    pub method: String,
    /// Starts with `/`, no query, no dot segments in any spelling; percent-escapes are left as they are.
    pub path: String,
}

impl Asked {
    /// The URL for messages and audit lines, without the query, which may contain data.
    pub fn url(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}{}", self.place.authority(self.tls), self.path)
    }

    /// The same request as policy's type.
    pub fn target(&self) -> Result<Target, BadUrl> {
        let scheme = if self.tls { Scheme::Https } else { Scheme::Http };
        Target::from_parts(scheme, &self.place.authority(self.tls), &self.path)
    }
}

/// Why the gate refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The rule that decided, or the name of the built-in check.
    pub rule: String,
    /// Which of these it is.
    #[serde(skip)]
    pub by: DecidedBy,
    pub message: String,
    /// The flag or line that would allow it.
    pub hint: Option<String>,
}

impl Refusal {
    /// A refusal by a built-in check, which no policy can override.
    pub fn by_builtin_check(rule: &str, message: impl Into<String>) -> Refusal {
        Refusal { rule: rule.to_owned(), by: DecidedBy::Check, message: message.into(), hint: None }
    }

    /// A refusal because no rule allows it.
    pub fn by_default(message: impl Into<String>) -> Refusal {
        Refusal { rule: NO_RULE.to_owned(), by: DecidedBy::Default, message: message.into(), hint: None }
    }
}

/// The policy decisions that HTTP needs.
///
/// The order of questions: `connect` when the guest connects (no request is known yet, so neither is the scheme);
/// `request` for every request; `resolve`, then `address` for every address that the name has, before a connection is
/// made or re-used for a request; `unresolved` instead where that goes through an operator's proxy. One `Err` ends it, and
/// nothing is sent.
pub trait Gate: Send + Sync {
    /// May anything at all be asked of this host and port, by either scheme?
    fn connect(&self, place: &Place) -> Result<Allowed, Refusal>;

    /// May exactly this be asked?
    fn request(&self, asked: &Asked) -> Result<AllowedRequest, Refusal>;

    /// May this address be connected to for that host? IPv4 inside IPv6 (`::ffff:…`) arrives as IPv4.
    fn address(&self, place: &Place, allowed: &Allowed, address: IpAddr) -> Result<(), Refusal>;

    /// May a proxy be asked for that host? It finds the address by itself, so no other question about it follows.
    fn unresolved(&self, place: &Place, allowed: &Allowed) -> Result<(), Refusal>;

    /// Where the operator says that a name leads (`--resolve`), if anywhere.
    fn resolve(&self, host: &str, port: u16) -> Option<SocketAddr>;
}
