//! The other side of the comparison: the same tests and calls in a virtual environment on this machine, with all packages.
//!
//! **This executes skills and packages outside of any cell.** Where bubblewrap is there, it is done without network, without
//! the user's files and with a folder of its own for writing; it is a precaution, not the sandbox that this program is about.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::cases::{Cases, Places};
use super::confine::{self, Confined};
use super::layout;
use super::outcomes::Ran;
use super::pyodide;
use skillcell_cache::Pack;
use skillcell_cache::progress::Progress;
use skillcell_host::Host;
use skillcell_packages::provision::normalize_name;
use skillcell_packages::skill::Skill;
use skillcell_packages::venv::Venv;

/// What tests are written with, beside what skills require.
const TOOLS: [&str; 3] = ["pytest", "pytest-mock", "pytest-asyncio"];
const CALLER: &str = include_str!("../../../../runtime-assets/study/call.py");
const RECORDED: &str = include_str!("../../../../runtime-assets/study/recorded.py");
const CLOSURE: &str = include_str!("../../../../runtime-assets/study/closure.py");
const TESTS_DEADLINE: Duration = Duration::from_secs(300);
const CALLS_DEADLINE: Duration = Duration::from_secs(60);
/// Processes that are timed; the median counts.
const PROCESSES: usize = 3;

/// An environment with the requirements of all skills, and their files.
pub struct Outside {
    venv: Venv,
    folder: tempfile::TempDir,
    /// By skill.
    requirements: BTreeMap<String, Vec<String>>,
    closures: BTreeMap<String, Vec<(String, bool)>>,
}

#[derive(Deserialize)]
struct Timed {
    median_ms: f64,
}

impl Outside {
    /// One environment for all: most of its size is shared. The packages of skills that can't live together are told apart
    /// by pip's message, and then there are no native runs.
    pub fn prepare(host: &Host, skills: &[&Skill], progress: &dyn Progress) -> Result<Outside, String> {
        let mut by_skill = BTreeMap::new();
        for skill in skills {
            let manifest = host.manifest(skill).map_err(|error| error.to_string())?;
            by_skill.insert(skill.id().to_owned(), manifest.requirements);
        }
        let requirements: BTreeSet<String> = by_skill.values().flatten().cloned().collect();
        let requirements: Vec<String> = requirements.into_iter().collect();
        let extras: Vec<String> = TOOLS.map(str::to_owned).to_vec();
        let started = Instant::now();
        let venv = host.venv(&requirements, &extras).map_err(|error| in_full(&error))?;
        progress.note(&format!(
            "native environment: {} packages, {} MB, Python {}, ready in {:.0} s",
            venv.lock().packages.len(),
            venv.disk_bytes() / 1_000_000,
            venv.base().version,
            started.elapsed().as_secs_f64()
        ));
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut outside = Outside { venv, folder, requirements: by_skill, closures: BTreeMap::new() };
        let registry = host.registry().map_err(|error| error.to_string())?;
        outside.lay_out(skills, registry).map_err(|error| error.to_string())?;
        if !confine::is_there() {
            progress.note("bubblewrap is not there: native runs see the network and this machine's files");
        }
        outside.closures = outside.closures(&pyodide::pin().python)?;
        Ok(outside)
    }

    /// `CPython 3.11.7`.
    pub fn python(&self) -> String {
        format!("CPython {}", self.venv.base().version)
    }

    /// Each skill's packages with all that they pull in, as they would be in Pyodide, and whether the wheel of each that
    /// is installed here is pure.
    fn closures(&self, python: &str) -> Result<BTreeMap<String, Vec<(String, bool)>>, String> {
        let wanted = serde_json::to_string(&self.requirements).map_err(|error| error.to_string())?;
        let mut confined = self.confined();
        confined.args(["skillcell_closure.py", python]).arg(wanted);
        let output = confined.output(CALLS_DEADLINE)?;
        if output.code != Some(0) {
            return Err(output.last_line);
        }
        let found: BTreeMap<String, Vec<String>> =
            serde_json::from_str(&output.last_line).map_err(|error| error.to_string())?;
        let native = |name: &str| {
            self.venv.lock().packages.iter().any(|one| normalize_name(&one.name) == name && one.is_native())
        };
        let with_kind = |names: Vec<String>| names.into_iter().map(|name| (name.clone(), !native(&name))).collect();
        Ok(found.into_iter().map(|(skill, names)| (skill, with_kind(names))).collect())
    }

