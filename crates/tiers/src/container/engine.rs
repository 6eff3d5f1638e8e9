//! Finds the container engine of this machine, Podman or Docker, by a trial run.
//!
//! An installed engine may still be unable to run a container: no daemon, cgroups that its OCI runtime does not support, no
//! user namespaces. So an engine is accepted only if it gets as far as starting a program in an empty image, which takes a
//! quarter of a second. The answer is cached until the engine fails.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use serde_json::Value;

use skillcell_child::{Finished, Inherited, Program, is_locale_or_home, is_proxy_or_certificate};
use skillcell_quote::cut;

/// An image without files, for the trial run.
const EMPTY_IMAGE: &str = "localhost/skillcell-nothing";
const PATIENCE: Duration = Duration::from_secs(20);

/// Which program it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Podman,
    Docker,
}

impl Kind {
    pub fn program(self) -> &'static str {
        match self {
            Kind::Podman => "podman",
            Kind::Docker => "docker",
        }
    }
}

/// An engine that runs containers here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    pub kind: Kind,
    pub version: String,
    /// Runs without root's rights on the host.
    pub rootless: bool,
    /// The OCI runtime to select, if the engine's default fails here.
    pub runtime: Option<&'static str>,
    /// Whether it can limit memory and processes of a whole container. If not, each process is limited.
    pub limits_container: bool,
    /// Whether it can limit processor time.
    pub limits_processors: bool,
    /// The path of its default seccomp profile, if it reports one.
    pub filter: Option<PathBuf>,
    /// Whether every container starts with a full copy of its image, which takes seconds.
    pub copies_images: bool,
}

/// Why no engine is usable.
#[derive(Debug, Clone, thiserror::Error)]
#[error("no container engine works here: {}", tried.join("; "))]
pub struct NoEngine {
    pub tried: Vec<String>,
}

impl Engine {
    /// The first engine that works. Podman before Docker: it needs no daemon, and no membership in a group that is
    /// equivalent to root.
    pub fn find() -> Result<Engine, NoEngine> {
        let mut tried = Vec::new();
        for kind in [Kind::Podman, Kind::Docker] {
            match Engine::try_kind(kind) {
                Ok(engine) => return Ok(engine),
                Err(why) => tried.push(format!("{}: {why}", kind.program())),
            }
        }
        Err(NoEngine { tried })
    }

