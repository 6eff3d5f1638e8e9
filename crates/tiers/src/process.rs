//! The process of a call: its channel, output, limits and end. Whether it runs in a sandbox is up to its tier.

use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Resource, Signal, WaitId, WaitIdOptions};

use super::cgroup::Cgroup;
use super::channel::{self, End};
use super::ending::{self, ProcessExit};
use super::guard::Guard;
use super::output::Output;
use super::scratch::Scratch;
use super::session::session_processes;
use super::watch::Watch;
use super::{Job, JobReport, TierError};
use skillcell_child::spawn::{Restrictions, Rlimits, has_ended_within, spawn_with_limits};
use skillcell_door::Door;
use skillcell_limits::outcome::{Outcome, Usage};
use skillcell_limits::{LimitKind, Limits};
use skillcell_policy::Mode;

/// Processes and threads that a skill may have at once.
pub const MAX_PROCESSES: u64 = 64;
/// The longest file that it may write anywhere, folders of the host included.
pub const MAX_FILE_BYTES: u64 = 1 << 30;
/// Address space besides the memory limit: libraries, and thread stacks, which are reserved but mostly unused.
const SHARED_BYTES: u64 = 4 << 30;
/// Descriptors that Python and the channel take themselves.
const OWN_FILES: u64 = 8;
/// How long a process that closed its channel may take to exit before it is killed.
const GRACE: Duration = Duration::from_millis(200);
/// How long to wait for killed processes to be gone.
const KILL_TIMEOUT: Duration = Duration::from_millis(500);
/// How long to wait for bubblewrap itself, which exits after the namespace's first process.
const WRAPPER_EXIT_TIMEOUT: Duration = Duration::from_millis(50);

/// The first process of a pid namespace: its pid as the host sees it, and a pidfd, which can't come to mean another process.
struct NamespaceInit {
    pid: Pid,
    pidfd: OwnedFd,
}

/// Dropping it kills it and its descendants, as far as its tier can track them.
pub struct Process {
    child: Child,
    channel: UnixStream,
    output: Option<[Output; 2]>,
    /// The first process of its pid namespace; killing it ends all others. Without a namespace the process group is killed.
    init: Option<NamespaceInit>,
    /// Dropped after all processes are gone.
    pub cgroup: Option<Cgroup>,
    /// Its scratch folder, if that is one of the host. Also dropped after all processes are gone.
    scratch: Option<Scratch>,
    /// Watches its own scratch file systems, if it has any.
    watch: Option<Watch>,
    /// Cleans up if this process dies; dropped last.
    guard: Option<Guard>,
    ended: Option<Option<ExitStatus>>,
}

impl Process {
    /// Starts a command that has its channel as standard input.
    pub fn spawn(
        mut command: Command,
        descriptors: &[OwnedFd],
        limits: &Limits,
        restrictions: Option<Restrictions>,
    ) -> Result<Process, TierError> {
        let (ours, theirs) = UnixStream::pair().map_err(TierError::io("make a channel"))?;
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
        if restrictions.is_none() {
            // With restrictions it gets a session, and with it a group of its own.
            command.process_group(0);
        }
        let child = spawn_with_limits(&mut command, descriptors, resource_limits(limits), restrictions);
        let child = child.map_err(TierError::io("start the process"))?;
        Ok(Process {
            child,
            channel: ours,
            output: None,
            init: None,
            cgroup: None,
            scratch: None,
            watch: None,
            guard: None,
            ended: None,
        })
    }

    /// The leader of its process group.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Records the first process of its pid namespace, which must not be reaped yet.
    pub fn set_namespace_init(&mut self, init: Pid) -> Result<(), TierError> {
        let pidfd = rustix::process::pidfd_open(init, PidfdFlags::empty());
        let pidfd = pidfd.map_err(|error| TierError::io("hold the process")(error.into()))?;
        self.init = Some(NamespaceInit { pid: init, pidfd });
        Ok(())
    }

    /// Ends the call when `look`, which is called periodically, returns a limit.
    pub fn watch_with(&mut self, look: impl FnMut() -> Option<LimitKind> + Send + 'static) -> Result<(), TierError> {
        let wake = self.channel.try_clone().map_err(TierError::io("watch the scratch folders"))?;
        self.watch = Some(Watch::start(wake, look));
        Ok(())
    }

