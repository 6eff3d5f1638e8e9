//! Addresses: only public ones on the strength of a name, others by the operator's word on that very address.

use std::net::IpAddr;

use super::{rule, target};
use crate::AddressClass::*;
use crate::{BadHost, BadResolve, Denial, Grants, Origin, Resolve, class_of_address, decide_address};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn every_range_has_its_class() {
    let cases = [
        ("8.8.8.8", Public),
        ("1.1.1.1", Public),
        ("172.15.255.255", Public),
        ("172.32.0.0", Public),
        ("100.63.0.1", Public),
        ("100.128.0.0", Public),
        ("192.169.0.1", Public),
        ("198.20.0.1", Public),
        ("223.255.255.255", Public),
        ("127.0.0.1", Loopback),
        ("127.255.255.255", Loopback),
        ("10.1.2.3", Private),
        ("172.16.0.0", Private),
        ("172.31.255.255", Private),
        ("192.168.1.1", Private),
        ("169.254.1.1", LinkLocal),
        ("169.254.169.254", Metadata),
        ("169.254.170.2", Metadata),
        ("100.100.100.200", Metadata),
        ("168.63.129.16", Metadata),
        ("192.0.0.192", Metadata),
        ("100.64.0.0", CarrierNat),
        ("100.127.255.255", CarrierNat),
        ("224.0.0.1", Multicast),
        ("239.255.255.255", Multicast),
        ("255.255.255.255", Broadcast),
        ("0.0.0.0", Unspecified),
        ("0.1.2.3", Reserved),
        ("192.0.0.8", Reserved),
        ("192.88.99.1", Reserved),
        ("240.0.0.1", Reserved),
        ("192.0.2.1", Documentation),
        ("198.51.100.7", Documentation),
        ("203.0.113.9", Documentation),
        ("198.18.0.1", Benchmark),
        ("198.19.255.255", Benchmark),
        ("2606:4700:4700::1111", Public),
        ("2a00:1450:4001::1", Public),
        ("2001:4860:4860::8888", Public),
        ("::", Unspecified),
        ("::1", Loopback),
        ("fe80::1", LinkLocal),
        ("febf::1", LinkLocal),
        ("fec0::1", Private),
        ("fc00::1", UniqueLocal),
        ("fdff::1", UniqueLocal),
        ("fd00:ec2::254", Metadata),
        ("fd20:ce::254", Metadata),
        ("ff02::1", Multicast),
        ("2001:db8::1", Documentation),
        ("3fff::1", Documentation),
        ("2001:2::1", Benchmark),
        ("100::1", Reserved),
        ("2001:10::1", Reserved),
        ("5f00::1", Reserved),
        ("4000::1", Reserved),
    ];
    for (text, expected) in cases {
        assert_eq!(class_of_address(ip(text)), expected, "{text}");
    }
}

#[test]
fn an_ipv6_address_is_judged_by_the_ipv4_address_in_it() {
    let cases = [
        ("::ffff:127.0.0.1", Loopback),
        ("::ffff:8.8.8.8", Public),
        ("::ffff:169.254.169.254", Metadata),
        ("::7f00:1", Loopback),
        ("::10.0.0.1", Private),
        ("::8.8.8.8", Reserved),
        ("::2", Reserved),
        ("::ffff:0:127.0.0.1", Loopback),
        ("64:ff9b::127.0.0.1", Loopback),
        ("64:ff9b::a9fe:a9fe", Metadata),
        ("64:ff9b::8.8.8.8", Public),
        ("64:ff9b:1::10.0.0.1", Private),
        ("64:ff9b:1:7f00:0:100::", Loopback),
        ("64:ff9b:1:808:8:800:808:808", Reserved),
        ("2002:7f00:1::1", Loopback),
        ("2002:a9fe:a9fe::", Metadata),
        ("2002:c0a8:101::1", Private),
        ("2002:808:808::1", Reserved),
        ("2001:0:808:808:0:0:80ff:fffe", Loopback),
        ("2001:0:7f00:1:0:0:f7f7:f7f7", Loopback),
        ("2001:0:808:808:0:0:f7f7:f7f7", Reserved),
        ("2a00::5efe:7f00:1", Loopback),
        ("2a00::200:5efe:a00:1", Private),
    ];
    for (text, expected) in cases {
        assert_eq!(class_of_address(ip(text)), expected, "{text}");
    }
}

