//! The audit on the command line: the flags of `skillcell run`, and `skillcell audit show`, which reads a file for people.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use clap::{Args, Subcommand};

use super::printer::Printer;
use skillcell_door::audit::{AuditLog, Event, Line, MAX_LINE_BYTES, Verdict};
use skillcell_quote::{ascii_json, one_line};

const ALLOWED: Style = AnsiColor::Green.on_default();
const DENIED: Style = AnsiColor::Red.on_default().bold();
const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();

/// What is recorded of a call.
#[derive(Args)]
#[command(next_help_heading = "Audit")]
pub struct AuditArgs {
    /// Append a JSON line for each decision and host call to this file; without it being written, nothing is let through;
    /// also SKILLCELL_AUDIT
    #[arg(long, value_name = "FILE")]
    pub audit: Option<PathBuf>,
    /// Say on stderr what is planned, then what is asked, allowed and denied, and by which rule
    #[arg(long)]
    pub explain: bool,
}

impl AuditArgs {
    /// With `--explain`, also prints each line of the log on stderr.
    pub fn with_explanation(&self, log: AuditLog) -> AuditLog {
        if !self.explain {
            return log;
        }
        let printer = Printer::new();
        log.to_listener(Arc::new(move |line| printer.print_note(&describe_line(line))))
    }
}

/// Read what `skillcell run --audit` recorded
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell run ./my_skill --audit audit.jsonl
  skillcell audit show audit.jsonl")]
pub struct AuditCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Show an audit file for people: each call with what it asked for, and which rule decided
    ///
    /// Lines come in the order of the file, each call's under a heading. Lines that can't be read are named on stderr and
    /// passed over; the exit code is then 2.
    #[command(after_help = "\
Examples:
  skillcell audit show audit.jsonl --denied
  skillcell audit show audit.jsonl --skill finance/wallet_screening --call 3f9a
  skillcell audit show audit.jsonl --denied --json | jq -r .asked")]
    Show(Show),
}

#[derive(Args)]
struct Show {
    /// The file that `--audit` named
    file: PathBuf,
    /// Only calls of this skill
    #[arg(long, value_name = "ID")]
    skill: Option<String>,
    /// Only the call whose id begins with this
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// Only what was denied
    #[arg(long)]
    denied: bool,
    /// Print the lines as they are in the file
    #[arg(long)]
    json: bool,
}

impl AuditCommand {
    pub fn execute(&self, printer: &Printer) -> anyhow::Result<ExitCode> {
        let Verb::Show(show) = &self.verb;
        show.execute(printer)
    }
}

/// State while the file is read from top to bottom.
#[derive(Default)]
struct Reading {
    /// The call whose lines are being shown.
    call: String,
    /// Calls that began and have not ended, with their skills.
    open: BTreeMap<String, String>,
    /// How many more there are than `open` may hold.
    more_open: u64,
    bad: u64,
}

/// The most unended calls that are remembered.
const MAX_OPEN: usize = 1000;

impl Show {
    fn execute(&self, printer: &Printer) -> anyhow::Result<ExitCode> {
        let mut lines = Lines::open(&self.file)?;
        let mut reading = Reading::default();
        while let Some((number, text)) = lines.next_line()? {
            if text.trim_ascii().is_empty() {
                continue;
            }
            match Line::read(&text) {
                Ok(line) => self.show_line(&line, &text, &mut reading, printer),
                Err(problem) => {
                    reading.bad += 1;
                    let problem = one_line(&problem);
                    printer
                        .print_warning(&format!("line {number} of `{}` can't be read: {problem}", self.file.display()));
                }
            }
        }
        self.tell_unended(&reading, printer);
        Ok(if reading.bad == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) })
    }

    fn wants_call(&self, line: &Line) -> bool {
        self.skill.as_ref().is_none_or(|skill| line.skill == *skill)
            && self.call.as_ref().is_none_or(|call| line.call.starts_with(call.as_str()))
    }

    fn show_line(&self, line: &Line, text: &[u8], reading: &mut Reading, printer: &Printer) {
        if !self.wants_call(line) {
            return;
        }
        // Before the filter on denials: a call's begin and end count even where they aren't shown.
        reading.track_open_calls(line);
        if self.denied && line.verdict() != Verdict::Denied {
            return;
        }
        if self.json {
            printer.print_line(&ascii_json(String::from_utf8_lossy(text).trim()));
            return;
        }
        if reading.call != line.call {
            reading.call.clone_from(&line.call);
            printer.print_line(&call_heading(line));
        }
        printer.print_line(&format!("  {DIM}{}{DIM:#}  {}", time_of_day(line), describe_line(line)));
    }

    fn tell_unended(&self, reading: &Reading, printer: &Printer) {
        for (call, skill) in &reading.open {
            let call = one_line(call);
            printer.print_note(&format!(
                "call {call} of `{}` has no end: it was killed, or is still running",
                one_line(skill)
            ));
        }
        if reading.more_open > 0 {
            printer.print_note(&format!("{} more calls have no end", reading.more_open));
        }
    }
}

