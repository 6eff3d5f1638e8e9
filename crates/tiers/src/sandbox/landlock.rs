//! Landlock and seccomp without namespaces: for machines where bubblewrap is not installed, or may not create namespaces.
//!
//! The process sees this machine's paths. It may read Python, its libraries, the packages, the skill and granted folders, and
//! write to its scratch folder and to folders granted for writing. Landlock refuses all other files, TCP, abstract sockets,
//! signals to processes outside and tracing; [`seccomp`] refuses what Landlock does not cover. The process has no
//! capabilities, even as root, and no way to gain any.
//!
//! *Invariant*: all its processes are in the process group of the first, which none can leave. The kernel kills a group
//! atomically, so that no `fork` in progress escapes.

pub mod mounts;

use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope, make_bitflags,
};
use rustix::process::Resource;

use super::{Kind, LIBRARIES, LINKS, RunnerSettings, Sandbox, Started, add_to_cgroup, base_environment, seccomp};
use crate::files::Files;
use crate::process::{self, MAX_FILE_BYTES, MAX_PROCESSES, Process};
use crate::proxy::Proxy;
use crate::scratch::Scratch;
use crate::{Job, TierError};
use skillcell_child::spawn::{self, Restrictions, landlock_version};
use skillcell_packages::venv::Venv;
use skillcell_policy::Mode;

/// The first version with everything that the tier promises (signal scoping came last, in Linux 6.12). Older ones are not used
/// at all.
const NEEDED: (ABI, i32) = (ABI::V6, 6);
const LACKS: &str = "it has this machine's paths, so a folder is mounted only where it is (`--mount DIR:DIR`), and sizes and \
                     times of any file can be learnt; modes and times can't be set";

const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});
const RUN: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir | Execute});
/// Without the rights to create links, pipes, sockets and devices.
const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    ReadFile | ReadDir | WriteFile | Truncate | RemoveFile | RemoveDir | MakeReg | MakeDir | Refer
});
const DEVICES: [(&str, BitFlags<AccessFs>); 4] = [
    ("/dev/null", make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate})),
    ("/dev/zero", READ),
    ("/dev/random", READ),
    ("/dev/urandom", READ),
];
/// Python's `mimetypes` reads it if it exists, and fails if that is refused. It contains nothing specific to this machine.
const PUBLIC: &str = "/etc/mime.types";

/// Landlock, if the kernel's version suffices and a trial works. `without` says why bubblewrap is not used.
pub fn find(without: &str) -> Result<Sandbox, String> {
    let version = landlock_version().map_err(|error| match error.raw_os_error() {
        Some(libc::ENOSYS) => "the kernel has no Landlock".to_owned(),
        Some(libc::EOPNOTSUPP) => "the kernel's Landlock is switched off (its `lsm=`)".to_owned(),
        _ => format!("the kernel's Landlock can't be asked: {error}"),
    })?;
    if version < NEEDED.1 {
        return Err(format!("the kernel's Landlock is ABI {version}, and {} (Linux 6.12) is needed", NEEDED.1));
    }
    try_out().map_err(|why| format!("Landlock and seccomp do not work here: {why}"))?;
    let version = format!("Landlock ABI {version} and seccomp, since {without}; {LACKS}");
    Ok(Sandbox { kind: Kind::Landlock, version })
}

