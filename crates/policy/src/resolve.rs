//! Which addresses a request may go to: the operator's `--resolve` entries, and the decision about one address.
//!
//! `--resolve HOST:PORT:ADDR[:PORT]`, as curl's: for requests to HOST at PORT, the address (and port) to connect to.
//! That is also the grant of that address, whatever its class. HOST may itself be an address: requests to it then go
//! to the other one.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::address::{AddressClass, class_of_address};
use super::host::{BadHost, HostName, HostPattern};
use super::http::HttpRule;
use super::quote::brief;
use super::url::{self, BadUrl, Target};

const MAX_RESOLVE_BYTES: usize = 512;

/// Why a text is not a valid `HOST:PORT:ADDR[:PORT]`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadResolve {
    #[error("`{0}` is not `HOST:PORT:ADDR[:PORT]`, with an IPv6 address in brackets")]
    Form(String),
    #[error("`{0}` is not an address")]
    Address(String),
    #[error(transparent)]
    Host(#[from] BadHost),
    #[error(transparent)]
    Port(BadUrl),
}

/// An operator's fixed address for a host and port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resolve {
    host: HostName,
    port: u16,
    addr: IpAddr,
    to_port: u16,
}

impl Resolve {
    pub fn parse(text: &str) -> Result<Resolve, BadResolve> {
        let form = || BadResolve::Form(brief(text));
        if text.len() > MAX_RESOLVE_BYTES {
            return Err(form());
        }
        let host_end = if text.starts_with('[') { text.find("]:").map(|at| at + 1) } else { text.find(':') };
        let (host, rest) = text.split_at_checked(host_end.ok_or_else(form)?).ok_or_else(form)?;
        let (port, place) = rest.strip_prefix(':').and_then(|rest| rest.split_once(':')).ok_or_else(form)?;
        let host = HostName::parse(host)?;
        let port = url::parse_port(port).map_err(BadResolve::Port)?;
        let (addr, to_port) = url::split_port(place).map_err(BadResolve::Port)?;
        let addr = HostName::parse(addr)?.addr().ok_or_else(|| BadResolve::Address(brief(addr)))?;
        Ok(Resolve { host, port, addr, to_port: to_port.unwrap_or(port) })
    }

    /// The first entry for a target's host and port.
    pub fn find<'r>(entries: &'r [Resolve], target: &Target) -> Option<&'r Resolve> {
        entries.iter().find(|entry| entry.is_for(target))
    }

    fn is_for(&self, target: &Target) -> bool {
        self.host == *target.host() && self.port == target.port()
    }

    /// Whether both are for the same host and port.
    pub(super) fn is_same_name(&self, other: &Resolve) -> bool {
        self.host == other.host && self.port == other.port
    }

    pub fn host(&self) -> &HostName {
        &self.host
    }

    pub fn addr(&self) -> IpAddr {
        self.addr
    }

    /// The port to connect to.
    pub fn to_port(&self) -> u16 {
        self.to_port
    }
}

impl FromStr for Resolve {
    type Err = BadResolve;

    fn from_str(text: &str) -> Result<Resolve, BadResolve> {
        Resolve::parse(text)
    }
}

impl fmt::Display for Resolve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.host, self.port, HostName::Addr(self.addr))?;
        if self.to_port == self.port { Ok(()) } else { write!(f, ":{}", self.to_port) }
    }
}

/// Where an address came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin<'r> {
    /// A resolver returned it; it is not trusted.
    Dns,
    /// The operator gave it with `--resolve`.
    Resolve(&'r Resolve),
    /// It is the host of the URL.
    Literal,
}

/// Why an address may not be connected to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{host}` leads to {addr}, which is {}", class.describe())]
pub struct AddressDenial {
    pub host: HostName,
    pub port: u16,
    pub addr: IpAddr,
    pub class: AddressClass,
}

impl AddressDenial {
    /// Never suggests a flag, because whoever controls the DNS name chose the address.
    pub fn hint(&self) -> Option<String> {
        self.class.warning(&HostName::Addr(self.addr))
    }
}

/// Whether a request that `rule` allows may be sent to `addr`.
///
/// A public address is allowed if a name resolved to it, or if the rule is for any host. Any other needs an explicit
/// grant of exactly that address: the `--resolve` entry that it came from, or a rule whose host is that address.
pub fn decide_address(target: &Target, rule: &HttpRule, from: Origin<'_>, addr: IpAddr) -> Result<(), AddressDenial> {
    let addr = addr.to_canonical();
    let class = class_of_address(addr);
    let granted = match from {
        Origin::Dns => class == AddressClass::Public,
        Origin::Resolve(entry) => entry.is_for(target) && entry.addr == addr,
        Origin::Literal => {
            let granted = match rule.host() {
                HostPattern::Any => class == AddressClass::Public,
                pattern => *pattern == HostPattern::Exact(HostName::Addr(addr)),
            };
            granted && *target.host() == HostName::Addr(addr)
        }
    };
    if granted { Ok(()) } else { Err(AddressDenial { host: target.host().clone(), port: target.port(), addr, class }) }
}

/// Why a name may not be passed to a proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{host}` is {}, and where a proxy takes it is not known here", class.describe())]
#[non_exhaustive]
pub struct NameDenial {
    pub host: HostName,
    pub class: AddressClass,
}

impl NameDenial {
    /// Never suggests a flag.
    pub fn hint(&self) -> Option<String> {
        self.class.warning(&self.host)
    }
}

/// Whether a name may be passed to a proxy, which resolves it itself. Names that conventionally mean the local machine
/// or network would mean the proxy's, so they are denied. For addresses, see [`decide_address`].
pub fn decide_name(host: &HostName) -> Result<(), NameDenial> {
    match host.class() {
        AddressClass::Public => Ok(()),
        class => Err(NameDenial { host: host.clone(), class }),
    }
}
