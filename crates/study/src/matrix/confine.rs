//! A process with a time limit, an environment of its own, and bubblewrap around it where that is there.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use skillcell_child::{Finished, Keep, Program};
use skillcell_tiers::{Sandbox, bubblewrap};

/// How much of the output is kept, for its last line.
const KEPT_OUTPUT: Keep = Keep::Last(64 << 10);
/// The longest report that is read.
const MAX_REPORT: u64 = 16 << 20;
/// Parts of the system that a Python or a Node.js needs, read-only.
const SYSTEM: [&str; 6] = ["/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc"];

pub fn has_bubblewrap() -> bool {
    Sandbox::bubblewrap().is_some()
}

pub struct ConfinedProcess(Program);

pub struct Output {
    pub code: Option<i32>,
    pub status: ExitStatus,
    pub last_line: String,
}

impl Output {
    /// Whether it ended as pytest does when it ran: 0 all passed, 1 some failed, 2 some files could not be collected, 5
    /// there are none.
    pub fn check_pytest_status(&self) -> Result<(), String> {
        match self.code {
            Some(0 | 1 | 2 | 5) => Ok(()),
            _ => Err(format!("pytest ended with {}: {}", self.status, self.last_line)),
        }
    }
}

impl ConfinedProcess {
    /// A program in `folder`, which it may write to. It may read `needs` beside the system.
    pub fn new(program: &Path, needs: &[&Path], folder: &Path) -> ConfinedProcess {
        let mut command = match Sandbox::bubblewrap() {
            Some(bwrap) => {
                let mut wrapped = Program::new(bwrap, folder);
                wrapped.args(bubblewrap::study_arguments(&SYSTEM, needs, folder)).arg(program);
                wrapped
            }
            None => Program::new(program, folder),
        };
        command.env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8").env("HOME", folder.join("home"));
        command.env("TMPDIR", folder.join("tmp")).keep(KEPT_OUTPUT, KEPT_OUTPUT);
        ConfinedProcess(command)
    }

    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut ConfinedProcess {
        self.0.arg(arg);
        self
    }

    pub fn args<const N: usize>(&mut self, args: [&str; N]) -> &mut ConfinedProcess {
        self.0.args(args);
        self
    }

    pub fn env(&mut self, name: &str, value: impl AsRef<OsStr>) -> &mut ConfinedProcess {
        self.0.env(name, value);
        self
    }

    /// Runs it until it ends or the deadline passes.
    pub fn run_to_end(&mut self, deadline: Duration) -> Result<Output, String> {
        let said = match self.0.finish(deadline).map_err(|error| error.to_string())? {
            Finished::Ended(said) => said,
            Finished::TookTooLong => return Err(format!("it was stopped after {} s", deadline.as_secs())),
        };
        let status = said.status;
        let text = if status.success() { said.stdout } else { [said.stdout, said.stderr].concat() };
        let text = String::from_utf8_lossy(&text).into_owned();
        let last_line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").to_owned();
        Ok(Output { code: status.code(), status, last_line })
    }
}

/// Reads the report that a run wrote, up to a limit: its content is untrusted.
pub fn read_report(path: &Path) -> Result<String, String> {
    // The skill may have replaced it: a link would lead elsewhere, and a pipe never end.
    if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return Err("it took its report away".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_REPORT + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_REPORT {
        return Err(format!("its report is longer than {} MiB", MAX_REPORT >> 20));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
