//! Properties: agreement with the naive implementation, deny beats allow, narrowing never widens, texts survive being
//! shown, and nothing panics.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use crate::naive;
use crate::schema::is_valid;
use crate::{
    AddressClass, Denial, Effective, EnvGrant, GrantKind, Grants, GuestPath, HostName, HttpDenial, HttpRule, HttpRules,
    MountGrant, Origin, Permissions, PolicyFile, Resolve, SecretGrant, SecretHost, Target, class_of_address,
    decide_address,
};

const METHODS: [&str; 4] = ["GET", "HEAD", "POST", "DELETE"];
const HOSTS: [&str; 9] =
    ["a.test", "b.test", "x.a.test", "y.a.test", "z.x.a.test", "127.0.0.1", "10.0.0.1", "[::1]", "93.184.216.34"];
const RULE_SEGMENTS: [&str; 8] = ["v1", "v2", "x", "a%2Ab", ".well-known", "%7E", "caf%C3%A9", "V1"];
const ODD_SEGMENTS: [&str; 24] = [
    "..", ".", "%2E%2e", "..;p", "..%3bp", "..%20", "%2f", "a%2Fb", "%5C", "%252e", "%2525", "", "%00", "%0d%0a",
    "%C0%AE", "%76%31", "V1", "a*b", "~", "%7e", "v1;x", "'", "%27", "...",
];

// Weighted so that rules and requests often meet; about one decision in six allows.

fn scheme() -> impl Strategy<Value = &'static str> {
    prop_oneof![12 => Just("https"), 1 => Just("http")]
}

fn port() -> impl Strategy<Value = &'static str> {
    prop_oneof![12 => Just(""), 3 => Just(":443"), 1 => select(vec![":80", ":8080"])]
}

fn methods() -> impl Strategy<Value = String> {
    prop_oneof![Just("*".to_owned()), vec(method(), 1..3).prop_map(|methods| methods.join(","))]
}

fn method() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => Just("GET"), 1 => select(&METHODS[..])]
}

fn host() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("x.a.test"), 1 => select(&HOSTS[..])]
}

fn rule_segment() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("v1"), 2 => Just("a%2Ab"), 2 => Just("it's"), 1 => select(&RULE_SEGMENTS[..])]
}

/// A rule in full: methods, origin and path.
fn rule_text() -> impl Strategy<Value = String> {
    let host = prop_oneof![4 => host(), 3 => Just("*.a.test"), 1 => Just("*.x.a.test"), 2 => Just("*")];
    let end = prop_oneof![1 => Just(""), 1 => Just("/"), 3 => Just("*"), 3 => Just("/*")];
    let path = (prop_oneof![3 => vec(rule_segment(), 0..2), 1 => vec(rule_segment(), 2..4)], end)
        .prop_map(|(segments, end)| format!("/{}{end}", segments.join("/")).replacen("//", "/", 1));
    (methods(), scheme(), host, port(), path)
        .prop_map(|(methods, scheme, host, port, path)| format!("{methods} {scheme}://{host}{port}{path}"))
}

/// A URL that often fits some rule, in odd cases and spellings.
fn url() -> impl Strategy<Value = String> {
    let spelling = select(vec!["V1", "%76%31", "v%31", "a*b", "a%2ab", "it%27s", "IT'S", "v10"]);
    let segment = prop_oneof![12 => rule_segment(), 4 => spelling, 2 => select(&ODD_SEGMENTS[..])];
    let tail = select(vec!["", "", "?q=/v1/..", "#f", "/"]);
    (scheme(), host(), port(), vec(segment, 0..4), tail, any::<bool>()).prop_map(
        |(scheme, host, port, segments, tail, shout)| {
            let origin = format!("{scheme}://{host}{port}");
            let origin = if shout { origin.to_uppercase() } else { origin };
            format!("{origin}/{}{tail}", segments.join("/"))
        },
    )
}

fn rule_list(most: usize) -> impl Strategy<Value = Vec<String>> {
    vec(rule_text(), 0..most)
}

fn parsed(allow: &[String], deny: &[String]) -> HttpRules {
    granted(allow, deny).http
}

fn granted(allow: &[String], deny: &[String]) -> Grants {
    let mut grants = Grants::default();
    allow.iter().for_each(|text| grants.add(GrantKind::AllowHttp, text).unwrap());
    deny.iter().for_each(|text| grants.add(GrantKind::DenyHttp, text).unwrap());
    grants
}

