//! `skillcell test`: a skill's own tests, in cells.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;

use super::audit::AuditArgs;
use super::grants::GrantArgs;
use super::origin::find_skill;
use super::printer::{self, Printer};
use super::{SettingArgs, input};
use crate::settings::{LimitOverrides, Settings};
use skillcell_host::call::Call;
use skillcell_host::testing::{FileReport, TestCall, TestReport, TestResult, Totals};
use skillcell_limits::LimitKind;

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Run a skill's own pytest files inside cells: does it still work sandboxed?
///
/// Each test file gets a fresh cell, with the skill's folder read-only and nothing granted, however much the manifest
/// asks for; tests that need a request or a file mock it, or are given it with the flags below. tmp_path, monkeypatch,
/// mocker, capsys and asyncio work. pytest's own text goes to stdout, or with --json a report of every test.
///
/// Of a folder with a SKILL.md, each script that has a command line is started with --help, too: it passes if it ends with 0
/// and says something. Its folder can be written to.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell test office/gmail_handler
  skillcell test ./my_skill -k 'not slow' -x
  skillcell test ./my_skill tests/test_parse.py::test_dates -- -vv --tb=short
  skillcell test ./my_skill --allow-http 'GET https://api.example.org/v1/*'
  skillcell test ./pdf-tools scripts/extract.py
  skillcell test ./my_skill --json | jq '.files[].tests[].outcome'

Exit codes: 0 all passed, 1 a test failed, 2 usage or host error or no tests, 4 a limit was exceeded.")]
pub struct TestCommand {
    /// A folder with a skill.py, or with a SKILL.md and scripts, or an id such as optimization/prompt_rewriter
    skill: String,
    /// Test files or folders, relative to the skill's folder; a file perhaps with ::NAME [default: every test_*.py and
    /// *_test.py]
    #[arg(value_name = "FILE[::NAME]")]
    files: Vec<String>,
    /// Only tests whose names match this expression, as in pytest
    #[arg(short = 'k', value_name = "EXPRESSION")]
    keyword: Option<String>,
    /// Stop at the first failure
    #[arg(short = 'x', long)]
    exitfirst: bool,
    /// Let the tests write to the skill's folder: a copy of it, gone at the end. Calls never can
    #[arg(long)]
    writable: bool,
    /// More arguments for pytest
    #[arg(last = true, value_name = "PYTEST ARGS")]
    args: Vec<String>,
    /// Print one JSON report: each test with its outcome, time and error
    #[arg(long)]
    json: bool,
    /// Files that are run at once [default: as many as there are cores]
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    #[command(flatten)]
    limits: TestLimits,
    #[command(flatten)]
    grants: GrantArgs,
    #[command(flatten)]
    audit: AuditArgs,
}

/// The limits of each file's cell; larger than those of a call.
#[derive(Args)]
#[command(next_help_heading = "Limits of each file")]
struct TestLimits {
    /// Wall-clock time: seconds, or 500ms, 2m [default: 60]
    #[arg(long, value_name = "TIME", value_parser = input::time)]
    timeout: Option<Duration>,
    /// Memory of the cell [default: 512M]
    #[arg(long, value_name = "SIZE", value_parser = input::size)]
    memory: Option<u64>,
    /// What may be printed, pytest's text included [default: 4M]
    #[arg(long, value_name = "SIZE", value_parser = input::size)]
    max_stdout: Option<u64>,
    /// Files open at once [default: 256]
    #[arg(long, value_name = "N")]
    max_open_files: Option<u32>,
    /// Bytes in /tmp and the home folder [default: 256M]
    #[arg(long, value_name = "SIZE", value_parser = input::size)]
    max_scratch: Option<u64>,
    /// Files and folders in /tmp and the home folder [default: 16384]
    #[arg(long, value_name = "N")]
    max_scratch_files: Option<u32>,
    /// Calls from the cell to the host [default: 10000000]
    #[arg(long, value_name = "N")]
    max_host_calls: Option<u64>,
}

impl TestLimits {
    /// These flags as overrides of the policy file.
    fn overrides(&self) -> LimitOverrides {
        let mut limits = LimitOverrides::default();
        limits.timeout = self.timeout;
        limits.memory = self.memory;
        limits.max_stdout = self.max_stdout;
        limits.max_open_files = self.max_open_files;
        limits.max_scratch = self.max_scratch;
        limits.max_scratch_files = self.max_scratch_files;
        limits.max_host_calls = self.max_host_calls;
        limits
    }
}

