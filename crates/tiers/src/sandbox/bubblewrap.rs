//! Runs a process in bubblewrap.
//!
//! The process gets its own user, pid, network, IPC, UTS and cgroup namespaces; no capabilities, no way to gain any, and no
//! further user namespaces; a read-only root with this machine's libraries, its Python, the packages, the skill and granted
//! mounts, and nothing else of the host. A seccomp filter denies system calls that skills don't need and that kernel bugs
//! tend to be in.
//!
//! *Invariant*: all its processes are in a pid namespace whose init process is killed at the end, upon which the kernel kills
//! the others. The init process is gone only after the others and their mounts are.

mod files;
pub mod mounts;
mod proc;

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use self::files::ScratchFiles;
use super::{Kind, LIBRARIES, LINKS, RunnerSettings, Sandbox, Started, add_to_cgroup, base_environment, seccomp};
use crate::files::Files;
use crate::process::{self, MAX_PROCESSES, Process};
use crate::proxy::Proxy;
use crate::{Job, TierError};
use skillcell_child::{Finished, Program, find_program};
use skillcell_packages::venv::Venv;
use skillcell_policy::Mode;

/// Where the process sees the runner, its packages and its home.
const RUNNER: &str = "/skillcell";
const PACKAGES: &str = "/packages";
const HOME: &str = "/home/skill";
/// The timeout for `--version`, and for the trial run of a shell that does nothing.
const PATIENCE: Duration = Duration::from_secs(10);
/// The uid and gid inside.
const USER: &str = "1000";

