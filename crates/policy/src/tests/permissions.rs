//! What a manifest asks for: read strictly, with the path of every mistake, as the JSON Schema says.

use serde_json::{Value, json};

use crate::schema::is_valid;
use crate::{Change, Permissions};

const SCHEMA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/permissions.schema.json"));

fn agrees(value: &Value, expected: bool) {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let read = Permissions::parse(value);
    assert_eq!(read.is_ok(), expected, "{value}: {read:?}");
    assert_eq!(is_valid(&schema, value), Ok(expected), "{value}");
}

fn mistake(value: Value) -> String {
    Permissions::parse(&value).expect_err("it is a mistake").to_string()
}

fn everything() -> Value {
    json!({
        "network": [
            "https://a.org",
            "GET,POST https://*.example.org:8443/v1/*",
            {"methods": ["*"], "url": "http://[::1]:8080/@x/{y}", "reason": "for tests"},
        ],
        "filesystem": [{"path": "/data"}, {"path": "/home/skill/out", "mode": "rw", "reason": "écrit là"}],
        "env": ["REGION", {"name": "_x1", "reason": "why not"}],
        "secrets": [{"name": "KEY", "hosts": ["a.org", "http://*.b.example.org:81"], "reason": "it is paid"}],
    })
}

#[test]
fn schema_and_parser_agree_on_what_is_right() {
    agrees(&json!({}), true);
    agrees(&everything(), true);
    agrees(&json!({"network": [], "filesystem": [], "env": [], "secrets": []}), true);
    agrees(&Permissions::parse(&everything()).unwrap().to_value(), true);
}

#[test]
fn schema_and_parser_agree_on_what_is_wrong() {
    for (key, item) in [
        ("network", json!("ftp://a.org")),
        ("network", json!("get https://a.org")),
        ("network", json!("https://user@a.org")),
        ("network", json!("https://a.org/?q")),
        ("network", json!("https://é.org")),
        ("network", json!("https://a.org/\\x")),
        ("network", json!("https://")),
        ("network", json!(7)),
        ("network", json!({"methods": ["GET"]})),
        ("network", json!({"methods": [], "url": "https://a.org"})),
        ("network", json!({"methods": "GET", "url": "https://a.org"})),
        ("network", json!({"methods": ["get"], "url": "https://a.org"})),
        ("network", json!({"url": "https://a.org", "host": "b.org"})),
        ("network", json!({"url": "https://a.org", "reason": "a\u{1b}[2J"})),
        ("network", json!({"url": "https://a.org", "reason": "x".repeat(301)})),
        ("filesystem", json!("/data")),
        ("filesystem", json!({"path": "data"})),
        ("filesystem", json!({"path": "/"})),
        ("filesystem", json!({"path": "/data", "mode": "w"})),
        ("filesystem", json!({"mode": "rw"})),
        ("env", json!("1X")),
        ("env", json!("HOME")),
        ("env", json!("PYTHONPATH")),
        ("env", json!({"name": "X", "value": "1"})),
        ("secrets", json!("KEY@a.org")),
        ("secrets", json!({"name": "KEY"})),
        ("secrets", json!({"name": "KEY", "hosts": []})),
        ("secrets", json!({"name": "KEY", "hosts": ["a.org/x"]})),
        ("secrets", json!({"name": "KEY", "hosts": "a.org"})),
        ("secrets", json!({"name": "KEY", "hosts": ["a.org"], "source": "env:HOME"})),
    ] {
        agrees(&json!({key: [item]}), false);
    }
    agrees(&json!({"net": []}), false);
    agrees(&json!({"network": "https://a.org"}), false);
    agrees(&json!({"env": vec!["X"; 65]}), false);
    assert!(Permissions::parse(&json!(null)).is_err() && Permissions::parse(&json!([])).is_err());
}

