//! Asks pip for wheels that run on a target, one level of dependencies at a time: `--no-deps`, so that pip never reads what a
//! wheel requires, which may be an address whose `setup.py` it would run. pip knows the user's indexes, mirrors, proxies and
//! certificates; it chooses a version and downloads it, and runs nothing of it. Where there is no such wheel, the files that
//! pip skipped tell why.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::Error;
use super::absence::{self, Absent};
use super::specifier::Specifiers;
use super::target::Target;
use crate::provision::{self, Fetch, FetchedWheel, Pin, PipRun, normalize_name};
use skillcell_cache::progress::Progress;

/// How long one run of pip may take, and how much it may download.
const TIMEOUT: Duration = Duration::from_secs(180);
const MAX_BYTES: u64 = 512 << 20;
/// The same for native code, of which there is more.
const NATIVE_TIMEOUT: Duration = Duration::from_secs(20 * 60);
const MAX_NATIVE_BYTES: u64 = 16 << 30;
/// The reason given when no index was queried.
pub const OFFLINE: &str = "no index: this is offline, and no wheels were given with `--from-wheel`";
/// Concurrent runs of pip; each mostly waits for the network.
const PARALLEL_RUNS: usize = 4;

/// A distribution and the versions of it that are accepted.
pub type Wanted = (String, Specifiers);

/// What pip has for a distribution.
pub enum Answer {
    Wheel(Pin, FetchedWheel),
    Absent(Absent),
}

/// Where wheels are asked for.
pub struct Index<'a> {
    target: &'a Target,
    fetch: &'a Fetch,
    /// A private folder; each run gets one below it.
    folder: &'a Path,
    runs: AtomicUsize,
    progress: &'a dyn Progress,
}

