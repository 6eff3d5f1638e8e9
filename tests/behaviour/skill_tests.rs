//! The promise of `skillcell test`: a skill's own tests run in cells as they do elsewhere, each is told of as it ended,
//! and whatever a test does, the host learns of it and goes on.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crate::common::server::Server;
use crate::common::{HOST, fixture, tests};
use serde_json::Value;
use skillcell::{LimitKind, Skill, TestCall, TestReport};
use skillcell_host::testing::{FileReport, TestOutcome, TestResult};
use skillcell_policy::{GrantKind, Grants};

fn test(skill: &Skill, set: impl FnOnce(&mut TestCall)) -> TestReport {
    let mut call = TestCall::default();
    set(&mut call);
    HOST.test(skill, &call).unwrap_or_else(|error| panic!("{}: {error}", skill.id()))
}

/// One file of a fixture.
fn file(name: &str, file: &str, set: impl FnOnce(&mut TestCall)) -> FileReport {
    let report = test(&fixture(&format!("testing/{name}")), |call| {
        call.files = vec![file.to_owned()];
        set(call);
    });
    report.files.into_iter().next().expect("the file's report")
}

fn of<'a>(tests: impl IntoIterator<Item = &'a TestResult>, name: &str) -> &'a TestResult {
    tests.into_iter().find(|test| test.id.ends_with(&format!("::{name}"))).unwrap_or_else(|| panic!("no `{name}`"))
}

fn outcomes(file: &FileReport) -> Vec<(&str, TestOutcome)> {
    file.tests.iter().map(|test| (test.id.rsplit("::").next().unwrap_or(""), test.outcome)).collect()
}

fn skillcell(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skillcell")).arg("test").args(arguments).output().expect("the program can be run")
}

fn folder(name: &str) -> String {
    tests().join("skills/testing").join(name).display().to_string()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy(&from, &to) } else { fs::copy(from, to).map(drop).expect("copied") }
    }
}

#[test]
fn every_outcome_is_told_as_pytest_has_it() {
    let report = test(&fixture("testing/outcomes"), |_| ());
    let told = |name| of(report.tests(), name);
    for (name, outcome) in [
        ("test_passes", TestOutcome::Passed),
        ("test_fails", TestOutcome::Failed),
        ("test_error", TestOutcome::Error),
        ("test_error_at_its_end", TestOutcome::Error),
        ("test_skipped", TestOutcome::Skipped),
        ("test_skips_itself", TestOutcome::Skipped),
        ("test_expected_to_fail", TestOutcome::Xfailed),
        ("test_unexpectedly_passes", TestOutcome::Xpassed),
        ("test_strictly_expected_to_fail", TestOutcome::Failed),
        ("test_parametrised[a-hello a]", TestOutcome::Passed),
        ("test_parametrised[b-hello c]", TestOutcome::Failed),
        ("test_method", TestOutcome::Passed),
    ] {
        assert_eq!(told(name).outcome, outcome, "{name}");
    }
    let error = told("test_fails").error.as_ref().expect("a failure says why");
    assert_eq!((error.kind.as_str(), error.line.as_deref()), ("AssertionError", Some("test_outcomes.py:22")));
    assert!(error.message.contains("hello nobody"), "{}", error.message);
    let error = told("test_error").error.as_ref().expect("an error says why");
    assert_eq!((error.kind.as_str(), error.message.as_str()), ("ConnectionError", "no such fixture today"));
    assert_eq!(told("test_skipped").reason.as_deref(), Some("not today"));
    let totals = report.totals;
    let counted = [totals.passed, totals.failed, totals.errors, totals.skipped, totals.xfailed, totals.xpassed];
    assert_eq!((counted, report.ok), ([4, 4, 2, 2, 1, 1], false));
    assert!(report.files[0].stdout.contains("4 failed, 5 passed, 2 skipped, 1 xfailed, 1 xpassed, 2 errors"));
}