#[test]
fn a_name_leads_to_public_addresses_only() {
    let (target, rule) = (target("https://a.org/"), rule("https://a.org"));
    decide_address(&target, &rule, Origin::Dns, ip("93.184.216.34")).unwrap();
    for addr in [
        "127.0.0.1",
        "::1",
        "10.0.0.1",
        "169.254.169.254",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "0.0.0.0",
        "224.0.0.1",
        "fd00::1",
        "100.64.0.1",
    ] {
        let denied = decide_address(&target, &rule, Origin::Dns, ip(addr)).expect_err(addr);
        assert_ne!(denied.class, Public);
    }
    let denied = decide_address(&target, &rule, Origin::Dns, ip("::ffff:127.0.0.1")).unwrap_err();
    assert_eq!(denied.to_string(), "`a.org` leads to 127.0.0.1, which is a loopback address: this machine");
    let denial = Denial::address("GET", "https://a.org/", &denied);
    assert_eq!(denial.flag, None);
    assert!(denial.hint.unwrap().starts_with("`127.0.0.1` is a loopback address: this machine: services there"));
}

#[test]
fn a_refused_request_to_a_place_that_is_not_public_is_warned_of_and_no_line_to_paste_is_given() {
    for (host, class) in [
        ("169.254.169.254", "a cloud's metadata service"),
        ("[fd00:ec2::254]", "a cloud's metadata service"),
        ("[::ffff:169.254.169.254]", "a cloud's metadata service"),
        ("metadata.google.internal", "a cloud's metadata service"),
        ("127.0.0.1", "a loopback address"),
        ("[::1]", "a loopback address"),
        ("localhost", "a loopback address"),
        ("a.localhost", "a loopback address"),
        ("10.0.0.1", "an address of a private network"),
        ("192.168.1.1", "an address of a private network"),
        ("db", "an address of a private network"),
        ("wiki.corp", "an address of a private network"),
        ("169.254.1.1", "a link-local address"),
        ("[fe80::1]", "a link-local address"),
        ("0.0.0.0", "the unspecified address"),
    ] {
        let url = format!("http://{host}/latest");
        let denied = Grants::default().http.decide("GET", &target(&url)).unwrap_err();
        let denial = Denial::http("GET", &url, &denied);
        let hint = denial.hint.unwrap();
        assert!(hint.contains(class) && hint.contains("docs/reference/grants.md"), "{hint}");
        assert!(denial.flag.is_none() && !hint.contains("--") && !hint.contains("allow_http"), "{host}: {hint}");
    }
    for host in ["a.org", "93.184.216.34", "local.org", "metadata.org", "notlocalhost.org"] {
        let url = format!("http://{host}/");
        let denied = Grants::default().http.decide("GET", &target(&url)).unwrap_err();
        assert!(Denial::http("GET", &url, &denied).flag.is_some(), "{host}");
    }
}

#[test]
fn a_resolve_entry_grants_its_address_for_its_name_and_port() {
    let entry = Resolve::parse("a.org:443:127.0.0.1:8443").unwrap();
    let rule = rule("https://*.org.test");
    let decide = |url, addr| decide_address(&target(url), &rule, Origin::Resolve(&entry), ip(addr)).is_ok();
    assert!(decide("https://A.org/", "127.0.0.1") && decide("https://a.org/", "::ffff:127.0.0.1"));
    assert!(!decide("https://a.org/", "127.0.0.2") && !decide("https://b.org/", "127.0.0.1"));
    assert!(!decide("https://a.org:444/", "127.0.0.1") && !decide("https://a.org/", "8.8.8.8"));
    assert_eq!((entry.addr(), entry.to_port()), (ip("127.0.0.1"), 8443));
    assert!(Resolve::find(std::slice::from_ref(&entry), &target("https://a.org/")).is_some());
    assert!(Resolve::find(&[entry], &target("http://a.org/")).is_none());
}

