//! The sandbox of a process: bubblewrap where it works, otherwise Landlock and seccomp alone.
//!
//! [`Sandbox::start`] starts either, with the same result: a process that waits for its settings, its proxy, and the
//! settings for its runner. docs/reference/tiers.md says where the two differ.

pub mod bubblewrap;
mod landlock;
pub(super) mod seccomp;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use rustix::process::Pid;

use super::cgroup::Cgroup;
use super::files::Files;
use super::probe::Probe;
use super::process::{MAX_PROCESSES, Process};
use super::proxy::Proxy;
use super::{Job, Tier, TierError};
use skillcell_packages::venv::Venv;
use skillcell_policy::MountGrant;

/// Shared libraries and time zones, mounted read-only where this machine has them. No programs.
const LIBRARIES: [&str; 5] = ["/usr/lib", "/usr/lib32", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo"];
const LINKS: [&str; 3] = ["/lib", "/lib32", "/lib64"];
const UNBOUNDED: &str = "as root the number of processes is bounded by a control group, and none could be made";

/// What was found, by choice.
static FOUND: [Probe<Sandbox>; 3] = [const { Probe::new() }; 3];

/// Which sandbox a process gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxChoice {
    /// Bubblewrap where it works, otherwise Landlock and seccomp.
    #[default]
    Best,
    /// Bubblewrap or none.
    Bubblewrap,
    /// Landlock and seccomp or none, also where bubblewrap works.
    Landlock,
}

impl FromStr for SandboxChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<SandboxChoice, String> {
        match name {
            "bubblewrap" => Ok(SandboxChoice::Bubblewrap),
            "landlock" => Ok(SandboxChoice::Landlock),
            _ => Err("it is one of bubblewrap, landlock".to_owned()),
        }
    }
}

/// A sandbox that works on this machine.
#[derive(Debug, Clone)]
pub struct Sandbox {
    kind: Kind,
    /// Its name and version; for Landlock also why it is not bubblewrap, and what it lacks.
    pub version: String,
}

#[derive(Debug, Clone)]
enum Kind {
    /// The program.
    Bubblewrap(PathBuf),
    Landlock,
}

/// A started process and what belongs to it.
pub struct Started {
    pub process: Process,
    pub proxy: Proxy,
    pub runner: RunnerSettings,
}

/// What the sandbox contributes to the settings of `run.py`: paths as the process sees them, and facts about the sandbox.
pub struct RunnerSettings {
    /// The folder of its packages.
    pub packages: Option<String>,
    /// The skill's own folder.
    pub skill: String,
    /// The descriptor of the stream on which it asks for connections.
    pub proxy: i32,
    /// RLIMIT_NPROC, which counts all processes of its user.
    pub processes: u64,
    /// Whether it can change modes and times of files.
    pub modes: bool,
}

impl Sandbox {
    /// The sandbox that was chosen, if it works here. The answer is cached while it works; if there may be a better one, that
    /// is tried again later.
    pub fn find(choice: SandboxChoice) -> Result<Sandbox, TierError> {
        let is_best = |found: &Sandbox| choice != SandboxChoice::Best || matches!(found.kind, Kind::Bubblewrap(_));
        FOUND[choice as usize].get(|| choose_sandbox(choice), is_best).map_err(unavailable_error)
    }

    /// Starts the process of a job. It waits for its settings, and all limits are in place before it gets them.
    pub fn start(&self, job: &Job<'_>, venv: &Venv, files: &Files, deadline: Instant) -> Result<Started, TierError> {
        match &self.kind {
            Kind::Bubblewrap(program) => bubblewrap::start(program, job, venv, files, deadline),
            Kind::Landlock => landlock::start(job, venv, files, deadline),
        }
    }

