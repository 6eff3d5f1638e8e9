//! Downloading with the user's own pip, so that their index, mirror, proxy and certificate settings hold.
//! What it delivers is not trusted: the caller hashes it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::{Error, Pin, Result};
use crate::progress::Progress;

/// What pip is to select wheels for: the guest's version, not that of the Python it runs on.
pub const GUEST_PYTHON: &str = "3.15";
/// How long a download may take, and how large it may be: more is something gone wrong.
const PATIENCE: Duration = Duration::from_secs(3600);
const MAX_BYTES: u64 = 4 << 30;
const POLL: Duration = Duration::from_millis(100);
/// How much of pip's output an error repeats.
const TAIL_LINES: usize = 8;
/// The most that is read of pip's output.
const MAX_LOG_BYTES: u64 = 64 << 20;

/// One run of pip in `dir`, a private folder, which is also where it keeps its temporary files.
pub struct PipRun<'a> {
    /// What it is for, in a message.
    pub what: &'a str,
    /// What follows `pip`.
    pub args: Vec<OsString>,
    pub dir: &'a Path,
    /// Whether pip is to know nothing of the user's settings: for a run that may not use the network.
    pub isolated: bool,
    /// The bytes that are expected, for progress; 0 if nobody knows.
    pub expected_bytes: u64,
    /// More than this in `dir` ends the run, and so does more time.
    pub max_bytes: u64,
    pub patience: Duration,
}

/// How pip ended, and all that it said.
pub struct PipEnd {
    pub status: ExitStatus,
    pub log: String,
}

impl PipEnd {
    /// The last lines, for a message.
    pub fn tail(&self) -> String {
        last_lines(self.log.as_bytes())
    }
}

impl PipRun<'_> {
    /// Runs the first Python that there is and has pip.
    pub fn run(&self, python: Option<&Path>, progress: &dyn Progress) -> Result<PipEnd> {
        let tmp = self.dir.join("tmp");
        fs::create_dir_all(&tmp).map_err(Error::io("create", &tmp))?;
        let candidates = candidates(python)?;
        let mut without_pip = None;
        for program in &candidates {
            let Some(status) = self.run_with(program, progress)? else {
                continue;
            };
            let end = PipEnd { status, log: read_log(&self.dir.join("pip.log")) };
            if status.success() || !end.log.contains("No module named pip") {
                return Ok(end);
            }
            without_pip.get_or_insert_with(|| program.to_string_lossy().into_owned());
        }
        Err(without_pip.map_or_else(|| no_python(&candidates), |python| Error::NoPip { python }))
    }

    /// Runs pip to its end; `None` when there is no such program.
    fn run_with(&self, program: &OsString, progress: &dyn Progress) -> Result<Option<ExitStatus>> {
        let mut child = match self.command(program)?.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("run", Path::new(program))(error)),
        };
        let status = self.watch(&mut child, progress);
        if !matches!(status, Ok(Ok(_))) {
            let _ = child.kill().and_then(|()| child.wait());
        }
        status.map_err(Error::io("wait for", Path::new(program)))?.map(Some)
    }

    fn command(&self, program: &OsString) -> Result<Command> {
        let path = self.dir.join("pip.log");
        let log = File::create(&path).map_err(Error::io("create", &path))?;
        let log_too = log.try_clone().map_err(Error::io("create", &path))?;
        let mut command = Command::new(program);
        command.args(["-m", "pip"]).args(&self.args);
        command.args(["--no-input", "--disable-pip-version-check", "--progress-bar", "off"]);
        if self.isolated {
            command.arg("--isolated").env("PIP_CONFIG_FILE", "/dev/null");
        }
        // `python -m` looks in the current folder first, which may be a stranger's skill with a `pip.py` in it.
        command.current_dir(self.dir);
        // pip unpacks to its own temporary folder: here, so that growth shows and one disk is used.
        command.env("TMPDIR", self.dir.join("tmp"));
        command.stdin(Stdio::null()).stdout(log).stderr(log_too);
        Ok(command)
    }

    fn watch(&self, child: &mut Child, progress: &dyn Progress) -> io::Result<Result<ExitStatus>> {
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Ok(status));
            }
            let bytes = bytes_in(self.dir);
            let over = |limit: String| Error::PipLimit { what: self.what.to_owned(), limit };
            if bytes > self.max_bytes {
                return Ok(Err(over(format!("{} MiB", self.max_bytes >> 20))));
            }
            if started.elapsed() > self.patience {
                return Ok(Err(over(format!("{} s", self.patience.as_secs()))));
            }
            // Near the end a wheel is copied from one folder to the other: never show more than all.
            progress.fraction(bytes.min(self.expected_bytes), self.expected_bytes);
            std::thread::sleep(POLL);
        }
    }
}

