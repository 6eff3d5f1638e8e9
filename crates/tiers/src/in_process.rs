//! The tier `in_process`: the operator's own Python with all of the operator's rights, as the framework runs skills today.
//! No isolation. The call still has the same params, result and envelope, and the limits that rlimits can enforce.
//!
//! It is a separate process nevertheless, so that a deadline can end it. A process that the skill moves into another session
//! outlives the call.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Instant;

use serde_json::json;

use super::files::Files;
use super::process::{self, Process};
use super::{Job, JobReport, TierError, deadline_after};
use skillcell_packages::venv::Venv;

pub fn run(mut job: Job<'_>, venv: &Venv) -> Result<JobReport, TierError> {
    let started = Instant::now();
    let deadline = deadline_after(job.limits.deadline);
    let files = Files::write(job.skill).map_err(TierError::io("write the skill's files"))?;
    let mut command = Command::new(&venv.base().executable);
    command.args(["-I", "-S"]).arg(files.runner_folder().join("run.py")).process_group(0);
    let mut process = Process::spawn(command, &[], job.limits, None)?;
    process.capture_output(job.limits)?;
    let packages = process::packages_folder(venv.root()).map(|folder| venv.root().join(folder));
    let settings = json!({
        "env": job.env,
        "processes": null,
        "proxy": null,
        "packages": packages,
        "folder": files.skill_folder(),
        "package": job.skill.package(),
        "script": job.skill.script(),
        "name": job.skill.folder_name(),
        "stdin": job.stdin,
        "modes": true,
    });
    process.run(&mut job, settings.to_string().as_bytes(), started, deadline, || ())
}
