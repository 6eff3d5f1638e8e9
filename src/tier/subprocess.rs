//! The tier `subprocess`: a fresh Python process for a call, in a sandbox, ended with all that it started.
//!
//! ```text
//!   files, proxy ──▶ bubblewrap waits ──▶ its process is put in a control group ──▶ go ──▶ run.py ⇄ channel
//!                                                 stdout, stderr ──▶ capped            result, deadline, limit ──▶ kill
//! ```
//!
//! *Invariant*: when `run` returns, no process of the call lives. They are in a process namespace whose first process is
//! killed, and with it the kernel kills the others.

use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Signal};
use serde_json::json;

use super::cgroup::Cgroup;
use super::channel::{self, End};
use super::files::Files;
use super::output::Output;
use super::proxy::Proxy;
use super::sandbox::{self, Sandbox};
use super::spawn::{Rlimits, spawn};
use super::{Job, Ran, TierError, after, ending};
use crate::call::Usage;
use crate::limits::{LimitKind, Limits};
use crate::policy::Mode;
use crate::venv::Venv;

/// Processes and threads that a skill may have at once.
pub const MAX_PROCESSES: u64 = 64;
/// The longest file that it may write anywhere, folders of the host included.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// Descriptors that Python and the channel take themselves.
const OWN_FILES: u64 = 8;
/// How long a process that closed its channel is waited for before it is ended.
const GRACE: Duration = Duration::from_millis(200);

pub fn run(mut job: Job<'_>, venv: &Venv) -> Result<Ran, TierError> {
    let started = Instant::now();
    let deadline = after(job.limits.deadline);
    let files = Files::write(job.skill).map_err(TierError::io("write the skill's files"))?;
    let proxy = Proxy::start(job.web.as_deref(), job.denials.clone(), &files.socket(), deadline);
    let proxy = proxy.map_err(TierError::io("listen on the proxy's socket"))?;
    let process = Process::start(&job, venv, &files)?;
    let settings = settings(&job, venv);
    let limits = job.limits;
    let heard = channel::serve(&process.channel, &settings, &mut job.door, limits.host_calls, deadline, || {
        proxy.open();
    });
    let ended = Instant::now();
    let (status, stdout, stderr, over) = process.finish(&heard.end);
    drop(proxy);
    let end = over.map_or(heard.end, End::Exceeded);
    let writes = job.mounts.iter().any(|(_, grant)| grant.mode == Mode::ReadWrite);
    let outcome = ending::outcome(end, &mut job.door, status, writes);
    drop(files);
    let taken = heard.taken.unwrap_or(ended);
    let usage = Usage {
        setup: taken - started,
        guest: ended.saturating_duration_since(taken),
        teardown: ended.elapsed(),
        host_calls: heard.frames,
        ..Usage::default()
    };
    Ok(Ran { outcome, stdout, stderr, usage, door: job.door })
}

/// What `run.py` is told first.
fn settings(job: &Job<'_>, venv: &Venv) -> Vec<u8> {
    let packages = packages_folder(venv.root());
    let settings = json!({
        "env": job.env,
        "processes": MAX_PROCESSES,
        "proxy": sandbox::SOCKET,
        "packages": packages.map(|folder| format!("{}/{folder}", sandbox::PACKAGES)),
        "folder": job.skill.guest_folder(),
        "package": job.skill.package(),
    });
    settings.to_string().into_bytes()
}

/// Where a virtual environment has its packages, relative to it.
fn packages_folder(root: &Path) -> Option<String> {
    let entries = std::fs::read_dir(root.join("lib")).ok()?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut folders = names.filter(|name| name.starts_with("python")).map(|name| format!("lib/{name}/site-packages"));
    folders.find(|folder| root.join(folder).is_dir())
}

fn rlimits(limits: &Limits) -> Rlimits {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let seconds = limits.deadline.as_secs().saturating_add(1).saturating_mul(cores).min(1 << 30);
    vec![
        (Resource::Core, 0),
        (Resource::Cpu, seconds),
        (Resource::Data, limits.memory_bytes),
        (Resource::Fsize, MAX_FILE_BYTES),
        (Resource::Nofile, u64::from(limits.open_files) + OWN_FILES),
    ]
}

/// A sandbox with a process in it. Dropping it ends both.
struct Process {
    child: Child,
    /// The first process in there, as this machine counts.
    first: Option<Pid>,
    channel: UnixStream,
    output: Option<[Output; 2]>,
    _cgroup: Option<Cgroup>,
    ended: bool,
}

