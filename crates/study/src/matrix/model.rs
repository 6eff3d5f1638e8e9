//! The matrix as data: what `matrix.json` holds. docs/reference/matrix.md describes each field.
//!
//! What a second run on another machine repeats is in `skills`; what it does not (times, sizes) is in `figures`, so that a
//! difference between two files is a difference between two registries, runtimes or versions of this program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cases::Ending;
pub use super::script_model::{ScriptRow, ScriptRun, ScriptTotals};

/// The version of the format.
pub const SCHEMA: u32 = 1;

/// What stands where a tier would, if the skill's tests ran in none that has what it needs.
pub const NOT_TRIED: &str = "not tried";

/// A registry's skills and what became of each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    pub schema: u32,
    pub registry: Registry,
    /// What the cells run: the runtime with its version, and its Python.
    pub runtime: String,
    /// The Python of the native runs, if there were any.
    pub native_python: Option<String>,
    /// The Pyodide that the Pyodide columns are about.
    pub pyodide: String,
    pub totals: Totals,
    pub skills: Vec<Row>,
    pub figures: Figures,
}

/// Where the skills came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registry {
    pub name: String,
    pub version: Option<String>,
    /// Of the wheel that carries it.
    pub sha256: Option<String>,
}

/// Sums over the rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub skills: usize,
    pub verdicts: BTreeMap<String, usize>,
    pub tests_in_cells: Option<Counts>,
    pub tests_native: Option<Counts>,
    pub tests_in_pyodide: Option<Counts>,
    /// Tests that pass natively, and of these the ones that pass in cells. Only of skills whose tests ran in both.
    pub pass_natively: Option<usize>,
    pub pass_natively_and_in_cells: Option<usize>,
    pub parity_same: usize,
    pub parity_cases: usize,
    /// Recorded calls by how they end: `succeeds`, `reports an error`, `raises`.
    #[serde(default)]
    pub parity_endings: BTreeMap<String, usize>,
    /// Skills with a recorded call that succeeds in a cell as it does outside.
    #[serde(default)]
    pub skills_with_a_success: usize,
    /// Scripts of folders with a `SKILL.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scripts: Option<ScriptTotals>,
}

/// One skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub id: String,
    pub version: Option<String>,
    pub summary: Option<String>,
    /// blake3 of its files.
    pub digest: String,
    pub classes: Vec<String>,
    /// `runs`, `runs with grants`, `partly` or `not in wasm`; nothing if the skill could not be read, see `problem`.
    pub verdict: Option<String>,
    /// The least tier that has what it needs, named only if the skill's tests ran in it; `none` if no isolated tier has it.
    pub best_tier: Option<String>,
    /// The same, by what is known of tiers: whether tests ran there or not.
    #[serde(default)]
    pub likely_tier: Option<String>,
    pub reasons: Vec<Reason>,
    /// What it goes on without.
    pub optional: Vec<Reason>,
    /// A block for the skill's manifest.
    pub permissions: Option<String>,
    pub packages: Vec<Package>,
    pub tests: Tests,
    pub parity: Parity,
    pub pyodide: Pyodide,
    /// Of a folder with a `SKILL.md`: each of its scripts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<ScriptRow>,
    /// Why parts of the row are missing.
    pub problem: Option<String>,
}

impl Row {
    /// A skill of which nothing is known yet.
    pub fn empty(id: &str) -> Row {
        Row {
            id: id.to_owned(),
            version: None,
            summary: None,
            digest: String::new(),
            classes: Vec::new(),
            verdict: None,
            best_tier: None,
            likely_tier: None,
            reasons: Vec::new(),
            optional: Vec::new(),
            permissions: None,
            packages: Vec::new(),
            tests: Tests {
                cells: Suite::not_run("the skill could not be read"),
                native: Suite::not_run("the skill could not be read"),
                pyodide: Suite::not_run("not run"),
                differences: Vec::new(),
                pyodide_differences: Vec::new(),
            },
            parity: Parity::default(),
            pyodide: Pyodide { not_looked_up: None, packages: Vec::new() },
            scripts: Vec::new(),
            problem: None,
        }
    }

    /// The tier for a table: only one in which the skill's tests ran has a name. Nothing of a skill that could not be read.
    pub fn tier_in_words(&self) -> &str {
        match (&self.best_tier, &self.verdict) {
            (Some(tier), _) => tier,
            (None, Some(_)) => NOT_TRIED,
            (None, None) => "",
        }
    }
}

/// One reason of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    pub what: String,
    /// `file:line`.
    pub at: Option<String>,
}

