//! A skill's own tests in cells, with nothing granted.

use super::outcomes::Ran;
use skillcell_host::testing::{Failure, TestCall, TestError, TestOutcome};
use skillcell_host::{Host, HostError};
use skillcell_packages::skill::Skill;

pub fn run(host: &Host, skill: &Skill) -> Result<Ran, String> {
    let mut call = TestCall::default();
    // Skills are studied side by side already.
    call.jobs = 1;
    let report = match host.test(skill, &call) {
        Ok(report) => report,
        // A suite without tests is no failure of the cell.
        Err(HostError::Test(TestError::NoTests { .. })) => return Ok(Ran::default()),
        Err(error) => return Err(error.to_string()),
    };
    let mut ran = Ran { seconds: report.ms / 1e3, ..Ran::default() };
    for test in report.tests() {
        let why = test.error.as_ref().map(in_words).or_else(|| test.reason.clone()).unwrap_or_default();
        ran.add(test.id.clone(), outcome(test.outcome), &why);
    }
    for broken in report.files.iter().flat_map(|file| &file.errors) {
        ran.add(broken.id.clone(), "error", &in_words(&broken.error));
    }
    Ok(ran)
}

fn outcome(outcome: TestOutcome) -> &'static str {
    match outcome {
        TestOutcome::Passed | TestOutcome::Xpassed => "passed",
        TestOutcome::Skipped | TestOutcome::Xfailed => "skipped",
        TestOutcome::Failed => "failed",
        _ => "error",
    }
}

fn in_words(failure: &Failure) -> String {
    let message = failure.message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let place = failure.line.as_ref().map_or_else(String::new, |line| format!(" ({line})"));
    format!("{}: {message}{place}", failure.kind)
}