fn asking(network: &[String]) -> Permissions {
    Permissions::parse(&serde_json::json!({ "network": network })).unwrap()
}

/// Pieces of everything that is parsed here, strung together at random, and any text at all.
fn soup() -> impl Strategy<Value = String> {
    let pieces = vec![
        "http://",
        "https://",
        "GET",
        ",",
        " ",
        "*",
        "*.",
        "a.org",
        "[::1]",
        "[",
        "]",
        ":",
        "80",
        "/",
        "//",
        "..",
        "%2e",
        "%",
        "?",
        "#",
        "@",
        "=",
        "env:",
        "file:",
        "cmd:",
        "ro",
        "rw",
        "127.0.0.1",
        "0x7f",
        "\0",
        "\r\n",
        "é",
        "\u{202e}",
        "\\",
        "/data",
        "NAME",
        "\u{1F600}",
        "99999",
        "-",
        "_",
        "'",
        "\"",
        "[grants]\n",
        "allow_http = [",
        "]\n",
        "[skill.x]\n",
    ];
    prop_oneof![
        vec(select(pieces), 0..12).prop_map(|pieces| pieces.concat()),
        any::<String>(),
        vec(any::<u8>(), 0..200).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn decisions_agree_with_the_naive_implementation(
        allow in rule_list(4), deny in rule_list(2), method in method(), url in url(),
    ) {
        let real = Target::parse(&url).ok().map(|target| parsed(&allow, &deny).decide(method, &target).is_ok());
        prop_assert_eq!(real, naive::allows(&allow, &deny, method, &url));
    }

    #[test]
    fn a_rule_made_for_a_request_agrees_with_the_naive_implementation(method in method(), url in url(), deny in rule_list(3)) {
        if let Ok(target) = Target::parse(&url) {
            let denied = HttpRules::default().decide(method, &target).unwrap_err();
            let HttpDenial::NotAllowed { suggested, .. } = denied else { panic!("{denied}") };
            let rules = HttpRules::new(vec![*suggested.clone()], parsed(&[], &deny).deny);
            let naive = naive::allows(&[suggested.to_string()], &deny, method, &url);
            prop_assert_eq!(Some(rules.decide(method, &target).is_ok()), naive);
            prop_assert!(suggested.matches(method, &target), "a suggestion works");
        }
    }

    #[test]
    fn deny_beats_allow(allow in rule_list(4), deny in rule_text(), method in method(), url in url()) {
        if let Ok(target) = Target::parse(&url) {
            let deny = HttpRule::parse_deny(&deny).unwrap();
            prop_assert!(!deny.matches(method, &target) || deny.denies(method, &target), "it denies what it would allow");
            let rules = HttpRules::new(parsed(&allow, &[]).allow, vec![deny.clone()]);
            let decided = rules.decide(method, &target).is_ok();
            prop_assert!(!(decided && deny.matches(method, &target)));
            prop_assert!(!decided || parsed(&allow, &[]).decide(method, &target).is_ok(), "a denial never allows");
        }
    }

    #[test]
    fn a_decision_names_a_rule_that_matches(allow in rule_list(4), method in method(), url in url()) {
        if let Ok(target) = Target::parse(&url) {
            let rules = parsed(&allow, &[]);
            match rules.decide(method, &target) {
                Ok(allowed) => {
                    prop_assert!(rules.get(allowed.by().id()).is_some_and(|rule| rule.matches(method, &target)));
                    prop_assert!(allowed.is_for(method, &target) && !allowed.is_for("OTHER", &target));
                }
                Err(denied) => prop_assert!(rules.allow.iter().all(|rule| !rule.matches(method, &target)), "{}", denied),
            }
        }
    }

    #[test]
    fn what_may_not_be_connected_to_has_nothing_that_is_allowed(
        allow in rule_list(4), deny in rule_list(2), method in method(), url in url(),
    ) {
        if let Ok(target) = Target::parse(&url) {
            let rules = parsed(&allow, &deny);
            prop_assert!(rules.decide_connect(&target).is_ok() || rules.decide(method, &target).is_err());
            prop_assert!(parsed(&allow, &[]).decide_connect(&target).is_ok() || rules.decide_connect(&target).is_err());
        }
    }

    #[test]
    fn covering_and_intersecting_mean_what_they_say(a in rule_text(), b in rule_text(), method in method(), url in url()) {
        let (a, b) = (HttpRule::parse(&a).unwrap(), HttpRule::parse(&b).unwrap());
        let both = a.intersect(&b);
        prop_assert_eq!(&both, &b.intersect(&a));
        prop_assert!(both.iter().all(|both| a.covers(both) && b.covers(both)));
        prop_assert_eq!(a.covers(&b), both.as_ref() == Some(&b));
        if let Ok(target) = Target::parse(&url) {
            let (in_a, in_b) = (a.matches(method, &target), b.matches(method, &target));
            prop_assert_eq!(in_a && in_b, both.is_some_and(|both| both.matches(method, &target)));
            prop_assert!(!(a.covers(&b) && in_b && !in_a));
        }
    }

    #[test]
    fn narrowing_never_widens(
        asked in rule_list(4), allow in rule_list(4), deny in rule_list(2), drop in 0..4usize, method in method(), url in url(),
    ) {
        if let Ok(target) = Target::parse(&url) {
            let allows = |grants: &Grants| grants.http.decide(method, &target).is_ok();
            let granted_all = granted(&allow, &deny);
            let asked = asking(&asked);
            let held = Effective::of("s", Some(&asked), &granted_all).grants;
            let is_asked = asked.network.iter().any(|wish| wish.what.matches(method, &target));
            prop_assert_eq!(allows(&held), allows(&granted_all) && is_asked);
            let fewer: Vec<String> = allow.iter().enumerate().filter(|(at, _)| *at != drop).map(|(_, rule)| rule.clone()).collect();
            let held_of_fewer = Effective::of("s", Some(&asked), &granted(&fewer, &deny)).grants;
            prop_assert!(!allows(&held_of_fewer) || allows(&held));
        }
    }

    #[test]
    fn what_is_missing_is_enough(asked in rule_list(4), allow in rule_list(4)) {
        let asked = asking(&asked);
        let first = Effective::of("a/b", Some(&asked), &granted(&allow, &[]));
        let lines: Grants = first.missing.iter().fold(granted(&allow, &[]), |grants, missing| {
            let file = missing.line.as_deref().map(|line| PolicyFile::parse(line).unwrap());
            file.map_or(grants.clone(), |file| grants.merged_with(file.grants_for("a/b")))
        });
        let second = Effective::of("a/b", Some(&asked), &lines);
        prop_assert!(second.missing.iter().all(|missing| missing.warning.is_some()), "{:?}", second.missing);
    }

    #[test]
    fn a_refusal_offers_a_line_to_paste_for_public_places_only(method in method(), url in url(), asked in rule_list(4)) {
        if let Ok(target) = Target::parse(&url) && let Err(denied) = Grants::default().http.decide(method, &target) {
            let denial = Denial::http(method, &url, &denied);
            let is_public = target.host().class() == AddressClass::Public;
            prop_assert_eq!(denial.flag.is_some(), is_public && matches!(denied, HttpDenial::NotAllowed { .. }));
            prop_assert!(is_public || !denial.hint.unwrap_or_default().contains("--"));
        }
        for missing in Effective::of("a/b", Some(&asking(&asked)), &Grants::default()).missing {
            prop_assert_eq!(missing.warning.is_some(), missing.line.is_none());
            prop_assert_eq!(missing.warning.is_some(), missing.flag.is_none() && missing.command.is_none());
            prop_assert!(missing.warning.is_none() || !missing.hint().contains("--") && !missing.hint().contains("allow_http"));
        }
    }

    #[test]
    fn an_approval_grants_all_requests_asked_for(asked in rule_list(6)) {
        let asked = asking(&asked);
        prop_assert_eq!(Effective::of("s", Some(&asked), &Grants::of_approval(&asked)).missing, vec![]);
        prop_assert_eq!(Permissions::parse(&asked.to_value()).unwrap(), asked);
    }

    #[test]
    fn rules_and_urls_survive_being_shown(rule in rule_text(), url in url()) {
        let rule = HttpRule::parse(&rule).unwrap();
        prop_assert_eq!(HttpRule::parse(&rule.to_string()).unwrap(), rule);
        if let Ok(target) = Target::parse(&url) {
            prop_assert_eq!(Target::parse(&target.to_string()).unwrap(), target);
        }
    }

    #[test]
    fn no_text_panics_and_what_is_read_survives_being_shown(text in soup()) {
        if let Ok(target) = Target::parse(&text) {
            prop_assert_eq!(&Target::parse(&target.to_string()).unwrap(), &target);
            let _ = HttpRules::default().decide(&text, &target);
            let denied = HttpRules::default().decide("GET", &target).unwrap_err();
            prop_assert!(denied.to_string().len() < 4096);
        }
        macro_rules! survives {
            ($($read:expr),*) => { $(if let Ok(read) = $read(&text) {
                prop_assert_eq!($read(&read.to_string()).expect("it was shown"), read);
            })* };
        }
        survives!(HttpRule::parse, HttpRule::parse_deny, Resolve::parse, MountGrant::parse, GuestPath::parse, SecretHost::parse, HostName::parse);
        if let Ok(secret) = SecretGrant::parse(&text) {
            prop_assert_eq!(SecretGrant::parse(&secret.texts().next().unwrap()).unwrap(), secret);
        }
        let _ = (EnvGrant::parse(&text), PolicyFile::parse(&text), Permissions::parse(&Value::String(text.clone())));
        let mut grants = Grants::default();
        GrantKind::ALL.into_iter().for_each(|kind| drop(grants.add(kind, &text)));
    }

    #[test]
    fn what_the_parser_takes_the_schema_takes(texts in vec(soup(), 1..3), known in any::<bool>()) {
        let schema: Value = serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/permissions.schema.json"))).unwrap();
        for text in texts {
            for value in [
                serde_json::json!({"network": [text]}),
                serde_json::json!({"network": [{"url": text, "methods": ["GET", "POST"]}]}),
                serde_json::json!({"network": [{"url": "https://a.org", "methods": [text]}]}),
                serde_json::json!({"filesystem": [{"path": text, "mode": if known { "rw" } else { &text }}]}),
                serde_json::json!({"env": [text, {"name": "A", "reason": text}]}),
                serde_json::json!({"secrets": [{"name": "A", "hosts": [text]}]}),
            ] {
                if Permissions::parse(&value).is_ok() {
                    // Some texts are left to the guest's validator.
                    prop_assert_ne!(is_valid(&schema, &value), Ok(false), "{}", value);
                }
            }
        }
    }

    #[test]
    fn a_rule_for_any_host_never_leads_to_an_address_that_is_not_public(
        v4 in any::<[u8; 4]>(), v6 in any::<[u8; 16]>(), near in select(vec![[127, 0], [10, 0], [169, 254], [192, 168], [100, 64]]), by_name in any::<bool>(),
    ) {
        let any_host = HttpRule::parse("http://*/*").unwrap();
        for addr in [v4.into(), v6.into(), std::net::IpAddr::from([near[0], near[1], v4[2], v4[3]])] {
            let (host, from) = if by_name { ("a.test".to_owned(), Origin::Dns) } else { (HostName::Addr(addr).to_string(), Origin::Literal) };
            let target = Target::parse(&format!("http://{host}/")).unwrap();
            let public = class_of_address(addr) == AddressClass::Public;
            prop_assert_eq!(decide_address(&target, &any_host, from, addr).is_ok(), public, "{}", addr);
            prop_assert!(by_name || any_host.matches("GET", &target) == public);
        }
    }

    #[test]
    fn no_address_panics_and_mapped_ones_are_what_they_carry(bytes in any::<[u8; 16]>(), v4 in any::<[u8; 4]>()) {
        class_of_address(bytes.into());
        let v4 = std::net::Ipv4Addr::from(v4);
        prop_assert_eq!(class_of_address(v4.to_ipv6_mapped().into()), class_of_address(v4.into()));
        let [a, b, c, d] = v4.octets();
        let pair = |high: u8, low: u8| u16::from_be_bytes([high, low]);
        for carrier in [
            std::net::Ipv6Addr::new(0x2002, pair(a, b), pair(c, d), 0, 0, 0, 0, 1),
            std::net::Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, pair(a, b), pair(c, d)),
            std::net::Ipv6Addr::new(0x2001, 0, 0x0808, 0x0808, 0, 0, !pair(a, b), !pair(c, d)),
        ] {
            let public = class_of_address(v4.into()) == AddressClass::Public;
            prop_assert!(public || class_of_address(carrier.into()) == class_of_address(v4.into()));
        }
    }
}
