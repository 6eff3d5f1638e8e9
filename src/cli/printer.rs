//! The one place that writes to the terminal: colours, errors with their causes and hints, JSON, tables.

use std::io::{BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::layout;
use super::terminal_text::escape_all_but_colours;
use super::word_wrap::wrap_words;
use skillcell_host::HostError;
use skillcell_host::approvals::ApprovalError;
pub use skillcell_quote::{escape_unprintable, one_line};

pub struct Printer {
    pretty: bool,
    stderr_is_terminal: bool,
    lost: AtomicBool,
}

/// The width of the column of row names, including the gap after it.
const NAME_COLUMNS: usize = 14;
/// The narrowest last column in which text is still wrapped.
const LEAST_COLUMNS: usize = 24;
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
    pub fn print_json(&self, value: &impl Serialize) {
        self.print_result(&serde_json::to_string(value).unwrap_or_default());
    }

    /// A call's result on stdout: unchanged in a pipe, indented on a terminal. It is streamed, since it may be long.
    pub fn print_result(&self, json: &str) {
        self.write_stdout(|out| {
            if self.pretty {
                layout::write_indented(json, out)?
            } else {
                out.write_all(json.as_bytes())?
            }
            writeln!(out)
        });
    }

    /// Text on stdout that programs read: unchanged in a pipe, escaped on a terminal.
    pub fn print_data(&self, text: &str) {
        if self.pretty { self.print_line(text) } else { self.write_stdout(|out| writeln!(out, "{text}")) }
    }

    /// A line for people on stdout. Control characters other than colours are escaped. Untrusted text should go through
    /// [`escape_unprintable`] first, and a name through [`one_line`], so that it can't add colours or lines.
    pub fn print_line(&self, text: &str) {
        self.write_stdout(|out| writeln!(out, "{}", escape_all_but_colours(text)));
    }

    /// Writes and flushes. A closed pipe is not an error; anything else is recorded, see [`Printer::has_lost_output`].
    fn write_stdout(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
        let mut stdout = BufWriter::with_capacity(1 << 16, anstream::stdout().lock());
        let written = write(&mut stdout).and_then(|()| stdout.flush());
        // Takes the writer apart, so that dropping it doesn't retry what could not be written.
        let _ = stdout.into_parts();
        self.record_loss(&written);
    }

    fn record_loss(&self, written: &std::io::Result<()>) {
        if written.as_ref().is_err_and(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
            self.lost.store(true, Ordering::Relaxed);
        }
    }

    /// Bytes on stdout, unchanged.
    pub fn print_bytes(&self, bytes: &[u8]) {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
        self.record_loss(&written);
    }

    /// A name and what there is to say of it, on stdout. On a terminal, long text is wrapped below its start.
    pub fn print_row(&self, name: &str, text: &str) {
        // Continuation lines are indented, so that untrusted text can't fake a row.
        let text = text.trim_end().replace('\n', &format!("\n{:NAME_COLUMNS$}", ""));
        let whole = format!("{name:<NAME_COLUMNS$}{text}");
        self.print_line(&if self.pretty { wrap_words(&whole, NAME_COLUMNS, stdout_width().into()) } else { whole });
    }

    /// Whether something that should have gone to stdout did not.
    pub fn has_lost_output(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Erases a progress line before other output.
    pub fn clear_line(&self) {
        if self.stderr_is_terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }

    /// What a skill wrote. On a terminal, control characters are escaped, since the text is untrusted.
    pub fn print_skill_output(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut stderr = std::io::stderr().lock();
        let _ = if self.stderr_is_terminal {
            stderr.write_all(escape_unprintable(&String::from_utf8_lossy(bytes)).as_bytes())
        } else {
            stderr.write_all(bytes)
        };
        if !bytes.ends_with(b"\n") {
            let _ = stderr.write_all(b"\n");
        }
    }

    /// Untrusted text on stdout. On a terminal, colours stay and other control characters are escaped.
    pub fn print_coloured_output(&self, text: &str) {
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            self.print_data(text);
        }
    }

    pub fn print_error_chain(&self, error: &anyhow::Error) {
        self.print_error(&format!("{error}"));
        // Errors that are transparent repeat their source's message; it is printed once.
        let mut last = error.to_string();
        for cause in error.chain().skip(1) {
            let cause = cause.to_string();
            if cause != last {
                self.print_note(&format!("{DIM}caused by:{DIM:#} {}", indent_lines(&cause)));
            }
            last = cause;
        }
        let of_approvals = || error.downcast_ref::<ApprovalError>().and_then(ApprovalError::hint);
        if let Some(hint) = error.downcast_ref::<HostError>().and_then(HostError::hint).or_else(of_approvals) {
            self.print_hint(&hint);
        }
    }

    pub fn print_error(&self, message: &str) {
        self.print_note(&format!("{ERROR}error:{ERROR:#} {}", indent_lines(message)));
    }

    pub fn print_warning(&self, message: &str) {
        self.print_note(&format!("{WARNING}warning:{WARNING:#} {}", indent_lines(message)));
    }

    pub fn print_hint(&self, message: &str) {
        self.print_note(&format!("{HINT}hint:{HINT:#} {}", indent_lines(message)));
    }

    /// A line for people, on stderr.
    pub fn print_note(&self, text: &str) {
        let _ = writeln!(anstream::stderr().lock(), "{}", escape_all_but_colours(text));
    }

    /// Rows under a heading, on stdout, columns aligned, those of numbers to the right.
    pub fn print_table(&self, heading: &[&str], rows: &[Vec<String>]) {
        self.print_styled_table(heading, rows, |_, _| Style::new());
    }

    /// Like [`Printer::print_table`], with a style for each cell. On a terminal, a long last column is wrapped below
    /// its start; elsewhere each row is one line.
    pub fn print_styled_table(&self, heading: &[&str], rows: &[Vec<String>], style: impl Fn(usize, usize) -> Style) {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            cells.chain([heading[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..heading.len()).map(width).collect();
        let is_number = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit());
        // `-` stands for a missing figure, so it doesn't make a column text.
        let of_numbers = |column: usize| {
            let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| *cell != "-").peekable();
            cells.peek().is_some() && cells.all(is_number)
        };
        let right: Vec<bool> = (0..heading.len()).map(of_numbers).collect();
        let before_last: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
        let room = usize::from(stdout_width());
        let wraps = self.pretty && before_last + LEAST_COLUMNS <= room;
        let line = |cells: &[String], style: &dyn Fn(usize) -> Style| {
            let padded = cells.iter().enumerate().map(|(column, cell)| {
                let (style, cell) = (style(column), pad_cell(cell, widths[column], right[column]));
                // Padding stays outside of the style, so that it can be trimmed at the end of the line.
                let blanks = cell.len() - cell.trim_end().len();
                format!("{style}{}{style:#}{}", cell.trim_end(), " ".repeat(blanks))
            });
            let line = padded.collect::<Vec<String>>().join("  ").trim_end().to_owned();
            if wraps { wrap_words(&line, before_last, room) } else { line }
        };
        let head: Vec<String> = heading.iter().map(|cell| (*cell).to_owned()).collect();
        self.print_line(&line(&head, &|_| DIM));
        for (at, row) in rows.iter().enumerate() {
            self.print_line(&line(row, &|column| style(at, column)));
        }
    }
}

fn pad_cell(cell: &str, width: usize, right: bool) -> String {
    let space = " ".repeat(width.saturating_sub(cell.chars().count()));
    if right { format!("{space}{cell}") } else { format!("{cell}{space}") }
}

/// Escaped, with continuation lines indented, so that untrusted text can't fake a line such as `error: …`.
fn indent_lines(message: &str) -> String {
    escape_unprintable(message).replace('\n', "\n    ")
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

/// 1536 as `1.5 KiB`.
pub fn format_bytes(count: u64) -> String {
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
        let shown = indent_lines(message);
        assert_eq!(shown, "it failed\n    error: all is well\\r\n    hint: run this\\u{1b}[2K");
        assert!(shown.lines().skip(1).all(|line| line.starts_with("    ")));
    }
}
