//! Puts a file's report together: what its cell reported, and how the cell ended.

use std::collections::HashSet;

use super::{Failure, FileError, FileReport, TestOutcome, TestResult, to_ms};
use crate::call::{Outcome, Raised, Report};
use skillcell_door::Events;
use skillcell_limits::LimitKind;

/// The kind of a failure of pytest's own.
const PYTEST: &str = "pytest";

/// What came of one file.
pub fn file_report(file: &str, events: Events, report: &Report) -> FileReport {
    let Events { collected, running, finished: mut tests, broken: mut errors, .. } = events;
    let limit = match report.outcome {
        Outcome::Exceeded(limit, _) => Some(limit),
        _ => None,
    };
    let ended = cell_failure(&report.outcome);
    match (running, ended.clone()) {
        (Some(id), error) => tests.push(TestResult {
            id,
            outcome: if limit.is_some() { TestOutcome::Exceeded } else { TestOutcome::Error },
            ms: 0.0,
            error: Some(error.unwrap_or_else(|| new_failure("interrupted", "pytest was interrupted in this test"))),
            reason: None,
        }),
        // A collection error already says more.
        (None, Some(error)) if error.kind == PYTEST && !errors.is_empty() => {}
        (None, Some(error)) => errors.push(FileError { id: file.to_owned(), error }),
        (None, None) => {}
    }
    let told: HashSet<&str> = tests.iter().map(|test| test.id.as_str()).collect();
    let left: Vec<String> = collected.into_iter().filter(|id| !told.contains(id.as_str())).collect();
    tests.extend(left.into_iter().map(not_run));
    FileReport {
        file: file.to_owned(),
        tests,
        errors,
        ended,
        limit,
        denials: report.denials.iter().map(|denial| denial.message.clone()).collect(),
        memory_peak_bytes: report.usage.memory_peak_bytes,
        ms: to_ms(report.usage.wall),
        stdout: String::from_utf8_lossy(&report.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&report.stderr).into_owned(),
    }
}

fn not_run(id: String) -> TestResult {
    TestResult { id, outcome: TestOutcome::NotRun, ms: 0.0, error: None, reason: None }
}

/// Why the cell did not end as it should, if it did not.
fn cell_failure(outcome: &Outcome) -> Option<Failure> {
    match outcome {
        Outcome::Returned(result) => {
            // `{"status", "failure"}`; anything else does not come from our guest code.
            let result: serde_json::Value = serde_json::from_str(result.get()).unwrap_or_default();
            match result.get("failure") {
                Some(serde_json::Value::Null) => None,
                Some(serde_json::Value::String(text)) => Some(new_failure(PYTEST, text)),
                _ => Some(new_failure("CellCrash", "the cell handed over something that is no test result")),
            }
        }
        Outcome::Raised(raised) => Some(exception_failure(raised)),
        Outcome::Refused => Some(new_failure("refused", "what the call asks for is not allowed")),
        Outcome::Exceeded(limit, _) => Some(limit_failure(*limit)),
        _ => Some(new_failure(outcome.name(), "the tests did not run to their end")),
    }
}

pub(super) fn limit_failure(limit: LimitKind) -> Failure {
    let flag = limit.flag().map(|flag| format!("; `{flag}` sets it")).unwrap_or_default();
    new_failure("limit", &format!("the file's cell went over a limit: {limit}{flag}"))
}

pub(super) fn exception_failure(raised: &Raised) -> Failure {
    new_failure(&raised.kind, &raised.message)
}

pub(super) fn new_failure(kind: &str, message: &str) -> Failure {
    Failure { kind: kind.to_owned(), message: message.to_owned(), line: None }
}
