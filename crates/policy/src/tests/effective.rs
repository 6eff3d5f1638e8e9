//! What holds is what was asked for and granted; what is missing comes with all that would grant it.

use serde_json::{Value, json};

use super::{allows, grants};
use crate::{Denial, DenialKind, Effective, GrantKind, Grants, Permissions, PolicyFile};

const SKILL: &str = "finance/wallet_screening";

fn effective(asked: Value, granted: &[(GrantKind, &str)]) -> Effective {
    Effective::of(SKILL, Some(&Permissions::parse(&asked).unwrap()), &grants(granted))
}

#[test]
fn without_permissions_what_is_granted_holds_as_given() {
    let granted =
        grants(&[(GrantKind::AllowHttp, "https://a.org"), (GrantKind::Env, "A"), (GrantKind::Mount, "/a:/b")]);
    let effective = Effective::of(SKILL, None, &granted);
    assert_eq!((&effective.grants, effective.missing.len()), (&granted, 0));
}

#[test]
fn with_empty_permissions_nothing_holds() {
    let effective = effective(json!({}), &[(GrantKind::AllowHttp, "https://a.org"), (GrantKind::Secret, "K@a.org")]);
    assert_eq!(effective.grants, Grants::default());
    assert_eq!(effective.unused, ["GET,HEAD https://a.org/*", "K=env:K@a.org"]);
}

#[test]
fn a_missing_rule_comes_with_flag_line_and_command() {
    let effective =
        effective(json!({"network": [{"methods": ["POST"], "url": "https://a.org/v1/*", "reason": "to post"}]}), &[]);
    let [missing] = &effective.missing[..] else { panic!("{effective:?}") };
    assert_eq!(missing.flag.as_deref(), Some("--allow-http 'POST https://a.org/v1/*'"));
    assert_eq!(
        missing.line.as_deref(),
        Some("[skill.\"finance/wallet_screening\"]\nallow_http = [\"POST https://a.org/v1/*\"]")
    );
    assert_eq!(missing.command.as_deref(), Some("skillcell approve finance/wallet_screening"));
    assert_eq!(
        missing.message(),
        "`finance/wallet_screening` asks to send POST requests to https://a.org, paths that begin with /v1/, which is not granted"
    );
    assert_eq!(missing.reason.as_deref(), Some("to post"));
    let denial = Denial::from(missing);
    assert_eq!((denial.kind, denial.asked.as_str()), (DenialKind::Http, "POST https://a.org/v1/*"));
}

#[test]
fn the_line_of_what_is_missing_grants_it() {
    let asked = json!({
        "network": ["https://a.org/it's*", "* https://*.b.org.test"],
        "env": ["A"],
        "secrets": [{"name": "K", "hosts": ["a.org", "http://b.org.test:81"]}],
        "filesystem": [{"path": "/data", "mode": "rw"}],
    });
    let asked = Permissions::parse(&asked).unwrap();
    let missing = Effective::of(SKILL, Some(&asked), &Grants::default()).missing;
    assert_eq!(missing.len(), 5);
    let granted = missing.iter().fold(Grants::default(), |granted, missing| {
        let file = PolicyFile::parse(missing.line.as_deref().unwrap()).unwrap();
        granted.merged_with(file.grants_for(SKILL))
    });
    assert_eq!(Effective::of(SKILL, Some(&asked), &granted).missing, []);
}

#[test]
fn an_approval_grants_all_but_folders() {
    let asked = json!({
        "network": ["https://a.org"], "env": ["A"], "secrets": [{"name": "K", "hosts": ["a.org"]}], "filesystem": [{"path": "/data"}],
    });
    let asked = Permissions::parse(&asked).unwrap();
    let effective = Effective::of(SKILL, Some(&asked), &Grants::of_approval(&asked));
    let [missing] = &effective.missing[..] else { panic!("{effective:?}") };
    assert_eq!(
        (missing.kind, missing.flag.as_deref(), missing.command.as_deref()),
        (DenialKind::File, Some("--mount 'FOLDER:/data:ro'"), None)
    );
}

#[test]
fn what_is_granted_in_part_holds_in_part() {
    let effective =
        effective(json!({"network": ["GET,POST https://a.org/*"]}), &[(GrantKind::AllowHttp, "* https://a.org/v1/*")]);
    assert!(allows(&effective.grants.http, "POST", "https://a.org/v1/x"));
    assert!(
        !allows(&effective.grants.http, "PUT", "https://a.org/v1/x")
            && !allows(&effective.grants.http, "GET", "https://a.org/")
    );
    let [missing] = &effective.missing[..] else { panic!("{effective:?}") };
    assert_eq!(missing.granted_in_part, ["GET,POST https://a.org/v1/*"]);
    assert!(
        missing.message().ends_with("of which only `GET,POST https://a.org/v1/*` is granted"),
        "{}",
        missing.message()
    );
}

