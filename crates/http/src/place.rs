//! A host and a port in one spelling, so that policy, the `Host` header, TLS and the connection mean the same machine.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use crate::gate::Refusal;
use skillcell_policy::HostName;
use skillcell_quote::cut_ascii;

/// Where a request goes. Only [`Place::parse`] makes one.
///
/// Invariant: the host is lower-case ASCII of letters, digits, `-`, `_` and `.`, without a trailing dot; or an address as
/// the standard library writes it, IPv4 inside IPv6 written as IPv4.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    host: String,
    address: Option<IpAddr>,
    port: u16,
}

impl Place {
    /// Parses a host as given by a guest's library; IPv6 with or without brackets.
    pub fn parse(host: &str, port: u16) -> Result<Place, Refusal> {
        if port == 0 {
            return Err(refuse_host(host, "port 0 can't be connected to"));
        }
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(address) = bare.unwrap_or(host).parse::<IpAddr>().ok().filter(|a| bare.is_none() || a.is_ipv6()) {
            let address = address.to_canonical();
            return Ok(Place { host: address.to_string(), address: Some(address), port });
        }
        let host = host.to_ascii_lowercase();
        match host_name_fault(&host) {
            Some(why) => Err(refuse_host(&host, why)),
            None => Ok(Place { host, address: None, port }),
        }
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address, when the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// The value of the `Host` header; the scheme's default port is left out.
    pub fn authority(&self, tls: bool) -> String {
        let own = self.port == default_port(tls);
        match (self.address, own) {
            (Some(IpAddr::V6(address)), true) => format!("[{address}]"),
            (Some(IpAddr::V6(address)), false) => format!("[{address}]:{}", self.port),
            (_, true) => self.host.clone(),
            (_, false) => format!("{}:{}", self.host, self.port),
        }
    }

    /// The host as policy knows it; `None` for what no rule can name.
    pub fn policy_host(&self) -> Option<HostName> {
        self.address.map_or_else(|| HostName::parse(&self.host).ok(), |address| Some(HostName::Addr(address)))
    }

    /// Whether a `Host` header names this place.
    pub fn is_named_by(&self, text: &str, tls: bool) -> bool {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, parse_port(port)),
            _ => (text, Some(default_port(tls))),
        };
        port.is_some_and(|port| {
            (!host.contains(':') || host.starts_with('[')) && Place::parse(host, port).as_ref() == Ok(self)
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(IpAddr::V6(address)) => write!(f, "[{address}]:{}", self.port),
            _ => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

pub fn default_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// Accepts digits only; `str::parse` would accept a `+`.
fn parse_port(text: &str) -> Option<u16> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// What is wrong with a host name in lower case, if anything.
fn host_name_fault(host: &str) -> Option<&'static str> {
    if !host.is_ascii() {
        return Some("host names are ASCII here; write it in its `xn--` form");
    }
    if host.is_empty() || host.len() > 253 {
        return Some("a host name has 1 to 253 characters");
    }
    if host.ends_with('.') {
        return Some("a trailing dot makes another name of the same host");
    }
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if host.split('.').any(|label| label.is_empty() || label.len() > 63 || !label.bytes().all(known)) {
        return Some("it is not a host name");
    }
    // The C library also accepts other notations of an IPv4 address: `2130706433`, `0x7f.1`, `0177.0.0.1`.
    let last = host.rsplit('.').next().unwrap_or(host);
    let number = last.bytes().all(|byte| byte.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if number && host.parse::<Ipv4Addr>().is_err() {
        return Some("it is an address in disguise; write it as four decimal numbers");
    }
    None
}

fn refuse_host(host: &str, why: &str) -> Refusal {
    let shown = cut_ascii(host, 80);
    Refusal::by_builtin_check("host-name", format!("`{shown}` is refused: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_host_are_one_place() {
        let place = |host| Place::parse(host, 443).unwrap();
        assert_eq!(place("API.Example.org"), place("api.example.org"));
        assert_eq!(place("[::1]"), place("::1"));
        assert_eq!(place("::ffff:127.0.0.1"), place("127.0.0.1"));
        assert_eq!(place("[0:0::1]").authority(true), "[::1]");
        assert_eq!(place("a.b").authority(false), "a.b:443");
    }

    #[test]
    fn deceptive_hosts_are_refused() {
        let long = "a".repeat(254);
        for host in [
            "",
            ".",
            "example.org.",
            "exa mple.org",
            "a@b",
            "a/b",
            "a\r\nb",
            "ex\u{e4}mple.org",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "127.1",
            "0x7f.0.0.1",
            "[127.0.0.1]",
            "fe80::1%eth0",
            "[::1",
            "a..b",
            "a:80",
            "\0",
            &long,
        ] {
            assert!(Place::parse(host, 80).is_err(), "{host:?}");
        }
        assert!(Place::parse("a", 0).is_err());
    }

    #[test]
    fn a_host_header_names_only_its_own_place() {
        let place = Place::parse("api.example.org", 8080).unwrap();
        assert!(place.is_named_by("API.example.org:8080", false));
        for other in [
            "api.example.org",
            "api.example.org:80",
            "example.org:8080",
            "api.example.org:+8080",
            "api.example.org.:8080",
        ] {
            assert!(!place.is_named_by(other, false), "{other}");
        }
        assert!(Place::parse("a.b", 443).unwrap().is_named_by("a.b", true));
        assert!(Place::parse("::1", 80).unwrap().is_named_by("[::1]", false));
        assert!(Place::parse("::1", 81).unwrap().is_named_by("[::1]:81", false));
        assert!(!Place::parse("::1", 81).unwrap().is_named_by("::1:81", false));
    }
}
