//! `skillcell python --session`: lines from a prompt or a pipe, each statement a call in the same cell.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::Context;

use super::printer::Printer;
use super::script_run::{Ready, ScriptArgs, exit_code, explain_end, run_shown};
use skillcell_host::call::{Call, Outcome, Report};
use skillcell_host::{Session, SessionLimits};

/// How long a session waits for the next line, and how long it lasts.
const IDLE: std::time::Duration = std::time::Duration::from_secs(3600);
const LIFETIME: std::time::Duration = std::time::Duration::from_secs(24 * 3600);
/// The longest statement.
const MAX_BYTES: usize = 8 << 20;

/// Runs the program, then what is typed. What it ends with is the program's, or 0 at the end of the input.
pub fn run_session(args: &ScriptArgs, ready: Ready, printer: &Printer) -> anyhow::Result<u8> {
    let Ready { host, skill, mut call } = ready;
    call.session = Some(Session::new(SessionLimits::new(IDLE, LIFETIME)));
    let make = |call: &Call| -> anyhow::Result<Report> {
        let report = run_shown(&host, &skill, call.clone())?;
        args.take_files(&report)?;
        if !report.is_incomplete() {
            explain_end(&report, call, printer);
        }
        Ok(report)
    };
    if let Some(code) = end_of(&make(&call)?) {
        return Ok(code);
    }
    let mut prompt = Prompt { shown: std::io::stdin().is_terminal(), typed: String::new() };
    loop {
        let is_last = !prompt.read_line()?;
        // A blank line ends a block, and what ends it is no part of the line before.
        let lines = prompt.typed.strip_suffix('\n').unwrap_or(&prompt.typed);
        let mut report =
            (!prompt.typed.trim().is_empty()).then(|| make(&call.clone().with_lines(lines))).transpose()?;
        if report.as_ref().is_some_and(Report::is_incomplete) {
            if !is_last {
                continue;
            }
            // Nothing more will come: what is wrong with it is told as it would be of a file.
            report = Some(make(&call.clone().with_code(&prompt.typed, []))?);
        }
        if let Some(code) = report.as_ref().and_then(end_of) {
            return Ok(code);
        }
        if is_last {
            return Ok(0);
        }
        prompt.typed.clear();
    }
}

/// The exit code, if nothing can follow: `exit()`, a limit, a refusal. An exception is only told.
fn end_of(report: &Report) -> Option<u8> {
    match &report.outcome {
        Outcome::Returned(_) => None,
        Outcome::Raised(raised) if raised.kind != "SystemExit" && raised.exit_code.is_some() => None,
        _ => Some(exit_code(report)),
    }
}

/// What was typed of a statement so far.
struct Prompt {
    shown: bool,
    typed: String,
}

impl Prompt {
    /// Takes one more line. False at the end of the input, which ends a block, too.
    fn read_line(&mut self) -> anyhow::Result<bool> {
        if self.shown {
            // Not stdout, which is the program's.
            let _ = write!(std::io::stderr(), "{}", if self.typed.is_empty() { ">>> " } else { "... " });
        }
        let before = self.typed.len();
        let mut limited = std::io::Read::take(std::io::stdin().lock(), (MAX_BYTES - before) as u64);
        limited.read_line(&mut self.typed).context("standard input can't be read")?;
        anyhow::ensure!(self.typed.len() < MAX_BYTES, "a statement of more than {} MiB", MAX_BYTES >> 20);
        if self.typed.ends_with('\n') && self.typed.len() > before {
            return Ok(true);
        }
        if self.shown {
            let _ = writeln!(std::io::stderr());
        }
        self.typed.push_str(if self.typed.ends_with('\n') { "\n" } else { "\n\n" });
        Ok(false)
    }
}
