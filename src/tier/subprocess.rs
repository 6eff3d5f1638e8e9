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
use std::time::Instant;

use rustix::process::Pid;
use serde_json::json;

use super::cgroup::Cgroup;
use super::files::Files;
use super::process::{self, MAX_PROCESSES, Process};
use super::proxy::Proxy;
use super::sandbox::{self, Sandbox};
use super::{Job, Ran, Tier, TierError, after};
use crate::limits::Limits;
use crate::venv::Venv;

pub fn run(mut job: Job<'_>, venv: &Venv) -> Result<Ran, TierError> {
    let started = Instant::now();
    let deadline = after(job.limits.deadline);
    let files = Files::write(job.skill).map_err(TierError::io("write the skill's files"))?;
    let proxy = Proxy::start(job.web.as_deref(), job.denials.clone(), &files.socket(), deadline);
    let proxy = proxy.map_err(TierError::io("listen on the proxy's socket"))?;
    let process = start(&job, venv, &files)?;
    let settings = settings(&job, venv);
    process.run(&mut job, &settings, (started, deadline), || proxy.open())
}

/// Which sandbox there is, and what it lacks.
pub fn available() -> Result<String, TierError> {
    let version = Sandbox::find()?.version.clone();
    if rustix::process::geteuid().is_root() && !Cgroup::available() {
        return Err(TierError::Unavailable { tier: Tier::Subprocess, why: UNBOUNDED.to_owned() });
    }
    Ok(format!("{version}; one file of {} MiB at most, {MAX_PROCESSES} processes", process::MAX_FILE_BYTES >> 20))
}

const UNBOUNDED: &str = "as root the number of processes is bounded by a control group, and none could be made";

/// What `run.py` is told first.
fn settings(job: &Job<'_>, venv: &Venv) -> Vec<u8> {
    let packages = process::packages_folder(venv.root());
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

/// Starts the sandbox, and in it the process, once that is bounded.
fn start(job: &Job<'_>, venv: &Venv, files: &Files) -> Result<Process, TierError> {
    let sandbox = Sandbox::find()?;
    let prepared = (|| {
        let (told, tell) = std::io::pipe()?;
        let (wait, go) = std::io::pipe()?;
        Ok((told, go, [OwnedFd::from(tell), OwnedFd::from(wait), sandbox::filter()?]))
    })();
    let (told, go, descriptors) = prepared.map_err(TierError::io("make what a process needs"))?;
    let [info, block, filter] = &descriptors;
    let numbers = (info.as_raw_fd(), block.as_raw_fd(), filter.as_raw_fd());
    let mut process = Process::spawn(sandbox.command(job, venv, files, numbers), &descriptors, job.limits)?;
    drop(descriptors); // the other ends
    let first = read_first(&mut process, told)?;
    process.cgroup = confine(first, job.limits)?;
    process.first = Some(first);
    process.capture(job.limits)?;
    (&go).write_all(b"g").map_err(TierError::io("start the process"))?;
    Ok(process)
}

/// Bubblewrap tells of the first process once the sandbox is made. If it can't make one it says why on stderr.
fn read_first(process: &mut Process, mut told: impl Read) -> Result<Pid, TierError> {
    let mut text = String::new();
    let _ = told.by_ref().take(4096).read_to_string(&mut text);
    let info: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let pid = info.and_then(|info| info["child-pid"].as_i64()).and_then(|pid| i32::try_from(pid).ok());
    pid.and_then(Pid::from_raw).ok_or_else(|| TierError::Sandbox(process.complaint()))
}

/// Root's processes are not counted by the kernel's limit for users, so they need a group.
fn confine(first: Pid, limits: &Limits) -> Result<Option<Cgroup>, TierError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    // What is in the three scratch folders is memory too.
    let bytes = limits.memory_bytes.saturating_add(limits.scratch_bytes.saturating_mul(3));
    let cgroup = Cgroup::new(MAX_PROCESSES, bytes).ok_or_else(|| TierError::Sandbox(UNBOUNDED.to_owned()))?;
    let pid = u32::try_from(first.as_raw_nonzero().get()).unwrap_or_default();
    cgroup.add(pid).map_err(TierError::io("bound the number of processes"))?;
    Ok(Some(cgroup))
}
