//! A skill's own tests in cells, with nothing granted.

use super::outcomes::TestRun;
use skillcell_host::testing::{Failure, TestCall, TestError, TestOutcome};
use skillcell_host::{Host, HostError};
use skillcell_packages::skill::Skill;

pub fn run_tests(host: &Host, skill: &Skill) -> Result<TestRun, String> {
    let mut call = TestCall::default();
    // Skills are studied side by side already.
    call.jobs = 1;
    // Scripts are rows of their own.
    call.scripts = false;
    let report = match host.test(skill, &call) {
        Ok(report) => report,
        // A suite without tests is no failure of the cell.
        Err(HostError::Test(TestError::NoTests { .. })) => return Ok(TestRun::default()),
        Err(error) => return Err(error.to_string()),
    };
    let mut ran = TestRun { seconds: report.ms / 1e3, ..TestRun::default() };
    for test in report.tests() {
        let why = test.error.as_ref().map(describe_failure).or_else(|| test.reason.clone()).unwrap_or_default();
        ran.add_test(test.id.clone(), outcome_name(test.outcome), &why);
    }
    for broken in report.files.iter().flat_map(|file| &file.errors) {
        ran.add_test(broken.id.clone(), "error", &describe_failure(&broken.error));
    }
    Ok(ran)
}

fn outcome_name(outcome: TestOutcome) -> &'static str {
    match outcome {
        TestOutcome::Passed | TestOutcome::Xpassed => "passed",
        TestOutcome::Skipped | TestOutcome::Xfailed => "skipped",
        TestOutcome::Failed => "failed",
        _ => "error",
    }
}

fn describe_failure(failure: &Failure) -> String {
    let message = failure.message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let place = failure.line.as_ref().map_or_else(String::new, |line| format!(" ({line})"));
    format!("{}: {message}{place}", failure.kind)
}
