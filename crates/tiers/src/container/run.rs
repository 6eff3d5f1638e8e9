//! Runs one container from its start to its removal, with a JSON request on stdin and a JSON answer on stdout. However it
//! ends, the container is removed.

use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::arguments::Container;
use super::engine::last_line;
use super::scratch_mounts::ScratchMounts;
use skillcell_child::{Captured, Finished, Keep, Running};

/// How often a running container is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The timeout of the engine's `rm`.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the engine may take to remove a killed container by itself (`--rm`).
const AUTO_REMOVAL_TIMEOUT: Duration = Duration::from_millis(500);
/// How long output is still read after the end.
const DRAIN: Duration = Duration::from_millis(500);

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Exited(ExitStatus),
    Deadline,
    Cancelled,
    /// It wrote more than the cap to stdout, or to stderr.
    Overflowed {
        on_stdout: bool,
    },
    /// It created more files than allowed.
    TooManyFiles,
}

/// How a container ended, and its output.
#[derive(Debug)]
pub struct ContainerExit {
    pub end: End,
    pub stdout: Captured,
    pub stderr: Captured,
}

impl Container<'_> {
    /// Starts it with `request` on stdin, and waits for its end until `deadline`. `caps` are for stdout and stderr.
    pub fn run(&self, request: &[u8], caps: [u64; 2], deadline: Instant) -> std::io::Result<ContainerExit> {
        let mut command = self.engine.command();
        command.args(self.arguments());
        // Killed together with this process, the client would leave its container running. Instead it sees the end of its
        // stdin, and ends the container.
        command.may_outlive_us();
        // When memory runs out, Podman's monitor leaves a file `oom` in the folder that it was started in.
        command.in_folder(self.id_file.parent().unwrap_or(Path::new("/"))).input(request);
        let [stdout, stderr] = caps.map(|cap| Keep::First(usize::try_from(cap).unwrap_or(usize::MAX)));
        let mut running = command.keep(stdout, stderr).start()?;
        let mut files = ScratchMounts::new(self.pid_file);
        let end = loop {
            if let Some(status) = running.wait(Instant::now() + POLL_INTERVAL)? {
                break End::Exited(status);
            }
            if let Some(pipe) = running.overflowed_stream() {
                break End::Overflowed { on_stdout: pipe == 0 };
            }
            if Instant::now() >= deadline {
                break End::Deadline;
            }
            if self.cancel.is_cancelled() {
                break End::Cancelled;
            }
            if files.has_more_files_than(self.limits.scratch_files) {
                break End::TooManyFiles;
            }
        };
        if !matches!(end, End::Exited(_)) {
            self.end_early(&mut running)?;
        }
        let [stdout, stderr] = running.take_output(Instant::now() + DRAIN);
        Ok(ContainerExit { end, stdout, stderr })
    }

    /// Ends it early, and makes sure that it is removed.
    fn end_early(&self, running: &mut Running) -> std::io::Result<()> {
        if !self.id_file.exists() {
            // It is still being created. Once the client is killed, whatever it has created can be removed.
            running.kill();
        } else if self.kill_first_process() && running.wait(Instant::now() + AUTO_REMOVAL_TIMEOUT)?.is_some() {
            return Ok(());
        }
        self.remove_container()?;
        running.kill();
        Ok(())
    }

    /// Kills its first process, upon which the kernel kills all others, and the engine removes the container, which is faster
    /// than `rm`. Returns whether the process could be killed.
    fn kill_first_process(&self) -> bool {
        let Ok(text) = std::fs::read_to_string(self.pid_file) else { return false };
        let Some(pid) = text.trim().parse().ok().and_then(Pid::from_raw) else { return false };
        is_first_of_a_namespace(pid) && kill_process(pid, Signal::KILL).is_ok()
    }

    /// Kills and removes it with the engine's `rm`. It is no error if it is gone already.
    fn remove_container(&self) -> std::io::Result<()> {
        let mut command = self.engine.command();
        command.args(["rm", "--force"]);
        if self.engine.kind == super::Kind::Podman {
            command.args(["--ignore", "--time", "0"]);
        }
        command.arg(self.name);
        let why = match command.finish(REMOVAL_TIMEOUT)? {
            Finished::Ended(said) if said.status.success() => return Ok(()),
            Finished::Ended(said) => last_line(&String::from_utf8_lossy(&said.stderr)),
            Finished::TookTooLong => format!("it took longer than {REMOVAL_TIMEOUT:?}"),
        };
        if why.to_ascii_lowercase().contains("no such container") {
            return Ok(());
        }
        let (program, name) = (self.engine.kind.program(), self.name);
        Err(std::io::Error::other(format!(
            "the container `{name}` is still there: {why}; `{program} rm --force {name}`"
        )))
    }
}

/// Whether it is pid 1 of a nested pid namespace. Guards against a reused pid: ordinary processes of the host are not.
fn is_first_of_a_namespace(pid: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    let numbers: Vec<&str> = numbers.split_whitespace().collect();
    numbers.len() > 1 && numbers.last() == Some(&"1")
}