/// A package that a skill needs: one of its requirements, or what they pull in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    pub name: String,
    /// `in the runtime`, `pure wheel`, `stand-in`, `another version`; or, where a cell can't have it: `native only`,
    /// `sources only`, `not found`, `not resolved`, `refused`.
    pub how: String,
    /// Whether a cell has it.
    pub is_there: bool,
    pub version: Option<String>,
    /// From the skill's own requirement to this.
    pub chain: Vec<String>,
    /// Wheel tags, the limits of a stand-in, why it was refused: for people.
    pub detail: String,
}

/// A skill's own tests, by where they ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tests {
    pub cells: Suite,
    pub native: Suite,
    pub pyodide: Suite,
    /// Each test whose outcome in cells is not the native one; where the tests did not run natively, each that did not pass
    /// in cells.
    pub differences: Vec<Difference>,
    /// The same of Pyodide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pyodide_differences: Vec<PyodideDifference>,
}

/// A run of a skill's tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Suite {
    Ran(Counts),
    NotRun { not_run: String },
}

impl Suite {
    pub fn not_run(why: impl Into<String>) -> Suite {
        Suite::NotRun { not_run: why.into() }
    }

    pub fn counts(&self) -> Option<&Counts> {
        match self {
            Suite::Ran(counts) => Some(counts),
            Suite::NotRun { .. } => None,
        }
    }
}

/// Tests by outcome. A file that can't be imported is one error, however many tests it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub errors: usize,
    pub skipped: usize,
}

impl Counts {
    pub fn total(&self) -> usize {
        self.passed + self.failed + self.errors + self.skipped
    }

    pub fn add(&mut self, other: &Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.errors += other.errors;
        self.skipped += other.skipped;
    }

    /// Whether something did not pass.
    pub fn has_failures(&self) -> bool {
        self.failed + self.errors > 0
    }
}

/// A test with different outcomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    pub test: String,
    pub cells: String,
    pub native: Option<String>,
    /// What the cell said: the exception, or why the file could not be imported.
    pub reason: String,
}

/// A test that ended otherwise in Pyodide than natively.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PyodideDifference {
    pub test: String,
    pub pyodide: String,
    pub native: Option<String>,
    pub reason: String,
}

impl From<Difference> for PyodideDifference {
    fn from(Difference { test, cells, native, reason }: Difference) -> PyodideDifference {
        PyodideDifference { test, pyodide: cells, native, reason }
    }
}

/// Recorded calls, made again in a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parity {
    pub cases: usize,
    pub same: usize,
    pub different: Vec<CaseDifference>,
    /// All of them, with how each ended outside.
    #[serde(default)]
    pub calls: Vec<RecordedCall>,
    /// Calls that would be worth having and were never recorded, with the reason; `cases` does not count them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<CaseDifference>,
}

impl Parity {
    /// How many succeed outside, and give the same in a cell.
    pub fn successes_alike(&self) -> usize {
        let is_alike = |call: &RecordedCall| self.different.iter().all(|one| one.case != call.case);
        self.calls.iter().filter(|call| call.ends == Ending::Succeeds && is_alike(call)).count()
    }
}

/// A recorded call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedCall {
    pub case: String,
    pub ends: Ending,
    /// The HTTP requests that it makes, answered as recorded.
    #[serde(default)]
    pub requests: usize,
}

/// A recorded call that gave something else, or was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseDifference {
    pub case: String,
    pub reason: String,
}

/// What Pyodide has of a skill's packages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pyodide {
    /// Why nothing is known.
    pub not_looked_up: Option<String>,
    pub packages: Vec<PyodidePackage>,
}

/// One package of a skill in Pyodide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PyodidePackage {
    pub name: String,
    /// `in Pyodide`, `pure wheel` or `neither`.
    pub how: String,
    pub version: Option<String>,
}

/// What differs from run to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub machine: String,
    pub skills: BTreeMap<String, SkillFigures>,
}

/// One skill's figures, rounded: the second digit of a time on a shared machine means little, the third nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillFigures {
    pub bake_ms: Option<f64>,
    pub image_bytes: Option<u64>,
    /// The recorded call that was measured. It succeeds: nothing else is measured.
    pub call: Option<String>,
    /// The HTTP requests that it makes, answered on loopback.
    #[serde(default)]
    pub requests: usize,
    /// A process that has made no call yet: the image is mapped, then called.
    pub cell_cold_ms: Option<f64>,
    /// The median of calls after that, each in a fresh cell.
    pub cell_warm_ms: Option<f64>,
    /// A fresh Python process that loads the skill and calls it once.
    pub native_process_ms: Option<f64>,
    /// The median of calls in one Python process, one after the other.
    pub native_warm_ms: Option<f64>,
    pub tests_in_cells_s: Option<f64>,
    pub tests_native_s: Option<f64>,
    /// With the start of Node.js and Pyodide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_in_pyodide_s: Option<f64>,
}

