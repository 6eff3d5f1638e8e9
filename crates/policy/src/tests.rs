//! Policy, promise by promise. `fuzz::naive` is a second implementation of the HTTP rules, written another way.

mod address;
mod effective;
mod grants;
mod http;
mod mount;
mod permissions;
mod properties;
mod secret;
mod url;

use super::{GrantKind, Grants, HttpRule, HttpRules, Target};

fn target(text: &str) -> Target {
    Target::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn rule(text: &str) -> HttpRule {
    HttpRule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn rules(allow: &[&str], deny: &[&str]) -> HttpRules {
    let deny = deny.iter().map(|text| HttpRule::parse_deny(text).unwrap()).collect();
    HttpRules::new(allow.iter().map(|text| rule(text)).collect(), deny)
}

fn allows(rules: &HttpRules, method: &str, url: &str) -> bool {
    Target::parse(url).is_ok_and(|target| rules.decide(method, &target).is_ok())
}

fn grants(entries: &[(GrantKind, &str)]) -> Grants {
    let mut grants = Grants::default();
    for (kind, text) in entries {
        grants.add(*kind, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    grants
}

#[test]
fn policy_does_no_input_or_output() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let files =
        ["", "/permissions"].map(|below| std::fs::read_dir(format!("{folder}{below}")).unwrap()).into_iter().flatten();
    for path in files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file() && !path.ends_with("tests.rs")) {
        let text = std::fs::read_to_string(&path).unwrap();
        for power in [
            "std::fs",
            "std::env",
            "std::process",
            "std::io",
            "std::thread",
            "std::time",
            "Stream",
            "Socket",
            "ToSocketAddrs",
            "unsafe",
        ] {
            assert!(!text.contains(power), "{}: {power}", path.display());
        }
    }
}
