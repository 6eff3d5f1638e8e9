//! Progress for people: one line that is redrawn on a terminal, one line a step elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::audit::one_line;
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
            draw(&format!("{} …", line.step));
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
            draw(&format!("{} {seconds} s", line.step));
            return;
        }
        let full = (done * WIDTH / total).min(WIDTH);
        let bar = "█".repeat(full as usize) + &"░".repeat((WIDTH - full) as usize);
        draw(&format!("{} {bar} {:>3} %  {seconds} s", line.step, (done * 100 / total).min(100)));
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

fn draw(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[2K{text}");
    let _ = stderr.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_name_does_not_steer_the_terminal() {
        let terminal = Terminal { quiet: false, live: false, line: Mutex::default() };
        terminal.step("baking the image of \u{1b}[2Jx\r\nerror: \u{202e}");
        let step = terminal.lock().step.clone();
        assert!(step.starts_with("baking the image of "), "{step}");
        assert!(!step.contains(|c: char| c.is_control() || c == '\u{202e}'), "{step:?}");
    }
}