/// To two significant digits.
pub fn round_figure(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let magnitude = 10f64.powf(value.abs().log10().floor() - 1.0);
    // Through text: the nearest double of 0.28 is written 0.28, that of 28 * 0.01 may not be.
    let digits = (-(magnitude.log10().round())).max(0.0) as usize;
    format!("{:.digits$}", (value / magnitude).round() * magnitude).parse().unwrap_or(value)
}

impl Matrix {
    /// The rows of both: a study in parts. Of a skill that is in both, the other's counts.
    pub fn join(mut self, other: Matrix) -> Matrix {
        self.skills.retain(|row| other.skills.iter().all(|one| one.id != row.id));
        self.skills.extend(other.skills);
        self.skills.sort_by(|one, other| one.id.cmp(&other.id));
        self.figures.skills.extend(other.figures.skills);
        self.count_totals();
        self
    }

    /// Sums the rows up.
    pub fn count_totals(&mut self) {
        let mut totals = Totals { skills: self.skills.len(), ..Totals::default() };
        for row in &self.skills {
            let verdict = row.verdict.clone().unwrap_or_else(|| "unknown".to_owned());
            *totals.verdicts.entry(verdict).or_default() += 1;
            add_counts(&mut totals.tests_in_cells, &row.tests.cells);
            add_counts(&mut totals.tests_native, &row.tests.native);
            add_counts(&mut totals.tests_in_pyodide, &row.tests.pyodide);
            totals.parity_same += row.parity.same;
            totals.parity_cases += row.parity.cases;
            for call in &row.parity.calls {
                *totals.parity_endings.entry(call.ends.name().to_owned()).or_default() += 1;
            }
            totals.skills_with_a_success += usize::from(row.parity.successes_alike() > 0);
            if let (Some(native), Some(_)) = (row.tests.native.counts(), row.tests.cells.counts()) {
                // Every difference of a test that passes natively is one that doesn't pass in cells.
                let lost = row.tests.differences.iter().filter(|one| one.native.as_deref() == Some("passed")).count();
                *totals.pass_natively.get_or_insert(0) += native.passed;
                *totals.pass_natively_and_in_cells.get_or_insert(0) += native.passed.saturating_sub(lost);
            }
        }
        totals.scripts = ScriptTotals::of(&self.skills);
        self.totals = totals;
    }
}

fn add_counts(sum: &mut Option<Counts>, suite: &Suite) {
    if let Some(counts) = suite.counts() {
        sum.get_or_insert_with(Counts::default).add(counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_two_digits() {
        for (value, expected) in
            [(1234.0, 1200.0), (0.2849, 0.28), (9.96, 10.0), (0.0, 0.0), (57.4, 57.0), (2.349, 2.3)]
        {
            assert_eq!(round_figure(value), expected);
        }
    }

    #[test]
    fn a_study_in_parts_is_one_study() {
        let part = |ids: &[(&str, &str)]| Matrix {
            skills: ids.iter().map(|(id, verdict)| tests_support::row(id, verdict)).collect(),
            ..tests_support::empty()
        };
        let whole = part(&[("b", "runs"), ("a", "partly")]).join(part(&[("a", "runs"), ("c", "runs")]));
        let ids: Vec<&str> = whole.skills.iter().map(|row| row.id.as_str()).collect();
        assert_eq!((ids, whole.totals.skills, whole.totals.verdicts["runs"]), (vec!["a", "b", "c"], 3, 3));
    }

    #[test]
    fn a_suite_reads_back_as_it_was_written() {
        for suite in [Suite::Ran(Counts { passed: 3, ..Counts::default() }), Suite::not_run("no")] {
            let text = serde_json::to_string(&suite).unwrap();
            assert_eq!(serde_json::from_str::<Suite>(&text).unwrap(), suite);
        }
    }
}

/// Small matrices for the tests of this module's neighbours.
#[cfg(test)]
pub mod tests_support {
    use super::*;

    pub fn empty() -> Matrix {
        Matrix {
            schema: SCHEMA,
            registry: Registry { name: "r".into(), version: None, sha256: None },
            runtime: "runtime".into(),
            native_python: None,
            pyodide: "pyodide".into(),
            totals: Totals::default(),
            skills: Vec::new(),
            figures: Figures::default(),
        }
    }

    pub fn row(id: &str, verdict: &str) -> Row {
        Row { verdict: Some(verdict.into()), ..Row::empty(id) }
    }
}
