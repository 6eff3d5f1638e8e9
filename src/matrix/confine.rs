//! A process with a time limit, an environment of its own, and bubblewrap around it where that is there.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(5);
/// How much of the output is kept, for its last line.
const KEPT: usize = 64 << 10;
/// The longest report that is read.
const MAX_REPORT: u64 = 16 << 20;
/// Parts of the system that a Python or a Node.js needs, read-only.
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

impl Output {
    /// Whether it ended as pytest does when it ran: 0 all passed, 1 some failed, 2 some files could not be collected, 5
    /// there are none.
    pub fn is_pytests_own(&self) -> Result<(), String> {
        match self.code {
            Some(0 | 1 | 2 | 5) => Ok(()),
            _ => Err(format!("pytest ended with {}: {}", self.status, self.last_line)),
        }
    }
}

impl Confined {
    /// A program in `folder`, which it may write to. It may read `needs` beside the system.
    pub fn new(program: &Path, needs: &[&Path], folder: &Path) -> Confined {
        let mut command = if is_there() { wrapped(program, needs, folder) } else { Command::new(program) };
        command.current_dir(folder).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8").env("HOME", folder.join("home"));
        command.env("TMPDIR", folder.join("tmp"));
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
        let started = Instant::now();
        let mut child = self.0.spawn().map_err(failed)?;
        // Both are read meanwhile: a full pipe would stop the process.
        let readers = [child.stdout.take().map(|out| reading(out)), child.stderr.take().map(|out| reading(out))];
        let status = wait(&mut child, deadline)?;
        let [stdout, stderr] =
            readers.map(|reader| reader.map(|reader| said(reader, started + deadline)).unwrap_or_default());
        let text = if status.success() { stdout } else { [stdout, stderr].concat() };
        let text = String::from_utf8_lossy(&text).into_owned();
        let last_line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").to_owned();
        Ok(Output { code: status.code(), status, last_line })
    }
}

fn wrapped(program: &Path, needs: &[&Path], folder: &Path) -> Command {
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
    for part in needs {
        command.arg("--ro-bind").args([part, part]);
    }
    command.arg("--bind").args([folder, folder]).arg("--chdir").arg(folder).arg(program);
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

/// What was read. A process that was left behind may hold the pipe open: it is not waited for past the deadline.
fn said(reader: std::thread::JoinHandle<Vec<u8>>, until: Instant) -> Vec<u8> {
    while !reader.is_finished() {
        if Instant::now() > until {
            return Vec::new();
        }
        std::thread::sleep(POLL);
    }
    reader.join().unwrap_or_default()
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

/// The report that a run left, as far as it is bounded: a stranger wrote it.
pub fn report(path: &Path) -> Result<String, String> {
    // A link would lead elsewhere, and a pipe never end.
    if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return Err("it took its report away".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_REPORT + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_REPORT {
        return Err(format!("its report is longer than {} MiB", MAX_REPORT >> 20));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
