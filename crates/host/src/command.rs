//! Runs an operator's command for the text that it prints: a secret. Bounded in time and length; its output is never logged.
//!
//! There is no shell. What the command started ends with it. It is the operator's own: it gets this process's environment
//! and folder, and no input; what it says on stderr goes nowhere, since that may be the secret too.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use skillcell_child::{Inherited, Keep, Program};
use zeroize::Zeroizing;

/// How long a command may take.
pub const TIMEOUT: Duration = Duration::from_secs(30);
/// The most that it may print.
const MAX_OUTPUT_BYTES: usize = 64 << 10;
/// How often one that runs is looked at for having printed too much.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Why a command gave nothing to use. None of these has a word of what it printed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("can't start `{program}`")]
    Start { program: String, source: std::io::Error },
    #[error("`{program}` failed: {status}; run it by hand to see what it says")]
    Failed { program: String, status: ExitStatus },
    #[error("`{program}` took longer than {TIMEOUT:?}, and was ended")]
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

/// What a command prints, without the line ends at its end.
pub fn read_output(words: &[String], timeout: Duration) -> Result<Zeroizing<String>, CommandError> {
    let program = || words.first().cloned().unwrap_or_default();
    let unreadable = |source| CommandError::Unreadable { program: program(), source };
    let deadline = Instant::now() + timeout;
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let mut command = Program::new(program(), &folder);
    command.args(&words[1..]).inherit_env(Inherited::Everything);
    command.keep(Keep::First(MAX_OUTPUT_BYTES), Keep::First(0));
    let mut running = command.start().map_err(|source| CommandError::Start { program: program(), source })?;
    let status = loop {
        if let Some(status) = running.wait(deadline.min(Instant::now() + POLL_INTERVAL)).map_err(unreadable)? {
            break status;
        }
        // Too much on stdout (stream 0): end it now rather than at its own pace.
        if running.overflowed_stream() == Some(0) {
            return Err(CommandError::TooLong { program: program() });
        }
        if Instant::now() >= deadline {
            return Err(CommandError::TimedOut { program: program() });
        }
    };
    let [printed, _] = running.take_output(deadline);
    if printed.overflowed {
        return Err(CommandError::TooLong { program: program() });
    }
    if !status.success() {
        return Err(CommandError::Failed { program: program(), status });
    }
    let printed = Zeroizing::new(printed.bytes);
    let text = std::str::from_utf8(&printed).map_err(|_| CommandError::NotText { program: program() })?;
    let text = Zeroizing::new(text.trim_end_matches(['\n', '\r']).to_owned());
    if text.is_empty() { Err(CommandError::Empty { program: program() }) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Result<String, CommandError> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        read_output(&words, Duration::from_secs(20)).map(|text| text.to_string())
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
            assert!(matches!(read_output(&words, Duration::from_millis(500)), Err(CommandError::TimedOut { .. })));
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
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}
