//! The one place that writes to the terminal: colours, errors with their causes and hints, JSON, tables.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::layout;
use super::wrapped::wrapped;
use crate::approvals::ApprovalError;
use crate::host::HostError;

pub struct Printer {
    pretty: bool,
    stderr_is_terminal: bool,
    lost: AtomicBool,
}

/// What the names of rows take, with the blank after them.
const NAME_COLUMNS: usize = 14;
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();
const DIM: Style = Style::new().dimmed();

impl Printer {
    pub fn new() -> Printer {
        Printer {
            pretty: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            lost: AtomicBool::new(false),
        }
    }

    /// JSON on stdout: indented on a terminal, one line in a pipe.
    pub fn json(&self, value: &impl Serialize) {
        self.result(&serde_json::to_string(value).unwrap_or_default());
    }

    /// A call's result on stdout: as it came in a pipe, laid out on a terminal.
    pub fn result(&self, json: &str) {
        self.line(&shown(self.pretty, json));
    }

    /// A line of data on stdout. A reader that went away is not an error; anything else is, see [`Printer::lost`].
    pub fn line(&self, text: &str) {
        let mut stdout = anstream::stdout().lock();
        let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
        if written.is_err_and(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
            self.lost.store(true, Ordering::Relaxed);
        }
    }

    /// A name and what there is to say of it, on stdout. On a terminal what is long goes on below where it began.
    pub fn row(&self, name: &str, text: &str) {
        let whole = format!("{name:<NAME_COLUMNS$}{text}");
        self.line(&if self.pretty { wrapped(&whole, NAME_COLUMNS, stdout_width().into()) } else { whole });
    }

    /// Whether something that should have gone to stdout did not.
    pub fn lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Makes way for output where a progress line may stand.
    pub fn clear_line(&self) {
        if self.stderr_is_terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }

    /// What a skill wrote. On a terminal, control characters are shown, not obeyed: it is a stranger's text.
    pub fn skill_output(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut stderr = std::io::stderr().lock();
        let _ = if self.stderr_is_terminal {
            stderr.write_all(harmless(&String::from_utf8_lossy(bytes)).as_bytes())
        } else {
            stderr.write_all(bytes)
        };
        if !bytes.ends_with(b"\n") {
            let _ = stderr.write_all(b"\n");
        }
    }

    /// A stranger's text on stdout that may have colours, and nothing else that a terminal would obey.
    pub fn coloured_output(&self, text: &str) {
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            self.line(&if self.pretty { harmless_but_colours(text) } else { text.to_owned() });
        }
    }

    pub fn error(&self, error: &anyhow::Error) {
        self.problem(&format!("{error}"));
        let mut last = error.to_string();
        for cause in error.chain().skip(1) {
            let cause = cause.to_string();
            if cause != last {
                self.note(&format!("{DIM}caused by:{DIM:#} {}", indented(&cause)));
            }
            last = cause;
        }
        let of_approvals = || error.downcast_ref::<ApprovalError>().and_then(ApprovalError::hint);
        if let Some(hint) = error.downcast_ref::<HostError>().and_then(HostError::hint).or_else(of_approvals) {
            self.hint(&hint);
        }
    }

    pub fn problem(&self, message: &str) {
        self.note(&format!("{ERROR}error:{ERROR:#} {}", indented(message)));
    }

    pub fn warning(&self, message: &str) {
        self.note(&format!("{WARNING}warning:{WARNING:#} {}", indented(message)));
    }

    pub fn hint(&self, message: &str) {
        self.note(&format!("{HINT}hint:{HINT:#} {}", indented(message)));
    }

    /// A line for people, on stderr.
    pub fn note(&self, text: &str) {
        let _ = writeln!(anstream::stderr().lock(), "{text}");
    }

    /// Rows under a heading, on stdout, columns aligned, those of numbers to the right.
    pub fn table(&self, heading: &[&str], rows: &[Vec<String>]) {
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            cells.chain([heading[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..heading.len()).map(width).collect();
        let is_number = |cell: &String| cell == "-" || cell.starts_with(|c: char| c.is_ascii_digit());
        let right: Vec<bool> =
            (0..heading.len()).map(|column| rows.iter().all(|row| row.get(column).is_some_and(is_number))).collect();
        let line = |cells: &[String]| {
            let padded = cells.iter().enumerate().map(|(column, cell)| pad(cell, widths[column], right[column]));
            padded.collect::<Vec<String>>().join("  ").trim_end().to_owned()
        };
        let head: Vec<String> = heading.iter().map(|cell| (*cell).to_owned()).collect();
        self.line(&format!("{DIM}{}{DIM:#}", line(&head)));
        for row in rows {
            self.line(&harmless(&line(row)));
        }
    }
}

/// JSON as it came, or laid out.
fn shown(pretty: bool, json: &str) -> Cow<'_, str> {
    if pretty { layout::indented(json).into() } else { json.into() }
}

fn pad(cell: &str, width: usize, right: bool) -> String {
    let space = " ".repeat(width.saturating_sub(cell.chars().count()));
    if right { format!("{space}{cell}") } else { format!("{cell}{space}") }
}

/// Harmless, and a line that a stranger's text begins can't pass for one of ours.
fn indented(message: &str) -> String {
    harmless(message).replace('\n', "\n    ")
}

/// Text whose control characters are spelled out, except line ends and tabs.
pub fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => safe.push(c),
            c if c.is_control() => safe.extend(c.escape_default()),
            c if reorders(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    safe
}

/// The same, with the sequences that set colours and weights left in: `ESC [ digits and semicolons m`. They are set back at the
/// end.
fn harmless_but_colours(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        safe.push_str(&harmless(before));
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(after.len());
        if after[end..].starts_with('m') && end <= 20 {
            safe.push_str(&format!("\x1b[{}m", &after[..end]));
            rest = &after[end + 1..];
        } else {
            safe.push_str(&harmless("\x1b["));
            rest = after;
        }
    }
    safe.push_str(&harmless(rest));
    if safe.contains('\x1b') {
        safe.push_str("\x1b[0m");
    }
    safe
}

/// Whether colours are wanted on stdout.
pub fn stdout_has_colour() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// The columns of the terminal that stdout is.
pub fn stdout_width() -> u16 {
    let from_variable = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = from_variable.or_else(|| rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col));
    width.filter(|width| (20..=400).contains(width)).unwrap_or(80)
}

/// Marks that reorder text on screen.
pub fn reorders(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// 1536 as `1.5 KiB`.
pub fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut size = count as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{size:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_a_stranger_begins_does_not_pass_for_ours() {
        let message = "it failed\nerror: all is well\r\nhint: run this\u{1b}[2K";
        let shown = indented(message);
        assert_eq!(shown, "it failed\n    error: all is well\\r\n    hint: run this\\u{1b}[2K");
        assert!(shown.lines().skip(1).all(|line| line.starts_with("    ")));
    }

    #[test]
    fn json_on_a_terminal_is_laid_out_without_anything_that_steers_it() {
        let value = serde_json::json!({"text": "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}"});
        let json = serde_json::to_string(&value).unwrap();
        let pretty = shown(true, &json);
        assert!(pretty.starts_with("{\n  \"text\": "), "{pretty}");
        assert!(!pretty.contains(|c: char| (c.is_control() && c != '\n') || reorders(c)), "{pretty:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&pretty).unwrap(), value);
        assert_eq!(shown(false, "{\"a\":1}"), "{\"a\":1}");
    }
}