/// Downloads these wheels into `dir`, an empty private folder: the pure ones in one run of pip, and each that is for some
/// other platform, of which only the Python is wanted, in one that asks for that platform.
pub(super) fn download(pins: &[&Pin], python: Option<&Path>, dir: &Path, progress: &dyn Progress) -> Result<()> {
    let guest = ["--python-version", GUEST_PYTHON].map(OsString::from).to_vec();
    let (native, pure): (Vec<&Pin>, Vec<&Pin>) = pins.iter().copied().partition(|pin| tags(&pin.file).is_some());
    if !pure.is_empty() {
        run(&pure, guest, python, dir, progress)?;
    }
    for pin in native {
        run(&[pin], tags(&pin.file).unwrap_or_default(), python, dir, progress)?;
    }
    Ok(())
}

/// pip's options for the platform that a wheel's file name has; `None` if that is any.
fn tags(file: &str) -> Option<Vec<OsString>> {
    let mut parts = file.strip_suffix(".whl")?.rsplitn(4, '-');
    let (platforms, abi, python) = (parts.next()?, parts.next()?, parts.next()?);
    let version = python.strip_prefix("cp").filter(|digits| digits.len() > 1 && platforms != "any")?;
    let mut options = vec!["--python-version".to_owned(), format!("{}.{}", &version[..1], &version[1..])];
    options.extend(["--implementation", "cp", "--abi", abi].map(str::to_owned));
    options.extend(platforms.split('.').flat_map(|platform| ["--platform".to_owned(), platform.to_owned()]));
    Some(options.into_iter().map(OsString::from).collect())
}

fn run(
    pins: &[&Pin],
    platform: Vec<OsString>,
    python: Option<&Path>,
    dir: &Path,
    progress: &dyn Progress,
) -> Result<()> {
    write_requirements(pins, &dir.join("requirements.txt"))?;
    let what = describe(pins);
    progress.step(&format!("downloading {what}"));
    let mut args = ["download", "--no-deps", "--require-hashes", "--only-binary=:all:"].map(OsString::from).to_vec();
    args.extend(platform);
    args.extend(["--ignore-requires-python", "-r", "requirements.txt", "-d", "."].map(OsString::from));
    let run = PipRun {
        what: &what,
        args,
        dir,
        isolated: false,
        expected_bytes: pins.iter().map(|pin| pin.bytes).sum(),
        max_bytes: MAX_BYTES,
        patience: PATIENCE,
    };
    let end = run.run(python, progress)?;
    if end.status.success() {
        return Ok(());
    }
    Err(Error::Pip { what, status: end.status, output: end.tail() })
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

fn read_log(log: &Path) -> String {
    let mut text = Vec::new();
    // What can't be read says nothing, and pip's exit status still does.
    let _ = File::open(log).and_then(|file| file.take(MAX_LOG_BYTES).read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

fn describe(pins: &[&Pin]) -> String {
    match pins {
        [pin] => format!("{} {}", pin.name, pin.version),
        [first, rest @ ..] => format!("{} {} and {} more", first.name, first.version, rest.len()),
        [] => "nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_for_a_platform_is_asked_for_by_its_tags() {
        let options = tags("x-1.2-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl").unwrap();
        let expected = [
            "--python-version",
            "3.11",
            "--implementation",
            "cp",
            "--abi",
            "cp311",
            "--platform",
            "manylinux2014_x86_64",
            "--platform",
            "manylinux_2_17_x86_64",
        ];
        assert_eq!(options, expected.map(OsString::from));
        assert_eq!(tags("x-1.2-py3-none-any.whl"), None);
    }
}
