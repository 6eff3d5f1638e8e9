//! The results of a test run, wherever it ran, and how two runs differ. No I/O.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::model::{Counts, Difference, Suite};

/// The longest reason that is kept.
const MAX_REASON: usize = 300;

/// A run of a skill's tests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TestRun {
    /// By id, `test_skill.py::test_it`. A file that can't be imported is there by its name.
    pub tests: BTreeMap<String, TestEnd>,
    pub seconds: f64,
}

/// How one test ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestEnd {
    /// `passed`, `failed`, `error` or `skipped`.
    pub outcome: &'static str,
    pub why: String,
}

#[derive(Deserialize)]
struct Line {
    id: String,
    outcome: String,
    #[serde(default)]
    why: String,
}

impl TestRun {
    /// The report of `runtime-assets/study/report.py`. Malformed lines are skipped: the report is untrusted.
    pub fn from_lines(text: &str, seconds: f64) -> TestRun {
        let mut ran = TestRun { seconds, ..TestRun::default() };
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            ran.add_test(line.id, &line.outcome, &line.why);
        }
        ran
    }

    pub fn add_test(&mut self, id: String, outcome: &str, why: &str) {
        let outcome = match outcome {
            "passed" | "xpassed" => "passed",
            "skipped" | "xfailed" => "skipped",
            "failed" => "failed",
            _ => "error",
        };
        self.tests.insert(id, TestEnd { outcome, why: stable_first_line(why) });
    }

    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for ended in self.tests.values() {
            match ended.outcome {
                "passed" => counts.passed += 1,
                "failed" => counts.failed += 1,
                "skipped" => counts.skipped += 1,
                _ => counts.errors += 1,
            }
        }
        counts
    }

    pub fn to_suite(&self) -> Suite {
        Suite::Ran(self.counts())
    }

    /// How a test ended; if its file could not be imported, that error.
    fn end_of(&self, id: &str) -> Option<&TestEnd> {
        let file = || id.split("::").next().and_then(|file| self.tests.get(file));
        self.tests.get(id).or_else(file)
    }
}

/// Each test that ended otherwise in cells than natively; without a native run, each that did not pass.
pub fn test_differences(cells: &TestRun, native: Option<&TestRun>) -> Vec<Difference> {
    let Some(native) = native else {
        let bad = cells.tests.iter().filter(|(_, ended)| matches!(ended.outcome, "failed" | "error"));
        return bad.map(|(id, ended)| describe_difference(id, Some(ended), None)).collect();
    };
    let mut found = Vec::new();
    for (id, outside) in &native.tests {
        let inside = cells.end_of(id);
        if inside.is_none_or(|inside| inside.outcome != outside.outcome) {
            found.push(describe_difference(id, inside, Some(outside)));
        }
    }
    // Tests that only the cells reported. A file that can't be imported there is left out: its tests are listed above.
    for (id, inside) in &cells.tests {
        let known =
            native.tests.contains_key(id) || native.tests.keys().any(|test| test.starts_with(&format!("{id}::")));
        if !known {
            found.push(describe_difference(id, Some(inside), None));
        }
    }
    found.sort_by(|one, other| one.test.cmp(&other.test));
    found
}

fn describe_difference(id: &str, inside: Option<&TestEnd>, outside: Option<&TestEnd>) -> Difference {
    let why = |ended: &TestEnd| if ended.why.is_empty() { None } else { Some(ended.why.clone()) };
    Difference {
        test: id.to_owned(),
        cells: inside.map_or("absent", |ended| ended.outcome).to_owned(),
        native: outside.map(|ended| ended.outcome.to_owned()),
        reason: inside.and_then(why).or_else(|| outside.and_then(why)).unwrap_or_else(|| "it says nothing".to_owned()),
    }
}

/// The first line that is not blank, shortened, with addresses removed, which differ from run to run.
pub fn stable_first_line(why: &str) -> String {
    let line = why.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..].chars().take_while(char::is_ascii_hexdigit).count();
        let end = at + 2 + digits;
        text.push_str(&rest[..at]);
        text.push_str(if (6..=16).contains(&digits) { "0x…" } else { &rest[at..end] });
        rest = &rest[end..];
    }
    text.push_str(rest);
    if text.chars().count() > MAX_REASON {
        text = text.chars().take(MAX_REASON - 1).chain(['…']).collect();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_of(tests: &[(&str, &str, &str)]) -> TestRun {
        let mut ran = TestRun::default();
        for (id, outcome, why) in tests {
            ran.add_test((*id).to_owned(), outcome, why);
        }
        ran
    }

    #[test]
    fn a_file_that_fails_in_cells_differs_in_each_of_its_tests() {
        let native = run_of(&[
            ("test_a.py::one", "passed", ""),
            ("test_a.py::two", "passed", ""),
            ("test_b.py::x", "passed", ""),
        ]);
        let cells = run_of(&[("test_a.py", "error", "No module named 'Bio'"), ("test_b.py::x", "passed", "")]);
        let found = test_differences(&cells, Some(&native));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|one| one.cells == "error" && one.reason == "No module named 'Bio'"), "{found:?}");
    }

    #[test]
    fn tests_that_only_one_side_has_are_differences() {
        let found =
            test_differences(&run_of(&[("t.py::b", "passed", "")]), Some(&run_of(&[("t.py::a", "passed", "")])));
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].cells.as_str(), found[1].native.as_deref()), ("absent", None));
    }

    #[test]
    fn without_a_native_run_what_did_not_pass_is_listed() {
        let cells =
            run_of(&[("t.py::a", "passed", ""), ("t.py::b", "failed", "AssertionError"), ("t.py::c", "skipped", "no")]);
        assert_eq!(test_differences(&cells, None).len(), 1);
    }

    #[test]
    fn reasons_repeat_from_run_to_run() {
        assert_eq!(stable_first_line("\n  <object at 0x7f12ab34cd56>\nmore"), "<object at 0x…>");
        assert_eq!(stable_first_line("0x12 and 0x"), "0x12 and 0x");
        assert!(stable_first_line(&"x".repeat(1000)).chars().count() == MAX_REASON);
    }
}