    /// What Pyodide would need for a skill.
    pub fn closure(&self, skill: &Skill) -> Option<&[(String, bool)]> {
        self.closures.get(skill.id()).map(Vec::as_slice)
    }

    fn lay_out(&self, skills: &[&Skill], registry: &Pack) -> std::io::Result<()> {
        for skill in skills {
            layout::lay_out(self.folder.path(), skill, registry)?;
        }
        let scripts =
            [("skillcell_call.py", CALLER), ("skillcell_recorded.py", RECORDED), ("skillcell_closure.py", CLOSURE)];
        for (name, text) in scripts {
            std::fs::write(self.folder.path().join(name), text)?;
        }
        Ok(())
    }

    fn place(&self, skill: &Skill) -> PathBuf {
        layout::place(self.folder.path(), skill)
    }

    /// A skill's own tests.
    pub fn tests(&self, skill: &Skill) -> Result<Ran, String> {
        let report = self.folder.path().join(format!("{}.jsonl", &skill.digest()[..32]));
        std::fs::write(&report, "").map_err(|error| error.to_string())?;
        let place = self.place(skill);
        let mut confined = self.confined();
        confined.args([
            "-m",
            "pytest",
            "-q",
            "-p",
            "skillcell_report",
            "-p",
            "no:cacheprovider",
            "--import-mode=prepend",
        ]);
        confined
            .arg(format!("--rootdir={}", place.display()))
            .arg(format!("--confcutdir={}", self.folder.path().display()))
            .arg(&place);
        confined.env("SKILLCELL_TEST_REPORT", &report);
        let started = Instant::now();
        let output = confined.output(TESTS_DEADLINE)?;
        let seconds = started.elapsed().as_secs_f64();
        let ran = Ran::from_lines(&confine::report(&report)?, seconds);
        output.is_pytests_own().map(|()| ran)
    }

    /// What a skill's example costs here: a process that loads the skill and makes the call once, and the call in a process
    /// that made others, in milliseconds. Its requests are answered in the process itself, without TLS.
    pub fn latency(&self, skill: &Skill, cases: &Cases) -> Result<(f64, f64), String> {
        let [work, home, skills] = ["work", "home", "skills"].map(|name| self.folder.path().join(name));
        let places = [&work, &home, &skills].map(|path| path.to_string_lossy().into_owned());
        let [in_work, in_home, in_skills] = &places;
        let case = cases.example(skill.id(), Places { work: in_work, home: in_home, skills: in_skills });
        let case = case.ok_or("no recorded call of it succeeds")?;
        std::fs::create_dir_all(&work).map_err(|error| error.to_string())?;
        case.write_files(&work)?;
        let call = |times: &str| {
            let mut confined = self.confined();
            confined.args(["skillcell_call.py"]).arg(self.place(skill)).arg(case.json.to_string()).arg(times);
            for (name, value) in &case.env {
                confined.env(name, value);
            }
            let started = Instant::now();
            let output = confined.output(CALLS_DEADLINE)?;
            let time = started.elapsed().as_secs_f64() * 1e3;
            if output.code == Some(0) { Ok((time, output.last_line)) } else { Err(output.last_line) }
        };
        let mut processes =
            (0..PROCESSES).map(|_| call("1").map(|(time, _)| time)).collect::<Result<Vec<f64>, String>>()?;
        processes.sort_by(f64::total_cmp);
        let (_, line) = call("30")?;
        let timed: Timed = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        Ok((processes[PROCESSES / 2], timed.median_ms))
    }

    fn confined(&self) -> Confined {
        let needs: [&Path; 2] = [&self.venv.base().prefix, self.venv.root()];
        let mut confined = Confined::new(&self.venv.python(), &needs, self.folder.path());
        confined.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONPATH", self.folder.path());
        confined
    }
}

fn in_full(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    match error.source() {
        Some(cause) if !text.contains(&cause.to_string()) => format!("{text}: {}", in_full(cause)),
        _ => text,
    }
}
