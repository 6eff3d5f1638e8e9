//! Secrets: bound to hosts, over https unless the grant says otherwise.

use super::target;
use crate::{BadEnv, BadSecret, EnvGrant, GrantKind, Grants, SecretGrant, SecretHost, SecretSource};

fn source(text: &str) -> SecretSource {
    SecretGrant::parse(text).unwrap().source
}

#[test]
fn sources_are_told_apart() {
    assert_eq!(source("KEY@a.org"), SecretSource::Env("KEY".into()));
    assert_eq!(source("KEY=OTHER@a.org"), SecretSource::Env("OTHER".into()));
    assert_eq!(source("KEY=env:OTHER@a.org"), SecretSource::Env("OTHER".into()));
    assert_eq!(source("KEY=./key.txt@a.org"), SecretSource::File("./key.txt".into()));
    assert_eq!(source("KEY=file:key.txt@a.org"), SecretSource::File("key.txt".into()));
    assert_eq!(source("KEY=cmd:pass show me@work=1@a.org"), SecretSource::Command("pass show me@work=1".into()));
}

#[test]
fn secrets_display_as_they_are_read() {
    for (text, shown) in [
        ("KEY@A.org", "KEY=env:KEY@a.org"),
        ("KEY=/run/key@http://127.0.0.1:8080", "KEY=file:/run/key@http://127.0.0.1:8080"),
        ("KEY=cmd:a b@https://*.a.org", "KEY=cmd:a b@*.a.org"),
        ("KEY@[::1]:99", "KEY=env:KEY@[::1]:99"),
    ] {
        let secret = SecretGrant::parse(text).unwrap();
        assert_eq!(secret.texts().collect::<Vec<_>>(), [shown]);
        assert_eq!(SecretGrant::parse(shown).unwrap(), secret);
    }
}

#[test]
fn a_secret_goes_to_its_host_over_https_only() {
    let allows = |text: &str, url: &str| SecretGrant::parse(text).unwrap().decide(&target(url)).is_ok();
    assert!(allows("K@a.org", "https://A.org/x") && allows("K@a.org", "https://a.org:8443/"));
    assert!(!allows("K@a.org", "http://a.org/"));
    assert!(allows("K@http://a.org", "http://a.org/") && allows("K@http://a.org", "https://a.org/"));
    assert!(!allows("K@a.org", "https://b.a.org/") && !allows("K@a.org", "https://a.org.evil.org/"));
    assert!(allows("K@*.a.org", "https://b.a.org/"));
    assert!(!allows("K@*.a.org", "https://a.org/") && !allows("K@*.a.org", "https://c.b.a.org/"));
    assert!(allows("K@a.org:1", "https://a.org:1/") && !allows("K@a.org:1", "https://a.org/"));
}

#[test]
fn a_secret_that_does_not_go_says_what_it_is_granted_for() {
    let why = |grant: &SecretGrant, url: &str| grant.decide(&target(url)).unwrap_err().to_string();
    let mut grant = SecretGrant::parse("K@a.org:8443").unwrap();
    let begins = "the value of `K` was not put into a request to";
    for (url, to, reason) in [
        ("https://b.org/x?q", "https://b.org", "it is granted for `a.org:8443`, which is another host"),
        ("https://a.org/", "https://a.org", "it is granted for `a.org:8443`, which is another port"),
        ("http://a.org:8443/", "http://a.org:8443", "it is granted for `a.org:8443` over https only"),
    ] {
        assert_eq!(why(&grant, url), format!("{begins} `{to}`, which got the placeholder: {reason}"));
    }
    // It goes over plain http only if all grants of it say so.
    let hosts = ["http://a.org", "b.org"].map(|host| SecretHost::parse(host).unwrap());
    let both = SecretGrant { hosts: hosts.into(), ..grant.clone() };
    assert!(why(&both, "http://a.org/").ends_with("it is granted for `b.org` over https only"));
    assert!(both.decide(&target("https://a.org/")).is_ok());
    // Of several hosts, the one that comes closest is named.
    grant.hosts.insert(0, SecretHost::parse("*.c.org").unwrap());
    assert!(why(&grant, "https://a.org/").ends_with("`a.org:8443`, which is another port"));
    grant.hosts.clear();
    assert!(why(&grant, "https://a.org/").ends_with("it is granted for no host"));
}

