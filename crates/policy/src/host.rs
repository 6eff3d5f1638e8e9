//! The host of a URL, and the pattern of hosts in a rule. Text only: no name is resolved here.
//!
//! A host is read in one way or refused. Whatever some other reader might take for another host (odd numerals,
//! percent-encoding, a trailing dot, letters outside ASCII) is refused, not repaired.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::address::{AddressClass, class_of_address, class_of_name};
use super::quote::brief;

const MAX_NAME_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;

/// A host: a name in lower case, or an address. An IPv4 address in IPv6 clothes (`::ffff:…`) is the IPv4 address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostName {
    Name(String),
    Addr(IpAddr),
}

/// Why a text is no host.
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
    /// Reads a host as it stands in a URL: IPv6 in brackets, no port.
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

    /// What kind of place it is: of a name, by convention only.
    pub fn class(&self) -> AddressClass {
        match self {
            HostName::Addr(addr) => class_of_address(*addr),
            HostName::Name(name) => class_of_name(name),
        }
    }

    /// What to say instead of how to grant it, where it is no place of the public internet.
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
    if !ends_in_number(&name) {
        return Ok(HostName::Name(name));
    }
    let addr: Ipv4Addr = name.parse().map_err(|_| BadHost::OddIpv4(brief(text)))?;
    Ok(HostName::Addr(addr.into()))
}

fn is_label(label: &str) -> bool {
    (1..=MAX_LABEL_BYTES).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
}

/// Whether readers of URLs and `inet_aton` would try a name as an IPv4 address: its last label is a number.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.bytes().all(|b| b.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The hosts that a rule is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostPattern {
    Exact(HostName),
    /// `*.example.org`, kept as `example.org`: every name exactly one level below it.
    OneBelow(String),
    /// `*`: every name, and every public address. One that is not public is never meant by it.
    Any,
}

impl HostPattern {
    /// Reads what a rule may name: as [`HostPattern::parse`], or `*`.
    pub fn parse_any(text: &str) -> Result<HostPattern, BadHost> {
        if text == "*" { Ok(HostPattern::Any) } else { HostPattern::parse(text) }
    }

    /// Reads a host, or `*.` and a name of at least two levels. Where a secret may go has to be named.
    pub fn parse(text: &str) -> Result<HostPattern, BadHost> {
        let Some(parent) = text.strip_prefix("*.") else {
            return Ok(HostPattern::Exact(HostName::parse(text)?));
        };
        match HostName::parse(parent)? {
            // One more level and its dot must fit.
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

    /// Whether a rule that denies is for this host: there, `*` is every host that there is.
    pub fn denies(&self, host: &HostName) -> bool {
        *self == HostPattern::Any || self.matches(host)
    }

    /// Whether every host of `other` is one of these.
    pub fn covers(&self, other: &HostPattern) -> bool {
        match other {
            HostPattern::Exact(host) => self.matches(host),
            HostPattern::OneBelow(_) => self == other || *self == HostPattern::Any,
            HostPattern::Any => *self == HostPattern::Any,
        }
    }

    /// The hosts of both: two patterns either share all of the narrower one, or nothing.
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
