//! Running Python's `venv` and the user's own pip, so that their index, mirror, proxy and certificate settings hold.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::foreign::Foreign;
use super::lock::Lock;
use super::{BasePython, Result, VenvError};
use crate::cache::size;
use crate::progress::Progress;
use crate::provision::{self, Fetch};

/// Resolving and downloading hundreds of megabytes through a slow mirror is fine; hanging is not.
const TIMEOUT: Duration = Duration::from_secs(20 * 60);
const POLL: Duration = Duration::from_millis(100);
/// Settings of the user that would send packages elsewhere than into the environment.
const NOT_INHERITED: [&str; 7] =
    ["PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_REQUIREMENT", "PYTHONPATH"];

pub struct Pip<'a> {
    pub base: &'a BasePython,
    pub fetch: &'a Fetch,
    /// A private folder for what comes and goes.
    pub work: &'a Path,
    /// The environment, or the folder.
    pub root: &'a Path,
    /// The Python of another system that packages are for, in a plain folder; none for an environment of this one.
    pub foreign: Option<&'a Foreign>,
}

impl Pip<'_> {
    /// An environment with nothing in it, not even pip.
    pub fn make_environment(&self, progress: &dyn Progress) -> Result<()> {
        if self.foreign.is_some() {
            return fs::create_dir_all(self.root).map_err(VenvError::io("create", self.root));
        }
        let mut command = self.python();
        command.args(["-I", "-m", "venv", "--without-pip"]).arg(self.root);
        self.run(command, "make a virtual environment", progress)
    }

    /// What pip would install for these requirements, none of which is built.
    pub fn report(&self, requirements: &str, constraints: &str, progress: &dyn Progress) -> Result<PathBuf> {
        let (wanted, held) = (self.file("requirements.in", requirements)?, self.file("constraints.txt", constraints)?);
        let report = self.work.join("report.json");
        let mut command = self.installing();
        command.args(["--dry-run", "--ignore-installed", "--quiet", "--report"]).arg(&report);
        command.arg("-r").arg(wanted).arg("-c").arg(held);
        self.run(command, "resolve the requirements", progress)?;
        Ok(report)
    }

    /// Installs what is locked and nothing else, and tells how long the wheels are. This is the only program that is run
    /// while packages are there, and it runs none of them.
    pub fn install(&self, lock: &Lock, progress: &dyn Progress) -> Result<u64> {
        let (locked, wheels) = (self.file("lock.txt", &lock.requirements())?, self.work.join("wheels"));
        let mut command = self.pip("download");
        command.args(["--no-deps", "--require-hashes", "--dest"]).arg(&wheels).arg("-r").arg(&locked);
        self.run(command, "download the packages", progress)?;
        let mut command = self.installing();
        command.args(["--no-index", "--no-deps", "--require-hashes", "--find-links"]).arg(&wheels);
        command.arg("-r").arg(&locked);
        self.run(command, "install the packages", progress)?;
        Ok(size(&wheels))
    }

    fn file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.work.join(name);
        fs::write(&path, text).map_err(VenvError::io("write", &path))?;
        Ok(path)
    }

    fn python(&self) -> Command {
        let mut command = Command::new(&self.base.executable);
        for name in NOT_INHERITED {
            command.env_remove(name);
        }
        command
    }

    /// Into the environment.
    fn installing(&self) -> Command {
        let mut command = self.pip("install");
        if self.foreign.is_some() {
            command.arg("--target").arg(self.root);
        }
        command.arg("--no-warn-script-location");
        command
    }

    fn pip(&self, verb: &str) -> Command {
        let mut command = self.python();
        command.args(["-m", "pip"]);
        if self.foreign.is_none() {
            command.arg("--python").arg(self.root.join("bin/python"));
        }
        command.args([verb, "--only-binary=:all:", "--no-input", "--disable-pip-version-check"]);
        if let Some(foreign) = self.foreign {
            command.args(foreign.options());
        }
        command.args(["--progress-bar", "off"]);
        if self.fetch.offline {
            command.arg("--no-index");
        }
        for path in &self.fetch.wheels {
            let folder = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
            let absolute = folder.and_then(|folder| std::path::absolute(folder).ok());
            command.arg("--find-links").arg(absolute.as_deref().map_or(OsStr::new("."), Path::as_os_str));
        }
        command
    }

    fn run(&self, mut command: Command, what: &str, progress: &dyn Progress) -> Result<()> {
        let path = self.work.join("log");
        let log = File::create(&path).map_err(VenvError::io("create", &path))?;
        let log_too = log.try_clone().map_err(VenvError::io("create", &path))?;
        // `python -m` looks in the current folder first, which may be a stranger's skill with a `pip.py` in it.
        command.current_dir(self.work).env("TMPDIR", self.work);
        command.stdin(Stdio::null()).stdout(log).stderr(log_too).process_group(0);
        let mut child = command.spawn().map_err(VenvError::io("run", &self.base.executable))?;
        let status = self.watch(&mut child, progress).map_err(VenvError::io("wait for", &self.base.executable));
        if !matches!(status, Ok(Some(_))) {
            end(&mut child);
        }
        match status? {
            Some(status) if status.success() => Ok(()),
            Some(_) => Err(VenvError::Failed { what: what.to_owned(), output: provision::tail(&path) }),
            None => Err(VenvError::Timeout { what: what.to_owned(), after: TIMEOUT }),
        }
    }

    /// The status, or none when time is up.
    fn watch(&self, child: &mut Child, progress: &dyn Progress) -> std::io::Result<Option<ExitStatus>> {
        let (started, mut looked) = (Instant::now(), Instant::now());
        while started.elapsed() < TIMEOUT {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            // Walking the tree is not free either.
            if looked.elapsed() > POLL * 10 {
                progress.fraction(size(self.work) + size(self.root), 0);
                looked = Instant::now();
            }
            std::thread::sleep(POLL);
        }
        Ok(None)
    }
}

/// Ends a process and what it started.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill().and_then(|()| child.wait());
}