impl TestCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let mut overrides = args.overrides();
        self.grants.add_to(&mut overrides)?;
        overrides.audit = self.audit.audit.clone();
        overrides.limits = self.limits.overrides();
        let settings = Settings::load(overrides)?;
        settings.check_grants()?;
        let mut call = self.test_call();
        call.limits = settings.limit_overrides.apply_to(call.limits);
        // Only calls have their instructions counted.
        call.limits.fuel = None;
        let defaults = settings.call_defaults()?;
        let host = args.build_host(&settings)?;
        let skill = find_skill(&host, &self.skill, args.quiet, printer)?;
        // Of a call's defaults only grants and audit apply: the defaults of limits are those of tests.
        let Call { grants, audit, .. } = defaults.call(skill.id());
        call.grants = grants;
        call.audit = self.audit.with_explanation(audit);
        let show = |file: &FileReport| {
            if !self.json {
                print_file(file, printer);
            }
        };
        let report = host.test_with(&skill, &call, &show)?;
        drop(host); // clears the progress line
        if self.json {
            printer.print_json(&report);
        } else {
            print_summary(&report, printer);
        }
        if report.totals.tests() == 0 {
            printer.print_error("no test was selected");
            return Ok(ExitCode::from(2));
        }
        Ok(ExitCode::from(match (report.ok, report.exceeded()) {
            (true, _) => 0,
            (false, None) => 1,
            (false, Some(_)) => 4,
        }))
    }

    fn test_call(&self) -> TestCall {
        let mut call = TestCall::default();
        call.files = self.files.clone();
        call.writable = self.writable;
        call.keyword = self.keyword.clone();
        call.exit_first = self.exitfirst;
        call.args = self.args.clone();
        call.jobs = self.jobs;
        if !self.json && std::io::stdout().is_terminal() {
            call.color = printer::stdout_has_colour();
            call.width = printer::stdout_width();
        }
        call
    }
}

/// Prints a file's output, then what pytest doesn't report: denials, and why the cell was stopped.
fn print_file(file: &FileReport, printer: &Printer) {
    printer.clear_line();
    printer.print_coloured_output(&file.stdout);
    printer.print_skill_output(file.stderr.as_bytes());
    for denial in &file.denials {
        printer.print_warning(&format!("a request in `{}` was refused: {denial}", file.file));
    }
    if let Some(ended) = &file.ended {
        let stopped = |test: &&TestResult| test.error.as_ref() == Some(ended);
        let place = file.tests.iter().find(stopped).map_or(&file.file, |test| &test.id);
        match file.limit {
            Some(limit) => printer.print_error(&format!("`{place}` went over a limit: {limit}")),
            None => printer.print_error(&format!("`{place}` ended early: {}: {}", ended.kind, ended.message)),
        }
        if let Some(flag) = file.limit.filter(|limit| *limit != LimitKind::ResultBytes).and_then(LimitKind::flag) {
            printer.print_hint(&format!("`{flag}` sets this limit"));
        }
    }
}

/// Prints one line of totals, failures first.
fn print_summary(report: &TestReport, printer: &Printer) {
    let Totals { passed, failed, errors, exceeded, not_run, skipped, xfailed, xpassed } = report.totals;
    let counted = [
        (failed, "failed"),
        (errors, if errors == 1 { "error" } else { "errors" }),
        (exceeded, "over a limit"),
        (not_run, "not run"),
        (passed, "passed"),
        (skipped, "skipped"),
        (xfailed, "xfailed"),
        (xpassed, "xpassed"),
    ];
    let words: Vec<String> =
        counted.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let style = if report.ok { GOOD } else { BAD };
    let words = if words.is_empty() { "no tests".to_owned() } else { words.join(", ") };
    let (cells, seconds) = (report.files.len(), report.ms / 1e3);
    let cells = if cells == 1 { "1 cell".to_owned() } else { format!("{cells} cells") };
    printer.print_line(&format!(
        "{}: {style}{words}{style:#} in {cells}, {seconds:.1} s",
        printer::one_line(&report.skill)
    ));
}
