//! One process of a call, with what is around it: its channel, what it prints, its limits, and its end. Whether there is a
//! sandbox around it is its tier's business.

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
use super::ending::{self, Ended};
use super::guard::Guard;
use super::output::Output;
use super::scratch::Scratch;
use super::session::processes;
use super::watch::Watch;
use super::{Job, Ran, TierError};
use skillcell_child::spawn::{Hold, Rlimits, has_ended_within, spawn};
use skillcell_door::Door;
use skillcell_limits::outcome::{Outcome, Usage};
use skillcell_limits::{LimitKind, Limits};
use skillcell_policy::Mode;

/// Processes and threads that a skill may have at once.
pub const MAX_PROCESSES: u64 = 64;
/// The longest file that it may write anywhere, folders of the host included.
pub const MAX_FILE_BYTES: u64 = 1 << 30;
/// What a process may map besides its memory: libraries, and the stacks of threads, which are promised and not had.
const SHARED_BYTES: u64 = 4 << 30;
/// Descriptors that Python and the channel take themselves.
const OWN_FILES: u64 = 8;
/// How long a process that closed its channel is waited for before it is ended.
const GRACE: Duration = Duration::from_millis(200);
/// How long the last of those that were killed are waited for.
const PASSING: Duration = Duration::from_millis(500);
/// How long who waited for them is.
const LEAVING: Duration = Duration::from_millis(50);

/// The first process of a namespace: its number on this machine, and a hold on it that can't become another's.
struct First {
    pid: Pid,
    hold: OwnedFd,
}

/// Dropping it ends it, with all that it started as far as its tier can tell.
pub struct Process {
    child: Child,
    channel: UnixStream,
    output: Option<[Output; 2]>,
    /// The first process of its namespace: with it all others end. Else it is a group's.
    first: Option<First>,
    /// Goes when all are gone.
    pub cgroup: Option<Cgroup>,
    /// A folder of the host that it writes to, if it does. Goes when all are gone too.
    scratch: Option<Scratch>,
    /// What looks into a file system of its own, if it has one.
    watch: Option<Watch>,
    /// Cleans up if nobody else does; goes last.
    guard: Option<Guard>,
    ended: Option<Option<ExitStatus>>,
}

impl Process {
    /// Starts a command that has its channel as standard input.
    pub fn spawn(
        mut command: Command,
        descriptors: &[OwnedFd],
        limits: &Limits,
        hold: Option<Hold>,
    ) -> Result<Process, TierError> {
        let (ours, theirs) = UnixStream::pair().map_err(TierError::io("make a channel"))?;
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
        if hold.is_none() {
            // What is held has a session of its own.
            command.process_group(0);
        }
        let child = spawn(&mut command, descriptors, rlimits(limits), hold);
        let child = child.map_err(TierError::io("start the process"))?;
        Ok(Process {
            child,
            channel: ours,
            output: None,
            first: None,
            cgroup: None,
            scratch: None,
            watch: None,
            guard: None,
            ended: None,
        })
    }

    /// The first of its group.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// It has a process namespace, and this is the first in it, which was not waited for yet.
    pub fn is_around(&mut self, first: Pid) -> Result<(), TierError> {
        let hold = rustix::process::pidfd_open(first, PidfdFlags::empty());
        let hold = hold.map_err(|error| TierError::io("hold the process")(error.into()))?;
        self.first = Some(First { pid: first, hold });
        Ok(())
    }

    /// Ends the call when something is found.
    pub fn look(&mut self, look: impl FnMut() -> Option<LimitKind> + Send + 'static) -> Result<(), TierError> {
        let wake = self.channel.try_clone().map_err(TierError::io("watch the scratch folders"))?;
        self.watch = Some(Watch::start(wake, look));
        Ok(())
    }

    /// Ends the call when there is too much in its scratch folder.
    pub fn watch(&mut self, mut scratch: Scratch, limits: &Limits) -> Result<(), TierError> {
        let wake = self.channel.try_clone().map_err(TierError::io("watch the scratch folder"))?;
        scratch.watch(limits, self.pid(), wake);
        self.scratch = Some(scratch);
        Ok(())
    }

    /// From now on these folders go though the host is killed, and with it all processes of this one's group. Those in a
    /// namespace end with that; but until bubblewrap has made it, its own processes wait for each other.
    pub fn guard(&mut self, folders: &[&Path]) -> Result<(), TierError> {
        let guard = Guard::start(folders, Some(self.pid())).map_err(TierError::io("guard the process"))?;
        self.guard = Some(guard);
        Ok(())
    }