impl Process {
    fn start(job: &Job<'_>, venv: &Venv, files: &Files) -> Result<Process, TierError> {
        let sandbox = Sandbox::find()?;
        let made = TierError::io("make what a process needs");
        let prepared = (|| {
            let (told, tell) = std::io::pipe()?;
            let (wait, go) = std::io::pipe()?;
            let (ours, theirs) = UnixStream::pair()?;
            let descriptors = [OwnedFd::from(tell), OwnedFd::from(wait), sandbox::filter()?];
            Ok((told, go, ours, theirs, descriptors))
        })();
        let (told, go, ours, theirs, descriptors) = prepared.map_err(made)?;
        let [info, block, filter] = &descriptors;
        let numbers = (info.as_raw_fd(), block.as_raw_fd(), filter.as_raw_fd());
        let mut command = sandbox.command(job, venv, files, numbers);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child =
            spawn(&mut command, &descriptors, rlimits(job.limits)).map_err(TierError::io("start bubblewrap"))?;
        drop((command, descriptors)); // with them the other ends
        let mut process = Process { child, first: None, channel: ours, output: None, _cgroup: None, ended: false };
        process.first = Some(process.read_first(told)?);
        process._cgroup = process.confine()?;
        process.capture(job.limits)?;
        (&go).write_all(b"g").map_err(TierError::io("start the process"))?;
        Ok(process)
    }

    /// Bubblewrap tells of the first process once the sandbox is made. If it can't make one it says why on stderr.
    fn read_first(&mut self, mut told: impl Read) -> Result<Pid, TierError> {
        let mut text = String::new();
        let _ = told.by_ref().take(4096).read_to_string(&mut text);
        let info: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        let pid = info.and_then(|info| info["child-pid"].as_i64()).and_then(|pid| i32::try_from(pid).ok());
        pid.and_then(Pid::from_raw).ok_or_else(|| {
            let mut complaint = String::new();
            if let Some(stderr) = &mut self.child.stderr {
                let _ = stderr.take(4096).read_to_string(&mut complaint);
            }
            TierError::Sandbox(complaint.trim().to_owned())
        })
    }

    /// Root's processes are not counted by the kernel's limit for users, so they need a group.
    fn confine(&self) -> Result<Option<Cgroup>, TierError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let unbounded = "as root the number of processes is bounded by a control group, and none could be made";
        let cgroup = Cgroup::new(MAX_PROCESSES).ok_or_else(|| TierError::Sandbox(unbounded.to_owned()))?;
        if let Some(first) = self.first {
            let pid = u32::try_from(first.as_raw_nonzero().get()).unwrap_or_default();
            cgroup.add(pid).map_err(TierError::io("bound the number of processes"))?;
        }
        Ok(Some(cgroup))
    }

    fn capture(&mut self, limits: &Limits) -> Result<(), TierError> {
        let wake = || self.channel.try_clone().map_err(TierError::io("watch what a process prints"));
        let (first, second) = (wake()?, wake()?);
        if let (Some(stdout), Some(stderr)) = (self.child.stdout.take(), self.child.stderr.take()) {
            self.output = Some([
                Output::capture(stdout, limits.stdout_bytes, first),
                Output::capture(stderr, limits.stderr_bytes, second),
            ]);
        }
        Ok(())
    }

    /// Ends it, with all that it started, and gives what is left.
    fn finish(mut self, end: &End) -> (Option<ExitStatus>, Vec<u8>, Vec<u8>, Option<LimitKind>) {
        // One that closed its channel is about to be gone, and its status means something. Any other is ended.
        let patience = if *end == End::Closed { GRACE } else { Duration::ZERO };
        let status = self.wait(Instant::now() + patience);
        self.kill();
        let Some([stdout, stderr]) = self.output.take() else { return (status, Vec::new(), Vec::new(), None) };
        let over = match (stdout.is_over(), stderr.is_over()) {
            _ if *end == End::Done => None,
            (true, _) => Some(LimitKind::StdoutBytes),
            (false, true) => Some(LimitKind::StderrBytes),
            (false, false) => None,
        };
        (status, stdout.finish(), stderr.finish(), over)
    }

    fn wait(&mut self, until: Instant) -> Option<ExitStatus> {
        loop {
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || Instant::now() >= until {
                return status;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    fn kill(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        // While bubblewrap is not waited for, the number of its process can't be another's.
        if let (Some(first), Ok(None)) = (self.first, self.child.try_wait()) {
            let _ = rustix::process::kill_process(first, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