/// Bubblewrap, if it is here and works.
pub fn find() -> Result<Sandbox, String> {
    let Ok(program) = find_program(OsStr::new("bwrap")) else {
        return Err("bubblewrap (`bwrap`) is not installed; it is a package of that name".to_owned());
    };
    let version = run_for_output(Program::new(&program, Path::new("/")).arg("--version"))?.trim().to_owned();
    let mut trial = Program::new(&program, Path::new("/"));
    trial.args(ISOLATION).args(["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]);
    trial.args(["--size", "4096", "--tmpfs", "/tmp", "--", "/bin/sh", "-c", ":"]);
    run_for_output(&mut trial).map_err(|why| format!("{version} does not work here: {why}"))?;
    Ok(Sandbox { kind: Kind::Bubblewrap(program), version })
}

/// Starts bubblewrap, which starts the process in it only once all limits are in place.
pub fn start(
    program: &Path,
    job: &Job<'_>,
    venv: &Venv,
    files: &Files,
    deadline: Instant,
) -> Result<Started, TierError> {
    if let Some(why) = why_python_is_hidden(job, venv) {
        return Err(TierError::Sandbox(why));
    }
    let proxy = Proxy::start_on_stream(job.web.as_deref(), job.denials.clone(), deadline);
    let (proxy, hand) = proxy.map_err(TierError::io("make the proxy's stream"))?;
    let prepared = (|| {
        let (info_reader, info_writer) = std::io::pipe()?;
        let (wait, go) = std::io::pipe()?;
        Ok((
            info_reader,
            go,
            [OwnedFd::from(info_writer), OwnedFd::from(wait), seccomp::filter_file()?, OwnedFd::from(hand)],
        ))
    })();
    let (info_reader, go, descriptors) = prepared.map_err(TierError::io("make what a process needs"))?;
    let [info, block, filter, hand] = &descriptors;
    let runner = runner_settings(job, venv, hand.as_raw_fd());
    let passed = PassedDescriptors { info: info.as_raw_fd(), block: block.as_raw_fd(), filter: filter.as_raw_fd() };
    let mut process =
        Process::spawn(build_command(program, job, venv, files, &passed), &descriptors, job.limits, None)?;
    // Bubblewrap has its copies; while these stay open, `read_init_pid` would see no end of file.
    drop(descriptors);
    process.start_guard(&[files.folder()])?;
    let init = read_init_pid(&mut process, info_reader)?;
    process.set_namespace_init(init)?;
    // The three scratch folders are tmpfs, whose content counts as memory.
    process.cgroup = add_to_cgroup(init, job, job.limits.scratch_bytes.saturating_mul(3))?;
    let counted = ScratchFiles::new(init, &files.runner_folder().join("run.py"), job.limits.scratch_files);
    let counted = counted.map_err(TierError::io("watch the scratch folders"))?;
    process.watch_with(move || counted.exceeded_limit())?;
    process.capture_output(job.limits)?;
    // Everything is in place: bubblewrap may run the command.
    (&go).write_all(b"g").map_err(TierError::io("start the process"))?;
    Ok(Started { process, proxy, runner })
}

fn runner_settings(job: &Job<'_>, venv: &Venv, proxy: i32) -> RunnerSettings {
    RunnerSettings {
        packages: process::packages_folder(venv.root()).map(|folder| format!("{PACKAGES}/{folder}")),
        skill: job.skill.guest_folder(),
        proxy,
        processes: MAX_PROCESSES,
        modes: true,
    }
}

/// Why a granted mount would hide Python. It is checked here because Python's location is known only now.
fn why_python_is_hidden(job: &Job<'_>, venv: &Venv) -> Option<String> {
    let base = venv.base();
    let parts = [base.prefix.join("lib"), base.prefix.join("lib64"), base.executable.clone()];
    job.mounts.iter().find_map(|(_, grant)| mounts::why_hidden(grant, parts.iter().map(PathBuf::as_path)))
}

/// Bubblewrap writes the init process's pid to `--info-fd` once the sandbox exists. If that fails, stderr says why.
fn read_init_pid(process: &mut Process, mut info_reader: impl Read) -> Result<Pid, TierError> {
    let mut text = String::new();
    let _ = info_reader.by_ref().take(4096).read_to_string(&mut text);
    let info: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let pid = info.and_then(|info| info["child-pid"].as_i64()).and_then(|pid| i32::try_from(pid).ok());
    pid.and_then(Pid::from_raw).ok_or_else(|| TierError::Sandbox(process.read_stderr()))
}

/// Descriptors passed to bubblewrap, by number.
struct PassedDescriptors {
    /// Where it writes the pid of its child.
    info: i32,
    /// It waits for a byte here before it runs the command.
    block: i32,
    /// The filter of system calls.
    filter: i32,
}

/// The command that runs a job.
fn build_command(program: &Path, job: &Job<'_>, venv: &Venv, files: &Files, passed: &PassedDescriptors) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(base_environment(Path::new(HOME), Path::new("/tmp"))).current_dir("/");
    command.args(ISOLATION);
    command.args(["--unsetenv", "PWD"]);
    command.arg("--info-fd").arg(passed.info.to_string()).arg("--block-fd").arg(passed.block.to_string());
    command.arg("--seccomp").arg(passed.filter.to_string());
    bind_libraries(&mut command);
    bind_python(&mut command, venv);
    let scratch = job.limits.scratch_bytes.max(4096).to_string();
    command.args(["--proc", "/proc"]).args(proc::cover_arguments());
    command.args(["--dev", "/dev", "--size", &scratch, "--tmpfs", "/dev/shm"]);
    command.args(["--size", &scratch, "--tmpfs", "/tmp", "--size", &scratch, "--tmpfs", HOME]);
    bind_read_only(&mut command, &files.runner_folder(), RUNNER);
    bind_read_only(&mut command, &files.skill_folder(), &job.skill.guest_folder());
    for name in ["passwd", "group", "hosts"] {
        bind_read_only(&mut command, &files.etc_folder().join(name), &format!("/etc/{name}"));
    }
    // After the tmpfs mounts, since a granted mount may lie within one.
    for (folder, grant) in &job.mounts {
        command.arg(if grant.mode == Mode::ReadWrite { "--bind" } else { "--ro-bind" });
        command.arg(folder).arg(grant.guest.as_str());
    }
    // If the operator is root, so is this process for the kernel, and `/proc/sys` checks the uid rather than capabilities.
    command.args(["--remount-ro", "/proc"]);
    command.args(["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME, "--"]);
    command.arg(&venv.base().executable).args(["-I", "-S"]).arg(format!("{RUNNER}/run.py"));
    command
}

/// Arguments for a program of the study: it sees the `system` folders of this machine and what it `needs` read-only, and can
/// write to its own folder only.
pub fn study_arguments(system: &[&str], needs: &[&Path], folder: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = ISOLATION.iter().map(OsString::from).collect();
    words.extend(["--proc", "/proc"].map(OsString::from));
    words.extend(proc::cover_arguments());
    words.extend(["--dev", "/dev", "--tmpfs", "/tmp"].map(OsString::from));
    let parts = system.iter().map(Path::new).filter(|part| part.exists()).chain(needs.iter().copied());
    for part in parts {
        words.extend([OsString::from("--ro-bind"), part.into(), part.into()]);
    }
    words.extend([OsString::from("--bind"), folder.into(), folder.into(), "--chdir".into(), folder.into()]);
    words.extend(["--remount-ro", "/proc", "--"].map(OsString::from));
    words
}

const ISOLATION: [&str; 11] = [
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--uid",
    USER,
    "--gid",
    USER,
    "--cap-drop",
    "ALL",
    "--die-with-parent",
    "--new-session",
];

fn bind_libraries(command: &mut Command) {
    for path in LIBRARIES {
        command.args(["--ro-bind-try", path, path]);
    }
    for path in LINKS {
        match std::fs::read_link(path) {
            Ok(target) => command.arg("--symlink").arg(target).arg(path),
            Err(_) => command.args(["--ro-bind-try", path, path]),
        };
    }
}

/// Binds this machine's Python, without the other programs in its folder, and the packages.
fn bind_python(command: &mut Command, venv: &Venv) {
    let base = venv.base();
    for path in [base.prefix.join("lib"), base.prefix.join("lib64")] {
        if !LIBRARIES.iter().any(|bound| Path::new(bound) == path) {
            command.arg("--ro-bind-try").arg(&path).arg(&path);
        }
    }
    command.arg("--ro-bind").arg(&base.executable).arg(&base.executable);
    command.arg("--ro-bind").arg(venv.root()).arg(PACKAGES);
}

fn bind_read_only(command: &mut Command, from: &Path, to: &str) {
    command.arg("--ro-bind").arg(from).arg(to);
}

/// What a program prints on stdout or, if it fails, on stderr.
fn run_for_output(program: &mut Program) -> Result<String, String> {
    let output = match program.finish(PATIENCE).map_err(|error| error.to_string())? {
        Finished::Ended(output) => output,
        Finished::TookTooLong => return Err(format!("it took longer than {PATIENCE:?}")),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