/// Starts a shell that does nothing, under the same restrictions as a skill.
fn try_out() -> Result<(), String> {
    let rules = empty_ruleset().and_then(|rules| allow_path(rules, Path::new("/"), RUN)).and_then(into_descriptor)?;
    let restrictions = Restrictions { rules, filters: seccomp_filters()?, limits: Vec::new() };
    let mut command = Command::new("/bin/sh");
    command.args(["-c", ":"]).env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let ended =
        spawn::spawn_with_limits(&mut command, &[], Vec::new(), Some(restrictions)).and_then(|mut child| child.wait());
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("a shell ended with {status}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Starts the process, and puts limits in place while it waits for its settings.
pub fn start(job: &Job<'_>, venv: &Venv, files: &Files, deadline: Instant) -> Result<Started, TierError> {
    if let Some(unsupported_mount) = mounts::unsupported_mount(&job.mounts) {
        return Err(TierError::Sandbox(unsupported_mount.why));
    }
    let scratch = Scratch::new(files.scratch_folder()).map_err(TierError::io("make a scratch folder"))?;
    let proxy = Proxy::start_on_stream(job.web.as_deref(), job.denials.clone(), deadline);
    let (proxy, hand) = proxy.map_err(TierError::io("make the proxy's stream"))?;
    let descriptors = [OwnedFd::from(hand)];
    let runner = runner_settings(venv, files, descriptors[0].as_raw_fd());
    let restrictions = build_restrictions(job, venv, files, &scratch).map_err(TierError::Sandbox)?;
    let mut process =
        Process::spawn(build_command(venv, files, &scratch), &descriptors, job.limits, Some(restrictions))?;
    process.start_guard(&[files.folder(), scratch.outer_folder()])?;
    // The scratch folder may be in memory, and can exceed its limit for a moment, since it is checked only periodically.
    process.cgroup = add_to_cgroup(process.pid(), job, job.limits.scratch_bytes.saturating_mul(2))?;
    process.watch_scratch(scratch, job.limits)?;
    process.capture_output(job.limits)?;
    Ok(Started { process, proxy, runner })
}

fn runner_settings(venv: &Venv, files: &Files, proxy: i32) -> RunnerSettings {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    RunnerSettings {
        packages: process::packages_folder(venv.root()).map(|folder| text(venv.root().join(folder))),
        skill: text(files.skill_folder()),
        proxy,
        // RLIMIT_NPROC counts all processes of the user, so the existing ones are added.
        processes: processes_of_user().saturating_add(MAX_PROCESSES),
        modes: false,
    }
}

fn build_command(venv: &Venv, files: &Files, scratch: &Scratch) -> Command {
    let mut command = Command::new(&venv.base().executable);
    command.env_clear().envs(base_environment(&scratch.home(), &scratch.tmp())).current_dir(scratch.home());
    command.args(["-I", "-S"]).arg(files.runner_folder().join("run.py"));
    command
}

/// How many processes and threads this user has.
fn processes_of_user() -> u64 {
    let user = rustix::process::getuid().as_raw();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let theirs = entries.filter(|entry| entry.metadata().is_ok_and(|folder| folder.uid() == user));
    theirs.map(|entry| std::fs::read_dir(entry.path().join("task")).map_or(0, |tasks| tasks.count() as u64)).sum()
}

fn build_restrictions(job: &Job<'_>, venv: &Venv, files: &Files, scratch: &Scratch) -> Result<Restrictions, String> {
    let writes = job.mounts.iter().any(|(_, grant)| grant.mode == Mode::ReadWrite);
    // The folder's size is checked only periodically; RLIMIT_FSIZE bounds each file at once.
    let largest = if writes { MAX_FILE_BYTES } else { job.limits.scratch_bytes.min(MAX_FILE_BYTES) };
    let rules = landlock_rules(job, venv, files, scratch)?;
    Ok(Restrictions { rules, filters: seccomp_filters()?, limits: vec![(Resource::Fsize, largest)] })
}

fn seccomp_filters() -> Result<Vec<seccompiler::BpfProgram>, String> {
    seccomp::without_namespaces::filters().map_err(|error| error.to_string())
}

fn landlock_rules(job: &Job<'_>, venv: &Venv, files: &Files, scratch: &Scratch) -> Result<OwnedFd, String> {
    let base = venv.base();
    let mut rules = empty_ruleset()?;
    for path in LIBRARIES.iter().chain(&LINKS).map(Path::new) {
        rules = allow_path_if_present(rules, path, RUN)?;
    }
    for path in [base.prefix.join("lib"), base.prefix.join("lib64")] {
        rules = allow_path_if_present(rules, &path, RUN)?;
    }
    for path in [&base.executable, venv.root()] {
        rules = allow_path(rules, path, RUN)?;
    }
    for (device, access) in DEVICES {
        rules = allow_path(rules, Path::new(device), access)?;
    }
    rules = allow_path_if_present(rules, Path::new(PUBLIC), READ)?;
    for path in [files.skill_folder(), files.runner_folder()] {
        rules = allow_path(rules, &path, READ)?;
    }
    rules = allow_path(rules, scratch.folder(), WRITE)?;
    for (folder, grant) in &job.mounts {
        rules = allow_path(rules, folder, if grant.mode == Mode::ReadWrite { WRITE } else { READ })?;
    }
    into_descriptor(rules)
}

/// A ruleset that handles every access and allows none yet.
fn empty_ruleset() -> Result<RulesetCreated, String> {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let rules = rules.handle_access(AccessFs::from_all(NEEDED.0)).map_err(|error| error.to_string())?;
    let rules = rules.handle_access(AccessNet::from_all(NEEDED.0)).map_err(|error| error.to_string())?;
    let rules = rules.scope(Scope::from_all(NEEDED.0)).map_err(|error| error.to_string())?;
    rules.create().map_err(|error| error.to_string())
}

fn allow_path_if_present(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    if path.exists() { allow_path(rules, path, access) } else { Ok(rules) }
}

fn allow_path(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, String> {
    let said = |error: &dyn std::fmt::Display| format!("`{}`: {error}", path.display());
    let folder = PathFd::new(path).map_err(|error| said(&error))?;
    // Landlock rejects rights of folders, such as reading a directory, in a rule for a file.
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEEDED.0) };
    rules.add_rule(PathBeneath::new(folder, access)).map_err(|error| said(&error))
}

fn into_descriptor(rules: RulesetCreated) -> Result<OwnedFd, String> {
    Option::from(rules).ok_or_else(|| "the kernel has no Landlock".to_owned())
}
