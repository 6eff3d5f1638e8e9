//! Downloading with the user's own pip, so that their index, mirror, proxy and certificate settings hold.
//! What it delivers is not trusted: the caller hashes it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use super::{Error, Pin, Result};
use skillcell_cache::progress::Progress;
use skillcell_child::python::{Packages, python_command};
use skillcell_child::{Finished, Program, Running};

/// What pip is to select wheels for: the guest's version, not that of the Python it runs on.
pub const GUEST_PYTHON: &str = "3.15";
/// How long a download may take, and how large it may be: more is something gone wrong.
const TIMEOUT: Duration = Duration::from_secs(3600);
const MAX_BYTES: u64 = 4 << 30;
const POLL: Duration = Duration::from_millis(100);
/// How long a Python may take to say what it is.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);
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
    /// The bytes that are expected, for progress; 0 if unknown.
    pub expected_bytes: u64,
    /// The run is killed when `dir` grows beyond this, or after `timeout`.
    pub max_bytes: u64,
    pub timeout: Duration,
}

/// How pip ended, and its output.
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
    pub fn run(&self, explicit: Option<&Path>, progress: &dyn Progress) -> Result<PipEnd> {
        let tmp = self.dir.join("tmp");
        fs::create_dir_all(&tmp).map_err(Error::io("create", &tmp))?;
        let candidates = python_candidates(explicit)?;
        let mut without_pip = None;
        for (program, packages) in candidates.iter().flat_map(|program| Packages::FOR_PIP.map(|it| (program, it))) {
            let Some(status) = self.run_with(program, packages, progress)? else {
                continue;
            };
            let end = PipEnd { status, log: read_log(&self.dir.join("pip.log")) };
            if status.success() || !Packages::lacks_pip(&end.log) {
                return Ok(end);
            }
            without_pip.get_or_insert_with(|| program.to_string_lossy().into_owned());
        }
        Err(without_pip.map_or_else(|| no_python(&candidates), |python| Error::NoPip { python }))
    }

    /// Runs pip to its end; `None` when there is no such program.
    fn run_with(&self, program: &OsString, packages: Packages, progress: &dyn Progress) -> Result<Option<ExitStatus>> {
        let mut running = match self.pip_command(program, packages)?.start() {
            Ok(running) => running,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("run", Path::new(program))(error)),
        };
        self.wait_within_limits(&mut running, progress).map(Some)
    }

    fn pip_command(&self, program: &OsString, packages: Packages) -> Result<Program> {
        let path = self.dir.join("pip.log");
        let log = File::create(&path).map_err(Error::io("create", &path))?;
        let mut pip = python_command(program, self.dir, packages);
        pip.args(["-m", "pip"]).args(&self.args);
        pip.args(["--no-input", "--disable-pip-version-check", "--progress-bar", "off"]);
        if self.isolated {
            pip.arg("--isolated").env("PIP_CONFIG_FILE", "/dev/null");
        }
        // pip unpacks to its own temporary folder: here, so that growth shows and one disk is used.
        pip.env("TMPDIR", self.dir.join("tmp")).log_to(log);
        Ok(pip)
    }

    /// Waits for pip within its limits. On an error the caller drops `running`, which kills the process.
    fn wait_within_limits(&self, running: &mut Running, progress: &dyn Progress) -> Result<ExitStatus> {
        let started = Instant::now();
        loop {
            let status = running.wait(Instant::now() + POLL).map_err(Error::io("wait for pip in", self.dir))?;
            if let Some(status) = status {
                return Ok(status);
            }
            let bytes = bytes_in(self.dir);
            let over = |limit: String| Err(Error::PipLimit { what: self.what.to_owned(), limit });
            if bytes > self.max_bytes {
                return over(format!("{} MiB", self.max_bytes >> 20));
            }
            if started.elapsed() > self.timeout {
                return over(format!("{} s", self.timeout.as_secs()));
            }
            progress.fraction(wheel_bytes(self.dir).min(self.expected_bytes), self.expected_bytes);
        }
    }
}

/// Downloads these wheels into `dir`, an empty private folder: those that are for the same Pythons in one run of pip.
pub(super) fn download(pins: &[&Pin], python: Option<&Path>, dir: &Path, progress: &dyn Progress) -> Result<()> {
    let mut by_options: BTreeMap<Vec<String>, Vec<&Pin>> = BTreeMap::new();
    for pin in pins {
        by_options.entry(options_for(&pin.file)).or_default().push(pin);
    }
    by_options.into_iter().try_for_each(|(options, pins)| download_group(&pins, options, python, dir, progress))
}