    fn try_kind(kind: Kind) -> Result<Engine, String> {
        // Both are slow, and usually nothing else is needed, so they run in parallel.
        let (described, started) = std::thread::scope(|scope| {
            let started = scope.spawn(|| try_start(kind, None));
            (Engine::query_info(kind), started.join().unwrap_or_else(|_| Err(String::new())))
        });
        let mut engine = described?;
        if started.is_ok() {
            return Ok(engine);
        }
        // The image may be missing, or the default OCI runtime may not work here.
        engine.import_empty_image()?;
        let runtimes: &[Option<&'static str>] =
            if kind == Kind::Podman { &[None, Some("runc"), Some("crun")] } else { &[None] };
        let mut first = None;
        for runtime in runtimes {
            engine.runtime = *runtime;
            match try_start(kind, *runtime) {
                Ok(()) => return Ok(engine),
                Err(why) => first = first.or(Some(why)),
            }
        }
        Err(first.unwrap_or_default())
    }

    /// Reads the engine's `info`.
    fn query_info(kind: Kind) -> Result<Engine, String> {
        let format = match kind {
            Kind::Podman => "json",
            Kind::Docker => "{{json .}}",
        };
        let said = run_to_end(engine_command(kind, None).args(["info", "--format", format]))?;
        // Output that is no JSON has no version, which is an error below.
        let info: Value = serde_json::from_slice(&said.stdout).unwrap_or(Value::Null);
        let engine = match kind {
            Kind::Podman => {
                let host = &info["host"];
                let rootless = host["security"]["rootless"].as_bool().unwrap_or(true);
                let controllers = host["cgroupControllers"].to_string();
                let has = |name: &str| controllers.contains(&format!("\"{name}\""));
                Engine {
                    kind,
                    version: info["version"]["Version"].as_str().unwrap_or_default().to_owned(),
                    rootless,
                    runtime: None,
                    limits_container: !rootless || host["cgroupVersion"] == "v2" && has("memory") && has("pids"),
                    limits_processors: has("cpu"),
                    filter: host["security"]["seccompProfilePath"].as_str().map(PathBuf::from),
                    copies_images: info["store"]["graphDriverName"] == "vfs",
                }
            }
            Kind::Docker => Engine {
                kind,
                version: info["ServerVersion"].as_str().unwrap_or_default().to_owned(),
                rootless: info["SecurityOptions"].to_string().contains("rootless"),
                runtime: None,
                limits_container: info["MemoryLimit"].as_bool() != Some(false),
                limits_processors: info["CpuCfsQuota"] == true,
                filter: None,
                copies_images: info["Driver"] == "vfs",
            },
        };
        if engine.version.is_empty() {
            let why = String::from_utf8_lossy(&said.stderr);
            return Err(format!("it does not say what it is: {}", last_line(&why)));
        }
        Ok(engine)
    }

    /// Imports the empty image unless it exists: a tar archive without files is two blocks of zeroes.
    fn import_empty_image(&self) -> Result<(), String> {
        let there = run_to_end(self.command().args(["image", "inspect", EMPTY_IMAGE]))?;
        if there.status.success() {
            return Ok(());
        }
        let made = run_to_end(self.command().args(["import", "-", EMPTY_IMAGE]).input(&[0; 1024]))?;
        if made.status.success() { Ok(()) } else { Err(last_line(&String::from_utf8_lossy(&made.stderr))) }
    }

    /// The engine's command, to which a verb is added.
    pub fn command(&self) -> Program {
        engine_command(self.kind, self.runtime)
    }
}

fn engine_command(kind: Kind, runtime: Option<&str>) -> Program {
    let mut command = Program::new(kind.program(), Path::new("/"));
    command.inherit_env(Inherited::Matching(is_for_engine));
    if let Some(runtime) = runtime {
        command.args(["--runtime", runtime]);
    }
    command
}

/// Variables that locate the user's engine, images and daemon, or configure access to registries.
fn is_for_engine(name: &str) -> bool {
    const PREFIXES: [&str; 6] = ["DOCKER_", "CONTAINER_", "CONTAINERS_", "PODMAN_", "BUILDAH_", "BUILDKIT_"];
    const NAMES: [&str; 6] = [
        "DBUS_SESSION_BUS_ADDRESS",
        "REGISTRY_AUTH_FILE",
        "STORAGE_DRIVER",
        "STORAGE_OPTS",
        "SSH_AUTH_SOCK",
        "_CONTAINERS_USERNS_CONFIGURED",
    ];
    let is_engines = PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || NAMES.contains(&name);
    is_engines || is_locale_or_home(name) || is_proxy_or_certificate(name)
}

/// Whether a container gets as far as starting its program, which does not exist.
fn try_start(kind: Kind, runtime: Option<&str>) -> Result<(), String> {
    let mut command = engine_command(kind, runtime);
    command.args(["run", "--rm", "--network", "none", "--pull", "never", "--read-only", "--cap-drop", "all"]);
    command.args(["--log-driver", "none", "--ulimit", "nofile=64:64", "--ulimit", "nproc=64:64"]);
    command.args([EMPTY_IMAGE, "/nothing"]);
    let said = run_to_end(&mut command)?;
    // The exit status of every engine for a program that is not in the image.
    if said.status.code() == Some(127) {
        return Ok(());
    }
    Err(last_line(&String::from_utf8_lossy(&said.stderr)))
}

/// Runs a command of the engine to its end, with a timeout.
pub(super) fn run_to_end(command: &mut Program) -> Result<Output, String> {
    let program = command.name();
    match command.finish(PATIENCE) {
        Ok(Finished::Ended(output)) => Ok(output),
        Ok(Finished::TookTooLong) => Err(format!("`{program}` took longer than {PATIENCE:?}")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err("is not installed".to_owned()),
        Err(error) => Err(format!("can't run `{program}`: {error}")),
    }
}

/// The last line of an engine's output, which is where engines give the reason.
pub(super) fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it gives no reason");
    cut(line.trim(), 400)
}
