//! Runs an operator's command for the text that it prints: a secret. Bounded in time and length, and told of to nobody.
//!
//! There is no shell. The command is in a process group of its own, so that what it started ends with it. It gets this
//! process's environment and folder, and no input; what it says on stderr goes nowhere, since that may be the secret too.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How long a command may take.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// The most that it may print.
const MAX_OUTPUT_BYTES: usize = 64 << 10;
/// How long the wait for a command that has printed everything, and has not ended yet, sleeps at a time.
const NAP: Duration = Duration::from_millis(2);

/// Why a command gave nothing to use. None of these has a word of what it printed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    #[error("can't start `{program}`")]
    Start { program: String, source: std::io::Error },
    #[error("`{program}` failed: {status}; run it by hand to see what it says")]
    Failed { program: String, status: ExitStatus },
    #[error("`{program}` took longer than {PATIENCE:?}, and was ended")]
    TimedOut { program: String },
    #[error("`{program}` printed more than {MAX_OUTPUT_BYTES} bytes, and was ended")]
    TooLong { program: String },
    #[error("`{program}` printed nothing")]
    Empty { program: String },
    #[error("what `{program}` printed is not UTF-8")]
    NotText { program: String },
    #[error("what `{program}` prints can't be read")]
    Unreadable { program: String, source: std::io::Error },
}

/// Ends the whole group, unless the command came to its end in time.
struct Group {
    child: Child,
    ended: bool,
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.ended {
            if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(pid, Signal::KILL);
            }
            let _ = self.child.wait();
        }
    }
}

/// What a command prints, without the line ends at its end.
pub fn output(words: &[String], patience: Duration) -> Result<String, CommandError> {
    let program = || words.first().cloned().unwrap_or_default();
    let deadline = Instant::now() + patience;
    let child = Command::new(program())
        .args(words.iter().skip(1))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|source| CommandError::Start { program: program(), source })?;
    let mut group = Group { child, ended: false };
    let printed = read(&mut group.child, deadline)
        .ok_or_else(|| CommandError::TimedOut { program: program() })?
        .map_err(|source| CommandError::Unreadable { program: program(), source })?;
    if printed.len() > MAX_OUTPUT_BYTES {
        return Err(CommandError::TooLong { program: program() });
    }
    let status = wait(&mut group.child, deadline)
        .map_err(|source| CommandError::Unreadable { program: program(), source })?
        .ok_or_else(|| CommandError::TimedOut { program: program() })?;
    group.ended = true;
    if !status.success() {
        return Err(CommandError::Failed { program: program(), status });
    }
    let mut text = String::from_utf8(printed).map_err(|_| CommandError::NotText { program: program() })?;
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    if text.is_empty() { Err(CommandError::Empty { program: program() }) } else { Ok(text) }
}

/// All that it prints, or the beginning where that is too much. None when time runs out: whoever reads then reads on until
/// the last process that holds the pipe is gone, which the group's end sees to.
fn read(child: &mut Child, deadline: Instant) -> Option<std::io::Result<Vec<u8>>> {
    let stdout = child.stdout.take()?;
    let (give, take) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut printed = Vec::new();
        let read = stdout.take(MAX_OUTPUT_BYTES as u64 + 1).read_to_end(&mut printed);
        let _ = give.send(read.map(|_| printed));
    });
    take.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

fn wait(child: &mut Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    loop {
        let status = child.try_wait()?;
        if status.is_some() || Instant::now() >= deadline {
            return Ok(status);
        }
        std::thread::sleep(NAP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Result<String, CommandError> {
        output(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), Duration::from_secs(20))
    }

    #[test]
    fn what_it_prints_is_given_without_line_ends() {
        assert_eq!(run(&["printf", "%s", " v a\\n\n"]).unwrap(), " v a\\n");
        assert_eq!(run(&["echo", "$HOME `ls` *"]).unwrap(), "$HOME `ls` *");
    }

    #[test]
    fn a_failure_says_which_and_never_what_was_printed() {
        let failures = [
            (&["sh", "-c", "echo s3cr3t; echo s3cr3t >&2; exit 3"][..], "`sh` failed: exit status: 3"),
            (&["sh", "-c", "echo s3cr3t; kill -9 $$"], "`sh` failed: signal: 9"),
            (&["true"], "`true` printed nothing"),
            (&["printf", "\\n\\r\\n"], "`printf` printed nothing"),
            (&["printf", "s3cr3t\\377"], "what `printf` printed is not UTF-8"),
            (&["/nonexistent/program"], "can't start `/nonexistent/program`"),
        ];
        for (words, expected) in failures {
            let error = run(words).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
            assert!(!format!("{error:?}{error}").contains("s3cr3t"), "{error:?}");
        }
    }

    #[test]
    fn endless_output_is_ended() {
        let started = Instant::now();
        assert!(matches!(run(&["yes", "s3cr3t"]), Err(CommandError::TooLong { .. })));
        let full = format!("head -c {MAX_OUTPUT_BYTES} /dev/zero | tr '\\0' x");
        assert_eq!(run(&["sh", "-c", &full]).unwrap().len(), MAX_OUTPUT_BYTES);
        assert!(started.elapsed() < Duration::from_secs(15));
    }

    #[test]
    fn a_command_that_hangs_ends_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let pids = folder.path().join("pids");
        for script in ["sleep 300 & echo $! $$ > PIDS; wait", "exec >&-; sleep 300 & echo $! $$ > PIDS; wait"] {
            let script = script.replace("PIDS", pids.to_str().unwrap());
            let words = ["sh", "-c", &script].map(str::to_owned);
            let started = Instant::now();
            assert!(matches!(output(&words, Duration::from_millis(500)), Err(CommandError::TimedOut { .. })));
            assert!(started.elapsed() < Duration::from_secs(15));
            for pid in std::fs::read_to_string(&pids).unwrap().split_whitespace() {
                assert!(is_gone(pid), "{pid} is alive");
            }
        }
    }

    /// Killed, if not yet collected by whoever adopted it.
    fn is_gone(pid: &str) -> bool {
        let by = Instant::now() + Duration::from_secs(10);
        loop {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            if stat.map_or(true, |stat| stat.contains(") Z ")) {
                return true;
            }
            if Instant::now() > by {
                return false;
            }
            std::thread::sleep(NAP);
        }
    }
}
