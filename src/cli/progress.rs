//! Progress for people: one line that is redrawn on a terminal, one line a step elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::policy::quote::one_line;
use crate::progress::Progress;

const WIDTH: u64 = 28;
/// Redrawing more often than this only burns time.
const REDRAW: Duration = Duration::from_millis(80);

pub struct Terminal {
    quiet: bool,
    live: bool,
    line: Mutex<Line>,
}

#[derive(Default)]
struct Line {
    step: String,
    started: Option<Instant>,
    drawn: Option<Instant>,
}

impl Terminal {
    pub fn new(quiet: bool) -> Terminal {
        let live = std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Terminal { quiet, live, line: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Terminal {
    fn step(&self, what: &str) {
        if self.quiet {
            return;
        }
        let mut line = self.lock();
        line.step = one_line(what);
        line.started = Some(Instant::now());
        line.drawn = Some(Instant::now());
        if self.live {
            draw(&fitted(&line.step, " …", columns()));
        } else {
            let _ = writeln!(std::io::stderr(), "skillcell: {}", line.step);
        }
    }

    fn fraction(&self, done: u64, total: u64) {
        if self.quiet || !self.live {
            return;
        }
        let mut line = self.lock();
        if line.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAW) {
            return;
        }
        line.drawn = Some(Instant::now());
        let seconds = line.started.map_or(0, |started| started.elapsed().as_secs());
        if total == 0 {
            draw(&fitted(&line.step, &format!(" {seconds} s"), columns()));
            return;
        }
        let full = (done * WIDTH / total).min(WIDTH);
        let bar = "█".repeat(full as usize) + &"░".repeat((WIDTH - full) as usize);
        let rest = format!(" {bar} {:>3} %  {seconds} s", (done * 100 / total).min(100));
        draw(&fitted(&line.step, &rest, columns()));
    }

    fn note(&self, message: &str) {
        if self.live {
            draw("");
        }
        let _ = writeln!(std::io::stderr(), "skillcell: {}", one_line(message));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Terminal {
    fn clear(&self) {
        if self.live && !self.quiet && self.lock().drawn.take().is_some() {
            draw("");
        }
    }
}

/// The columns of the terminal that stderr is.
fn columns() -> usize {
    rustix::termios::tcgetwinsize(std::io::stderr()).map_or(80, |size| usize::from(size.ws_col)).max(20)
}

/// A step and what is said of it in one line of a terminal: one that is longer could not be drawn over. The step is cut.
fn fitted(step: &str, rest: &str, columns: usize) -> String {
    let room = columns.saturating_sub(rest.chars().count() + 1);
    if step.chars().count() <= room {
        return format!("{step}{rest}");
    }
    let cut: String = step.chars().take(room.saturating_sub(1)).collect();
    format!("{cut}…{rest}").chars().take(columns - 1).collect()
}

fn draw(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[2K{text}");
    let _ = stderr.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_never_longer_than_the_terminal_is_wide() {
        let rest = format!(" {}  50 %  3 s", "█".repeat(28));
        assert_eq!(fitted("downloading x", &rest, 80), format!("downloading x{rest}"));
        let long = fitted(&"downloading a package with a long name ".repeat(3), &rest, 80);
        assert!(long.chars().count() == 79 && long.ends_with(&format!("…{rest}")), "{long}");
        assert!(fitted("step", &rest, 20).chars().count() < 20);
    }

    #[test]
    fn a_strangers_name_does_not_steer_the_terminal() {
        let terminal = Terminal { quiet: false, live: false, line: Mutex::default() };
        terminal.step("baking the image of \u{1b}[2Jx\r\nerror: \u{202e}");
        let step = terminal.lock().step.clone();
        assert!(step.starts_with("baking the image of "), "{step}");
        assert!(!step.contains(|c: char| c.is_control() || c == '\u{202e}'), "{step:?}");
    }
}
