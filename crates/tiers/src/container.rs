//! The tier `container`: a fresh container for each call, run with Podman or Docker and removed with all its processes.
//!
//! ```text
//!   manifest, Dockerfile or requirements ──▶ image (once)
//!   call ──▶ JSON on stdin ──▶ container: no network, read-only, nobody ──▶ JSON on stdout ──▶ outcome
//!                                  ⇅ the proxy's socket, mounts
//! ```
//!
//! *Invariant*: when `run` returns, the call's container is gone. If this process dies, the engine ends the container.

mod arguments;
mod contract;
mod dockerfile;
mod engine;
mod image;
mod make;
mod rights;
mod run;
mod scratch_mounts;
mod seccomp;
mod sockets;

use std::path::PathBuf;
use std::time::Instant;

use self::arguments::{BindMount, Container};
use self::contract::{ContractError, Reported};
pub use self::engine::{Engine, Kind, NoEngine};
pub use self::image::{Containers, ImageError};
pub use self::make::Maker;
use self::run::{ContainerExit, End};
use super::files::Files;
use super::probe::Probe;
use super::proxy::Proxy;
use super::{Job, JobReport, Tier, TierError, UnsupportedMount, channel, deadline_after, ending};
use skillcell_limits::LimitKind;
use skillcell_limits::outcome::{Outcome, Raised, Usage};
use skillcell_policy::{Mode, MountGrant};

/// Where a container sees skillcell's runner, and the folder with the proxy's socket.
const RUNNER_FOLDER: &str = "/opt/skillcell";
const SOCKET_FOLDER: &str = "/run/skillcell";
/// The environment of every container, besides what its image sets.
const ENVIRONMENT: &str = "HOME=/home/skill\nTMPDIR=/tmp\nTZ=UTC\nLANG=C.UTF-8\nPYTHONDONTWRITEBYTECODE=1\n";
/// 128 + SIGKILL: how engines report a process that was killed, as the OOM killer does.
const KILLED: i32 = 137;
/// Docker's client can be configured to pass these into every container. They may contain the operator's proxy password.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY"];

/// For engines without usable control groups.
const UNBOUNDED_NOTE: &str = "; it can't bound a container as a whole, so each of its processes is";
/// For engines whose storage driver has no layers.
const COPIES_NOTE: &str = "; its storage driver `vfs` copies the image for every call, which takes seconds: `driver = \"overlay\"` \
                      under `[storage]` in ~/.config/containers/storage.conf and `podman system reset` change that";

/// An image, and the engine to run it with.
pub struct Ready {
    engine: Engine,
    image: String,
    /// The command; empty to run the image's own.
    command: Vec<String>,
}

impl Ready {
    /// The image's size on disk, including the layers of its base.
    pub fn bytes(&self) -> u64 {
        self.engine.image_bytes(&self.image)
    }

    /// The image that is pulled for it: its own if it is named by digest, else the base.
    pub fn source_image<'a>(&'a self, containers: &'a Containers) -> &'a str {
        if self.image.contains('@') { &self.image } else { &containers.base }
    }

    /// How much of that size is the base of default images.
    pub fn base_bytes(&self, containers: &Containers) -> u64 {
        self.engine.image_bytes(&containers.base).min(self.bytes())
    }
}

static ENGINE: Probe<Engine> = Probe::new();

impl Engine {
    /// The engine of this machine. The answer is cached until the engine fails; if there is none, the search is repeated
    /// later.
    pub fn of_machine() -> Result<Engine, TierError> {
        let found = ENGINE.get(|| Engine::find().map_err(|none| none.to_string()), |_| true);
        found.map_err(|why| TierError::Unavailable { tier: Tier::Container, why })
    }
}

/// Drops the cached engine after a failure, so that the next call searches again.
pub(super) fn forget_engine() {
    ENGINE.forget();
}