#[test]
fn what_tests_use_of_pytest_and_python_is_there() {
    let report = test(&fixture("testing/fixtures"), |call| {
        call.files = vec!["./tests".to_owned()];
    });
    let bad: Vec<&TestResult> = report.tests().filter(|test| test.outcome != TestOutcome::Passed).collect();
    assert!(bad.is_empty() && report.ok, "{bad:#?}\n{}", report.files[0].stdout);
    assert_eq!(report.totals.passed, 25);
    assert!(report.files[0].stderr.contains("the pytest plugin `broken` is left out"), "{}", report.files[0].stderr);
}

#[test]
fn a_skill_on_its_own_is_tested_from_its_folder() {
    let place = tempfile::tempdir().expect("a folder");
    let lonely = place.path().join("my-skill");
    copy(&tests().join("skills/testing/fixtures"), &lonely);
    let skill = HOST.skill(lonely.to_str().expect("a plain path")).expect("a skill");
    let report = test(&skill, |call| call.keyword = Some("not writes".to_owned()));
    assert!(report.ok && report.totals.passed == 25, "{:?}\n{}", report.totals, report.files[0].stdout);
}

#[test]
fn a_skill_in_a_registry_has_its_surroundings() {
    let report = test(&fixture("testing/registry/skills/office/letter"), |_| ());
    assert!(report.ok && report.totals.passed == 6, "{:#?}", report.files);
    assert_eq!(report.skill, "office/letter");
}

#[test]
fn files_that_do_not_load_say_why_and_where() {
    let report = test(&fixture("testing/broken"), |_| ());
    let error = |name: &str| {
        let file = report.files.iter().find(|file| file.file == name).expect("reported");
        assert_eq!(file.errors.len(), 1, "{:?}", file.errors);
        let error = &file.errors[0].error;
        (error.kind.as_str(), error.line.as_deref())
    };
    assert_eq!(error("test_syntax.py"), ("SyntaxError", Some("test_syntax.py:1")));
    assert_eq!(error("test_import.py"), ("ModuleNotFoundError", Some("test_import.py:1")));
    assert_eq!(error("test_leaves.py"), ("SystemExit", Some("test_leaves.py:3")));
    assert_eq!((report.totals.errors, report.totals.skipped, report.ok), (3, 1, false));
}

#[test]
fn a_test_that_ends_its_interpreter_is_named_and_the_others_are_not_lost() {
    let exits = file("hostile", "test_exits.py", |_| ());
    let expected = [
        ("test_before", TestOutcome::Passed),
        ("test_leaves", TestOutcome::Error),
        ("test_after", TestOutcome::NotRun),
    ];
    assert_eq!(outcomes(&exits), expected);
    assert_eq!(exits.tests[1].error.as_ref().map(|error| error.kind.as_str()), Some("SystemExit"));
}

#[test]
fn a_test_over_a_limit_is_named_with_it() {
    let over = |name: &str, limit: LimitKind, test: &str, set: fn(&mut TestCall)| {
        let report = file("hostile", name, set);
        assert_eq!(report.limit, Some(limit), "{name}: {:?}", report.errors);
        assert_eq!(of(&report.tests, test).outcome, TestOutcome::Exceeded, "{name}");
        report
    };
    let short: fn(&mut TestCall) = |call| call.limits.deadline = Duration::from_secs(10);
    let loops = over("test_loops.py", LimitKind::Deadline, "test_never_ends", short);
    assert_eq!(of(&loops.tests, "test_before").outcome, TestOutcome::Passed);
    assert_eq!(of(&loops.tests, "test_after").outcome, TestOutcome::NotRun);
    over("test_floods.py", LimitKind::StdoutBytes, "test_prints_much", |_| ());
    let report = file("hostile", "test_loops_at_import.py", short);
    assert_eq!((report.limit, report.errors.len(), report.tests.len()), (Some(LimitKind::Deadline), 1, 0));
    // A test sees a `MemoryError`, which pytest reports like any other.
    let eats = file("hostile", "test_eats.py", |_| ());
    let test = of(&eats.tests, "test_takes_all_memory");
    assert_eq!(test.error.as_ref().map(|error| error.kind.as_str()), Some("MemoryError"), "{test:?} {:?}", eats.limit);
}

