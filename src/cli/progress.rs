//! Progress for people: a bar that is redrawn on a terminal, one line a step elsewhere. Neither has colours.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use skillcell_cache::progress::Progress;
use skillcell_quote::one_line;

/// The style while the total is unknown; `wide_msg` cuts what doesn't fit the line.
const WITHOUT_END: &str = "{elapsed_precise}  {wide_msg}";
const WITH_END: &str = "{elapsed_precise}  {bar:28} {percent:>3} %  {wide_msg}";

pub struct Terminal {
    quiet: bool,
    /// Hidden where there is no terminal. It is cleared when it is dropped.
    bar: ProgressBar,
}

impl Terminal {
    pub fn new(quiet: bool) -> Terminal {
        let live = std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let target = if live && !quiet { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Terminal::with_target(target, quiet)
    }

    fn with_target(target: ProgressDrawTarget, quiet: bool) -> Terminal {
        Terminal { quiet, bar: ProgressBar::with_draw_target(None, target) }
    }

    fn set_style(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("█░"));
        }
    }
}

impl Progress for Terminal {
    fn step(&self, what: &str) {
        if self.quiet {
            return;
        }
        let what = one_line(what);
        if self.bar.is_hidden() {
            let _ = writeln!(std::io::stderr(), "skillcell: {what}");
        }
        self.set_style(WITHOUT_END);
        self.bar.unset_length();
        self.bar.reset();
        self.bar.set_message(what);
        // `suspend` redraws at once; indicatif limits the rate of other redraws.
        self.bar.suspend(|| ());
    }

    fn fraction(&self, done: u64, total: u64) {
        match total {
            0 => self.bar.tick(),
            total => {
                if self.bar.length() != Some(total) {
                    self.set_style(WITH_END);
                    self.bar.set_length(total);
                }
                self.bar.set_position(done.min(total));
            }
        }
    }

    fn note(&self, message: &str) {
        let write = || {
            let _ = writeln!(std::io::stderr(), "skillcell: {}", one_line(message));
        };
        // Before the first step there is no bar to draw again.
        if self.bar.message().is_empty() { write() } else { self.bar.suspend(write) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Result;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal of 60 columns that keeps what is written to it.
    #[derive(Debug, Clone, Default)]
    struct Written(Arc<Mutex<String>>);

    impl Written {
        /// What was written since the last time.
        fn take(&self) -> String {
            std::mem::take(&mut self.0.lock().unwrap())
        }

        /// The line that was drawn last.
        fn last_line(&self) -> String {
            self.take().rsplit('\r').next().unwrap_or_default().to_owned()
        }
    }

    impl TermLike for Written {
        fn width(&self) -> u16 {
            60
        }
        fn move_cursor_up(&self, _lines: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _lines: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _columns: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _columns: usize) -> Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> Result<()> {
            self.write_str("\r")
        }
        fn flush(&self) -> Result<()> {
            Ok(())
        }
    }

    fn terminal_and_output() -> (Written, Terminal) {
        let written = Written::default();
        let target = ProgressDrawTarget::term_like(Box::new(written.clone()));
        (written, Terminal::with_target(target, false))
    }

    #[test]
    fn the_bar_moves_and_begins_anew_with_a_step() {
        let (written, terminal) = terminal_and_output();
        terminal.step("downloading a thing");
        assert!(written.take().contains("downloading a thing"));
        for (done, blocks, percent) in [(0, 0, "  0 %"), (50, 14, " 50 %"), (200, 28, "100 %")] {
            // So that none of these is too soon after the one before.
            std::thread::sleep(std::time::Duration::from_millis(60));
            terminal.fraction(done, 100);
            let line = written.last_line();
            assert_eq!((line.matches('█').count(), line.matches('░').count()), (blocks, 28 - blocks), "{line:?}");
            assert!(line.contains(percent), "{line:?}");
        }
        terminal.step("compiling it");
        let line = written.last_line();
        assert!(line.contains("compiling it") && !line.contains('%'), "{line:?}");
    }

    #[test]
    fn a_line_is_never_longer_than_the_terminal_is_wide() {
        let (written, terminal) = terminal_and_output();
        terminal.step(&"downloading a package with a long name ".repeat(3));
        terminal.fraction(1, 2);
        let lines = written.take();
        assert!(lines.split('\r').any(|line| line.contains("50 %")), "{lines:?}");
        assert!(lines.split('\r').all(|line| line.chars().count() <= 60), "{lines:?}");
    }

    #[test]
    fn a_strangers_name_does_not_steer_the_terminal() {
        let (written, terminal) = terminal_and_output();
        terminal.step("baking the image of \u{1b}[2Jx\r\nerror: \u{202e}");
        let line = written.last_line();
        assert!(line.contains("baking the image of \\u{1b}[2Jx\\r\\n"), "{line:?}");
        assert!(!line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{line:?}");
    }
}
