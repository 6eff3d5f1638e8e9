//! The command line of a container. Everything that isolates it is in this one list.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::engine::{Engine, Kind};
use skillcell_limits::Limits;
use skillcell_limits::cancel::CancelToken;
use skillcell_policy::Mode;

/// Processes and threads at once, the first one included. Numeric libraries start a thread for each core.
const MAX_PROCESSES: u32 = 64;
/// The longest file that it may write anywhere, folders of the host included.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// A year; engines reject much larger numbers.
const MAX_PROCESSOR_SECONDS: u64 = 365 * 24 * 3600;
/// The uid and gid of `nobody`, who owns nothing on the host.
pub const NOBODY: u32 = 65534;
/// The scratch space of a skill: tmpfs mounts, `/dev/shm` among them.
pub const SCRATCH: [&str; 3] = ["/tmp", "/home/skill", "/dev/shm"];
/// The least size of a tmpfs: a size of 0 would mean no limit.
const LEAST_BYTES: u64 = 4096;

/// A folder or socket of the host that is mounted into the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindMount {
    pub host: PathBuf,
    pub guest: String,
    pub mode: Mode,
}

/// One container, for one call.
#[derive(Debug)]
pub struct Container<'a> {
    pub engine: &'a Engine,
    pub name: &'a str,
    pub image: &'a str,
    pub command: &'a [String],
    pub mounts: &'a [BindMount],
    /// The environment as `NAME=value` lines. In a file, since every user of the machine can read command lines.
    pub env_file: &'a Path,
    /// Where the engine writes the container's id once it is created.
    pub id_file: &'a Path,
    /// Where Podman writes the pid of the container's first process. Docker does not.
    pub pid_file: &'a Path,
    /// The seccomp profile.
    pub filter: &'a Path,
    pub limits: &'a Limits,
    pub cancel: &'a CancelToken,
}

impl Container<'_> {
    /// The arguments of the engine's `run`, verb included.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = Arguments::default();
        arguments.extend(&["run", "--rm", "--interactive", "--pull", "never", "--name", self.name]);
        let label = format!("org.skillcell.call={}", std::process::id());
        arguments.extend(&["--label", &label, "--log-driver", "none", "--hostname", "cell"]);
        arguments.extend(&["--network", "none", "--ipc", "private", "--read-only"]);
        arguments.extend(&["--cap-drop", "all", "--security-opt", "no-new-privileges", "--security-opt"]);
        let mut filter = OsString::from("seccomp=");
        filter.push(self.filter);
        arguments.0.push(filter);
        if self.engine.kind == Kind::Podman {
            // Leaves out the operator's proxy settings, which may contain a password, the volumes that the image declares,
            // and tmpfs mounts without a size.
            arguments.extend(&["--http-proxy=false", "--image-volume", "ignore", "--read-only-tmpfs=false"]);
        }
        arguments.push("--cidfile");
        arguments.0.push(self.id_file.into());
        if self.engine.kind == Kind::Podman {
            arguments.push("--pidfile");
            arguments.0.push(self.pid_file.into());
        }
        self.add_user(&mut arguments);
        self.add_limits(&mut arguments);
        for place in SCRATCH {
            let mut options =
                format!("{place}:rw,nosuid,nodev,mode=1777,size={}", self.limits.scratch_bytes.max(LEAST_BYTES));
            if self.engine.kind == Kind::Docker {
                // Podman has no such option; there `scratch_mounts` watches the number.
                options.push_str(&format!(",nr_inodes={}", self.limits.scratch_files.saturating_add(1)));
            }
            arguments.extend(&["--tmpfs", &options]);
        }
        for mount in self.mounts {
            arguments.push("--volume");
            let mut volume = mount.host.clone().into_os_string();
            volume.push(format!(":{}:{}", mount.guest, mount.mode.name()));
            arguments.0.push(volume);
        }
        arguments.push("--env-file");
        arguments.0.push(self.env_file.into());
        // If the image lacks the working folder, Docker creates it with a mode of its own choice, and mounts the tmpfs on it.
        arguments.extend(&["--workdir", if self.engine.kind == Kind::Docker { "/" } else { "/tmp" }]);
        arguments.push(self.image);
        self.command.iter().for_each(|word| arguments.push(word));
        arguments.0
    }

    /// Never the host's root. Rootless Podman maps the container's user to the operator, who owns the mounted folders.
    fn add_user(&self, arguments: &mut Arguments) {
        if self.engine.rootless && self.engine.kind == Kind::Podman {
            arguments.extend(&["--userns", "keep-id"]);
        } else {
            arguments.extend(&["--user", &format!("{NOBODY}:{NOBODY}")]);
        }
    }

    fn add_limits(&self, arguments: &mut Arguments) {
        let Limits { memory_bytes, open_files, deadline, .. } = self.limits;
        if self.engine.limits_container {
            let bytes = format!("{memory_bytes}b");
            arguments.extend(&["--memory", &bytes, "--memory-swap", &bytes]);
            arguments.extend(&["--pids-limit", &MAX_PROCESSES.to_string()]);
        } else {
            // RLIMIT_DATA counts all writable private mappings, used or not: a large native library may not fit.
            arguments.extend(&["--ulimit", &format!("data={memory_bytes}:{memory_bytes}")]);
        }
        if self.engine.limits_processors {
            // One processor, as a cell has.
            arguments.extend(&["--cpus", "1"]);
        }
        let ulimit = |arguments: &mut Arguments, what: &str, most: u64| {
            arguments.extend(&["--ulimit", &format!("{what}={most}:{most}")]);
        };
        ulimit(arguments, "fsize", MAX_FILE_BYTES);
        // Python and its libraries have some files open before the skill opens its first.
        ulimit(arguments, "nofile", u64::from(*open_files) + 32);
        ulimit(arguments, "nproc", u64::from(MAX_PROCESSES));
        ulimit(arguments, "core", 0);
        // A process with a thread on each processor reaches this only after the deadline.
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
        ulimit(
            arguments,
            "cpu",
            deadline.as_secs().saturating_add(2).saturating_mul(processors).min(MAX_PROCESSOR_SECONDS),
        );
        if self.engine.kind == Kind::Podman {
            // Podman ends the container even if this process dies.
            let seconds = deadline.saturating_add(Duration::from_secs(2)).as_secs();
            arguments.extend(&["--timeout", &seconds.max(1).to_string()]);
        }
    }
}

#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn push(&mut self, word: &str) {
        self.0.push(word.into());
    }

    fn extend(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }
}
