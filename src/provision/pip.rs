//! Downloading with the user's own pip, so that their index, mirror, proxy and certificate settings hold.
//! What it delivers is not trusted: the caller hashes it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use super::{Error, Pin, Result};
use crate::progress::Progress;

/// What pip is to select wheels for: the guest's version, not that of the Python it runs on.
const GUEST_PYTHON: &str = "3.15";
const POLL: Duration = Duration::from_millis(100);
/// How much of pip's output an error repeats.
const TAIL_LINES: usize = 8;

/// Downloads these wheels into `dir`, an empty private folder, in one run of pip.
pub(super) fn download(pins: &[&Pin], python: Option<&Path>, dir: &Path, progress: &dyn Progress) -> Result<()> {
    write_requirements(pins, &dir.join("requirements.txt"))?;
    fs::create_dir_all(dir.join("tmp")).map_err(Error::io("create", dir))?;
    progress.step(&format!("downloading {}", describe(pins)));
    let candidates = candidates(python)?;
    let mut without_pip = None;
    for program in &candidates {
        let Some(status) = run(program, pins, dir, progress)? else {
            continue;
        };
        if status.success() {
            return Ok(());
        }
        let output = tail(&dir.join("pip.log"));
        if !output.contains("No module named pip") {
            return Err(Error::Pip { what: describe(pins), status, output });
        }
        without_pip.get_or_insert_with(|| program.to_string_lossy().into_owned());
    }
    Err(without_pip.map_or_else(|| no_python(&candidates), |python| Error::NoPip { python }))
}

/// The error when none of these is a Python.
pub fn no_python(tried: &[OsString]) -> Error {
    let names: Vec<_> = tried.iter().map(|name| format!("`{}`", name.to_string_lossy())).collect();
    Error::NoPython { tried: names.join(", ") }
}

/// The Pythons to try.
pub fn candidates(explicit: Option<&Path>) -> Result<Vec<OsString>> {
    let named = explicit.map(|p| p.as_os_str().to_owned());
    let Some(program) = named.or_else(|| std::env::var_os("SKILLCELL_PYTHON").filter(|v| !v.is_empty())) else {
        return Ok(vec!["python3".into(), "python".into()]);
    };
    // pip runs in another folder, where a relative path would mean something else.
    let path = PathBuf::from(&program);
    if path.components().count() > 1 {
        let absolute = std::path::absolute(&path).map_err(Error::io("resolve", &path))?;
        return Ok(vec![absolute.into()]);
    }
    Ok(vec![program])
}

/// What Python would be used, as `Python 3.11.7 with pip 23.2.1`.
pub fn python_version(explicit: Option<&Path>) -> Result<String> {
    let candidates = candidates(explicit)?;
    for program in &candidates {
        let says = |args: &[&str]| {
            let output = Command::new(program).args(args).stdin(Stdio::null()).output().ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let Some(python) = says(&["--version"]) else { continue };
        let Some(pip) = says(&["-m", "pip", "--version"]) else {
            return Err(Error::NoPip { python: program.to_string_lossy().into_owned() });
        };
        let pip: Vec<&str> = pip.split_whitespace().take(2).collect();
        return Ok(format!("{python} with {}", pip.join(" ")));
    }
    Err(no_python(&candidates))
}

fn write_requirements(pins: &[&Pin], path: &Path) -> Result<()> {
    let line = |pin: &&Pin| format!("{}=={} --hash=sha256:{}\n", pin.name, pin.version, pin.sha256);
    let text: String = pins.iter().map(line).collect();
    File::create(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(Error::io("write", path))
}

/// Runs pip to its end; `None` when there is no such program.
fn run(program: &OsString, pins: &[&Pin], dir: &Path, progress: &dyn Progress) -> Result<Option<ExitStatus>> {
    let mut child = match command(program, dir)?.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("run", Path::new(program))(error)),
    };
    let total = pins.iter().map(|pin| pin.bytes).sum();
    let status = watch(&mut child, dir, total, progress);
    if status.is_err() {
        let _ = child.kill().and_then(|()| child.wait());
    }
    status.map(Some).map_err(Error::io("wait for", Path::new(program)))
}

fn command(program: &OsString, dir: &Path) -> Result<Command> {
    let path = dir.join("pip.log");
    let log = File::create(&path).map_err(Error::io("create", &path))?;
    let log_too = log.try_clone().map_err(Error::io("create", &path))?;
    let mut command = Command::new(program);
    command.args(["-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary=:all:"]);
    command.args(["--python-version", GUEST_PYTHON, "--no-input", "--disable-pip-version-check"]);
    command.args(["--progress-bar", "off", "-r", "requirements.txt", "-d", "."]);
    // `python -m` looks in the current folder first, which may be a stranger's skill with a `pip.py` in it.
    command.current_dir(dir);
    // pip unpacks to its own temporary folder: here, so that growth shows and one disk is used.
    command.env("TMPDIR", dir.join("tmp"));
    command.stdin(Stdio::null()).stdout(log).stderr(log_too);
    Ok(command)
}

fn watch(child: &mut Child, dir: &Path, total: u64, progress: &dyn Progress) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        // Near the end a wheel is copied from one folder to the other: never show more than all.
        progress.fraction(bytes_in(dir).min(total), total);
        std::thread::sleep(POLL);
    }
}

/// The size of all files below `dir`; files come and go meanwhile, so what can't be seen counts nothing.
fn bytes_in(dir: &Path) -> u64 {
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes_in(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    fs::read_dir(dir).map_or(0, |entries| entries.flatten().map(size).sum())
}

/// The end of a log.
pub fn tail(log: &Path) -> String {
    last_lines(&fs::read(log).unwrap_or_default())
}

/// The last lines that say something.
pub fn last_lines(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

fn describe(pins: &[&Pin]) -> String {
    match pins {
        [pin] => format!("{} {}", pin.name, pin.version),
        [first, rest @ ..] => format!("{} {} and {} more", first.name, first.version, rest.len()),
        [] => "nothing".to_owned(),
    }
}