/// pip's options that choose this wheel, by the tags in its file name.
fn options_for(file: &str) -> Vec<String> {
    let mut parts = file.strip_suffix(".whl").unwrap_or(file).rsplitn(4, '-');
    let [platforms, abi, pythons] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let version = pythons.strip_prefix("cp").filter(|digits| digits.len() > 1 && digits.is_ascii());
    let python = version.map_or(GUEST_PYTHON.to_owned(), |digits| format!("{}.{}", &digits[..1], &digits[1..]));
    let mut options = vec!["--python-version".to_owned(), python];
    if platforms != "any" || version.is_some() {
        let implementation = if version.is_some() { "cp" } else { "py" };
        options.extend(["--implementation", implementation, "--abi", abi].map(str::to_owned));
        options.extend(platforms.split('.').flat_map(|platform| ["--platform".to_owned(), platform.to_owned()]));
    }
    options
}

fn download_group(
    pins: &[&Pin],
    options: Vec<String>,
    python: Option<&Path>,
    dir: &Path,
    progress: &dyn Progress,
) -> Result<()> {
    write_requirements(pins, &dir.join("requirements.txt"))?;
    let what = describe_pins(pins);
    progress.step(&format!("downloading {what}"));
    // The versions are pinned by hash, so pip's own resolution and its check of the Python version are switched off.
    let mut args = ["download", "--no-deps", "--require-hashes", "--only-binary=:all:"].map(OsString::from).to_vec();
    args.extend(options.into_iter().map(OsString::from));
    args.extend(["--ignore-requires-python", "-r", "requirements.txt", "-d", "."].map(OsString::from));
    let run = PipRun {
        what: &what,
        args,
        dir,
        isolated: false,
        expected_bytes: pins.iter().map(|pin| pin.bytes).sum(),
        max_bytes: MAX_BYTES,
        timeout: TIMEOUT,
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
pub fn python_candidates(explicit: Option<&Path>) -> Result<Vec<OsString>> {
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
    let candidates = python_candidates(explicit)?;
    for program in &candidates {
        let Some(version) = query_python(program, Packages::Isolated, &["--version"]) else { continue };
        let pip =
            Packages::FOR_PIP.iter().find_map(|packages| query_python(program, *packages, &["-m", "pip", "--version"]));
        let Some(pip) = pip else { return Err(Error::NoPip { python: program.to_string_lossy().into_owned() }) };
        let pip: Vec<&str> = pip.split_whitespace().take(2).collect();
        return Ok(format!("{version} with {}", pip.join(" ")));
    }
    Err(no_python(&candidates))
}

fn query_python(program: &OsString, packages: Packages, args: &[&str]) -> Option<String> {
    match python_command(program, Path::new("/"), packages).args(args).finish(VERSION_TIMEOUT).ok()? {
        Finished::Ended(said) if said.status.success() => Some(String::from_utf8_lossy(&said.stdout).trim().to_owned()),
        _ => None,
    }
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

/// How much is there of the wheels that are being downloaded. pip writes what it gets a second time, for its own cache, under
/// another name, and copies a whole wheel from one folder to the next: each wheel counts once.
fn wheel_bytes(dir: &Path) -> u64 {
    let mut sizes = BTreeMap::new();
    gather_wheels(dir, &mut sizes);
    sizes.values().sum()
}

fn gather_wheels(dir: &Path, sizes: &mut BTreeMap<OsString, u64>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() {
            gather_wheels(&entry.path(), sizes);
        } else if entry.path().extension().is_some_and(|ending| ending == "whl") {
            let size = sizes.entry(entry.file_name()).or_default();
            *size = meta.len().max(*size);
        }
    }
}

/// The end of a log.
pub fn log_tail(log: &Path) -> String {
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

fn describe_pins(pins: &[&Pin]) -> String {
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
        let options = options_for("x-1.2-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl");
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
        assert_eq!(options, expected);
        assert_eq!(options_for("x-1.2-py3-none-any.whl"), ["--python-version", GUEST_PYTHON]);
        let native = options_for("x-1.2-py3-none-manylinux_2_17_x86_64.whl").join(" ");
        assert!(native.ends_with("--implementation py --abi none --platform manylinux_2_17_x86_64"), "{native}");
    }
}
