//! What a container is started with. Everything that closes it is here, in one list that can be read.

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
/// A year; engines take no number that is much larger.
const MAX_PROCESSOR_SECONDS: u64 = 365 * 24 * 3600;
/// Nobody, as user and as group: owns nothing on the host.
pub const NOBODY: u32 = 65534;
/// Where a skill's own scratch space is, and what processes share.
pub const SCRATCH: [&str; 3] = ["/tmp", "/home/skill", "/dev/shm"];
/// The least that a place in memory is: a size of nothing would be no bound.
const LEAST_BYTES: u64 = 4096;

/// A folder or socket of the host in the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
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
    pub bound: &'a [Bound],
    /// `NAME=value` lines of the environment, in a file: what is on a command line, everybody on the machine can read.
    pub env_file: &'a Path,
    /// Where the engine writes that there is a container.
    pub id_file: &'a Path,
    /// Where it writes the number of its first process, if it does.
    pub pid_file: &'a Path,
    /// The filter of system calls.
    pub filter: &'a Path,
    pub limits: &'a Limits,
    pub cancel: &'a CancelToken,
}

impl Container<'_> {
    /// The words after the engine's own.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut words = Words::default();
        words.all(&["run", "--rm", "--interactive", "--pull", "never", "--name", self.name]);
        let label = format!("org.skillcell.call={}", std::process::id());
        words.all(&["--label", &label, "--log-driver", "none", "--hostname", "cell"]);
        words.all(&["--network", "none", "--ipc", "private", "--read-only"]);
        words.all(&["--cap-drop", "all", "--security-opt", "no-new-privileges", "--security-opt"]);
        let mut filter = OsString::from("seccomp=");
        filter.push(self.filter);
        words.0.push(filter);
        if self.engine.kind == Kind::Podman {
            // Neither the operator's proxy and its password, nor places to write to that nobody asked for: folders of the
            // machine that the image wants, and memory without bound.
            words.all(&["--http-proxy=false", "--image-volume", "ignore", "--read-only-tmpfs=false"]);
        }
        words.word("--cidfile");
        words.0.push(self.id_file.into());
        if self.engine.kind == Kind::Podman {
            words.word("--pidfile");
            words.0.push(self.pid_file.into());
        }
        self.user(&mut words);
        self.bounds(&mut words);
        for place in SCRATCH {
            let mut options =
                format!("{place}:rw,nosuid,nodev,mode=1777,size={}", self.limits.scratch_bytes.max(LEAST_BYTES));
            if self.engine.kind == Kind::Docker {
                // Podman takes no such option; there the number is watched.
                options.push_str(&format!(",nr_inodes={}", self.limits.scratch_files.saturating_add(1)));
            }
            words.all(&["--tmpfs", &options]);
        }
        for bound in self.bound {
            words.word("--volume");
            let mut volume = bound.host.clone().into_os_string();
            volume.push(format!(":{}:{}", bound.guest, bound.mode.name()));
            words.0.push(volume);
        }
        words.word("--env-file");
        words.0.push(self.env_file.into());
        // Docker makes the working folder, with its own idea of its mode, where the image has none; and mounts on that.
        words.all(&["--workdir", if self.engine.kind == Kind::Docker { "/" } else { "/tmp" }]);
        words.word(self.image);
        self.command.iter().for_each(|word| words.word(word));
        words.0
    }

    /// Never root of the machine. A rootless engine maps this user to the operator's own, who owns the mounts.
    fn user(&self, words: &mut Words) {
        if self.engine.rootless && self.engine.kind == Kind::Podman {
            words.all(&["--userns", "keep-id"]);
        } else {
            words.all(&["--user", &format!("{NOBODY}:{NOBODY}")]);
        }
    }

    fn bounds(&self, words: &mut Words) {
        let Limits { memory_bytes, open_files, deadline, .. } = self.limits;
        if self.engine.bounds_the_whole {
            let bytes = format!("{memory_bytes}b");
            words.all(&["--memory", &bytes, "--memory-swap", &bytes]);
            words.all(&["--pids-limit", &MAX_PROCESSES.to_string()]);
        } else {
            // Counts what each process could write to, used or not: a large native library may not fit.
            words.all(&["--ulimit", &format!("data={memory_bytes}:{memory_bytes}")]);
        }
        if self.engine.bounds_processors {
            // As much as a cell has.
            words.all(&["--cpus", "1"]);
        }
        let ulimit = |words: &mut Words, what: &str, most: u64| {
            words.all(&["--ulimit", &format!("{what}={most}:{most}")]);
        };
        ulimit(words, "fsize", MAX_FILE_BYTES);
        // Python and the libraries that it loads hold some before the skill opens its first.
        ulimit(words, "nofile", u64::from(*open_files) + 32);
        ulimit(words, "nproc", u64::from(MAX_PROCESSES));
        ulimit(words, "core", 0);
        // Of each process: as long as all processors take it there.
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
        ulimit(
            words,
            "cpu",
            deadline.as_secs().saturating_add(2).saturating_mul(processors).min(MAX_PROCESSOR_SECONDS),
        );
        if self.engine.kind == Kind::Podman {
            // Should this process die, the engine still ends it.
            let seconds = deadline.saturating_add(Duration::from_secs(2)).as_secs();
            words.all(&["--timeout", &seconds.max(1).to_string()]);
        }
    }
}

#[derive(Default)]
struct Words(Vec<OsString>);

impl Words {
    fn word(&mut self, word: &str) {
        self.0.push(word.into());
    }

    fn all(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }
}
