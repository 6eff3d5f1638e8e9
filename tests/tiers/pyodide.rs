//! Tests of skills in Pyodide on Node.js, for comparison: they run where that was asked for and nowhere else. Where Node.js or
//! npm is not there, the tests that take them say so and count as ignored.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::ran::finish;
use crate::common::trials::trial;
use libtest_mimic::Trial;
use serde_json::Value;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("pyodide::a_registry_skill_is_tested_in_pyodide", no_node, a_registry_skill_is_tested_in_pyodide),
        trial(
            "pyodide::what_a_test_breaks_is_a_reason_in_the_column",
            no_node,
            what_a_test_breaks_is_a_reason_in_the_column,
        ),
        trial(
            "pyodide::its_files_are_installed_checked_and_removed_by_name",
            no_npm,
            its_files_are_installed_checked_and_removed_by_name,
        ),
        trial("pyodide::strangers_need_trust", || None, strangers_need_trust),
        trial("pyodide::without_node_the_column_says_so", || None, without_node_the_column_says_so),
    ]
}

fn no_node() -> Option<String> {
    let missing = ["node", "npm"].into_iter().find(|program| !starts(program));
    missing.map(|program| format!("{program} is not there"))
}

fn no_npm() -> Option<String> {
    (!starts("npm")).then(|| "npm is not there".to_owned())
}

fn starts(program: &str) -> bool {
    let quiet = Command::new(program).arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// The first skill's `tests` of a study with these arguments.
fn studied(args: &[&str], path: Option<&Path>) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
    command.args(["matrix", "--pyodide", "--no-native", "--no-latency", "--json"]).args(args);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let done = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    let matrix: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    matrix["skills"][0]["tests"].clone()
}

/// A registry of one skill with these tests.
fn registry(tests: &str) -> tempfile::TempDir {
    let registry = tempfile::tempdir().expect("a folder");
    let skill = registry.path().join("odd/one");
    fs::create_dir_all(&skill).expect("made");
    let code = "from skillware.core.base_skill import BaseSkill\n\
                class S(BaseSkill):\n    manifest = {}\n    def execute(self, params):\n        return {}\n";
    fs::write(skill.join("skill.py"), code).expect("written");
    fs::write(skill.join("manifest.yaml"), "name: odd/one\nversion: 1.0.0\n").expect("written");
    fs::write(skill.join("test_skill.py"), tests).expect("written");
    registry
}

fn a_registry_skill_is_tested_in_pyodide() {
    let tests = studied(&["--skill", "office/web_form_mapper"], None);
    assert_eq!(tests["pyodide"]["passed"], 9, "{tests}");
    assert_eq!(tests["cells"]["passed"], 10, "{tests}");
    // Its event loop always runs, and pytest-asyncio wants one of its own.
    let fails = tests["pyodide_differences"].as_array().expect("a list");
    assert_eq!(fails.len(), 1, "{tests}");
    assert!(fails[0]["reason"].as_str().expect("a reason").contains("running event loop"), "{tests}");
}

fn what_a_test_breaks_is_a_reason_in_the_column() {
    // It is in Pyodide, has the framework, and may take its report and its process away.
    let hostile = "import sys\nfrom skillware.core.base_skill import BaseSkill\n\
                   def test_where():\n    assert sys.platform == 'emscripten'\n\
                   def test_end():\n    import os, js\n    os.remove('/own/report.jsonl')\n    os.mkdir('/own/report.jsonl')\n    js.process.exit(0)\n";
    let registry = registry(hostile);
    let folder = registry.path().to_str().expect("a plain path");
    let tests = studied(&[folder, "--trust-remote-code"], None);
    assert_eq!(tests["pyodide"]["not_run"], "it took its report away", "{tests}");
}

fn strangers_need_trust() {
    let registry = registry("def test_it():\n    pass\n");
    let tests = studied(&[registry.path().to_str().expect("a plain path")], None);
    let why = tests["pyodide"]["not_run"].as_str().expect("it was not run");
    assert!(why.contains("--trust-remote-code"), "{why}");
}

fn without_node_the_column_says_so() {
    let empty = tempfile::tempdir().expect("a folder");
    let tests = studied(&["--skill", "monitoring/kpi_gate"], Some(empty.path()));
    let why = tests["pyodide"]["not_run"].as_str().expect("it was not run");
    assert!(why.contains("Node.js is not there"), "{why}");
    assert!(tests["cells"]["passed"].as_u64() > Some(0), "{tests}");
}

fn its_files_are_installed_checked_and_removed_by_name() {
    let (cache, elsewhere) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let skillcell = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        finish(command.args(args).env("SKILLCELL_CACHE_DIR", cache.path()))
    };
    skillcell(&["runtime", "install", "pyodide"]).is(0, &["pyodide 314.0.7"]);
    let listed = || skillcell(&["runtime", "list", "--json"]).json();
    assert_eq!(
        (&listed()["runtimes"][1]["installed"], &listed()["runtimes"][0]["installed"]),
        (&true.into(), &false.into())
    );
    skillcell(&["runtime", "verify", "pyodide"]).is(0, &["pyodide-", "ok"]);
    let is_its = |file: &&Value| file["runtime"] == "pyodide" && file["name"].as_str().unwrap().starts_with("pyodide-");
    let files = listed()["files"].clone();
    let core =
        files.as_array().unwrap().iter().filter(is_its).max_by_key(|file| file["bytes"].as_u64()).unwrap().clone();
    let found = walk(cache.path()).into_iter().find(|path| path.file_name().unwrap() == core["name"].as_str().unwrap());
    let path = found.expect("its file");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    skillcell(&["runtime", "verify", "pyodide"]).is(2, &["1 damaged"]);
    // Without npm from here on: the archive that npm makes elsewhere will do.
    let packed =
        Command::new("npm").args(["pack", "--silent", "pyodide@314.0.7"]).current_dir(elsewhere.path()).output();
    assert!(packed.expect("npm starts").status.success());
    let archive = elsewhere.path().join("pyodide-314.0.7.tgz");
    skillcell(&["runtime", "remove", "pyodide"]).is(0, &["removed"]);
    let left = listed();
    assert_eq!(left["runtimes"][1]["installed"], false);
    assert!(!left["files"].as_array().unwrap().is_empty(), "the framework is of use to the other one");
    let offline = ["runtime", "install", "pyodide", "--from-archive", archive.to_str().unwrap()];
    skillcell(&offline).is(0, &["pyodide 314.0.7"]);
    skillcell(&["runtime", "verify"]).is(0, &["ok"]);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
