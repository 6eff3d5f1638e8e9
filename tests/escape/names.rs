//! A resolver that lies, as whoever owns a name can. What it says depends on how the name starts; the rest of a name keeps
//! one pair from another.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Mutex;

use skillcell_http::Lookup;

/// Public by its class, and given to nobody. No pair may lead to a connection with it.
const PUBLIC: IpAddr = IpAddr::V6(Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 1));
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[derive(Debug, Default)]
pub struct Names {
    asked: Mutex<BTreeMap<String, usize>>,
}

impl Lookup for Names {
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut asked = self.asked.lock().expect("no panic");
        let before = asked.get(host).copied().unwrap_or(0);
        asked.insert(host.to_owned(), before + 1);
        let four = |a, b, c, d| IpAddr::V4(Ipv4Addr::new(a, b, c, d));
        Ok(match host.split('-').next().unwrap_or_default() {
            "rebinding" if before == 0 => vec![PUBLIC],
            "rebinding" | "local" => vec![LOOPBACK],
            "mixed" => vec![PUBLIC, LOOPBACK],
            "mapped" => vec![IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped())],
            "translated" => vec![IpAddr::V6(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0x7f00, 1))],
            "tunnelled" => vec![IpAddr::V6(Ipv6Addr::new(0x2002, 0x7f00, 1, 0, 0, 0, 0, 1))],
            "unspecified" => vec![four(0, 0, 0, 0)],
            "private" => vec![four(10, 0, 0, 1)],
            "office" => vec![four(172, 31, 255, 254)],
            "home" => vec![four(192, 168, 0, 1)],
            "carrier" => vec![four(100, 64, 0, 1)],
            "metadata" => vec![four(169, 254, 169, 254)],
            "link" => vec![IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1))],
            "unique" => vec![IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1))],
            "multicast" => vec![four(224, 0, 0, 1)],
            _ => return Err(io::ErrorKind::NotFound.into()),
        })
    }
}