#[test]
fn mistakes_are_named_by_their_path() {
    assert_eq!(
        mistake(json!({"netwrok": []})),
        "`permissions.netwrok`: there is no such key; there are: network, filesystem, env, secrets"
    );
    assert_eq!(
        mistake(json!({"network": ["https://a.org", {"uri": 1}]})),
        "`permissions.network[1].uri`: there is no such key; there are: methods, url, reason"
    );
    assert_eq!(
        mistake(json!({"network": [{"methods": ["GET", 1], "url": ""}]})),
        "`permissions.network[0].methods[1]`: this is not a text"
    );
    assert_eq!(
        mistake(json!({"filesystem": [{"path": "/usr"}]})),
        "`permissions.filesystem[0].path`: the guest path `/usr` would hide `/usr/local`"
    );
    assert!(
        mistake(json!({"secrets": [{"name": "K", "hosts": ["127.1"]}]}))
            .starts_with("`permissions.secrets[0].hosts[0]`: `127.1` is an IPv4 address in an odd form")
    );
    assert!(!mistake(json!({"\u{1b}[31m": 1})).contains('\u{1b}'));
}

#[test]
fn a_reason_can_not_steer_the_terminal() {
    for reason in ["a\nb", "\u{1b}]0;x\u{7}", "\u{202e}txt", "a\rb", "\u{200b}", "\u{9b}31m"] {
        assert!(mistake(json!({"env": [{"name": "X", "reason": reason}]})).starts_with("`permissions.env[0].reason`"));
    }
}

#[test]
fn permissions_survive_their_own_record() {
    let asked = Permissions::parse(&everything()).unwrap();
    assert_eq!(Permissions::parse(&asked.to_value()).unwrap(), asked);
}

#[test]
fn wishes_are_put_in_words() {
    let asked = json!({
        "network": ["https://a.org/v1/*", {"methods": ["*"], "url": "http://169.254.169.254/", "reason": "weather"}],
        "filesystem": [{"path": "/data", "mode": "rw"}],
        "env": ["REGION"],
        "secrets": [{"name": "KEY", "hosts": ["a.org", "http://*.b.example.org"]}],
    });
    assert_eq!(
        Permissions::parse(&asked).unwrap().describe(),
        [
            "send GET and HEAD requests to https://a.org, paths that begin with /v1/",
            "send requests of any method to http://169.254.169.254, the path /, unencrypted; that is a cloud's metadata service, which hands out credentials (it says: weather)",
            "read and change a folder of yours as /data",
            "read your environment variable REGION",
            "use the secret KEY, without seeing it, with a.org and *.b.example.org (also unencrypted); any name one level below b.example.org",
        ]
    );
}

#[test]
fn a_change_of_wishes_is_shown() {
    let read = |value| Permissions::parse(&value).unwrap();
    let (then, now) = (read(json!({"env": ["A", "B"]})), read(json!({"env": ["B", "C"]})));
    let line = |name| format!("read your environment variable {name}");
    let expected = [Change::Added { words: line("C") }, Change::Removed { words: line("A") }];
    assert_eq!(now.changes_since(&then), expected);
    assert_eq!(now.changes_since(&now), []);
}

#[test]
fn more_of_the_same_is_shown_as_a_change_of_it() {
    let read = |mode: &str| Permissions::parse(&json!({"filesystem": [{"path": "/data", "mode": mode}]})).unwrap();
    let [Change::Changed { from, to }] = &read("rw").changes_since(&read("ro"))[..] else { panic!("one change") };
    assert_eq!((&**from, &**to), ("read a folder of yours as /data", "read and change a folder of yours as /data"));
}

#[test]
fn what_a_wish_exposes_is_said() {
    let asked = json!({
        "network": ["https://a.org/*", "POST https://a.org/*", "http://b.org/*", "https://10.0.0.1/*", "https://*.c.org/*"],
        "filesystem": [{"path": "/data", "mode": "rw"}],
        "secrets": [{"name": "KEY", "hosts": ["a.org"]}],
    });
    let wishes = Permissions::parse(&asked).unwrap().wishes();
    let says = |at: usize, part: &str| wishes[at].exposes.contains(part);
    assert!(!says(0, "change or delete") && !says(0, "on the way"), "{:?}", wishes[0]);
    assert!(says(1, "change or delete") && says(2, "on the way") && says(3, "strangers") && says(4, "below c.org"));
    assert!(says(5, "change or delete") && says(6, "sent to a.org only"), "{wishes:?}");
    assert_eq!(wishes.iter().filter(|wish| !wish.granted_by_approval).count(), 1, "a folder has to be named");
}
