//! Which addresses a request may go to: the operator's word on where a name leads, and the decision about one address.
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

/// Why a text is no `HOST:PORT:ADDR[:PORT]`.
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

/// Where a name leads, by the operator's word.
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

    /// Whether both say where the same name leads.
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

/// How an address came to be the one to connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin<'r> {
    /// A resolver said so, and might say anything.
    Dns,
    /// The operator said so.
    Resolve(&'r Resolve),
    /// It stands in the URL.
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
    /// Never a flag: where a name leads is a stranger's word.
    pub fn hint(&self) -> Option<String> {
        self.class.warning(&HostName::Addr(self.addr))
    }
}

/// Whether a request that `rule` allows may be sent to `addr`.
///
/// A public address passes where a name led to it, or where the rule is for any host. Every other needs the operator's
/// grant of that very address: by the `--resolve` entry that led to it, or by a rule whose host is that address.
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

/// Why a name may not be given to a proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{host}` is {}, and where a proxy takes it is not known here", class.describe())]
#[non_exhaustive]
pub struct NameDenial {
    pub host: HostName,
    pub class: AddressClass,
}

impl NameDenial {
    /// Never a flag.
    pub fn hint(&self) -> Option<String> {
        self.class.warning(&self.host)
    }
}

/// Whether a name may be given to a proxy, which looks it up by itself. What by convention is of one machine or network
/// would be of the proxy's; an address is [`decide_address`]'s.
pub fn decide_name(host: &HostName) -> Result<(), NameDenial> {
    match host.class() {
        AddressClass::Public => Ok(()),
        class => Err(NameDenial { host: host.clone(), class }),
    }
}
