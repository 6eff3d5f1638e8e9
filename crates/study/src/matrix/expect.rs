//! What is expected of each skill, and where a matrix differs from that, in either direction. Pure.
//!
//! ```toml
//! [skills."creative/bg_remover"]
//! verdict = "not in wasm"
//! passed = 19                       # tests in cells
//! missing = ["onnxruntime", "rembg"]
//! [[skills."creative/bg_remover".fails]]
//! tests = "*::test_loader*"         # a pattern, or several with |
//! count = 1                         # failures and errors in cells
//! reason = "…"
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;

use super::discover::matches_glob;
use super::model::{Matrix, Row};

/// The file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectations {
    schema: u32,
    skills: BTreeMap<String, Expected>,
}

/// One skill's part.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    verdict: String,
    passed: usize,
    #[serde(default)]
    skipped: usize,
    /// Packages that no cell can have.
    #[serde(default)]
    missing: Vec<String>,
    /// Tests that don't pass in cells.
    #[serde(default)]
    fails: Vec<ExpectedFailures>,
    /// Recorded calls that give something else in cells.
    #[serde(default)]
    differs: Vec<ExpectedFailures>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedFailures {
    /// A pattern of test ids, or of names of cases.
    tests: String,
    count: usize,
    reason: String,
}

impl Expectations {
    pub fn parse(text: &str) -> Result<Expectations, String> {
        let read: Expectations = toml::from_str(text).map_err(|error| error.to_string())?;
        if read.schema != 1 {
            return Err(format!("schema {} is not known here, only 1", read.schema));
        }
        for (id, expected) in &read.skills {
            if expected.fails.iter().chain(&expected.differs).any(|fails| fails.reason.trim().is_empty()) {
                return Err(format!("`{id}` has a failure without a reason"));
            }
        }
        Ok(read)
    }

    /// Every difference, one line each. `whole`: the matrix is of all skills, so none may be missing.
    pub fn differences(&self, matrix: &Matrix, whole: bool) -> Vec<String> {
        let mut found = Vec::new();
        for row in &matrix.skills {
            match self.skills.get(&row.id) {
                Some(expected) => compare_row(row, expected, &mut |what| found.push(format!("{}: {what}", row.id))),
                None => found.push(format!("{}: nothing is expected of it", row.id)),
            }
        }
        let absent = self.skills.keys().filter(|id| whole && !matrix.skills.iter().any(|row| row.id == **id));
        found.extend(absent.map(|id| format!("{id}: it is expected and not there")));
        found
    }
}

fn compare_row(row: &Row, expected: &Expected, tell: &mut dyn FnMut(String)) {
    let verdict = row.verdict.as_deref().unwrap_or("unknown");
    if verdict != expected.verdict {
        tell(format!("the verdict is `{verdict}`, expected was `{}`", expected.verdict));
    }
    // In both directions: a package that became available is a difference too.
    let native = super::summary::missing_packages(row);
    for name in native.iter().filter(|name| !expected.missing.iter().any(|known| known == *name)) {
        tell(format!("`{name}` can't be had in a cell, which is not expected"));
    }
    for name in expected.missing.iter().filter(|name| !native.contains(&name.as_str())) {
        tell(format!("`{name}` is expected to be missing in a cell, and is there"));
    }
    match row.tests.cells.counts() {
        None => tell("its tests did not run in cells".to_owned()),
        Some(counts) => {
            for (word, got, wanted) in
                [("pass", counts.passed, expected.passed), ("are skipped", counts.skipped, expected.skipped)]
            {
                if got != wanted {
                    tell(format!("{got} tests {word} in cells, expected were {wanted}"));
                }
            }
        }
    }
    let bad = row.tests.cells.counts().map_or(0, |counts| counts.failed + counts.errors);
    for (kind, got, wanted) in [
        ("tests", bad, expected_count(&expected.fails)),
        ("calls", row.parity.different.len(), expected_count(&expected.differs)),
    ] {
        if got != wanted {
            tell(format!("{got} {kind} fail in cells, expected were {wanted}"));
        }
    }
    let failing: Vec<(&str, &str)> = row
        .tests
        .differences
        .iter()
        .filter(|one| one.cells != "passed" && one.cells != "skipped")
        .map(|one| (one.test.as_str(), one.reason.as_str()))
        .collect();
    compare_failures("test", &failing, &expected.fails, tell);
    let differing: Vec<(&str, &str)> =
        row.parity.different.iter().map(|one| (one.case.as_str(), one.reason.as_str())).collect();
    compare_failures("call", &differing, &expected.differs, tell);
}

/// Each failure must be listed, and each entry must match a failure. Numbers are compared with the counts of the run
/// instead: a file that a cell can't import is one error there, and many tests natively.
fn compare_failures(kind: &str, failing: &[(&str, &str)], expected: &[ExpectedFailures], tell: &mut dyn FnMut(String)) {
    let fits =
        |fails: &ExpectedFailures, id: &str| fails.tests.split('|').any(|pattern| matches_glob(pattern.trim(), id));
    for (id, why) in failing {
        if !expected.iter().any(|fails| fits(fails, id)) {
            tell(format!("the {kind} `{id}` fails, which is not expected: {why}"));
        }
    }
    for fails in expected {
        if !failing.iter().any(|(id, _)| fits(fails, id)) {
            tell(format!("no {kind} `{}` fails, and it is expected to ({})", fails.tests, fails.reason));
        }
    }
}

fn expected_count(fails: &[ExpectedFailures]) -> usize {
    fails.iter().map(|fails| fails.count).sum()
}

#[cfg(test)]
mod tests;