#[test]
fn what_a_cell_tells_is_bounded_and_checked() {
    let forges = file("hostile", "test_forges.py", |_| ());
    assert_eq!(of(&forges.tests, "test_what_is_no_event_is_refused").outcome, TestOutcome::Passed, "{}", forges.stdout);
    let much = file("hostile", "test_tells_too_much.py", |_| ());
    assert_eq!(much.limit, Some(LimitKind::ResultBytes));
    let own = file("hostile", "test_answers_itself.py", |_| ());
    assert_eq!(own.errors[0].error.kind, "CellCrash", "{:?}", own.errors);
    let broken = file("hostile", "test_breaks_pytest.py", |_| ());
    assert!(
        !test(&fixture("testing/hostile"), |call| call.files = vec!["test_breaks_pytest.py".to_owned()]).ok,
        "{broken:?}"
    );
}

#[test]
fn the_skills_folder_is_read_only_unless_a_copy_is_asked_for() {
    let report = file("fixtures", "test_writes.py", |_| ());
    assert_eq!(report.tests[0].error.as_ref().map(|error| error.kind.as_str()), Some("OSError"));
    let report = file("fixtures", "test_writes.py", |call| call.writable = true);
    assert_eq!(report.tests[0].outcome, TestOutcome::Passed, "{}", report.stdout);
    assert!(!Path::new(&folder("fixtures")).join("note.txt").exists());
}

