//! One test, or what broke outside of tests, and how it ended.

use serde::{Deserialize, Serialize};

/// One test.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TestResult {
    /// As pytest names it, from the skill's folder on: `test_skill.py::TestMany::test_one[a]`.
    pub id: String,
    /// How it ended, by the skill's own word.
    pub outcome: TestOutcome,
    /// Milliseconds; 0 if it did not come to its end.
    pub ms: f64,
    /// Why it failed.
    pub error: Option<Failure>,
    /// Why it was skipped, or expected to fail.
    pub reason: Option<String>,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    /// All was as asserted.
    Passed,
    /// Something was not as asserted, or it raised.
    Failed,
    /// A fixture failed, or the interpreter ended in this test.
    Error,
    /// It was not to be run here, by its own word.
    Skipped,
    /// It failed as expected.
    Xfailed,
    /// It passed though it was expected to fail.
    Xpassed,
    /// It was running when a limit ended the cell.
    Exceeded,
    /// It was collected, and the cell ended before it, or pytest did: `-x`, `pytest.exit`.
    NotRun,
}

/// What went wrong outside of a test.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FileError {
    /// The file, or what pytest was collecting in it.
    pub id: String,
    /// What was raised, or how pytest or the cell ended.
    pub error: Failure,
}

/// Why something failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The exception's class, with its module unless it is built in; or `limit`, `pytest`,
    /// `interrupted`, `CellCrash`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it says, at most 4,000 characters.
    pub message: String,
    /// The innermost line of the skill's own files, as `test_skill.py:12`.
    pub line: Option<String>,
}