impl<'a> Index<'a> {
    pub fn new(target: &'a Target, fetch: &'a Fetch, folder: &'a Path, progress: &'a dyn Progress) -> Index<'a> {
        Index { target, fetch, folder, runs: AtomicUsize::new(0), progress }
    }

    /// Asks for these, in this order.
    pub fn request_wheels(&self, wanted: &[Wanted]) -> Result<Vec<Answer>, Error> {
        if self.fetch.offline && self.fetch.wheels.is_empty() {
            return Ok(wanted.iter().map(|_| Answer::Absent(Absent::Unreachable(OFFLINE.into()))).collect());
        }
        self.progress.step(&format!("asking pip for {}", describe_wanted(wanted)));
        if let [one] = wanted {
            return Ok(vec![self.run_pip(std::slice::from_ref(one))?.remove(0)]);
        }
        // One run is faster, but pip stops at the first package it can't find; then each is requested by itself.
        let together = self.run_pip(wanted)?;
        if together.iter().all(|answer| matches!(answer, Answer::Wheel(..))) {
            return Ok(together);
        }
        self.request_separately(wanted)
    }

    /// Asks for one, for another platform as well.
    pub fn request_for(&self, platform: &str, wanted: Wanted) -> Result<Answer, Error> {
        let options = ["--platform".to_owned(), platform.to_owned()];
        let pip_options = self.target.pip_options.iter().cloned().chain(options).collect();
        let target = Target { pip_options, ..self.target.clone() };
        let folder = self.folder.join(format!("{}-{platform}", self.runs.fetch_add(1, Ordering::Relaxed)));
        let index = Index::new(&target, self.fetch, &folder, self.progress);
        Ok(index.request_wheels(&[wanted])?.remove(0))
    }

    fn request_separately(&self, wanted: &[Wanted]) -> Result<Vec<Answer>, Error> {
        let mut answers = Vec::with_capacity(wanted.len());
        for some in wanted.chunks(PARALLEL_RUNS) {
            let unreachable = answers.iter().find_map(|answer| match answer {
                Answer::Absent(Absent::Unreachable(why)) => Some(why.clone()),
                _ => None,
            });
            if let Some(why) = unreachable {
                // The index is down: don't let the remaining packages time out one after another.
                answers.extend(some.iter().map(|_| Answer::Absent(Absent::Unreachable(why.clone()))));
                continue;
            }
            let got = std::thread::scope(|scope| {
                let runs: Vec<_> =
                    some.iter().map(|one| scope.spawn(|| self.run_pip(std::slice::from_ref(one)))).collect();
                let died = || Err(Error::Runtime("a thread that ran pip died".into()));
                runs.into_iter().map(|run| run.join().unwrap_or_else(|_| died())).collect::<Vec<_>>()
            });
            for one in got {
                answers.extend(one?);
            }
        }
        Ok(answers)
    }

    fn run_pip(&self, wanted: &[Wanted]) -> Result<Vec<Answer>, Error> {
        let dir = self.folder.join(self.runs.fetch_add(1, Ordering::Relaxed).to_string());
        let wheels = dir.join("wheels");
        fs::create_dir_all(&wheels).map_err(|source| Error::Folder { path: wheels.clone(), source })?;
        let run = PipRun {
            what: &describe_wanted(wanted),
            args: self.pip_arguments(wanted, &wheels)?,
            dir: &dir,
            isolated: self.fetch.offline,
            expected_bytes: 0,
            max_bytes: if self.target.is_guest() { MAX_BYTES } else { MAX_NATIVE_BYTES },
            timeout: if self.target.is_guest() { TIMEOUT } else { NATIVE_TIMEOUT },
        };
        let python = self.target.python.as_deref().or(self.fetch.python.as_deref());
        let end = match run.run(python, self.progress) {
            Ok(end) => end,
            // Without pip there is no index. That is not fatal: the skill may run without these packages.
            Err(error @ (provision::Error::NoPython { .. } | provision::Error::NoPip { .. })) => {
                return Ok(wanted.iter().map(|_| Answer::Absent(Absent::Unreachable(error.to_string()))).collect());
            }
            Err(error @ provision::Error::PipLimit { .. }) => {
                return Ok(wanted.iter().map(|_| Answer::Absent(Absent::Unreachable(error.to_string()))).collect());
            }
            Err(error) => return Err(error.into()),
        };
        let delivered = list_wheels(&wheels)?;
        let answer = |(name, specifiers): &Wanted| {
            let ours = |path: &&PathBuf| {
                let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
                file.split('-').next().is_some_and(|distribution| normalize_name(distribution) == *name)
            };
            // A failed run may leave wheels behind; only those of a successful one count.
            match delivered.iter().find(ours).filter(|_| end.status.success()) {
                Some(path) => provision::open_unpinned(path).map(|(pin, wheel)| Answer::Wheel(pin, wheel)),
                None => Ok(Answer::Absent(absence::why_absent(&end, name, specifiers))),
            }
        };
        Ok(wanted.iter().map(answer).collect::<Result<_, _>>()?)
    }

    fn pip_arguments(&self, wanted: &[Wanted], wheels: &Path) -> Result<Vec<OsString>, Error> {
        let mut args =
            ["download", "--no-deps", "--only-binary=:all:", "-vv", "--retries", "1"].map(OsString::from).to_vec();
        args.extend(self.target.pip_options.iter().map(OsString::from));
        if self.fetch.offline {
            args.push("--no-index".into());
        }
        for given in &self.fetch.wheels {
            // pip runs in another folder.
            let path = std::path::absolute(given).map_err(|source| Error::Folder { path: given.clone(), source })?;
            args.extend(["--find-links".into(), path.into_os_string()]);
        }
        args.extend(["-d".into(), wheels.as_os_str().to_owned()]);
        // A name begins with a letter or a digit, so none of these is an option.
        args.extend(wanted.iter().map(|(name, specifiers)| format!("{name}{specifiers}").into()));
        Ok(args)
    }
}

fn list_wheels(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::Folder { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "whl") {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn describe_wanted(wanted: &[Wanted]) -> String {
    match wanted {
        [(name, _)] => name.clone(),
        [(first, _), rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => "nothing".into(),
    }
}