    /// Bubblewrap's program, if it is here and works, whichever sandbox is chosen.
    pub fn bubblewrap() -> Option<PathBuf> {
        match Sandbox::find(SandboxChoice::Bubblewrap) {
            Ok(Sandbox { kind: Kind::Bubblewrap(program), .. }) => Some(program),
            _ => None,
        }
    }

    /// The first of these mounts that it can't make.
    pub fn unsupported_mount(&self, mounts: &[(PathBuf, MountGrant)]) -> Option<super::UnsupportedMount> {
        match self.kind {
            Kind::Bubblewrap(_) => bubblewrap::mounts::unsupported_mount(mounts),
            Kind::Landlock => landlock::mounts::unsupported_mount(mounts),
        }
    }

    /// Root's processes need a control group; fails if none can be created.
    pub fn check_bounds() -> Result<(), TierError> {
        let unbounded = rustix::process::geteuid().is_root() && !Cgroup::is_available();
        if unbounded { Err(unavailable_error(UNBOUNDED.to_owned())) } else { Ok(()) }
    }
}

/// Drops the cached sandboxes after a failure, so that the next call searches again.
pub(super) fn forget_sandbox() {
    FOUND.iter().for_each(Probe::forget);
}

fn unavailable_error(why: String) -> TierError {
    TierError::Unavailable { tier: Tier::Subprocess, why }
}

fn choose_sandbox(choice: SandboxChoice) -> Result<Sandbox, String> {
    match choice {
        SandboxChoice::Best => bubblewrap::find().or_else(|without| match landlock::find(&without) {
            Ok(sandbox) => Ok(sandbox),
            Err(why) => Err(format!("{without}; and {why}")),
        }),
        SandboxChoice::Bubblewrap => bubblewrap::find(),
        SandboxChoice::Landlock => landlock::find("the setting `sandbox` asks for it"),
    }
}

/// The environment that every process starts with. Granted variables are sent over the channel, so that other
/// users of this machine can't see them.
fn base_environment(home: &Path, tmp: &Path) -> [(&'static str, OsString); 8] {
    [
        ("HOME", home.into()),
        ("TMPDIR", tmp.into()),
        ("TZ", "UTC".into()),
        ("LANG", "C.UTF-8".into()),
        ("PATH", "/nonexistent".into()),
        ("USER", "skill".into()),
        ("SKILLWARE_SCRATCH_DIR", tmp.into()),
        ("PYTHONDONTWRITEBYTECODE", "1".into()),
    ]
}

/// Puts a process of root's into a new control group, since RLIMIT_NPROC does not apply to root. `scratch` is how much memory
/// scratch folders may take in addition.
fn add_to_cgroup(pid: Pid, job: &Job<'_>, scratch: u64) -> Result<Option<Cgroup>, TierError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let bytes = job.limits.memory_bytes.saturating_add(scratch);
    let cgroup = Cgroup::new(MAX_PROCESSES, bytes).ok_or_else(|| TierError::Sandbox(UNBOUNDED.to_owned()))?;
    let pid = u32::try_from(pid.as_raw_nonzero().get()).unwrap_or_default();
    cgroup.add_process(pid).map_err(TierError::io("bound the number of processes"))?;
    Ok(Some(cgroup))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_kept_or_refused_and_never_another() {
        assert!("Landlock".parse::<SandboxChoice>().unwrap_err().ends_with("one of bubblewrap, landlock"));
        let (bubblewrap, landlock) = ("bubblewrap".parse().unwrap(), "landlock".parse().unwrap());
        assert!(!matches!(choose_sandbox(bubblewrap), Ok(Sandbox { kind: Kind::Landlock, .. })));
        assert!(!matches!(choose_sandbox(landlock), Ok(Sandbox { kind: Kind::Bubblewrap(_), .. })));
        if choose_sandbox(bubblewrap).is_ok() {
            let best = choose_sandbox(SandboxChoice::Best);
            assert!(matches!(best, Ok(Sandbox { kind: Kind::Bubblewrap(_), .. })), "it is the better one");
        }
    }
}