    /// Ends the call when its scratch folder exceeds the limits.
    pub fn watch_scratch(&mut self, mut scratch: Scratch, limits: &Limits) -> Result<(), TierError> {
        let wake = self.channel.try_clone().map_err(TierError::io("watch the scratch folder"))?;
        scratch.watch(limits, self.pid(), wake);
        self.scratch = Some(scratch);
        Ok(())
    }

    /// From now on, if the host is killed, these folders are removed and this process group is killed. The group matters for
    /// bubblewrap too: before the namespace is complete, its own processes wait for each other and would stay.
    pub fn start_guard(&mut self, folders: &[&Path]) -> Result<(), TierError> {
        let guard = Guard::start(folders, Some(self.pid())).map_err(TierError::io("guard the process"))?;
        self.guard = Some(guard);
        Ok(())
    }

    /// What it wrote to stderr; only before `capture_output`.
    pub fn read_stderr(&mut self) -> String {
        let mut text = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = stderr.take(4096).read_to_string(&mut text);
        }
        text.trim().to_owned()
    }

    /// Serves the call that it was started for, then ends the process.
    pub fn run(
        self,
        job: &mut Job<'_>,
        settings: &[u8],
        started: Instant,
        deadline: Instant,
        on_take: impl FnOnce(),
    ) -> Result<JobReport, TierError> {
        let most = job.limits.host_calls;
        job.door.denials = Some(job.denials.clone());
        let web = job.web.as_deref().map(|web| Box::new(web.with_same_grants(job.cancel.clone())));
        // As in a cell, the skill is imported without the network.
        let taken = |door: &mut Door| {
            door.web = web;
            on_take();
        };
        // Shutting the channel down ends `serve_frames`, after which all processes are killed.
        let waker = self.channel.try_clone().map_err(TierError::io("watch for a cancellation"))?;
        let _wakes = job.cancel.on_cancel(move || drop(waker.shutdown(std::net::Shutdown::Both)));
        let served = channel::serve_frames(&self.channel, settings, &mut job.door, most, deadline, taken);
        let ended = Instant::now();
        // Read before `finish`, after which the process is gone.
        let memory_peak_bytes = self.memory_peak_bytes();
        let via_wrapper = self.init.is_some();
        let (status, stdout, stderr, over) = self.finish(&served.end);
        let status = status.map(|status| ProcessExit { status, via_wrapper });
        let end = over.map_or(served.end, End::Exceeded);
        let writes = job.mounts.iter().any(|(_, grant)| grant.mode == Mode::ReadWrite);
        // A call that had its result before it was cancelled keeps it.
        let finished = job.door.result.is_some() || job.door.raised.is_some();
        let outcome = match ending::outcome_of(end, &mut job.door, status, writes) {
            _ if job.cancel.is_cancelled() && !finished => Outcome::Cancelled,
            outcome => outcome,
        };
        let taken = served.taken_at.unwrap_or(ended);
        let mut usage = Usage::default();
        usage.setup = taken - started;
        usage.guest = ended.saturating_duration_since(taken);
        usage.teardown = ended.elapsed();
        usage.host_calls = served.frames;
        usage.memory_peak_bytes = memory_peak_bytes;
        Ok(JobReport { outcome, stdout, stderr, usage, door: std::mem::take(&mut job.door) })
    }

    pub fn capture_output(&mut self, limits: &Limits) -> Result<(), TierError> {
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

    /// Kills it and all that it started. Returns the status, stdout, stderr, and the limit that was exceeded, if any.
    fn finish(mut self, end: &End) -> (Option<ExitStatus>, Vec<u8>, Vec<u8>, Option<LimitKind>) {
        // A process that closed its channel is about to exit, and its status says why. Any other is killed at once.
        let patience = if *end == End::Closed && self.exceeded_limit().is_none() { GRACE } else { Duration::ZERO };
        let by_itself = self.has_ended_by(Instant::now() + patience);
        let status = self.kill().filter(|_| by_itself);
        drain_channel(&self.channel);
        let starved = self.cgroup.as_ref().is_some_and(Cgroup::ran_out_of_memory);
        let Some([stdout, stderr]) = self.output.take() else { return (status, Vec::new(), Vec::new(), None) };
        // All processes are gone, so the output is complete, and only now is it known whether it went over.
        let ((stdout, much), (stderr, more)) = (stdout.finish(), stderr.finish());
        let over = match (much, more) {
            (true, _) => Some(LimitKind::StdoutBytes),
            (false, true) => Some(LimitKind::StderrBytes),
            (false, false) if *end != End::Closed => None,
            (false, false) if starved => Some(LimitKind::Memory),
            (false, false) => self.exceeded_limit(),
        };
        (status, stdout, stderr, over)
    }

    /// The limit that a watch found exceeded.
    fn exceeded_limit(&self) -> Option<LimitKind> {
        let scratch = self.scratch.as_ref().and_then(Scratch::exceeded_limit);
        scratch.or_else(|| self.watch.as_ref().and_then(Watch::exceeded_limit))
    }

    /// The peak resident memory of its Python, from the kernel; 0 if the process is gone already.
    fn memory_peak_bytes(&self) -> u64 {
        let python = match &self.init {
            Some(init) => child_pids(init.pid.as_raw_nonzero().get()).first().copied(),
            None => Some(self.child.id()),
        };
        python.map_or(0, peak_resident_bytes)
    }

    fn has_ended_by(&self, until: Instant) -> bool {
        loop {
            if self.has_ended() || Instant::now() >= until {
                return self.has_ended();
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    /// Does not reap it: until it is reaped, its pid and its group's can't be reused.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(rustix::process::waitid(WaitId::Pid(self.pid()), options), Ok(Some(_)) | Err(_))
    }

    /// Kills it and all that it started, and reaps it. Returns its status.
    fn kill(&mut self) -> Option<ExitStatus> {
        if let Some(status) = self.ended {
            return status;
        }
        match &self.init {
            Some(init) => {
                let _ = rustix::process::pidfd_send_signal(&init.pidfd, Signal::KILL);
                init.wait_until_gone();
                // Bubblewrap waits for the namespace's first process, and then exits too.
                self.has_ended_by(Instant::now() + WRAPPER_EXIT_TIMEOUT);
            }
            // The kernel signals a whole group atomically, so a `fork` in progress can't escape. The group id can't be reused
            // while the child is not reaped.
            None => drop(rustix::process::kill_process_group(self.pid(), Signal::KILL)),
        }
        let _ = self.child.kill();
        let status = self.child.wait().ok();
        if self.init.is_none() {
            self.wait_for_group_exit();
        }
        self.ended = Some(status);
        status
    }

    /// Killed processes take a moment to go, and those that are not children are reaped by init.
    fn wait_for_group_exit(&self) {
        let until = Instant::now() + KILL_TIMEOUT;
        let is_there = || rustix::process::test_kill_process_group(self.pid()).is_ok();
        while is_there() && session_processes(self.pid()).next().is_some() && Instant::now() < until {
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

impl NamespaceInit {
    /// The first process of a namespace ends after all others, and after their mounts are gone.
    fn wait_until_gone(&self) {
        let until = Instant::now() + KILL_TIMEOUT;
        while !has_ended_within(self.pidfd.as_fd(), until.saturating_duration_since(Instant::now())) {
            if Instant::now() >= until {
                return;
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// Reads and drops what is left in the channel: descriptors sent with it stay open until they are received.
fn drain_channel(mut channel: &UnixStream) {
    let mut buffer = [0; 4096];
    if channel.set_nonblocking(true).is_ok() {
        while matches!(channel.read(&mut buffer), Ok(1..)) {}
    }
}

/// The children of a process.
fn child_pids(pid: i32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn peak_resident_bytes(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let most =
        text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    most.unwrap_or_default() << 10
}

/// The `site-packages` folder of a virtual environment, relative to its root.
pub fn packages_folder(root: &Path) -> Option<String> {
    let entries = std::fs::read_dir(root.join("lib")).ok()?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut folders = names.filter(|name| name.starts_with("python")).map(|name| format!("lib/{name}/site-packages"));
    folders.find(|folder| root.join(folder).is_dir())
}

fn resource_limits(limits: &Limits) -> Rlimits {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let seconds = limits.deadline.as_secs().saturating_add(1).saturating_mul(cores).min(1 << 30);
    vec![
        (Resource::Core, 0),
        (Resource::Cpu, seconds),
        (Resource::Data, limits.memory_bytes),
        // RLIMIT_DATA does not count shared memory.
        (Resource::As, limits.memory_bytes.saturating_add(SHARED_BYTES)),
        (Resource::Fsize, MAX_FILE_BYTES),
        (Resource::Nofile, u64::from(limits.open_files) + OWN_FILES),
    ]
}
