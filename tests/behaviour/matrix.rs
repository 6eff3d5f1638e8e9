//! The study of the pinned registry holds: what is expected of each skill is what it does, in either direction, and what was
//! written down about it is not stale. Everything here runs in cells; native runs are `skillcell matrix`'s.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::HOST;
use skillcell::Progress;
use skillcell_study::matrix::{
    Ending, Expectations, Matrix, NativeRuns, Row, Study, fill_in, render_document, render_page, run_study,
};

/// Documents that hold tables of the matrix.
const DOCUMENTS: [&str; 4] = [
    "docs/security/study-costs.md",
    "docs/security/study-pyodide.md",
    "docs/security/study-skills.md",
    "docs/security/wasm-feasibility.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn written() -> Matrix {
    serde_json::from_str(&read("skills-compat/matrix.json")).expect("matrix.json is a matrix")
}

fn expectations() -> Expectations {
    Expectations::parse(&read("skills-compat/expectations.toml")).unwrap_or_else(|error| panic!("{error}"))
}

/// On stderr, so that a run that takes minutes shows where it is.
struct Told;

impl Progress for Told {
    fn step(&self, what: &str) {
        eprintln!("{what}");
    }
    fn fraction(&self, _done: u64, _total: u64) {}
    fn note(&self, message: &str) {
        eprintln!("{message}");
    }
}

#[test]
fn every_skill_of_the_registry_does_in_cells_what_is_expected_and_written_down() {
    let mut plan = Study::default();
    plan.native = NativeRuns::Skipped("not in tests".into());
    plan.latency = false;
    let matrix = run_study(&HOST, &plan, &Told).expect("the registry can be studied");
    let mut wrong = expectations().differences(&matrix, true);
    let before = written();
    for row in &matrix.skills {
        match before.skills.iter().find(|one| one.id == row.id) {
            Some(one) => wrong.extend(stale(one, row).map(|what| format!("{}: matrix.json is stale: {what}", row.id))),
            None => wrong.push(format!("{}: it is not in matrix.json", row.id)),
        }
    }
    assert!(wrong.is_empty(), "\n{}\nmade anew by `skillcell matrix`", wrong.join("\n"));
}

/// What a run in cells says otherwise than the file. Versions of packages are the index's business, not ours.
fn stale(before: &Row, now: &Row) -> Option<String> {
    let told = |row: &Row| {
        serde_json::json!({
            "digest": row.digest, "verdict": row.verdict, "best_tier": row.best_tier, "classes": row.classes,
            "reasons": row.reasons, "optional": row.optional, "permissions": row.permissions, "tests": row.tests.cells,
            "parity": [row.parity.cases, row.parity.same], "calls": row.parity.calls,
        })
    };
    let (before, now) = (told(before), told(now));
    let changed = now.as_object()?.iter().find(|(key, value)| before[key.as_str()] != **value);
    changed.map(|(key, value)| format!("{key} is {value}, and was {}", before[key.as_str()]))
}

#[test]
fn the_matrix_that_is_written_down_meets_the_expectations_and_knows_every_skill() {
    let matrix = written();
    assert_eq!(expectations().differences(&matrix, true), Vec::<String>::new());
    assert!(matrix.skills.iter().all(|row| row.verdict.is_some() && row.problem.is_none()), "a skill is unknown");
    let mut counted = matrix.clone();
    counted.count_totals();
    assert_eq!(counted.totals, matrix.totals);
    let (cells, native) = (matrix.totals.pass_natively_and_in_cells, matrix.totals.pass_natively);
    assert_eq!(native, Some(580), "tests that pass natively");
    assert!(cells >= Some(482), "only {cells:?} of them pass in cells");
}

#[test]
fn the_page_and_the_tables_are_those_of_the_matrix() {
    let matrix = written();
    let anew = "is stale: `skillcell matrix --from skills-compat/matrix.json --docs docs/security`";
    assert!(read("skills-compat/matrix.html") == render_page(&matrix), "matrix.html {anew}");
    assert!(read("skills-compat/matrix.md") == render_document(&matrix), "matrix.md {anew}");
    for path in DOCUMENTS {
        let text = read(path);
        assert!(text.contains("<!-- generated: matrix-"), "{path} has a table");
        assert!(fill_in(&text, &matrix).expect("its tables are known") == text, "{path} {anew}");
    }
    // Whoever has ten minutes reads one page.
    let words = read("docs/security/wasm-feasibility.md").split_whitespace().count();
    assert!(words <= 1_000, "the study's page has {words} words");
}

