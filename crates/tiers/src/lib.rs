//! Tiers: where a skill is executed. A cell is the strongest; the others run a Python of this machine, for skills that a
//! cell can't run. What a call may do is decided before, by the same rules for every tier; only the execution differs.
//!
//! All execution outside of cells goes through this crate: a [`Job`] is a call that was allowed, [`run`] executes it, and
//! [`JobReport`] is its outcome, output and usage.

mod cgroup;
mod channel;
pub mod container;
mod ending;
mod files;
mod guard;
mod in_process;
mod nested;
mod output;
mod probe;
mod process;
mod proxy;
mod sandbox;
mod scratch;
mod session;
mod subprocess;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use self::sandbox::bubblewrap;
pub use self::sandbox::{Sandbox, SandboxChoice};
use skillcell_cache as cache;
use skillcell_door::{Denials, Door, HttpSession};
use skillcell_limits::Limits;
use skillcell_limits::cancel::CancelToken;
use skillcell_limits::outcome::{Outcome, Usage};
use skillcell_packages::skill::Skill;
use skillcell_packages::venv::{Venv, VenvError};
use skillcell_policy::{MountGrant, Tier};

/// What a job runs on, prepared beforehand.
pub enum Prepared {
    /// Packages for this machine's Python: the tier `subprocess`.
    Environment(Venv),
    /// An engine with an image: the tier `container`.
    Image(container::Ready),
    /// Packages too, but without a sandbox: the tier `in_process`.
    Bare(Venv),
}

/// A call that was allowed, to be executed outside of a cell.
pub struct Job<'a> {
    pub skill: &'a Skill,
    pub prepared: &'a Prepared,
    pub limits: &'a Limits,
    /// Cancels the job.
    pub cancel: &'a CancelToken,
    /// The environment, secrets as placeholders.
    pub env: &'a std::collections::BTreeMap<String, String>,
    /// Folders of the host, with where the skill sees them.
    pub mounts: Vec<(PathBuf, MountGrant)>,
    /// Which sandbox its process gets, in the tier `subprocess`.
    pub sandbox: SandboxChoice,
    /// Gives the skill its call, and receives its result.
    pub door: Door,
    /// The HTTP session, if any HTTP is granted. The skill can use it once it is imported and has taken its call.
    pub web: Option<Box<HttpSession>>,
    /// Where refusals go.
    pub denials: Arc<Denials>,
    /// What a script reads as standard input, in base64.
    pub stdin: String,
}

/// The outcome, output and usage of a job.
pub struct JobReport {
    pub outcome: Outcome,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub usage: Usage,
    /// The job's door, with what passed through it.
    pub door: Door,
}

/// Why a tier could not execute a job. What a skill does is an outcome, never an error.
#[derive(Debug, thiserror::Error)]
pub enum TierError {
    #[error("the tier `{tier}` is not available on this machine: {why}")]
    Unavailable { tier: Tier, why: String },
    #[error("can't {what}")]
    Io { what: &'static str, source: std::io::Error },
    #[error("the sandbox could not be set up: {0}")]
    Sandbox(String),
    #[error(transparent)]
    Image(#[from] container::ImageError),
    /// The packages for an image could not be installed.
    #[error(transparent)]
    Packages(#[from] VenvError),
    #[error(transparent)]
    Cache(#[from] cache::Error),
}

impl TierError {
    fn io(what: &'static str) -> impl FnOnce(std::io::Error) -> TierError {
        move |source| TierError::Io { what, source }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            TierError::Image(error) => error.hint(),
            TierError::Packages(error) => error.hint(),
            TierError::Cache(error) => error.hint(),
            TierError::Unavailable { .. } => Some("`skillcell doctor` says what each tier lacks here".into()),
            _ => None,
        }
    }
}

/// Executes a job, in the tier that it was prepared for.
pub fn run(job: Job<'_>) -> Result<JobReport, TierError> {
    match job.prepared {
        Prepared::Environment(venv) => subprocess::run(job, venv),
        Prepared::Image(ready) => container::run(job, ready),
        Prepared::Bare(venv) => in_process::run(job, venv),
    }
}

/// A mount that a tier can't make here.
pub struct UnsupportedMount {
    pub grant: MountGrant,
    pub why: String,
    /// The flag for a similar mount that would work.
    pub instead: Option<String>,
    /// What else a person can do.
    pub remedy: &'static str,
}

/// The first of these mounts that a tier can't make here.
pub fn first_unsupported_mount(
    tier: Tier,
    sandbox: SandboxChoice,
    mounts: &[(PathBuf, MountGrant)],
) -> Result<Option<UnsupportedMount>, TierError> {
    let unsupported_mount = match tier {
        Tier::Subprocess => subprocess::unsupported_mount(sandbox, mounts)?,
        Tier::Container => container::unsupported_mount(mounts)?,
        Tier::Wasm | Tier::InProcess => None,
    };
    if unsupported_mount.is_some() {
        return Ok(unsupported_mount);
    }
    Ok(if tier.is_isolated() { nested::mount_without_folder(mounts) } else { None })
}

/// Whether this machine has a tier, and with which version of which sandbox or engine. A negative answer is not kept for long:
/// see `probe`.
pub fn available(tier: Tier, sandbox: SandboxChoice) -> Result<String, TierError> {
    match tier {
        Tier::Wasm => Ok("part of this program".to_owned()),
        Tier::Subprocess => subprocess::describe_sandbox(sandbox),
        Tier::InProcess => Ok("no isolation; only for skills that are trusted with everything".to_owned()),
        Tier::Container => container::describe_engine(),
    }
}

/// Drops what is cached about a tier after its sandbox or engine failed, so that the next call probes again.
pub fn forget_tier(tier: Tier) {
    match tier {
        Tier::Subprocess => sandbox::forget_sandbox(),
        Tier::Container => container::forget_engine(),
        Tier::Wasm | Tier::InProcess => {}
    }
}

/// The instant after this time from now, capped at a year so that it can't overflow.
fn deadline_after(wait: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
    Instant::now() + wait.min(LONGEST)
}
