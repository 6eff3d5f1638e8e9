//! Grants: from flags and the policy file, merged.

use serde_json::json;

use super::{allows, grants};
use crate::{BadGrant, BadPolicyFile, GrantKind, Grants, PolicyFile, SecretSource};

const FILE: &str = r#"
[grants]
deny_http = ["https://intranet.example.org"]
env = ["REGION"]

[skill."finance/wallet_screening"]
allow_http = [
    "GET https://api.etherscan.io/*",
    "https://intranet.example.org",
]
secret = ["ETHERSCAN_API_KEY@api.etherscan.io"]
mount = ["/srv/data:/data:ro"]
resolve = ["api.etherscan.io:443:127.0.0.1:8443"]
deny_import = ["ctypes"]
"#;

fn problem(text: &str) -> BadPolicyFile {
    PolicyFile::parse(text).expect_err(text)
}

#[test]
fn a_policy_file_grants_by_skill_and_to_all() {
    let file = PolicyFile::parse(FILE).unwrap();
    let own = file.grants_for("finance/wallet_screening");
    assert!(allows(&own.http, "GET", "https://api.etherscan.io/x"));
    assert!(!allows(&own.http, "GET", "https://intranet.example.org/"), "deny beats allow across sections");
    assert_eq!((own.mounts.len(), own.secrets.len(), own.env.len(), own.resolve.len()), (1, 1, 1, 1));
    let others = file.grants_for("finance/other");
    assert_eq!((others.http.allow.len(), others.http.deny.len(), others.secrets.len()), (0, 1, 0));
    assert_eq!(file.skill_names().collect::<Vec<_>>(), ["finance/wallet_screening"]);
    assert_eq!(PolicyFile::parse("").unwrap().grants_for("x"), Grants::default());
}

#[test]
fn mistakes_in_a_policy_file_are_named_by_their_line() {
    let cases = [
        ("[grants]\nallow_htttp = []\n", "line 2: unknown field `allow_htttp`"),
        ("[grant]\n", "line 1: unknown field `grant`"),
        ("\n\n[skill.x]\ny = 1\n", "line 4: unknown field `y`"),
        (
            "[grants]\n\nallow_http = [\n  \"https://a.org\",\n  \"https://127.1\",\n]\n",
            "line 5: `127.1` is an IPv4 address in an odd form",
        ),
        ("[grants]\nenv = \"X\"\n", "line 2: invalid type: string"),
        ("[grants]\nenv = [1]\n", "line 2: invalid type: integer"),
        ("[grants\n", "line 1: "),
        ("[grants]\nenv = []\nenv = []\n", "line 3: duplicate key"),
        ("[skill.x]\nmount = [\"/a:/data\", \"/b:/data\"]\n", "line 2: `/b:/data:ro` is given twice"),
    ];
    for (text, expected) in cases {
        let shown = problem(text).to_string();
        assert!(shown.starts_with(expected), "{text}: {shown}");
    }
    assert!(matches!(problem("[skill.\"\"]\n"), BadPolicyFile::SkillName(_)));
    assert_eq!(problem(&"#".repeat((256 << 10) + 1)), BadPolicyFile::TooLong);
    assert_eq!(PolicyFile::parse(&"#".repeat(256 << 10)), Ok(PolicyFile::default()));
    problem(&format!("x = {}", "[".repeat(100_000)));
}

#[test]
fn the_same_thing_twice_in_one_layer_must_be_alike() {
    let conflict = |kind, one, other| {
        let mut grants = grants(&[(kind, one)]);
        grants.add(kind, one).unwrap();
        assert!(matches!(grants.add(kind, other), Err(BadGrant::Conflict(_))), "{other}");
        assert_eq!(grants.texts(kind).len(), 1);
    };
    conflict(GrantKind::Mount, "/a:/data", "/b:/data");
    conflict(GrantKind::Env, "A=1", "A=2");
    conflict(GrantKind::Resolve, "a.org:80:1.1.1.1", "a.org:80:2.2.2.2");
    conflict(GrantKind::Secret, "K=env:A@a.org", "K=env:B@b.org");
}

#[test]
fn several_hosts_of_a_secret_add_up() {
    let grants =
        grants(&[(GrantKind::Secret, "K@a.org"), (GrantKind::Secret, "K@b.org"), (GrantKind::Secret, "K@a.org")]);
    assert_eq!(grants.texts(GrantKind::Secret), ["K=env:K@a.org", "K=env:K@b.org"]);
}

#[test]
fn a_later_layer_replaces_what_can_only_be_one() {
    let earlier =
        grants(&[(GrantKind::Mount, "/a:/data:rw"), (GrantKind::Env, "A=1"), (GrantKind::Resolve, "a.org:80:1.1.1.1")]);
    let later =
        grants(&[(GrantKind::Mount, "/b:/data"), (GrantKind::Env, "A=2"), (GrantKind::Resolve, "a.org:80:2.2.2.2")]);
    assert_eq!(earlier.merged_with(later.clone()), later);
}

#[test]
fn a_secret_from_another_source_does_not_go_to_the_earlier_hosts() {
    let earlier = grants(&[(GrantKind::Secret, "K=env:A@a.org")]);
    let merged = earlier.merged_with(grants(&[(GrantKind::Secret, "K=env:B@b.org")]));
    assert_eq!(merged.texts(GrantKind::Secret), ["K=env:B@b.org"]);
    assert_eq!(merged.secrets[0].source, SecretSource::Env("B".into()));
}

#[test]
fn grants_serialize_as_the_policy_file_has_them() {
    let grants = grants(&[
        (GrantKind::AllowHttp, "https://a.org"),
        (GrantKind::Env, "TOKEN=hunter2"),
        (GrantKind::DenyImport, "os.path"),
    ]);
    let json = serde_json::to_value(&grants).unwrap();
    assert_eq!(json, json!({"allow_http": ["GET,HEAD https://a.org/*"], "env": ["TOKEN"], "deny_import": ["os.path"]}));
}

#[test]
fn counts_and_names_are_bounded() {
    let mut many = Grants::default();
    for at in 0..256 {
        many.add(GrantKind::Env, &format!("A{at}")).unwrap();
    }
    assert_eq!(many.add(GrantKind::Env, "B"), Err(BadGrant::TooMany(GrantKind::Env)));
    for module in ["", "a..b", "1a", "a b", "a;b", "é"] {
        assert!(matches!(Grants::default().add(GrantKind::DenyImport, module), Err(BadGrant::Module(_))), "{module}");
    }
}