impl Reading {
    /// Tracks which calls have begun and not ended.
    fn track_open_calls(&mut self, line: &Line) {
        match line.event {
            Event::Begin if self.open.len() < MAX_OPEN => {
                self.open.insert(line.call.clone(), line.skill.clone());
            }
            Event::Begin => self.more_open += 1,
            Event::End if self.open.remove(&line.call).is_none() => self.more_open = self.more_open.saturating_sub(1),
            _ => {}
        }
    }
}

fn call_heading(line: &Line) -> String {
    let (call, skill) = (one_line(&line.call), one_line(&line.skill));
    let digest: String = line.digest.chars().take(16).collect();
    format!("{BOLD}{skill}{BOLD:#}  call {call}, {}, skill {}", one_line(&line.when), one_line(&digest))
}

/// The time of day.
fn time_of_day(line: &Line) -> String {
    one_line(line.when.split_once('T').map_or(&line.when[..], |(_, time)| time).trim_end_matches('Z'))
}

fn describe_line(line: &Line) -> String {
    let verdict = line.verdict();
    let style = match verdict {
        Verdict::Allowed => ALLOWED,
        Verdict::Denied => DENIED,
        _ => DIM,
    };
    format!("{style}{:<7}{style:#} {}", verdict.name(), line.describe())
}

/// The lines of a file, one at a time, however long they are.
struct Lines {
    path: PathBuf,
    file: BufReader<File>,
    number: u64,
}

impl Lines {
    fn open(path: &Path) -> anyhow::Result<Lines> {
        let file = File::open(path).with_context(|| format!("the audit file `{}` can't be read", path.display()))?;
        Ok(Lines { path: path.to_owned(), file: BufReader::new(file), number: 0 })
    }

    /// The next line with its number, without the line end. A line that is too long is cut one byte past the limit, so
    /// that the parser can tell.
    fn next_line(&mut self) -> anyhow::Result<Option<(u64, Vec<u8>)>> {
        let mut line = Vec::new();
        let most = MAX_LINE_BYTES as u64 + 1;
        let read = (&mut self.file).take(most).read_until(b'\n', &mut line);
        read.with_context(|| format!("the audit file `{}` can't be read", self.path.display()))?;
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        match line.last() {
            Some(b'\n') => drop(line.pop()),
            _ if line.len() as u64 == most => {
                self.file.skip_until(b'\n')?;
            }
            _ => {}
        }
        Ok(Some((self.number, line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers_whatever_their_length() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let long = "x".repeat(MAX_LINE_BYTES * 3);
        std::fs::write(file.path(), format!("one\n{long}\n\n{}\nlast", "y".repeat(MAX_LINE_BYTES))).unwrap();
        let mut lines = Lines::open(file.path()).unwrap();
        let mut seen = Vec::new();
        while let Some((number, text)) = lines.next_line().unwrap() {
            seen.push((number, text.len()));
        }
        assert_eq!(seen, [(1, 3), (2, MAX_LINE_BYTES + 1), (3, 0), (4, MAX_LINE_BYTES), (5, 4)]);
    }
}