#[test]
fn a_rule_for_a_literal_address_grants_that_address_alone() {
    let (url, own) = (target("http://127.0.0.1:8080/"), rule("http://127.0.0.1:8080"));
    decide_address(&url, &own, Origin::Literal, ip("127.0.0.1")).unwrap();
    decide_address(&target("http://[::ffff:127.0.0.1]:8080/"), &own, Origin::Literal, ip("127.0.0.1")).unwrap();
    decide_address(&url, &own, Origin::Literal, ip("127.0.0.2")).unwrap_err();
    decide_address(&url, &rule("http://localhost:8080"), Origin::Literal, ip("127.0.0.1")).unwrap_err();
    decide_address(&url, &own, Origin::Dns, ip("127.0.0.1")).unwrap_err();
}

#[test]
fn a_resolve_entry_for_an_address_leads_away_from_it() {
    let entry = Resolve::parse("93.184.216.34:80:127.0.0.1:8080").unwrap();
    let (url, own) = (target("http://93.184.216.34/page"), rule("http://93.184.216.34"));
    assert_eq!(Resolve::find(std::slice::from_ref(&entry), &url), Some(&entry));
    for rule in [&own, &rule("http://*/*")] {
        decide_address(&url, rule, Origin::Resolve(&entry), ip("127.0.0.1")).unwrap();
        decide_address(&url, rule, Origin::Resolve(&entry), ip("93.184.216.34")).unwrap_err();
    }
}

#[test]
fn a_rule_for_any_host_grants_public_addresses_alone() {
    let any = rule("http://*/*");
    decide_address(&target("http://93.184.216.34/"), &any, Origin::Literal, ip("93.184.216.34")).unwrap();
    decide_address(&target("http://a.org/"), &any, Origin::Dns, ip("93.184.216.34")).unwrap();
    decide_address(&target("http://93.184.216.34/"), &any, Origin::Literal, ip("93.184.216.35")).unwrap_err();
    for addr in
        ["127.0.0.1", "10.0.0.1", "169.254.169.254", "169.254.1.1", "100.64.0.1", "224.0.0.1", "[::1]", "[fd00::1]"]
    {
        let url = target(&format!("http://{addr}/"));
        let addr = ip(addr.trim_matches(['[', ']']));
        decide_address(&url, &any, Origin::Literal, addr).unwrap_err();
        decide_address(&target("http://a.org/"), &any, Origin::Dns, addr).unwrap_err();
    }
}

#[test]
fn resolve_entries_are_read_as_curls() {
    for (text, shown) in [
        ("A.org:443:127.0.0.1", "a.org:443:127.0.0.1"),
        ("a.org:80:[::1]", "a.org:80:[::1]"),
        ("a.org:80:[::1]:8080", "a.org:80:[::1]:8080"),
        ("a.org:80:[::ffff:10.0.0.1]:80", "a.org:80:10.0.0.1"),
        ("93.184.216.34:80:127.0.0.1:8080", "93.184.216.34:80:127.0.0.1:8080"),
        ("[2a00:0::1]:80:[::1]", "[2a00::1]:80:[::1]"),
        ("[::ffff:10.0.0.1]:80:127.0.0.1", "10.0.0.1:80:127.0.0.1"),
    ] {
        let entry = Resolve::parse(text).unwrap();
        assert_eq!(entry.to_string(), shown);
        assert_eq!(Resolve::parse(shown).unwrap(), entry);
    }
    for text in [
        "",
        "a.org",
        "a.org:80",
        "a.org:80:",
        "a.org:0:1.1.1.1",
        "a.org:80:b.org",
        "a.org:80:::1",
        "*:80:1.1.1.1",
        "a.org:80:1.1.1.1:",
        "a.org:80:1.1.1.1,2.2.2.2",
        "[::1]",
        "[::1:80:127.0.0.1",
        "::1:80:127.0.0.1",
    ] {
        Resolve::parse(text).expect_err(text);
    }
    assert!(matches!(Resolve::parse("a.org:80:127.1"), Err(BadResolve::Host(BadHost::OddIpv4(_)))));
    assert!(matches!(Resolve::parse("127.1:80:127.0.0.1"), Err(BadResolve::Host(BadHost::OddIpv4(_)))));
}
