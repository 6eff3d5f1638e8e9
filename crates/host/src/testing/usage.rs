//! Scripts of a folder with a `SKILL.md` as tests: each that has a command line is started with `--help`, in a cell, by a call like any
//! other. It passes if it ends with 0 and says something.

use super::gather::{exception_failure, limit_failure, new_failure};
use super::{FileReport, TestOutcome, TestResult, to_ms};
use crate::call::{Outcome, Report};
use skillcell_packages::skill::Skill;

/// What it is started with.
pub const USAGE: &str = "--help";
/// Modules that a command line is made with.
const PARSERS: [&str; 6] = ["argparse", "click", "typer", "optparse", "fire", "docopt"];

/// Whether a script's text has a command line: it imports what they are made with, and is meant to be started.
pub fn has_command_line(skill: &Skill, script: &str) -> bool {
    let Some((_, bytes)) = skill.contents().find(|(path, _)| *path == script) else { return false };
    let text = String::from_utf8_lossy(bytes);
    text.contains("__main__") && text.lines().any(imports_parser)
}

fn imports_parser(line: &str) -> bool {
    let line = line.trim_start();
    let is_no_name = |c: char| !c.is_alphanumeric() && c != '_';
    match (line.strip_prefix("import "), line.strip_prefix("from ")) {
        (Some(rest), _) => rest.split(is_no_name).any(|name| PARSERS.contains(&name)),
        (_, Some(rest)) => rest.trim_start().split(is_no_name).next().is_some_and(|name| PARSERS.contains(&name)),
        _ => false,
    }
}

/// What came of starting a script.
pub fn usage_report(script: &str, report: &Report) -> FileReport {
    let limit = match report.outcome {
        Outcome::Exceeded(limit, _) => Some(limit),
        _ => None,
    };
    let said_nothing = || new_failure("usage", &format!("it ended with 0 and said nothing to `{USAGE}`"));
    let (outcome, error, reason) = match &report.outcome {
        Outcome::Returned(_) if report.stdout.is_empty() => (TestOutcome::Failed, Some(said_nothing()), None),
        Outcome::Returned(_) => (TestOutcome::Passed, None, None),
        Outcome::Raised(raised) => (TestOutcome::Failed, Some(exception_failure(raised)), None),
        Outcome::Exceeded(limit, _) => (TestOutcome::Exceeded, Some(limit_failure(*limit)), None),
        // Nothing that it asks for has to be granted to tests.
        Outcome::Refused => (TestOutcome::Skipped, None, Some(format!("refused: {}", denials(report).join("; ")))),
        outcome => (TestOutcome::Error, Some(new_failure(outcome.name(), &outcome.describe())), None),
    };
    let end = match (report.exit_code, &reason) {
        (Some(0), _) if error.is_some() => "failed, it said nothing".to_owned(),
        (Some(code), _) => format!("{}, exit {code}", if error.is_some() { "failed" } else { "passed" }),
        (None, Some(reason)) => format!("skipped, {reason}"),
        (None, None) => report.outcome.name().to_owned(),
    };
    let test = TestResult {
        id: format!("{script}::{USAGE}"),
        outcome,
        ms: to_ms(report.usage.wall),
        error: error.clone(),
        reason,
    };
    FileReport {
        file: script.to_owned(),
        tests: vec![test],
        errors: Vec::new(),
        ended: error.filter(|_| limit.is_some()),
        limit,
        denials: denials(report),
        memory_peak_bytes: report.usage.memory_peak_bytes,
        ms: to_ms(report.usage.wall),
        stdout: format!("{script} {USAGE}: {end}\n"),
        stderr: if outcome == TestOutcome::Passed { String::new() } else { text(&report.stderr) },
    }
}

fn denials(report: &Report) -> Vec<String> {
    report.denials.iter().map(|denial| denial.message.clone()).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_known_by_what_makes_it() {
        for line in ["import argparse", "  import os, argparse", "from click import command", "import typer as t"] {
            assert!(imports_parser(line), "{line}");
        }
        for line in
            ["import os", "# import argparse", "from . import click_x", "print('import argparse')", "import argparses"]
        {
            assert!(!imports_parser(line), "{line}");
        }
    }
}
