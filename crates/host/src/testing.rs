//! A skill's own tests in cells: what is asked for, and what comes of it. `Host::test` runs them.
//!
//! Each test file gets a fresh cell of its own, so a crash or a limit costs that file only. What a cell reports of its
//! tests is untrusted: it is bounded and validated, but a skill that wants its tests to look green can fake them, as it
//! can natively.

mod files;
mod gather;
mod usage;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use self::files::{Chosen, choose_files, registry_surroundings};
pub(crate) use self::gather::file_report;
pub use self::usage::has_command_line;
pub(crate) use self::usage::{USAGE, usage_report};
use skillcell_door::audit::AuditLog;
pub use skillcell_door::{Failure, FileError, TestOutcome, TestResult};
use skillcell_limits::{LimitKind, Limits};
use skillcell_policy::Grants;

/// Which tests to run, and how.
///
/// Defaults: every test file of the skill and each script's usage, no grants, no colours, 80 columns, as many files at once as the machine has
/// cores, and per file 60 s, 512 MiB of memory, 4 MiB of output, 256 open files, 256 MiB in 16,384 scratch files and
/// 10,000,000 host calls.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TestCall {
    /// Test files or folders, relative to the skill's folder; a file perhaps with `::` and a test's name; none for all.
    pub files: Vec<String>,
    /// Give the tests a copy of the skill's folder that they may write to. A call never has one: its folder is
    /// read-only, and tests that fail without this tell of a skill that writes there.
    pub writable: bool,
    /// pytest's `-k`.
    pub keyword: Option<String>,
    /// pytest's `-x`: stop at the first failure, in each file, and start no further file.
    pub exit_first: bool,
    /// More arguments for pytest.
    pub args: Vec<String>,
    /// Whether pytest's text has colours.
    pub color: bool,
    /// The width that pytest lays its text out for.
    pub width: u16,
    /// Files that are run at once; 0 for as many as there are cores.
    pub jobs: usize,
    /// What the cells may do. The manifest's `permissions` only narrow it: tests run without what the skill asks for.
    pub grants: Grants,
    /// Of a folder with a `SKILL.md`: start each script that has a command line with `--help`, too.
    pub scripts: bool,
    /// Where decisions are recorded, each file's cell as a call; nowhere unless it is set.
    pub audit: AuditLog,
    /// Of each file's cell. Fuel is not counted.
    pub limits: Limits,
    /// Whether to note what the skill is called with.
    pub(crate) record: bool,
}

impl Default for TestCall {
    fn default() -> TestCall {
        TestCall {
            files: Vec::new(),
            writable: false,
            keyword: None,
            exit_first: false,
            args: Vec::new(),
            color: false,
            width: 80,
            jobs: 0,
            grants: Grants::default(),
            scripts: true,
            audit: AuditLog::default(),
            limits: default_limits(),
            record: false,
        }
    }
}

/// A file of tests is more work than a call.
fn default_limits() -> Limits {
    let mut limits = Limits::within(Duration::from_secs(60));
    limits.memory_bytes = 512 << 20;
    limits.stdout_bytes = 4 << 20;
    limits.stderr_bytes = 4 << 20;
    limits.open_files = 256;
    limits.scratch_bytes = 256 << 20;
    limits.scratch_files = 16_384;
    limits.host_calls = 10_000_000;
    limits
}

/// What came of a skill's tests. As JSON it is version 1 of the contract in docs/reference/testing.md.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TestReport {
    /// The version of the JSON contract: 1.
    pub schema: u32,
    /// The skill's id.
    pub skill: String,
    /// Whether all is well: nothing failed, broke, was stopped or left out by a failure.
    pub ok: bool,
    /// The sums over all files.
    pub totals: Totals,
    /// One for each test file that was run, in the order of their paths or as they were named.
    pub files: Vec<FileReport>,
    /// Milliseconds for everything, what had to be prepared included.
    pub ms: f64,
}

