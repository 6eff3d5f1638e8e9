//! Runs helper programs within bounds: pip, Python, Node.js, container engines, an operator's command for a secret. A
//! skill's own process is started by its tier, which shares [`spawn`] with this.
//!
//! *Life cycle*: a [`Program`] says what to start, and within which bounds; [`Running`] is the process, in a process group of
//! its own and with a pidfd, until its end or its drop; [`Finished`] is its status and output.
//!
//! *Invariant*:
//! - no child outlives its deadline or its `Running`, nor does anything else in its process group; and unless
//!   [`Program::may_outlive_us`] is set it ends when this process does, however that ends;
//! - captured output is bounded by [`Keep`]. The rest is read and dropped;
//! - a child starts in the folder that the caller names, never by default in the current one, and has only the environment
//!   variables that the caller names;
//! - a program named without a folder is looked up in the absolute folders of the `PATH`, never in the current one.

mod environment;
mod find;
pub mod python;
mod running;
pub mod spawn;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub use self::environment::{Inherited, is_locale_or_home, is_proxy_or_certificate};
pub use self::find::find_program;
pub use self::running::{Captured, Finished, Keep, Running};

/// A program, its arguments and its bounds.
pub struct Program {
    name: OsString,
    args: Vec<OsString>,
    folder: PathBuf,
    env: Vec<(OsString, OsString)>,
    input: Option<Vec<u8>>,
    keep: [Keep; 2],
    log: Option<File>,
    may_outlive_us: bool,
}

impl Program {
    /// A program by its path or by its name in the `PATH`, started in `folder`. By default: no environment, no input, and
    /// the first 8 MiB of each output stream are kept.
    pub fn new(name: impl AsRef<OsStr>, folder: &Path) -> Program {
        Program {
            name: name.as_ref().to_owned(),
            args: Vec::new(),
            folder: folder.to_owned(),
            env: Vec::new(),
            input: None,
            keep: [Keep::default(); 2],
            log: None,
            may_outlive_us: false,
        }
    }

    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Program {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub fn args(&mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Program {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Replaces the folder that it starts in.
    pub fn in_folder(&mut self, folder: &Path) -> &mut Program {
        folder.clone_into(&mut self.folder);
        self
    }

    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Program {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Inherits these variables of this process's environment.
    pub fn inherit_env(&mut self, what: Inherited) -> &mut Program {
        self.env.extend(what.collect_variables());
        self
    }

    pub fn input(&mut self, bytes: &[u8]) -> &mut Program {
        self.input = Some(bytes.to_owned());
        self
    }

    /// What is kept of stdout, and of stderr.
    pub fn keep(&mut self, stdout: Keep, stderr: Keep) -> &mut Program {
        self.keep = [stdout, stderr];
        self
    }

    /// Writes both output streams into this file; nothing is captured.
    pub fn log_to(&mut self, file: File) -> &mut Program {
        self.log = Some(file);
        self
    }

    /// Does not kill it when this process dies. For programs whose start time is measured, since `Command` can then avoid
    /// `fork`; and for programs that must clean up what they started.
    pub fn may_outlive_us(&mut self) -> &mut Program {
        self.may_outlive_us = true;
        self
    }

    /// Its name, for messages.
    pub fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    pub fn start(&mut self) -> io::Result<Running> {
        let mut command = Command::new(find_program(&self.name)?);
        command.args(&self.args).current_dir(&self.folder).env_clear().envs(self.env.iter().cloned());
        command.stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() });
        match &self.log {
            Some(log) => command.stdout(log.try_clone()?).stderr(log.try_clone()?),
            None => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
        };
        command.process_group(0);
        if !self.may_outlive_us {
            spawn::end_with_parent(&mut command);
        }
        Running::new(command.spawn()?, self.input.take(), self.keep)
    }

    /// Runs it to its end, or kills it after `patience`.
    pub fn finish(&mut self, patience: Duration) -> io::Result<Finished> {
        let deadline = Instant::now() + patience;
        self.start()?.finish(deadline)
    }
}

#[cfg(test)]
mod tests;