    /// What it says on stderr before it is captured.
    pub fn complaint(&mut self) -> String {
        let mut text = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = stderr.take(4096).read_to_string(&mut text);
        }
        text.trim().to_owned()
    }

    /// Makes the call that it was started for, and ends it.
    pub fn run(
        self,
        job: &mut Job<'_>,
        settings: &[u8],
        started: Instant,
        deadline: Instant,
        on_take: impl FnOnce(),
    ) -> Result<Ran, TierError> {
        let most = job.limits.host_calls;
        job.door.denials = Some(job.denials.clone());
        let web = job.web.as_deref().map(|web| Box::new(web.with_same_grants(job.cancel.clone())));
        // It is imported without the network, as in a cell.
        let taken = |door: &mut Door| {
            door.web = web;
            on_take();
        };
        // Whoever serves the channel sees its end, and all processes are ended then.
        let waker = self.channel.try_clone().map_err(TierError::io("watch for a cancellation"))?;
        let _wakes = job.cancel.on_cancel(move || drop(waker.shutdown(std::net::Shutdown::Both)));
        let heard = channel::serve(&self.channel, settings, &mut job.door, most, deadline, taken);
        let ended = Instant::now();
        let memory_peak_bytes = self.memory_peak_bytes();
        let second_hand = self.first.is_some();
        let (status, stdout, stderr, over) = self.finish(&heard.end);
        let status = status.map(|status| Ended { status, second_hand });
        let end = over.map_or(heard.end, End::Exceeded);
        let writes = job.mounts.iter().any(|(_, grant)| grant.mode == Mode::ReadWrite);
        let finished = job.door.result.is_some() || job.door.raised.is_some();
        let outcome = match ending::of(end, &mut job.door, status, writes) {
            _ if job.cancel.is_cancelled() && !finished => Outcome::Cancelled,
            outcome => outcome,
        };
        let taken = heard.taken.unwrap_or(ended);
        let mut usage = Usage::default();
        usage.setup = taken - started;
        usage.guest = ended.saturating_duration_since(taken);
        usage.teardown = ended.elapsed();
        usage.host_calls = heard.frames;
        usage.memory_peak_bytes = memory_peak_bytes;
        Ok(Ran { outcome, stdout, stderr, usage, door: std::mem::take(&mut job.door) })
    }

    pub fn capture(&mut self, limits: &Limits) -> Result<(), TierError> {
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
        let patience = if *end == End::Closed && self.over().is_none() { GRACE } else { Duration::ZERO };
        let by_itself = self.ends_until(Instant::now() + patience);
        let status = self.kill().filter(|_| by_itself);
        discard(&self.channel);
        let starved = self.cgroup.as_ref().is_some_and(Cgroup::ran_out_of_memory);
        let Some([stdout, stderr]) = self.output.take() else { return (status, Vec::new(), Vec::new(), None) };
        // Nobody is left to print: what there is can be read to its end, and only then is it known how much it was.
        let ((stdout, much), (stderr, more)) = (stdout.finish(), stderr.finish());
        let over = match (much, more) {
            (true, _) => Some(LimitKind::StdoutBytes),
            (false, true) => Some(LimitKind::StderrBytes),
            (false, false) if *end != End::Closed => None,
            (false, false) if starved => Some(LimitKind::Memory),
            (false, false) => self.over(),
        };
        (status, stdout, stderr, over)
    }

    /// What was found too much of by looking.
    fn over(&self) -> Option<LimitKind> {
        let scratch = self.scratch.as_ref().and_then(Scratch::over);
        scratch.or_else(|| self.watch.as_ref().and_then(Watch::over))
    }

    /// The most that its Python had in memory, as the kernel counts it; 0 if that is gone already.
    fn memory_peak_bytes(&self) -> u64 {
        let python = match &self.first {
            Some(first) => children(first.pid.as_raw_nonzero().get()).first().copied(),
            None => Some(self.child.id()),
        };
        python.map_or(0, most_resident_bytes)
    }

    fn ends_until(&self, until: Instant) -> bool {
        loop {
            if self.has_ended() || Instant::now() >= until {
                return self.has_ended();
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    /// Leaves it to be waited for: until then its number, and its group's, can't be another's.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(rustix::process::waitid(WaitId::Pid(self.pid()), options), Ok(Some(_)) | Err(_))
    }

    /// How it ended, which it has by then, with all that it started.
    fn kill(&mut self) -> Option<ExitStatus> {
        if let Some(status) = self.ended {
            return status;
        }
        match &self.first {
            Some(first) => {
                let _ = rustix::process::pidfd_send_signal(&first.hold, Signal::KILL);
                first.outlast();
                // Who made the namespace waits for its first process, and then ends too.
                self.ends_until(Instant::now() + LEAVING);
            }
            // All of a group are killed at once, and one that is being made is not made. While the child is not waited for,
            // its number can't be another's.
            None => drop(rustix::process::kill_process_group(self.pid(), Signal::KILL)),
        }
        let _ = self.child.kill();
        let status = self.child.wait().ok();
        if self.first.is_none() {
            self.outlast_group();
        }
        self.ended = Some(status);
        status
    }

    /// What was killed is gone a moment later; somebody else waits for it.
    fn outlast_group(&self) {
        let until = Instant::now() + PASSING;
        let is_there = || rustix::process::test_kill_process_group(self.pid()).is_ok();
        while is_there() && processes(self.pid()).next().is_some() && Instant::now() < until {
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

impl First {
    /// It ends after all others of its namespace, and after their file systems were taken apart.
    fn outlast(&self) {
        let until = Instant::now() + PASSING;
        while !has_ended_within(self.hold.as_fd(), until.saturating_duration_since(Instant::now())) {
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

/// Reads what nobody will: descriptors may have been sent along with it, and are open until then.
fn discard(mut channel: &UnixStream) {
    let mut buffer = [0; 4096];
    if channel.set_nonblocking(true).is_ok() {
        while matches!(channel.read(&mut buffer), Ok(1..)) {}
    }
}

/// What a process started and has not waited for.
fn children(pid: i32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn most_resident_bytes(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let most =
        text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    most.unwrap_or_default() << 10
}

/// Where a virtual environment has its packages, relative to it.
pub fn packages_folder(root: &Path) -> Option<String> {
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
        // What is shared between processes is not data, and is memory all the same.
        (Resource::As, limits.memory_bytes.saturating_add(SHARED_BYTES)),
        (Resource::Fsize, MAX_FILE_BYTES),
        (Resource::Nofile, u64::from(limits.open_files) + OWN_FILES),
    ]
}
