//! A Python process with a time limit, an environment of its own, and bubblewrap around it where that is there.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::venv::Venv;

const POLL: Duration = Duration::from_millis(5);
/// How much of the output is kept, for its last line.
const KEPT: usize = 64 << 10;
/// Parts of the system that a Python needs, read-only.
const SYSTEM: [&str; 6] = ["/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc"];

pub fn is_there() -> bool {
    Command::new("bwrap")
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

pub struct Confined(Command);

pub struct Output {
    pub code: Option<i32>,
    pub status: ExitStatus,
    pub last_line: String,
}

impl Confined {
    /// The environment's interpreter in `folder`, which it may write to.
    pub fn python(venv: &Venv, folder: &Path) -> Confined {
        let mut command = if is_there() { wrapped(venv, folder) } else { Command::new(venv.python()) };
        command.current_dir(folder).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8").env("HOME", folder.join("home"));
        command.env("TMPDIR", folder.join("tmp")).env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONPATH", folder);
        Confined(command)
    }

    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Confined {
        self.0.arg(arg);
        self
    }

    pub fn args<const N: usize>(&mut self, args: [&str; N]) -> &mut Confined {
        self.0.args(args);
        self
    }

    pub fn env(&mut self, name: &str, value: impl AsRef<OsStr>) -> &mut Confined {
        self.0.env(name, value);
        self
    }

    /// Runs it to its end, or to the deadline's.
    pub fn output(&mut self, deadline: Duration) -> Result<Output, String> {
        let failed = |error: std::io::Error| error.to_string();
        self.0.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.0.spawn().map_err(failed)?;
        // Both are read meanwhile: a full pipe would stop the process.
        let readers = [child.stdout.take().map(|out| reading(out)), child.stderr.take().map(|out| reading(out))];
        let status = wait(&mut child, deadline)?;
        let [stdout, stderr] = readers.map(|reader| reader.and_then(|reader| reader.join().ok()).unwrap_or_default());
        let said = if status.success() { stdout } else { [stdout, stderr].concat() };
        let said = String::from_utf8_lossy(&said).into_owned();
        let last_line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").to_owned();
        Ok(Output { code: status.code(), status, last_line })
    }
}

fn wrapped(venv: &Venv, folder: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command.args([
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",
    ]);
    for part in SYSTEM.iter().filter(|part| Path::new(part).exists()) {
        command.args(["--ro-bind", part, part]);
    }
    for part in [&venv.base().prefix, venv.root()] as [&Path; 2] {
        command.arg("--ro-bind").args([part, part]);
    }
    command.arg("--bind").args([folder, folder]).arg("--chdir").arg(folder).arg(venv.python());
    command
}

fn reading(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), [0; 8192]);
        while let Ok(count) = from.read(&mut buffer) {
            if count == 0 {
                break;
            }
            kept.extend_from_slice(&buffer[..count]);
            let over = kept.len().saturating_sub(KEPT);
            kept.drain(..over);
        }
        kept
    })
}

fn wait(child: &mut Child, deadline: Duration) -> Result<ExitStatus, String> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        if started.elapsed() > deadline {
            let _ = child.kill().and_then(|()| child.wait().map(drop));
            return Err(format!("it was stopped after {} s", deadline.as_secs()));
        }
        std::thread::sleep(POLL);
    }
}