pub(super) fn run(mut job: Job<'_>, ready: &Ready) -> Result<JobReport, TierError> {
    let started = Instant::now();
    let deadline = deadline_after(job.limits.deadline);
    let files = Files::write(job.skill).map_err(TierError::io("write the skill's files"))?;
    let proxy = Proxy::start_at_path(job.web.as_deref(), job.denials.clone(), &files.socket_path(), deadline);
    let proxy = proxy.map_err(TierError::io("listen on the proxy's socket"))?;
    // The container may run as another user.
    files.open_to_others().map_err(TierError::io("let the container read the skill's files"))?;
    proxy.allow_requests();
    let env_file = files.folder().join("env");
    std::fs::write(&env_file, environment_lines(&job, ready.engine.kind))
        .map_err(TierError::io("write the environment"))?;
    let http = format!("{SOCKET_FOLDER}/http");
    let request = contract::encode_request(job.skill, &job.door, job.limits, &http)
        .map_err(|error| TierError::Sandbox(format!("the call can't be put in JSON: {error}")))?;
    let name = format!("skillcell-{:016x}", getrandom::u64().map_err(|_| no_random_name())?);
    let (id_file, pid_file) = (files.folder().join("id"), files.folder().join("pid"));
    let filter = files.folder().join("seccomp.json");
    let profile = seccomp::build_profile(ready.engine.filter.as_deref());
    std::fs::write(&filter, profile.to_string()).map_err(TierError::io("write the filter of system calls"))?;
    let container = Container {
        engine: &ready.engine,
        name: &name,
        image: &ready.image,
        command: &ready.command,
        mounts: &bind_mounts(&job, &files)?,
        env_file: &env_file,
        id_file: &id_file,
        pid_file: &pid_file,
        filter: &filter,
        limits: job.limits,
        cancel: job.cancel,
    };
    // The result and stdout are both in the answer, which is on stdout.
    let caps = [contract::max_answer_bytes(job.limits), job.limits.stderr_bytes];
    let ended = container.run(&request, caps, deadline).map_err(TierError::io("run the container engine"))?;
    drop(proxy);
    let mut usage = Usage::default();
    usage.guest = started.elapsed();
    let mut report =
        JobReport { outcome: Outcome::Refused, stdout: Vec::new(), stderr: Vec::new(), usage, door: job.door };
    // The door was moved into the report; `set_outcome` needs the rest of the job.
    job.door = skillcell_door::Door::default();
    let writes = job.mounts.iter().any(|(_, grant)| grant.mode == Mode::ReadWrite);
    // Before the container's first process has started, a failure is the engine's; after that, the exit status is the
    // skill's.
    let begun = if ready.engine.kind == Kind::Podman { pid_file.exists() } else { id_file.exists() };
    if !begun && matches!(ended.end, End::Exited(_)) {
        return Err(TierError::Sandbox(engine::last_line(&String::from_utf8_lossy(&ended.stderr.bytes))));
    }
    set_outcome(ended, &mut report, &job, writes);
    Ok(report)
}

/// The first of these mounts that a container here can't use.
pub(super) fn unsupported_mount(mounts: &[(PathBuf, MountGrant)]) -> Result<Option<UnsupportedMount>, TierError> {
    let lacking = if Engine::of_machine()?.rootless { None } else { rights::inaccessible_mount(mounts) };
    Ok(lacking.or_else(|| sockets::mount_with_socket(mounts)))
}

fn no_random_name() -> TierError {
    TierError::Sandbox("the system gives no random numbers".to_owned())
}

