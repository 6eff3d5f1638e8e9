//! Classifies addresses. Only [`AddressClass::Public`] may be reached because a host name resolved to it.
//!
//! An IPv6 address that carries an IPv4 address is judged by what it carries. From IANA's special-purpose registries,
//! and the addresses at which clouds hand out credentials.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of network that an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressClass {
    Public,
    Loopback,
    Private,
    UniqueLocal,
    LinkLocal,
    /// A cloud provider's instance metadata service, which hands out credentials.
    Metadata,
    CarrierNat,
    Multicast,
    Broadcast,
    Unspecified,
    Documentation,
    Benchmark,
    /// Everything else that the public internet does not route.
    Reserved,
}

impl AddressClass {
    /// A warning to show instead of a ready-made grant: operators paste such a line without thinking. `None` for public
    /// addresses.
    pub(super) fn warning(self, host: &impl fmt::Display) -> Option<String> {
        let trust = match self {
            AddressClass::Public => return None,
            AddressClass::Metadata => "whoever can reach it can act as this machine",
            _ => "services there often trust whoever can reach them",
        };
        Some(format!(
            "`{host}` is {}: {trust}, so no line to paste is given; docs/reference/grants.md says how to grant it if you must",
            self.describe()
        ))
    }

    /// A noun phrase that follows "is" in a message.
    pub fn describe(self) -> &'static str {
        match self {
            AddressClass::Public => "a public address",
            AddressClass::Loopback => "a loopback address: this machine",
            AddressClass::Private => "an address of a private network",
            AddressClass::UniqueLocal => "a unique local address: a private network",
            AddressClass::LinkLocal => "a link-local address",
            AddressClass::Metadata => "a cloud's metadata service, which hands out credentials",
            AddressClass::CarrierNat => "an address behind a carrier's NAT",
            AddressClass::Multicast => "a multicast address",
            AddressClass::Broadcast => "the broadcast address",
            AddressClass::Unspecified => "the unspecified address, which leads to this machine",
            AddressClass::Documentation => "an address for documentation",
            AddressClass::Benchmark => "an address for benchmarks",
            AddressClass::Reserved => "a reserved address",
        }
    }
}

/// Names that conventionally mean this machine or a service of its own network, wherever they are looked up.
const METADATA_NAMES: [&str; 4] =
    ["metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"];
const LOOPBACK_NAMES: [&str; 4] = ["localhost", "localdomain", "ip6-localhost", "ip6-loopback"];
/// Top-level domains that don't exist on the public internet.
const PRIVATE_DOMAINS: [&str; 8] = ["internal", "local", "lan", "intranet", "private", "corp", "home", "home.arpa"];

/// The class that a lower-case name has by convention; nothing is resolved.
pub fn class_of_name(name: &str) -> AddressClass {
    let is_below = |domain: &str| name.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if METADATA_NAMES.contains(&name) {
        AddressClass::Metadata
    } else if LOOPBACK_NAMES.iter().any(|name| is_below(name)) {
        AddressClass::Loopback
    } else if PRIVATE_DOMAINS.iter().any(|domain| is_below(domain)) || !name.contains('.') {
        AddressClass::Private
    } else {
        AddressClass::Public
    }
}

/// The class of an address, or of the IPv4 address in it.
pub fn class_of_address(addr: IpAddr) -> AddressClass {
    match addr {
        IpAddr::V4(addr) => class_v4(addr),
        IpAddr::V6(addr) => class_v6(addr),
    }
}

fn class_v4(addr: Ipv4Addr) -> AddressClass {
    match addr.octets() {
        // AWS, Google, Azure and most others; AWS containers and pods; Alibaba; Oracle; Azure's host agent.
        [169, 254, 169, 254] | [169, 254, 170, 2 | 23] | [100, 100, 100, 200] => AddressClass::Metadata,
        [192, 0, 0, 192] | [168, 63, 129, 16] => AddressClass::Metadata,
        [0, 0, 0, 0] => AddressClass::Unspecified,
        [127, ..] => AddressClass::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressClass::Private,
        [169, 254, ..] => AddressClass::LinkLocal,
        [100, 64..=127, ..] => AddressClass::CarrierNat,
        [255, 255, 255, 255] => AddressClass::Broadcast,
        [224..=239, ..] => AddressClass::Multicast,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => AddressClass::Documentation,
        [198, 18..=19, ..] => AddressClass::Benchmark,
        [0, ..] | [192, 0, 0, _] | [192, 88, 99, _] | [240..=255, ..] => AddressClass::Reserved,
        _ => AddressClass::Public,
    }
}

fn class_v6(addr: Ipv6Addr) -> AddressClass {
    match addr.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressClass::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Loopback,
        // These reach the embedded IPv4 host: IPv4-mapped, and NAT64's well-known prefix.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            class_v4(ipv4_from_halves(high, low))
        }
        // AWS; AWS pods; Google.
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254 | 0x23] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => AddressClass::Metadata,
        [0xfc00..=0xfdff, ..] => AddressClass::UniqueLocal,
        [0xfe80..=0xfebf, ..] => AddressClass::LinkLocal,
        // Site-local, deprecated by RFC 3879.
        [0xfec0..=0xfeff, ..] => AddressClass::Private,
        [0xff00..=0xffff, ..] => AddressClass::Multicast,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => AddressClass::Documentation,
        [0x2001, 2, 0, ..] => AddressClass::Benchmark,
        segments => carried_or_global(segments),
    }
}

/// Classifies the remaining encodings of IPv4 in IPv6, which are obsolete or local, by the embedded address, but never
/// as public. Everything else is public within 2000::/3 and reserved outside it.
fn carried_or_global(segments: [u16; 8]) -> AddressClass {
    let carried: &[Ipv4Addr] = match segments {
        // IPv4-compatible, and translated (SIIT).
        [0, 0, 0, 0, 0, 0, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => &[ipv4_from_halves(high, low)],
        // 6to4.
        [0x2002, high, low, ..] => &[ipv4_from_halves(high, low)],
        // Teredo: the client, inverted, and its server.
        [0x2001, 0, high, low, _, _, client_high, client_low] => {
            &[ipv4_from_halves(!client_high, !client_low), ipv4_from_halves(high, low)]
        }
        // A network's own NAT64: the address is at the end, or around the ninth byte.
        [0x64, 0xff9b, 1, a, b, c, high, low] => &[ipv4_from_halves(high, low), ipv4_from_halves(a, b << 8 | c >> 8)],
        // ISATAP.
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => &[ipv4_from_halves(high, low)],
        // The rest of 2001::/23 is IETF's for protocols.
        [0x2001, 0..=0x1ff, ..] => return AddressClass::Reserved,
        [0x2000..=0x3fff, ..] => return AddressClass::Public,
        _ => return AddressClass::Reserved,
    };
    // If two IPv4 addresses are embedded, prefer the more specific class.
    let telling = |class: &AddressClass| !matches!(class, AddressClass::Public | AddressClass::Unspecified);
    let classes = || carried.iter().map(|addr| class_v4(*addr));
    classes().find(telling).or(classes().find(|class| *class != AddressClass::Public)).unwrap_or(AddressClass::Reserved)
}

fn ipv4_from_halves(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}
