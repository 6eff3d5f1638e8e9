//! The host of a URL, and the pattern of hosts in a rule. Text only: no name is resolved here.
//!
//! A host has one accepted spelling. Anything that another URL parser might take for a different host (unusual IPv4
//! notations, percent-encoding, a trailing dot, non-ASCII letters) is rejected rather than normalized.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::address::{AddressClass, class_of_address, class_of_name};
use super::quote::brief;

const MAX_NAME_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;

/// A host: a lower-case name, or an address. An IPv4-mapped IPv6 address (`::ffff:…`) becomes the IPv4 address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostName {
    Name(String),
    Addr(IpAddr),
}

/// Why a text is not a valid host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    #[error("there is no host")]
    Empty,
    #[error("the host is longer than {MAX_NAME_BYTES} bytes")]
    TooLong,
    #[error("the host `{0}` is not ASCII; write it in its punycode form (`xn--…`)")]
    NotAscii(String),
    #[error("the host `{0}` ends in a dot")]
    TrailingDot(String),
    #[error("the host `{0}` is percent-encoded")]
    Percent(String),
    #[error("`{0}` is an IPv4 address in an odd form (decimal, octal, hex or short); write four decimal numbers")]
    OddIpv4(String),
    #[error("`{0}` is not an IPv6 address")]
    Ipv6(String),
    #[error("`{0}` has a zone; an address with a zone is local to one interface")]
    Zone(String),
    #[error("`{0}` is an IPv6 address without its brackets")]
    NoBrackets(String),
    #[error("the host `{host}` has a label that is empty, too long, or begins or ends in `-`: `{label}`")]
    Label { host: String, label: String },
    #[error("the host `{host}` has a character that no host has: `{character}`")]
    Character { host: String, character: String },
    #[error(
        "`{0}`: a `*` stands for exactly one level, at the front of a name of two or more (`*.example.org`); alone it stands for every host, in a rule about HTTP"
    )]
    Wildcard(String),
}

impl HostName {
    /// Parses a host as it appears in a URL: IPv6 in brackets, no port.
    pub fn parse(text: &str) -> Result<HostName, BadHost> {
        if text.is_empty() {
            return Err(BadHost::Empty);
        }
        match text.strip_prefix('[') {
            Some(rest) => {
                Ok(HostName::Addr(parse_ipv6(rest.strip_suffix(']').ok_or_else(|| BadHost::Ipv6(brief(text)))?)?))
            }
            None => name_or_ipv4(text),
        }
    }

    pub fn addr(&self) -> Option<IpAddr> {
        match self {
            HostName::Addr(addr) => Some(*addr),
            HostName::Name(_) => None,
        }
    }

    /// Its address class; for a name, by naming convention only.
    pub fn class(&self) -> AddressClass {
        match self {
            HostName::Addr(addr) => class_of_address(*addr),
            HostName::Name(name) => class_of_name(name),
        }
    }

    /// See `AddressClass::warning`; `None` for a host of the public internet.
    pub fn warning(&self) -> Option<String> {
        self.class().warning(self)
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostName::Name(name) => f.write_str(name),
            HostName::Addr(IpAddr::V4(addr)) => addr.fmt(f),
            HostName::Addr(IpAddr::V6(addr)) => write!(f, "[{addr}]"),
        }
    }
}

fn parse_ipv6(text: &str) -> Result<IpAddr, BadHost> {
    if text.contains('%') {
        return Err(BadHost::Zone(brief(text)));
    }
    let addr: Ipv6Addr = text.parse().map_err(|_| BadHost::Ipv6(brief(text)))?;
    Ok(IpAddr::V6(addr).to_canonical())
}