/// Sets the outcome of the call from how the container ended and what it answered.
fn set_outcome(ended: ContainerExit, report: &mut JobReport, job: &Job<'_>, writes: bool) {
    let ContainerExit { end, stdout, stderr } = ended;
    report.stderr = stderr.bytes;
    let status = match end {
        End::Exited(status) => status,
        End::Deadline => return set_exceeded(report, LimitKind::Deadline),
        End::Cancelled => {
            report.outcome = Outcome::Cancelled;
            return;
        }
        End::Overflowed { on_stdout: true } => return set_exceeded(report, LimitKind::ResultBytes),
        End::Overflowed { on_stdout: false } => return set_exceeded(report, LimitKind::StderrBytes),
        End::TooManyFiles => return set_exceeded(report, LimitKind::ScratchFiles),
    };
    let answer = match contract::read_answer(&stdout.bytes, job.limits) {
        Ok(answer) => answer,
        Err(_) if status.code() == Some(KILLED) => return set_exceeded(report, LimitKind::Memory),
        // Without any answer the exit status decides, as in the other tiers.
        Err(ContractError::NoAnswer) if !status.success() => {
            report.outcome = ending::outcome_of_container(channel::End::Closed, &mut report.door, Some(status), writes);
            return;
        }
        Err(what) => {
            report.outcome = Outcome::Raised(Raised::of_host("ContainerError", what.to_string()));
            return;
        }
    };
    report.stdout = answer.stdout.into_bytes();
    // Reported by the container itself, so it is untrusted and capped at the limit.
    report.usage.memory_peak_bytes = answer.memory_bytes.min(job.limits.memory_bytes);
    let end = match answer.reported {
        Reported::Exceeded(limit) => return set_exceeded(report, limit),
        Reported::Returned(result) => {
            report.door.result = Some(result.get().as_bytes().to_vec());
            channel::End::Done
        }
        Reported::Raised(raised) => {
            report.door.raised = Some(raised);
            channel::End::Done
        }
    };
    report.outcome = ending::outcome_of_container(end, &mut report.door, None, writes);
}

fn set_exceeded(report: &mut JobReport, limit: LimitKind) {
    report.outcome = Outcome::Exceeded(limit, None);
}

/// The content of `--env-file`: one variable per line. Values with line ends can't be written so; they are only in the
/// request.
fn environment_lines(job: &Job<'_>, kind: Kind) -> String {
    let mut lines = ENVIRONMENT.to_owned();
    if kind == Kind::Docker {
        // Docker has no option to leave them out, so they are overwritten.
        let empty = |name: &str| format!("{name}=\n{}=\n", name.to_ascii_lowercase());
        lines.extend(PROXIES.map(empty));
    }
    for (name, value) in job.env.iter().filter(|(_, value)| !value.contains(['\n', '\r', '\0'])) {
        lines.push_str(&format!("{name}={value}\n"));
    }
    lines
}

fn bind_mounts(job: &Job<'_>, files: &Files) -> Result<Vec<BindMount>, TierError> {
    let read_only = |host, guest: &str| BindMount { host, guest: guest.to_owned(), mode: Mode::ReadOnly };
    let mut mounts = vec![
        read_only(files.skill_folder(), &job.skill.guest_folder()),
        read_only(files.runner_folder(), RUNNER_FOLDER),
        read_only(files.socket_folder(), SOCKET_FOLDER),
    ];
    for (folder, grant) in &job.mounts {
        mounts.push(BindMount { host: folder.clone(), guest: grant.guest.as_str().to_owned(), mode: grant.mode });
    }
    match mounts.iter().find(|it| it.host.to_str().is_none_or(|path| path.contains(':')) || it.guest.contains(':')) {
        Some(odd) => Err(TierError::Sandbox(format!(
            "container engines can't mount `{}`: its path has a colon, or is no text",
            odd.host.display()
        ))),
        None => Ok(mounts),
    }
}

/// Describes the engine of this machine, for `skillcell doctor`.
pub fn describe_engine() -> Result<String, TierError> {
    let engine = Engine::of_machine()?;
    let rights = if engine.rootless { "rootless" } else { "with root's rights" };
    let bounded = if engine.limits_container { "" } else { UNBOUNDED_NOTE };
    let slow = if engine.copies_images { COPIES_NOTE } else { "" };
    Ok(format!("{} {}, {rights}{bounded}{slow}", engine.kind.program(), engine.version))
}
