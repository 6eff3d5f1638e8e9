//! The sandbox of a process: bubblewrap, told what the process sees and has.
//!
//! It gets namespaces of its own for users, processes, network, messages, names and control groups; no capability, no
//! way to get one, no further user namespace; a root that is read-only, with this machine's libraries, its Python, the
//! packages, the skill and nothing else of the host; and what is granted. A filter takes system calls away that no skill
//! needs and that the kernel's bugs tend to be in.

mod seccomp;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::{Job, TierError};
use crate::policy::Mode;
use crate::tier::Tier;
use crate::tier::files::Files;
use crate::venv::Venv;
pub use seccomp::filter;

/// Where the process sees its parts.
pub const OURS: &str = "/skillcell";
pub const PACKAGES: &str = "/packages";
pub const SOCKET: &str = "/skillcell-http";
pub const HOME: &str = "/home/skill";
/// Read-only, where this machine has them: what programs are linked with, and no program.
const LIBRARIES: [&str; 5] = ["/usr/lib", "/usr/lib32", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo"];
const LINKS: [&str; 3] = ["/lib", "/lib32", "/lib64"];
/// The number that the user has inside.
const USER: &str = "1000";

/// What this machine has of sandboxes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sandbox {
    /// The program.
    program: PathBuf,
    /// As it says of itself.
    pub version: String,
}

impl Sandbox {
    /// Bubblewrap, if it is here and works. Tried once for each process.
    pub fn find() -> Result<&'static Sandbox, TierError> {
        static FOUND: OnceLock<Result<Sandbox, String>> = OnceLock::new();
        let found = FOUND.get_or_init(Sandbox::try_find);
        found.as_ref().map_err(|why| TierError::Unavailable { tier: Tier::Subprocess, why: why.clone() })
    }

    fn try_find() -> Result<Sandbox, String> {
        // Not from the current folder, nor by a relative entry of the path.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let places = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        let program = places.map(|folder| folder.join("bwrap")).find(|program| program.is_file());
        let Some(program) = program else {
            return Err("bubblewrap (`bwrap`) is not installed; it is a package of that name".to_owned());
        };
        let version = ask(Command::new(&program).arg("--version"))?;
        let sandbox = Sandbox { version: version.trim().to_owned(), program };
        let mut trial = Command::new(&sandbox.program);
        trial.args(ISOLATION).args(["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]);
        trial.args(["--size", "4096", "--tmpfs", "/tmp", "--", "/bin/sh", "-c", ":"]);
        ask(&mut trial).map_err(|why| format!("{} does not work here: {why}", sandbox.version))?;
        Ok(sandbox)
    }

    /// The command that runs a job. `info` and `block` are descriptors for what is told of it, and for what it waits for.
    pub fn command(
        &self,
        job: &Job<'_>,
        venv: &Venv,
        files: &Files,
        (info, block, filter): (i32, i32, i32),
    ) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(environment()).current_dir("/");
        command.args(ISOLATION);
        command.args(["--unsetenv", "PWD"]);
        command.arg("--info-fd").arg(info.to_string()).arg("--block-fd").arg(block.to_string());
        command.arg("--seccomp").arg(filter.to_string());
        libraries(&mut command);
        python(&mut command, venv);
        let scratch = job.limits.scratch_bytes.max(4096).to_string();
        command.args(["--proc", "/proc", "--dev", "/dev", "--size", &scratch, "--tmpfs", "/dev/shm"]);
        command.args(["--size", &scratch, "--tmpfs", "/tmp", "--size", &scratch, "--tmpfs", HOME]);
        read_only(&mut command, &files.ours(), OURS);
        read_only(&mut command, &files.skill(), &job.skill.guest_folder());
        for name in ["passwd", "group", "hosts"] {
            read_only(&mut command, &files.etc().join(name), &format!("/etc/{name}"));
        }
        read_only(&mut command, &files.socket(), SOCKET);
        for (folder, grant) in &job.mounts {
            command.arg(if grant.mode == Mode::ReadWrite { "--bind" } else { "--ro-bind" });
            command.arg(folder).arg(grant.guest.as_str());
        }
        // The kernel takes root's word in `/proc/sys` without any capability, and root this is, if the operator is.
        command.args(["--remount-ro", "/proc"]);
        command.args(["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME, "--"]);
        command.arg(&venv.base().executable).args(["-I", "-S"]).arg(format!("{OURS}/run.py"));
        command
    }
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

/// What every process has of the environment. What is granted comes over its channel: another user of this machine can
/// see what a process was started with.
fn environment() -> [(&'static str, &'static str); 8] {
    [
        ("HOME", HOME),
        ("TMPDIR", "/tmp"),
        ("TZ", "UTC"),
        ("LANG", "C.UTF-8"),
        ("PATH", "/nonexistent"),
        ("USER", "skill"),
        ("SKILLWARE_SCRATCH_DIR", "/tmp"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ]
}

fn libraries(command: &mut Command) {
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

/// The Python of this machine, without the programs that are beside it, and the packages.
fn python(command: &mut Command, venv: &Venv) {
    let base = venv.base();
    for path in [base.prefix.join("lib"), base.prefix.join("lib64")] {
        if !LIBRARIES.iter().any(|bound| Path::new(bound) == path) {
            command.arg("--ro-bind-try").arg(&path).arg(&path);
        }
    }
    command.arg("--ro-bind").arg(&base.executable).arg(&base.executable);
    command.arg("--ro-bind").arg(venv.root()).arg(PACKAGES);
}

fn read_only(command: &mut Command, from: &Path, to: &str) {
    command.arg("--ro-bind").arg(from).arg(to);
}

/// What a program prints, or its complaint.
fn ask(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
