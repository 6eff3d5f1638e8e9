//! `skillcell compare`, as its users meet it.

use std::process::Command;

use serde_json::Value;
use skillcell_study::matrix::Ending;

fn compare(words: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_skillcell"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("compare")
        .args(words)
        .output()
        .expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_tier_has_its_figures_and_a_bar() {
    let folder = tempfile::tempdir().expect("a folder");
    let drawing = folder.path().join("tiers.svg");
    let path = drawing.to_str().expect("a plain path");
    let (code, out, err) =
        compare(&["skills-compat/demo/nothing", "--tiers", "wasm", "--count", "2", "--json", "--svg", path]);
    assert_eq!(code, 0, "{err}");
    let all: Value = serde_json::from_str(&out).expect("JSON");
    let tier = &all[0]["tiers"][0];
    assert_eq!(all[0]["equal"], true);
    assert_eq!(tier["tier"], "wasm");
    assert!(tier["warm"]["p50_ms"].as_f64().expect("a time") > 0.0);
    assert!(tier["cold"]["p50_ms"].as_f64().expect("a time") > tier["warm"]["p50_ms"].as_f64().expect("a time"));
    assert!(tier["disk"]["own_bytes"].as_u64().expect("bytes") > 1 << 20);
    assert!(std::fs::read_to_string(drawing).expect("it is drawn").contains("<rect"));
}

/// A call that reports an error costs something else than the skill does.
#[test]
fn the_calls_that_the_study_compares_succeed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/skills-compat/compare.json");
    let calls: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).expect("readable")).expect("JSON");
    assert!(calls.len() >= 4);
    for call in calls {
        let (skill, params) = (call["skill"].as_str().expect("a skill"), call["params"].to_string());
        let output = Command::new(env!("CARGO_BIN_EXE_skillcell"))
            .args(["run", skill, "--tier", "wasm", "--params", &params])
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{skill}: {}", String::from_utf8_lossy(&output.stderr));
        let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(Ending::of_result(&result), Ending::Succeeds, "{skill}: {result}");
    }
}

#[test]
fn a_skill_that_fails_everywhere_has_no_comparison() {
    let (code, _, err) = compare(&["tests/skills/contract/failing", "--tiers", "wasm", "--count", "1"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("nothing to compare"), "{err}");
}

#[test]
fn a_file_that_is_no_list_of_calls_is_told_so() {
    let (code, _, err) = compare(&["--calls", "Cargo.toml"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`Cargo.toml` is no list of calls"), "{err}");
}

#[test]
fn what_measures_nothing_is_a_mistake_and_is_told_before_measuring() {
    let folder = tempfile::tempdir().expect("a folder");
    let none = folder.path().join("calls.json");
    std::fs::write(&none, "[]").expect("written");
    let (code, out, err) = compare(&["--calls", none.to_str().expect("a plain path")]);
    assert_eq!((code, &*out), (2, ""), "{err}");
    assert!(err.contains("has no calls"), "{err}");
    let (code, out, err) = compare(&["skills-compat/demo/nothing", "--count", "0"]);
    assert_eq!((code, &*out), (2, ""), "{err}");
    let (code, _, err) = compare(&["skills-compat/no_such_skill", "--svg", "/nowhere/tiers.svg"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("can't write `/nowhere/tiers.svg`"), "before the skill is looked for: {err}");
}

#[test]
fn a_tier_in_which_the_skill_raises_is_not_equal_to_one_in_which_it_returns() {
    if let Err(error) = skillcell_tiers::available(skillcell::Tier::Subprocess, crate::common::sandbox_choice()) {
        eprintln!("SKIPPED: {error}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let skill = "import sys\nfrom skillware.core.base_skill import BaseSkill\n\n\nclass Picky(BaseSkill):\n    \
                 manifest = {}\n\n    def execute(self, params):\n        if sys.platform != \"wasi\":\n            \
                 raise ValueError(\"not here\")\n        return {\"one\": 1}\n";
    std::fs::write(folder.path().join("skill.py"), skill).expect("written");
    std::fs::write(folder.path().join("manifest.yaml"), "name: picky\nversion: 0.1.0\n").expect("written");
    let path = folder.path().to_str().expect("a plain path");
    let (code, out, err) = compare(&[path, "--tiers", "wasm,subprocess", "--count", "1", "--json"]);
    assert_eq!(code, 1, "{err}");
    let all: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&all[0]["equal"], &all[0]["missing"][0]["failed"]), (&false.into(), &true.into()), "{out}");
    assert!(all[0]["missing"][0]["why"].as_str().expect("a reason").contains("not here"), "{out}");
}

#[test]
fn a_tier_that_the_machine_lacks_is_missing_and_no_difference() {
    let output = Command::new(env!("CARGO_BIN_EXE_skillcell"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["compare", "skills-compat/demo/nothing", "--tiers", "wasm,container", "--count", "1", "--json"])
        .env("PATH", "/nowhere")
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let missing = &all[0]["missing"][0];
    assert_eq!((&all[0]["equal"], &missing["failed"]), (&true.into(), &false.into()), "{all}");
    assert!(missing["why"].as_str().expect("a reason").contains("no container engine"), "{all}");
}

#[test]
fn a_skill_that_never_gives_the_same_twice_is_told_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let skill = "import time\nfrom skillware.core.base_skill import BaseSkill\n\n\nclass Clock(BaseSkill):\n    \
                 manifest = {}\n\n    def execute(self, params):\n        return {\"now\": time.time_ns()}\n";
    std::fs::write(folder.path().join("skill.py"), skill).expect("written");
    std::fs::write(folder.path().join("manifest.yaml"), "name: clock\nversion: 0.1.0\n").expect("written");
    let path = folder.path().to_str().expect("a plain path");
    let (code, out, err) = compare(&[path, "--tiers", "wasm", "--count", "2"]);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("downloads") && err.contains("gives other results from call to call in wasm"), "{out}{err}");
}