fn name_or_ipv4(text: &str) -> Result<HostName, BadHost> {
    // The most specific problem is reported first; the order of these checks doesn't affect what is accepted.
    if text.len() > MAX_NAME_BYTES {
        return Err(if text.is_ascii() { BadHost::TooLong } else { BadHost::NotAscii(brief(text)) });
    }
    if !text.is_ascii() {
        return Err(BadHost::NotAscii(brief(text)));
    }
    if text.contains('%') {
        return Err(BadHost::Percent(brief(text)));
    }
    if text.contains(':') {
        return Err(BadHost::NoBrackets(brief(text)));
    }
    if text.contains('*') {
        return Err(BadHost::Wildcard(brief(text)));
    }
    let odd = |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if let Some(c) = text.chars().find(odd) {
        return Err(BadHost::Character { host: brief(text), character: brief(c.encode_utf8(&mut [0; 4])) });
    }
    if text.ends_with('.') {
        return Err(BadHost::TrailingDot(brief(text)));
    }
    if let Some(label) = text.split('.').find(|label| !is_label(label)) {
        return Err(BadHost::Label { host: brief(text), label: brief(label) });
    }
    let name = text.to_ascii_lowercase();
    // Whatever other software might read as IPv4 must be exactly four decimal numbers, or it is rejected.
    if !ends_in_number(&name) {
        return Ok(HostName::Name(name));
    }
    let addr: Ipv4Addr = name.parse().map_err(|_| BadHost::OddIpv4(brief(text)))?;
    Ok(HostName::Addr(addr.into()))
}

fn is_label(label: &str) -> bool {
    (1..=MAX_LABEL_BYTES).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
}

/// Whether URL parsers and `inet_aton` would try to read a name as an IPv4 address, because its last label is a number.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.bytes().all(|b| b.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The hosts that a rule applies to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostPattern {
    Exact(HostName),
    /// `*.example.org`, stored as `example.org`: every name exactly one level below it.
    OneBelow(String),
    /// `*`: every name and every public address, but never a non-public address.
    Any,
}

impl HostPattern {
    /// Parses a host of an HTTP rule: like [`HostPattern::parse`], but also accepts `*`.
    pub fn parse_any(text: &str) -> Result<HostPattern, BadHost> {
        if text == "*" { Ok(HostPattern::Any) } else { HostPattern::parse(text) }
    }

    /// Parses a host, or `*.` and a name of at least two levels. Rejects `*`, because hosts for secrets must be named.
    pub fn parse(text: &str) -> Result<HostPattern, BadHost> {
        let Some(parent) = text.strip_prefix("*.") else {
            return Ok(HostPattern::Exact(HostName::parse(text)?));
        };
        match HostName::parse(parent)? {
            // A matching name is at least one character and a dot longer.
            HostName::Name(name) if name.contains('.') && name.len() + 2 <= MAX_NAME_BYTES => {
                Ok(HostPattern::OneBelow(name))
            }
            _ => Err(BadHost::Wildcard(brief(text))),
        }
    }

    /// As [`HostName::warning`].
    pub(super) fn warning(&self) -> Option<String> {
        match self {
            HostPattern::Exact(host) => host.warning(),
            HostPattern::OneBelow(parent) => class_of_name(parent).warning(self),
            HostPattern::Any => None,
        }
    }

    pub fn matches(&self, host: &HostName) -> bool {
        match (self, host) {
            (HostPattern::Exact(this), _) => this == host,
            (HostPattern::OneBelow(parent), HostName::Name(name)) => {
                name.split_once('.').is_some_and(|(_, rest)| rest == parent)
            }
            (HostPattern::OneBelow(_), HostName::Addr(_)) => false,
            (HostPattern::Any, HostName::Name(_)) => true,
            (HostPattern::Any, HostName::Addr(addr)) => class_of_address(*addr) == AddressClass::Public,
        }
    }

    /// Whether a deny rule with this pattern matches: in deny rules, `*` also covers non-public addresses.
    pub fn denies(&self, host: &HostName) -> bool {
        *self == HostPattern::Any || self.matches(host)
    }

    /// Whether every host that `other` matches is matched by this pattern.
    pub fn covers(&self, other: &HostPattern) -> bool {
        match other {
            HostPattern::Exact(host) => self.matches(host),
            HostPattern::OneBelow(_) => self == other || *self == HostPattern::Any,
            HostPattern::Any => *self == HostPattern::Any,
        }
    }

    /// The hosts that both match. One pattern always contains the other, or they are disjoint.
    pub fn intersect(&self, other: &HostPattern) -> Option<HostPattern> {
        if self.covers(other) { Some(other.clone()) } else { other.covers(self).then(|| self.clone()) }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostPattern::Exact(host) => host.fmt(f),
            HostPattern::OneBelow(parent) => write!(f, "*.{parent}"),
            HostPattern::Any => f.write_str("*"),
        }
    }
}
