//! The tier `subprocess`: a fresh Python process for each call, in a sandbox, killed with all that it started.
//!
//! ```text
//!   files ──▶ sandbox: proxy, process, bounds ──▶ settings ──▶ run.py ⇄ channel
//!                         stdout, stderr ──▶ capped            result, deadline, limit ──▶ kill
//! ```
//!
//! *Invariant*: when `run` returns, no process of the call is alive. Each sandbox documents how it ensures that.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;

use super::files::Files;
use super::process::{self, MAX_PROCESSES};
use super::sandbox::{RunnerSettings, Sandbox, SandboxChoice, Started};
use super::{Job, JobReport, TierError, UnsupportedMount, deadline_after};
use skillcell_packages::venv::Venv;
use skillcell_policy::MountGrant;

pub fn run(mut job: Job<'_>, venv: &Venv) -> Result<JobReport, TierError> {
    let started = Instant::now();
    let deadline = deadline_after(job.limits.deadline);
    let sandbox = Sandbox::find(job.sandbox)?;
    let files = Files::write(job.skill).map_err(TierError::io("write the skill's files"))?;
    let Started { process, proxy, runner } = sandbox.start(&job, venv, &files, deadline)?;
    let settings = encode_settings(&job, runner);
    process.run(&mut job, &settings, started, deadline, || proxy.allow_requests())
}

/// Describes the sandbox of this machine, for `skillcell doctor`.
pub fn describe_sandbox(choice: SandboxChoice) -> Result<String, TierError> {
    let version = &Sandbox::find(choice)?.version;
    Sandbox::check_bounds()?;
    Ok(format!("{version}; one file of {} MiB at most, {MAX_PROCESSES} processes", process::MAX_FILE_BYTES >> 20))
}

/// The first of these mounts that the sandbox here can't make.
pub fn unsupported_mount(
    choice: SandboxChoice,
    mounts: &[(PathBuf, MountGrant)],
) -> Result<Option<UnsupportedMount>, TierError> {
    Ok(Sandbox::find(choice)?.unsupported_mount(mounts))
}

/// The settings, which are the first message to `run.py`.
fn encode_settings(job: &Job<'_>, runner: RunnerSettings) -> Vec<u8> {
    let settings = json!({
        "env": job.env,
        "processes": runner.processes,
        "proxy": runner.proxy,
        "packages": runner.packages,
        "folder": runner.skill,
        "package": job.skill.package(),
        "script": job.skill.script(),
        "name": job.skill.folder_name(),
        "stdin": job.stdin,
        "modes": runner.modes,
    });
    settings.to_string().into_bytes()
}