#[test]
fn rules_that_cover_a_wish_together_leave_nothing_missing() {
    let granted = [(GrantKind::AllowHttp, "GET https://a.org"), (GrantKind::AllowHttp, "POST https://a.org")];
    assert_eq!(effective(json!({"network": ["GET,POST https://a.org/x"]}), &granted).missing, []);
    let left = effective(json!({"network": ["GET,POST,PUT https://a.org/x"]}), &granted).missing;
    assert_eq!(left[0].flag.as_deref(), Some("--allow-http 'PUT https://a.org/x'"));
}

#[test]
fn a_denied_wish_says_which_rule_denies_it() {
    let granted = [
        (GrantKind::AllowHttp, "https://a.org"),
        (GrantKind::DenyHttp, "https://*.example.org"),
        (GrantKind::DenyHttp, "https://a.org"),
    ];
    let effective = effective(json!({"network": ["https://a.org/x"]}), &granted);
    let [missing] = &effective.missing[..] else { panic!("{effective:?}") };
    assert_eq!((missing.denied_by.as_deref(), missing.flag.as_deref()), (Some("* https://a.org/*"), None));
    assert!(!allows(&effective.grants.http, "GET", "https://a.org/x"));
}

#[test]
fn folders_hold_with_the_lesser_mode() {
    let mode = |asked: &str, granted: &str| {
        let granted = format!("/srv:/data:{granted}");
        let effective =
            effective(json!({"filesystem": [{"path": "/data", "mode": asked}]}), &[(GrantKind::Mount, &granted)]);
        (effective.grants.texts(GrantKind::Mount).join(" "), effective.missing.len())
    };
    assert_eq!(mode("ro", "rw"), ("/srv:/data:ro".into(), 0));
    assert_eq!(mode("rw", "ro"), ("/srv:/data:ro".into(), 1));
    assert_eq!(mode("rw", "rw"), ("/srv:/data:rw".into(), 0));
    let elsewhere = effective(json!({"filesystem": [{"path": "/data"}]}), &[(GrantKind::Mount, "/srv:/data/x")]);
    assert_eq!((elsewhere.grants.mounts.len(), elsewhere.missing.len(), elsewhere.unused.len()), (0, 1, 1));
}

#[test]
fn secrets_hold_for_the_hosts_of_both() {
    let effective = effective(
        json!({"secrets": [{"name": "K", "hosts": ["a.org", "b.org"]}]}),
        &[(GrantKind::Secret, "K=cmd:x@http://a.org"), (GrantKind::Secret, "K=cmd:x@c.org")],
    );
    assert_eq!(effective.grants.texts(GrantKind::Secret), ["K=cmd:x@a.org"]);
    assert_eq!(effective.missing[0].flag.as_deref(), Some("--secret 'K=cmd:x@b.org'"));
}

#[test]
fn an_operators_own_word_on_a_secret_overrules_an_approval() {
    let asked = Permissions::parse(&json!({"secrets": [{"name": "K", "hosts": ["a.org", "b.org"]}]})).unwrap();
    let mut own = Grants::default();
    own.add(GrantKind::Secret, "K@a.org").unwrap();
    let both = Grants::of_approval(&asked).overruled_by(own);
    assert_eq!(both.texts(GrantKind::Secret), ["K=env:K@a.org"]);
}

#[test]
fn all_of_it_is_described() {
    let effective = effective(
        json!({"network": ["https://a.org"], "env": ["A"]}),
        &[
            (GrantKind::AllowHttp, "https://a.org/x"),
            (GrantKind::DenyHttp, "DELETE https://a.org"),
            (GrantKind::Env, "A=1"),
            (GrantKind::Env, "B"),
        ],
    );
    assert_eq!(
        effective.describe(),
        [
            "it may send GET and HEAD requests to https://a.org, the path /x",
            "it may read the environment variable A, which you gave a value",
            "it may never send DELETE requests to https://a.org, any path",
        ]
    );
    assert_eq!(
        effective.missing[0].message(),
        "`finance/wallet_screening` asks to send GET and HEAD requests to https://a.org, any path, of which only `GET,HEAD https://a.org/x` is granted",
    );
    assert_eq!(effective.unused, ["B"]);
}

#[test]
fn a_skill_with_an_odd_name_is_quoted() {
    let asked = Permissions::parse(&json!({"env": ["A"]})).unwrap();
    let missing = &Effective::of("x'; rm -rf ~ #\"", Some(&asked), &Grants::default()).missing[0];
    assert_eq!(missing.command.as_deref(), Some(r#"skillcell approve 'x'\''; rm -rf ~ #"'"#));
    assert!(PolicyFile::parse(missing.line.as_deref().unwrap()).is_ok());
    let hint = missing.hint();
    let (_, pasted) = hint.split_once("`skillcell.toml`:\n").unwrap();
    assert!(PolicyFile::parse(pasted).is_ok(), "{pasted}");
}
