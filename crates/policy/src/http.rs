//! A rule about HTTP requests, as an operator writes it and a manifest asks for it.
//!
//! ```text
//!   GET,POST https://api.example.org/v1/*
//!   ───┬──── ─┬─     ──────┬──────── ─┬──
//!   methods   scheme   host[:port]   path
//! ```
//!
//! * methods: `*` for any; without them GET and HEAD, in a rule that denies any
//! * host: a name, an address (`127.0.0.1`, `[::1]`), `*.example.org`: exactly one level below, or `*`: every name and
//!   every public address. Another address is never meant by `*`, also not where a name leads to it
//! * port: the scheme's unless given
//! * path: one path, or all that begin with what stands before a final `*`; no path is `/*`; the query is not looked at

use std::fmt;
use std::str::FromStr;

use super::host::{BadHost, HostPattern};
use super::method::{BadMethod, Methods};
use super::path::{BadPath, PathPattern};
use super::quote::brief;
use super::url::{BadUrl, Scheme, Target, UrlParts, format_origin};

const MAX_RULE_BYTES: usize = 2048;

/// Why a text is not a valid rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    #[error("a rule is longer than {MAX_RULE_BYTES} bytes")]
    TooLong,
    #[error("a rule has no query or fragment, and `{0}` does; it holds for every query")]
    Query(String),
    #[error(transparent)]
    Method(#[from] BadMethod),
    #[error(transparent)]
    Url(BadUrl),
    #[error(transparent)]
    Host(#[from] BadHost),
    #[error(transparent)]
    Path(#[from] BadPath),
}

/// A set of requests; see the module for the syntax. `Display` gives the form that `parse` accepts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HttpRule {
    pub(super) methods: Methods,
    pub(super) scheme: Scheme,
    pub(super) host: HostPattern,
    pub(super) port: u16,
    pub(super) path: PathPattern,
}

impl HttpRule {
    /// Parses an allow rule.
    pub fn parse(text: &str) -> Result<HttpRule, BadRule> {
        HttpRule::parse_with_default(text, Methods::get_and_head())
    }

    /// Parses a deny rule; without methods, it applies to every method.
    pub fn parse_deny(text: &str) -> Result<HttpRule, BadRule> {
        HttpRule::parse_with_default(text, Methods::Any)
    }

    fn parse_with_default(text: &str, default: Methods) -> Result<HttpRule, BadRule> {
        if text.len() > MAX_RULE_BYTES {
            return Err(BadRule::TooLong);
        }
        match text.trim_matches(' ').split_once(' ') {
            Some((methods, url)) => HttpRule::new(Methods::parse(methods)?, url.trim_start_matches(' ')),
            None => HttpRule::new(default, text.trim_matches(' ')),
        }
    }

    /// Builds a rule from its methods and a URL pattern.
    pub fn new(methods: Methods, url: &str) -> Result<HttpRule, BadRule> {
        if url.len() > MAX_RULE_BYTES {
            return Err(BadRule::TooLong);
        }
        let UrlParts { scheme, host, port, path, query } = UrlParts::split(url).map_err(BadRule::Url)?;
        if query.is_some() || url.contains('#') {
            return Err(BadRule::Query(brief(url)));
        }
        let host = HostPattern::parse_any(host)?;
        let port = port.unwrap_or(scheme.default_port());
        Ok(HttpRule { methods, scheme, host, port, path: PathPattern::parse(path)? })
    }

    /// The narrowest rule worth suggesting to someone who wants this request.
    pub(super) fn suggested_for(method: &str, target: &Target) -> HttpRule {
        HttpRule {
            methods: Methods::only_one(method),
            scheme: target.scheme(),
            host: HostPattern::Exact(target.host().clone()),
            port: target.port(),
            path: PathPattern::suggested_for(target.match_path()),
        }
    }

    pub fn methods(&self) -> &Methods {
        &self.methods
    }

    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    pub fn host(&self) -> &HostPattern {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn path(&self) -> &PathPattern {
        &self.path
    }

    /// `https://host[:port]`.
    pub fn origin(&self) -> String {
        format_origin(self.scheme, &self.host, self.port)
    }

    /// Whether this rule, used as an allow rule, matches the request.
    pub fn matches(&self, method: &str, target: &Target) -> bool {
        self.is_for_port(target)
            && self.host.matches(target.host())
            && self.path.matches(target.match_path())
            && self.methods.contains(method)
    }

    /// Whether this rule, used as a deny rule, matches the request.
    pub fn denies(&self, method: &str, target: &Target) -> bool {
        self.is_for_port(target)
            && self.host.denies(target.host())
            && self.path.denies(target.match_path())
            && self.methods.contains(method)
    }

    fn is_for_port(&self, target: &Target) -> bool {
        self.scheme == target.scheme() && self.port == target.port()
    }

    /// Whether every request that `other` allows is allowed by this.
    pub fn covers(&self, other: &HttpRule) -> bool {
        self.scheme == other.scheme
            && self.port == other.port
            && self.host.covers(&other.host)
            && self.path.covers(&other.path)
            && self.methods.covers(&other.methods)
    }

    /// Whether this rule, used as a deny rule, matches every request that `other` allows.
    pub fn denies_all(&self, other: &HttpRule) -> bool {
        let host = if self.host == HostPattern::Any { other.host.clone() } else { self.host.clone() };
        HttpRule { host, ..self.clone() }.covers(other)
    }

    /// The requests that both allow.
    pub fn intersect(&self, other: &HttpRule) -> Option<HttpRule> {
        if self.scheme != other.scheme || self.port != other.port {
            return None;
        }
        Some(HttpRule {
            methods: self.methods.intersect(&other.methods)?,
            host: self.host.intersect(&other.host)?,
            path: self.path.intersect(&other.path)?,
            ..*self
        })
    }
}

impl FromStr for HttpRule {
    type Err = BadRule;

    fn from_str(text: &str) -> Result<HttpRule, BadRule> {
        HttpRule::parse(text)
    }
}

impl fmt::Display for HttpRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.methods, self.origin(), self.path)
    }
}
