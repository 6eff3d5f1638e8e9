//! Where a request goes: a URL, read strictly. There is one reading of a [`Target`] or there is none.
//!
//! ```text
//!   scheme "://" host [":" port] path ["?" query]     a fragment is dropped, user information is refused
//! ```
//!
//! Only visible ASCII without backslashes gets this far; the host is [`HostName`]'s, the path as rules see it is
//! [`MatchPath`]'s. What is sent is what was written: [`Target::path`] and [`Target::query`].

use std::fmt;

use super::host::{BadHost, HostName};
use super::path::{BadPath, MatchPath, hex_pair};
use super::quote::brief;

pub(super) const MAX_URL_BYTES: usize = 8192;

/// How a request travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    Http,
    Https,
}

impl Scheme {
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a text is no URL to send a request to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    #[error("the URL is longer than {MAX_URL_BYTES} bytes")]
    TooLong,
    #[error("the URL has a character that it may not have as it is: `{0}`")]
    Character(String),
    #[error("`{0}` does not begin with `http://` or `https://`")]
    Scheme(String),
    #[error("the URL has user information before its host (`…@`)")]
    UserInfo,
    #[error("`{0}` is not a port from 1 to 65535")]
    Port(String),
    #[error("the request's path `{0}` does not begin with `/`")]
    NotOriginForm(String),
    #[error(transparent)]
    Host(#[from] BadHost),
    #[error(transparent)]
    Path(#[from] BadPath),
}

/// A URL that was read strictly, ready to be held against rules.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    scheme: Scheme,
    host: HostName,
    port: u16,
    path: String,
    match_path: MatchPath,
    query: Option<String>,
}

impl Target {
    pub fn parse(text: &str) -> Result<Target, BadUrl> {
        let pieces = UrlParts::split(text)?;
        let host = HostName::parse(pieces.host)?;
        let match_path = MatchPath::from_raw(pieces.path)?;
        let path = if pieces.path.is_empty() { "/" } else { pieces.path };
        let query = pieces.query.map(str::to_owned);
        let port = pieces.port.unwrap_or(pieces.scheme.default_port());
        Ok(Target { scheme: pieces.scheme, host, port, path: path.to_owned(), match_path, query })
    }

    /// The target of a request in origin form: the connection's scheme, `host[:port]`, then path and query.
    pub fn from_parts(scheme: Scheme, authority: &str, path_and_query: &str) -> Result<Target, BadUrl> {
        if !path_and_query.starts_with('/') {
            return Err(BadUrl::NotOriginForm(brief(path_and_query)));
        }
        if let Some(mark) = authority.chars().find(|c| matches!(c, '/' | '?' | '#')) {
            return Err(BadUrl::Character(mark.to_string()));
        }
        if authority.len() + path_and_query.len() > MAX_URL_BYTES {
            return Err(BadUrl::TooLong);
        }
        Target::parse(&format!("{scheme}://{authority}{path_and_query}"))
    }

    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    pub fn host(&self) -> &HostName {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path to send, as it was written; `/` where there was none.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The path that rules see.
    pub fn match_path(&self) -> &MatchPath {
        &self.match_path
    }

    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// `scheme://host[:port]`; the scheme's default port is left out.
    pub fn origin(&self) -> String {
        format_origin(self.scheme, &self.host, self.port)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin(), self.path)?;
        self.query.iter().try_for_each(|query| write!(f, "?{query}"))
    }
}

pub(super) fn format_origin(scheme: Scheme, host: &impl fmt::Display, port: u16) -> String {
    if port == scheme.default_port() { format!("{scheme}://{host}") } else { format!("{scheme}://{host}:{port}") }
}

/// A URL split into its parts; host and path are not validated yet.
pub(super) struct UrlParts<'t> {
    pub scheme: Scheme,
    pub host: &'t str,
    pub port: Option<u16>,
    /// Empty, or begins with `/`.
    pub path: &'t str,
    pub query: Option<&'t str>,
}

impl<'t> UrlParts<'t> {
    pub fn split(text: &'t str) -> Result<UrlParts<'t>, BadUrl> {
        if text.len() > MAX_URL_BYTES {
            return Err(BadUrl::TooLong);
        }
        let (scheme, rest) = split_scheme(text)?;
        let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
        let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at_checked(authority_end).unwrap_or((rest, ""));
        let (host, port) = split_port(authority)?;
        check_characters(host, text)?;
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        query.map_or(Ok(()), check_percents)?;
        Ok(UrlParts { scheme, host, port, path, query })
    }
}

fn split_scheme(text: &str) -> Result<(Scheme, &str), BadUrl> {
    let (name, rest) = text.split_once("://").ok_or_else(|| BadUrl::Scheme(brief(text)))?;
    if name.eq_ignore_ascii_case("https") {
        Ok((Scheme::Https, rest))
    } else if name.eq_ignore_ascii_case("http") {
        Ok((Scheme::Http, rest))
    } else {
        Err(BadUrl::Scheme(brief(text)))
    }
}

/// Splits `host[:port]`; rejects user information and invalid ports.
pub(super) fn split_port(authority: &str) -> Result<(&str, Option<u16>), BadUrl> {
    if authority.contains('@') {
        return Err(BadUrl::UserInfo);
    }
    let bracketed = authority.starts_with('[');
    if !bracketed && authority.matches(':').count() > 1 {
        return Err(BadHost::NoBrackets(brief(authority)).into());
    }
    let host_end = match bracketed {
        true => authority.find(']').map_or(authority.len(), |at| at + 1),
        false => authority.find(':').unwrap_or(authority.len()),
    };
    match authority.split_at_checked(host_end) {
        None | Some((_, "")) => Ok((authority, None)),
        Some((host, rest)) => {
            let digits = rest.strip_prefix(':').ok_or_else(|| BadUrl::Port(brief(rest)))?;
            Ok((host, Some(parse_port(digits)?)))
        }
    }
}

/// One to five digits, no leading zero, from 1 to 65535.
pub(super) fn parse_port(text: &str) -> Result<u16, BadUrl> {
    let digits = (1..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    let port = if digits { text.parse().ok() } else { None };
    port.ok_or_else(|| BadUrl::Port(brief(text)))
}

/// Visible ASCII without backslashes. A non-ASCII host is left to [`HostName`], whose error suggests punycode.
fn check_characters(host: &str, text: &str) -> Result<(), BadUrl> {
    let odd = |c: &char| !c.is_ascii_graphic() || *c == '\\';
    match text.chars().find(odd) {
        Some(c) if host.is_ascii() => Err(BadUrl::Character(c.escape_default().to_string())),
        _ => Ok(()),
    }
}

fn check_percents(query: &str) -> Result<(), BadUrl> {
    let bad = query
        .bytes()
        .enumerate()
        .any(|(at, b)| b == b'%' && query.as_bytes().get(at + 1..).and_then(hex_pair).is_none());
    if bad { Err(BadPath::Percent(brief(query)).into()) } else { Ok(()) }
}