#[test]
fn the_second_study_is_that_of_its_matrix_and_holds() {
    let matrix: Matrix =
        serde_json::from_str(&read("skills-compat/corpus/matrix/matrix.json")).expect("it is a matrix");
    let mut counted = matrix.clone();
    counted.count_totals();
    assert_eq!(counted.totals, matrix.totals);
    let page = read("docs/security/agent-skills.md");
    assert!(page.contains("<!-- generated: matrix-scripts -->"));
    assert!(fill_in(&page, &matrix).expect("its tables are known") == page, "the page says how it is made anew");
    assert!(read("skills-compat/corpus/matrix/matrix.md") == render_document(&matrix), "matrix.md is stale");
    let totals = matrix.totals.scripts.expect("it is about scripts");
    assert!(totals.usage_same * 100 >= totals.usage_compared * 95, "{totals:?}");
    assert!(totals.runs_compared >= 40, "{totals:?}");
}

#[test]
fn costs_are_those_of_calls_that_succeed() {
    let matrix = written();
    for row in &matrix.skills {
        let figures = &matrix.figures.skills[&row.id];
        let timed = [figures.cell_cold_ms, figures.cell_warm_ms, figures.native_process_ms, figures.native_warm_ms];
        let Some(name) = &figures.call else {
            assert_eq!(timed, [None; 4], "{}: no call is named", row.id);
            continue;
        };
        let call = row.parity.calls.iter().find(|call| call.case == *name);
        let ends = call.map(|call| call.ends);
        assert_eq!(ends, Some(Ending::Succeeds), "{}: `{name}` was measured", row.id);
        assert!(row.parity.different.iter().all(|one| one.case != *name), "{}: `{name}` differs in a cell", row.id);
    }
    let measured = matrix.figures.skills.values().filter(|figures| figures.cell_warm_ms.is_some()).count();
    assert_eq!(measured, 24, "skills with a call that succeeds in a cell");
}

fn skillcell(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skillcell")).arg("matrix").args(args).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A registry of one skill, whose folder, manifest and code are hostile.
fn hostile() -> tempfile::TempDir {
    let registry = tempfile::tempdir().expect("a folder");
    let skill = registry.path().join("<img src=x onerror=alert(1)>").join("<script>alert(2)<");
    fs::create_dir_all(&skill).expect("made");
    let code = "from skillware.core.base_skill import BaseSkill\n\
                class S(BaseSkill):\n    manifest = {}\n    def execute(self, params):\n        return {}\n";
    fs::write(skill.join("skill.py"), code).expect("written");
    let manifest = "name: \"<script>alert(3)</script>\"\nversion: \"<b>1\"\ndescription: \"</title><script>alert(4)</script>\"\nrequirements: [\"<script>alert(5)</script>\"]\n";
    fs::write(skill.join("manifest.yaml"), manifest).expect("written");
    let test = "def test_it():\n    assert False, '<script>alert(6)</script>'\n";
    fs::write(skill.join("test_skill.py"), test).expect("written");
    registry
}

#[test]
fn a_folder_of_strangers_is_studied_in_cells_only_and_its_words_stay_words() {
    let (registry, out) = (hostile(), tempfile::tempdir().expect("a folder"));
    let folders = [registry.path(), out.path()].map(|path| path.to_str().expect("a plain path").to_owned());
    let done = skillcell(&[&folders[0], "--out", &folders[1], "--no-latency"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let html = fs::read_to_string(out.path().join("matrix.html")).expect("written");
    assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains("</title><script"), "{html}");
    assert!(html.contains("&lt;script&gt;alert(6)"), "the failed test is in it");
    let matrix: Matrix = serde_json::from_str(&fs::read_to_string(out.path().join("matrix.json")).unwrap()).unwrap();
    let native = serde_json::to_string(&matrix.skills[0].tests.native).unwrap();
    assert!(native.contains("--trust-remote-code"), "{native}");
}

#[test]
fn differences_from_expectations_end_with_1_and_bad_usage_with_2() {
    let out = tempfile::tempdir().expect("a folder");
    let file = out.path().join("expectations.toml");
    fs::write(&file, "schema = 1\n[skills.\"monitoring/kpi_gate\"]\nverdict = \"not in wasm\"\npassed = 1\n").unwrap();
    let quick = ["--skill", "monitoring/kpi_gate", "--no-native", "--no-latency", "--check"];
    let done = skillcell(&[&quick[..], &[file.to_str().unwrap()]].concat());
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("expected was `not in wasm`"), "{}", text(&done.stderr));
    for bad in
        [&["--skill", "no/such*"][..], &["/nowhere/at/all"], &["--check", "/nowhere.toml"], &["--parity", "/nowhere"]]
    {
        let done = skillcell(bad);
        assert_eq!(done.status.code(), Some(2), "{bad:?}: {}", text(&done.stderr));
    }
}