/// How many tests ended how; `errors` counts broken files too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Tests that passed.
    pub passed: usize,
    /// Tests in which something was not as asserted, or that raised.
    pub failed: usize,
    /// Tests whose fixture failed or whose interpreter ended, and what broke outside of tests.
    pub errors: usize,
    /// Tests that were running when a limit ended their cell.
    pub exceeded: usize,
    /// Tests that were collected and never begun.
    pub not_run: usize,
    /// Tests that were not to be run here, by their own word.
    pub skipped: usize,
    /// Tests that failed as expected.
    pub xfailed: usize,
    /// Tests that passed though they were expected to fail.
    pub xpassed: usize,
}

/// One test file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FileReport {
    /// Relative to the skill's folder.
    pub file: String,
    /// Each test that was collected, run or not.
    pub tests: Vec<TestResult>,
    /// What went wrong outside of a test: the file could not be collected, or its cell ended before pytest did.
    pub errors: Vec<FileError>,
    /// Why the cell ended before pytest did, or pytest without having done its work.
    pub ended: Option<Failure>,
    /// The limit that ended the cell, if one did.
    pub limit: Option<LimitKind>,
    /// What policy refused to the tests while they ran, in words.
    pub denials: Vec<String>,
    /// The largest size of its cell's memory.
    pub memory_peak_bytes: u64,
    /// Milliseconds that its cell took.
    pub ms: f64,
    /// pytest's own text.
    pub stdout: String,
    /// What went to descriptor 2, warnings of pytest's plugins for one.
    pub stderr: String,
}

/// Why there is nothing to report.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// No file in it is named as pytest expects, and no script of it has a command line.
    #[error("`{skill}` has no tests: there is no `test_*.py` or `*_test.py` in it")]
    NoTests {
        /// The skill's id.
        skill: String,
    },
    /// The call names a test file or folder that the skill does not have.
    #[error("`{skill}` has no test file or folder `{file}`")]
    NoFile {
        /// The skill's id.
        skill: String,
        /// As the call names it.
        file: String,
    },
    /// A `conftest.py` or the like above the skill is there and can't be read.
    #[error("a file beside the skill that its tests may need can't be read: `{}`", .path.display())]
    Surroundings {
        /// The file.
        path: std::path::PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

impl TestReport {
    pub(crate) fn new(skill: &str, files: Vec<FileReport>, took: Duration) -> TestReport {
        let mut totals = Totals::default();
        for file in &files {
            totals.count_file(file);
        }
        let Totals { failed, errors, exceeded, not_run, .. } = totals;
        let ok = failed + errors + exceeded + not_run == 0;
        TestReport { schema: 1, skill: skill.to_owned(), ok, totals, files, ms: to_ms(took) }
    }

    /// Every test, in order.
    pub fn tests(&self) -> impl Iterator<Item = &TestResult> {
        self.files.iter().flat_map(|file| &file.tests)
    }

    /// Whether a limit ended one of the files.
    pub fn exceeded(&self) -> Option<LimitKind> {
        self.files.iter().find_map(|file| file.limit)
    }
}

impl Totals {
    /// How many tests there were, run or not.
    pub fn tests(&self) -> usize {
        let Totals { passed, failed, errors, exceeded, not_run, skipped, xfailed, xpassed } = *self;
        passed + failed + errors + exceeded + not_run + skipped + xfailed + xpassed
    }

    fn count_file(&mut self, file: &FileReport) {
        self.errors += file.errors.len();
        for test in &file.tests {
            *match test.outcome {
                TestOutcome::Passed => &mut self.passed,
                TestOutcome::Failed => &mut self.failed,
                TestOutcome::Error => &mut self.errors,
                TestOutcome::Skipped => &mut self.skipped,
                TestOutcome::Xfailed => &mut self.xfailed,
                TestOutcome::Xpassed => &mut self.xpassed,
                TestOutcome::Exceeded => &mut self.exceeded,
                TestOutcome::NotRun => &mut self.not_run,
            } += 1;
        }
    }
}

pub(crate) fn to_ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