#[test]
fn tests_run_without_what_the_manifest_asks_for_and_hold_no_more_than_that() {
    let run = |flags: &[&str]| {
        let skill = folder("grants");
        let all = [&[&*skill, "--json"], flags].concat();
        let report: Value = serde_json::from_slice(&skillcell(&all).stdout).expect("JSON");
        report["files"][0]["tests"]
            .as_array()
            .expect("tests")
            .iter()
            .map(|test| test["outcome"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(run(&[]), ["failed", "passed"]);
    assert_eq!(run(&["--env", "REGION=eu", "--env", "OTHER=1"]), ["passed", "passed"]);
}

#[test]
fn a_granted_request_works_in_a_test_and_any_other_is_a_denial() {
    let server = Server::start(None, |_| Some(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".to_vec()));
    let url = format!("http://127.0.0.1:{}/x", server.port);
    let run = |rules: &[&str]| {
        let mut grants = Grants::default();
        grants.add(GrantKind::Env, &format!("URL={url}")).expect("a grant");
        rules.iter().for_each(|rule| grants.add(GrantKind::AllowHttp, rule).expect("a grant"));
        file("web", "test_web.py", |call| call.grants = grants)
    };
    let report = run(&[&url]);
    assert_eq!((report.tests[0].outcome, report.denials.len()), (TestOutcome::Passed, 0), "{}", report.stdout);
    let report = run(&[]);
    assert_eq!((report.tests[0].outcome, report.denials.len()), (TestOutcome::Failed, 1), "{}", report.stdout);
}

#[test]
fn a_secret_that_a_test_finds_does_not_leave_in_its_report() {
    const VALUE: &str = "correct-horse-battery-staple";
    let place = tempfile::tempdir().expect("a folder");
    let (found, audit) = (place.path().join("found"), place.path().join("audit.jsonl"));
    fs::create_dir(&found).and_then(|()| fs::write(found.join("key"), VALUE)).expect("written");
    // A folder that holds the secret's own file is not mounted: what is found is a copy.
    let kept = place.path().join("kept");
    fs::write(&kept, VALUE).expect("written");
    let secret = format!("KEY=file:{}@example.org", kept.display());
    let mount = format!("{}:/found", found.display());
    let (skill, audit) = (folder("web"), audit.display().to_string());
    let output =
        skillcell(&[&skill, "test_key.py", "--secret", &secret, "--mount", &mount, "--json", "--audit", &audit]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["files"][0]["tests"][0]["error"]["type"], "AssertionError", "{report}");
    assert!(!report.to_string().contains(VALUE), "{report}");
    let audited = fs::read_to_string(audit).expect("an audit");
    assert!(audited.lines().count() > 2 && audited.contains("testing/web") && !audited.contains(VALUE), "{audited}");
}

#[test]
fn the_command_prints_pytests_text_and_a_summary_and_ends_with_a_code() {
    let said = |arguments: &[&str]| {
        let output = skillcell(arguments);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), out.into_owned(), err.into_owned())
    };
    let outcomes = folder("outcomes");
    let (code, out, _) = said(&[&outcomes]);
    assert_eq!(code, Some(1));
    assert!(
        out.contains("test session starts") && out.contains("testing/outcomes: 4 failed, 2 errors, 4 passed"),
        "{out}"
    );
    assert_eq!(said(&[&outcomes, "-k", "passes and not unexpectedly"]).0, Some(0));
    assert_eq!(said(&[&outcomes, "test_outcomes.py::TestClass", "--", "-vv"]).0, Some(0));
    let (code, out, _) = said(&[&outcomes, "-x"]);
    assert!(code == Some(1) && out.contains("1 failed, 12 not run, 1 passed"), "{out}");
    let (code, _, err) = said(&[&outcomes, "-k", "no_such_test"]);
    assert!(code == Some(2) && err.contains("no test was selected"), "{err}");
    let (code, _, err) = said(&[&folder("none")]);
    assert!(code == Some(2) && err.contains("has no tests"), "{err}");
    let (code, _, err) = said(&[&outcomes, "test_other.py"]);
    assert!(code == Some(2) && err.contains("has no test file or folder `test_other.py`"), "{err}");
    let (code, _, err) = said(&[&folder("hostile"), "test_loops.py", "--timeout", "10"]);
    assert!(code == Some(4) && err.contains("test_loops.py::test_never_ends` went over a limit: deadline"), "{err}");
    let (code, _, err) = said(&[&folder("hostile"), "test_exits.py"]);
    assert!(code == Some(1) && err.contains("test_exits.py::test_leaves` ended early: SystemExit"), "{err}");
    let (code, _, err) = said(&[&outcomes, "--", "--no-such-option"]);
    assert!(code == Some(1) && err.contains("unrecognized arguments: --no-such-option"), "{err}");
}

#[test]
fn limits_of_a_policy_file_hold_for_tests_and_builds_and_flags_come_before_them() {
    let place = tempfile::tempdir().expect("a folder");
    let policy = place.path().join("skillcell.toml");
    fs::write(&policy, "[limits]\ntimeout = '1ms'\n").expect("written");
    let (policy, skill) = (policy.to_str().expect("a plain path"), place.path().join("limited_skill"));
    let code = |words: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        program.args(words).arg(&skill).arg("--quiet").output().expect("it runs").status.code()
    };
    assert_eq!(code(&["new"]), Some(0));
    // No image of it can be in the cache.
    let mut source = fs::OpenOptions::new().append(true).open(skill.join("skill.py")).expect("opened");
    writeln!(source, "# {:?}", std::time::SystemTime::now()).expect("written");
    for verb in ["build", "test"] {
        let codes = (code(&[verb, "--policy", policy]), code(&[verb, "--policy", policy, "--timeout", "120"]));
        assert_eq!(codes, (Some(4), Some(0)), "{verb}");
    }
}

#[test]
fn registry_skills_pass_their_own_tests() {
    for (id, passed) in [("office/gmail_handler", 30), ("office/web_form_mapper", 10), ("finance/wallet_screening", 25)]
    {
        let report = test(&HOST.skill(id).expect("in the registry"), |_| ());
        assert!(report.ok && report.totals.passed == passed, "{id}: {:?}", report.totals);
    }
}

#[test]
fn every_fixture_is_run() {
    let source = include_str!("skill_tests.rs");
    for entry in fs::read_dir(tests().join("skills/testing")).expect("listed").flatten() {
        let name = entry.file_name().into_string().expect("a plain name");
        assert!(source.contains(&format!("\"{name}\"")) || source.contains(&format!("testing/{name}")), "{name}");
    }
    for entry in fs::read_dir(folder("hostile")).expect("listed").flatten() {
        let name = entry.file_name().into_string().expect("a plain name");
        assert!(!name.starts_with("test_") || source.contains(&format!("\"{name}\"")), "no test runs `{name}`");
    }
}