#[test]
fn hosts_are_known_whatever_the_scheme_and_port() {
    let grant = SecretGrant::parse("K@*.a.org:8443").unwrap();
    assert!(grant.is_for_host(target("http://x.a.org/").host()));
    assert!(
        !grant.is_for_host(target("http://a.org/").host()) && !grant.is_for_host(target("http://127.0.0.1/").host())
    );
}

#[test]
fn texts_that_are_no_secrets_are_refused() {
    assert!(matches!(SecretGrant::parse("KEY"), Err(BadSecret::NoHost(_))));
    for text in [
        "@a.org",
        "KEY@",
        "1KEY@a.org",
        "K-Y@a.org",
        "KEY=@a.org",
        "KEY=a b@a.org",
        "KEY=cmd:@a.org",
        "KEY=file: @a.org",
        "KEY=cmd:a\nb@a.org",
        "KEY@a.org/x",
        "KEY@a.org?x",
        "KEY@ftp://a.org",
        "KEY@*",
        "KEY@127.1",
        "KEY@é.org",
        "HOME@a.org",
        "PYTHONPATH@a.org",
    ] {
        SecretGrant::parse(text).expect_err(text);
    }
}

#[test]
fn hosts_of_secrets_cover_and_intersect() {
    let host = |text: &str| SecretHost::parse(text).unwrap();
    assert!(host("a.org").covers(&host("a.org:1")) && !host("a.org:1").covers(&host("a.org")));
    assert!(host("http://a.org").covers(&host("a.org")) && !host("a.org").covers(&host("http://a.org")));
    let both = |a: &str, b: &str| host(a).intersect(&host(b)).map(|host| host.to_string());
    assert_eq!(both("http://*.a.org", "x.a.org:8"), Some("x.a.org:8".into()));
    assert_eq!(both("http://a.org", "http://a.org:80"), Some("http://a.org:80".into()));
    assert_eq!(both("a.org:1", "a.org:2"), None);
}

#[test]
fn variables_are_granted_by_name_and_fixed_ones_are_not() {
    assert_eq!(EnvGrant::parse("REGION=eu=1").unwrap().value(), Some("eu=1"));
    assert_eq!(EnvGrant::parse("REGION").unwrap().value(), None);
    for name in ["HOME", "TZ", "LANG", "LC_ALL", "TMPDIR", "PYTHONHASHSEED=0", "PATH"] {
        assert!(matches!(EnvGrant::parse(name), Err(BadEnv::Fixed(_))), "{name}");
    }
    for name in ["", "=x", "A B", "1A", "A\0", "É"] {
        assert!(matches!(EnvGrant::parse(name), Err(BadEnv::Name(_))), "{name}");
    }
    assert!(!format!("{:?}", EnvGrant::parse("TOKEN=hunter2").unwrap()).contains("hunter2"));
}

#[test]
fn a_value_that_was_given_is_in_no_text_and_no_text_gives_one() {
    let mut grants = Grants::default();
    grants.add_given_secret("KEY", "v4lue-of-it", "a.org").unwrap();
    grants.add_given_secret("KEY", "v4lue-of-it", "b.org").unwrap();
    assert!(grants.add_given_secret("KEY", "another-value", "c.org").is_err());
    let texts = grants.texts(GrantKind::Secret);
    assert_eq!(texts, ["KEY=given:@a.org", "KEY=given:@b.org"]);
    assert!(!format!("{grants:?}").contains("v4lue"));
    assert!(SecretGrant::parse(&texts[0]).is_err());
    for (name, host) in [("PATH", "a.org"), ("A B", "a.org"), ("KEY", ""), ("KEY", "a.org/path"), ("KEY", "*")] {
        assert!(Grants::default().add_given_secret(name, "v4lue-of-it", host).is_err(), "{name} {host}");
    }
    // A later layer's value does not go to the hosts of an earlier one's.
    let mut later = Grants::default();
    later.add_given_secret("KEY", "another-value", "c.org").unwrap();
    assert_eq!(grants.merged_with(later).texts(GrantKind::Secret), ["KEY=given:@c.org"]);
}
