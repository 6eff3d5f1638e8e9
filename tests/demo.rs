//! The demo skills do what skills-compat/README.md says, and get no more than they are granted.

mod common;
#[path = "common/web.rs"]
mod web;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::ran::{Ran, finish};
use common::{HOST, returned};
use serde_json::{Value, json};
use skillcell::analysis::analyse;
use skillcell::policy::{GrantKind, Grants};
use skillcell::{Call, Host, Outcome, Roots, Skill, TestCall};
use web::{Authority, Server, answer};

fn demo(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("skills-compat/demo").join(name)
}

fn skill(host: &Host, name: &str) -> Skill {
    host.skill(demo(name).to_str().expect("a plain path")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn result(host: &Host, name: &str, params: Value, grants: Grants) -> Value {
    let mut call = Call::new(params);
    // The burglar is to be let in, and to find nothing.
    call.allow_any_import = true;
    call.grants = grants;
    let report = host.call(&skill(host, name), &call).unwrap_or_else(|error| panic!("{name}: {error}"));
    returned(report).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Leads a name to a server of ours that speaks TLS for it, and allows what `rules` say.
fn lead(server: &Server, name: &str, rules: &[(GrantKind, &str)]) -> Grants {
    let mut grants = Grants::default();
    grants.add(GrantKind::Resolve, &format!("{name}:443:127.0.0.1:{}", server.port)).expect("a resolve");
    rules.iter().for_each(|(kind, text)| grants.add(*kind, text).expect("a grant"));
    grants
}

#[test]
fn plain_skills_need_no_grant() {
    let counted = result(&HOST, "word_count", json!({"text": "one two two", "most": 1}), Grants::default());
    assert_eq!(counted, json!({"words": 3, "most": [["two", 2]]}));
    let code = result(&HOST, "dialling_codes", json!({"country": "Peru"}), Grants::default());
    assert_eq!(code, json!({"code": "+51"}));
    assert_eq!(result(&HOST, "nothing", json!({}), Grants::default()), json!({"ok": true}));
    assert_eq!(result(&HOST, "fetch", json!({}), Grants::default()), json!({"status": null}));
}

#[test]
fn the_burglar_gets_nothing() {
    let got = result(&HOST, "burglar", json!({}), Grants::default());
    assert_eq!(got, json!({"got": {}, "tried": 11}));
}

#[test]
fn a_request_is_made_with_the_grant_and_refused_without() {
    let report = HOST.call(&skill(&HOST, "status_page"), &Call::new(json!({}))).expect("a report");
    assert!(matches!(report.outcome, Outcome::Refused), "{}", report.outcome.name());
    let authority = Authority::new();
    let server = Server::start(Some(authority.server(&["status.example.org"])), |_| {
        Some(answer("200 OK", &[("Content-Type", "application/json")], r#"{"status": "fine"}"#))
    });
    let host = trusting(&authority);
    let rule = (GrantKind::AllowHttp, "GET https://status.example.org/api/v2/status.json");
    let got = result(&host, "status_page", json!({}), lead(&server, "status.example.org", &[rule]));
    assert_eq!(got, json!({"reached": true, "status": "fine"}));
}

#[test]
fn a_secret_reaches_the_server_and_never_the_skill() {
    let authority = Authority::new();
    let server = Server::start(Some(authority.server(&["bank.example.org"])), |_| {
        Some(answer("200 OK", &[("Content-Type", "application/json")], r#"{"balance": 7}"#))
    });
    let key = tempfile::NamedTempFile::new().expect("a file");
    fs::write(key.path(), "sesame-1234").expect("written");
    let secret = format!("BANK_API_KEY=file:{}@bank.example.org", key.path().display());
    let rule = (GrantKind::AllowHttp, "GET https://bank.example.org/v1/balance");
    let grants = lead(&server, "bank.example.org", &[rule, (GrantKind::Secret, &secret)]);
    let got = result(&trusting(&authority), "signed_request", json!({}), grants);
    assert_eq!(got["balance"], 7);
    assert!(!got["key_as_seen"].as_str().expect("text").contains("sesame"), "{got}");
    assert_eq!(server.seen()[0].header("authorization"), Some("Bearer sesame-1234"));
}

fn trusting(authority: &Authority) -> Host {
    let trusted = authority.file.path().to_owned();
    Host::builder().roots(Roots::new([])).ca_files([trusted]).build().expect("the cache folder can be used")
}

#[test]
fn their_own_tests_pass_in_cells_and_the_analysis_says_that_they_run() {
    let said = fs::read_to_string(demo("../README.md")).expect("README.md");
    for folder in fs::read_dir(demo("")).expect("listed").flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        assert!(said.contains(&format!("demo/{name}/skill.py")), "skills-compat/README.md does not mention `{name}`");
        let skill = skill(&HOST, &name);
        let verdict = analyse(&HOST, &skill).expect("an analysis").verdict.name();
        let expected = match name.as_str() {
            "status_page" | "signed_request" | "fetch" => "runs with grants",
            // What it tries is guarded, so it runs: to no avail.
            "burglar" => "partly",
            _ => "runs",
        };
        assert_eq!(verdict, expected, "{name}");
        if folder.path().join("test_skill.py").exists() {
            let report = HOST.test(&skill, &TestCall::default()).expect("a report");
            assert!(report.ok, "{name}: {:?}", report.totals);
        }
    }
}

/// What an example says. `cargo test` builds them all, into the folder beside that of this test's program.
fn run_example(name: &str) -> Ran {
    let test = std::env::current_exe().expect("a path");
    let example = test.ancestors().nth(2).expect("a folder of a build").join("examples").join(name);
    assert!(example.exists(), "`{name}` is not built: run all tests, or `cargo build --release --examples` before");
    finish(&mut Command::new(example))
}

#[test]
fn every_example_runs_and_says_what_it_shows() {
    let said = [
        (
            "call_a_skill",
            vec!["returned {\"words\":3,", "raised skillware.core.base_skill.SkillwareParamValidationError"],
        ),
        ("grant_http", vec!["/public/page: returned {\"status\":200", "/private/page: raised requests", "by a rule"]),
        ("cancel", vec!["returned\ncancelled\n"]),
        ("many_threads", vec!["1000 of 1000 calls returned"]),
    ];
    for (name, words) in &said {
        run_example(name).is(0, words);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let sources = fs::read_dir(folder).expect("listed").flatten().map(|file| file.path());
    for source in sources.filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
        assert!(said.iter().any(|(name, _)| source.file_stem() == Some(name.as_ref())), "no test runs {source:?}");
    }
}
