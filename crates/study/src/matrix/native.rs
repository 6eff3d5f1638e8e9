//! The other side of the comparison: the same tests and calls in a virtual environment on this machine, with all packages.
//!
//! **This executes skills and packages outside of any cell.** Where bubblewrap is there, it is done without network, without
//! the user's files and with a folder of its own for writing; it is a precaution, not the sandbox that this program is about.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::cases::{Cases, Places};
use super::confine::{self, ConfinedProcess};
use super::layout;
use super::outcomes::TestRun;
use skillcell_cache::Pack;
use skillcell_cache::progress::Progress;
use skillcell_host::Host;
use skillcell_packages::provision::{self, normalize_name};
use skillcell_packages::skill::Skill;
use skillcell_packages::venv::Venv;

/// Packages that tests need besides what skills require.
const TOOLS: [&str; 3] = ["pytest", "pytest-mock", "pytest-asyncio"];
const CALLER: &str = include_str!("../../../../runtime-assets/study/call.py");
const RECORDED: &str = include_str!("../../../../runtime-assets/study/recorded.py");
const CLOSURE: &str = include_str!("../../../../runtime-assets/study/closure.py");
const TESTS_DEADLINE: Duration = Duration::from_secs(300);
const CALLS_DEADLINE: Duration = Duration::from_secs(60);
/// Processes that are timed; the median counts.
const PROCESSES: usize = 3;

/// An environment with the requirements of all skills, and their files.
pub struct NativeEnvironment {
    venv: Venv,
    folder: tempfile::TempDir,
    /// By skill.
    requirements: BTreeMap<String, Vec<String>>,
    closures: BTreeMap<String, Vec<(String, bool)>>,
}

#[derive(Deserialize)]
struct CallTimes {
    median_ms: f64,
}

impl NativeEnvironment {
    /// One environment for all skills: they share most of its size. If their requirements conflict, pip's message says
    /// so, and there are no native runs.
    pub fn prepare(host: &Host, skills: &[&Skill], progress: &dyn Progress) -> Result<NativeEnvironment, String> {
        let mut by_skill = BTreeMap::new();
        for skill in skills {
            let manifest = host.manifest(skill).map_err(|error| error.to_string())?;
            by_skill.insert(skill.id().to_owned(), manifest.requirements);
        }
        let requirements: BTreeSet<String> = by_skill.values().flatten().cloned().collect();
        let requirements: Vec<String> = requirements.into_iter().collect();
        let extras: Vec<String> = TOOLS.map(str::to_owned).to_vec();
        let started = Instant::now();
        let venv = host.venv(&requirements, &extras).map_err(|error| error_with_causes(&error))?;
        progress.note(&format!(
            "native environment: {} packages, {} MB, Python {}, ready in {:.0} s",
            venv.lock().packages.len(),
            venv.disk_bytes() / 1_000_000,
            venv.base().version,
            started.elapsed().as_secs_f64()
        ));
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut environment = NativeEnvironment { venv, folder, requirements: by_skill, closures: BTreeMap::new() };
        let registry = host.registry().map_err(|error| error.to_string())?;
        environment.lay_out(skills, registry).map_err(|error| error.to_string())?;
        if !confine::has_bubblewrap() {
            progress.note("bubblewrap is not there: native runs see the network and this machine's files");
        }
        environment.closures = environment.resolve_closures(&provision::pyodide_pin().python)?;
        Ok(environment)
    }

    /// `CPython 3.11.7`.
    pub fn python_name(&self) -> String {
        format!("CPython {}", self.venv.base().version)
    }

    /// Each skill's packages with all that they pull in, as they would be in Pyodide, and whether the wheel of each that
    /// is installed here is pure.
    fn resolve_closures(&self, python: &str) -> Result<BTreeMap<String, Vec<(String, bool)>>, String> {
        let wanted = serde_json::to_string(&self.requirements).map_err(|error| error.to_string())?;
        let mut confined = self.confined_python();
        confined.args(["skillcell_closure.py", python]).arg(wanted);
        let output = confined.run_to_end(CALLS_DEADLINE)?;
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
    pub fn package_closure(&self, skill: &Skill) -> Option<&[(String, bool)]> {
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

    fn skill_folder(&self, skill: &Skill) -> PathBuf {
        layout::skill_folder(self.folder.path(), skill)
    }

    /// A skill's own tests.
    pub fn run_tests(&self, skill: &Skill) -> Result<TestRun, String> {
        let report = self.folder.path().join(format!("{}.jsonl", &skill.digest()[..32]));
        std::fs::write(&report, "").map_err(|error| error.to_string())?;
        let place = self.skill_folder(skill);
        let mut confined = self.confined_python();
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
        let output = confined.run_to_end(TESTS_DEADLINE)?;
        let seconds = started.elapsed().as_secs_f64();
        let ran = TestRun::from_lines(&confine::read_report(&report)?, seconds);
        output.check_pytest_status().map(|()| ran)
    }

    /// What a skill's example costs here: a process that loads the skill and makes the call once, and the call in a process
    /// that made others, in milliseconds. Its requests are answered in the process itself, without TLS.
    pub fn measure_latency(&self, skill: &Skill, cases: &Cases) -> Result<(f64, f64), String> {
        let [work, home, skills] = ["work", "home", "skills"].map(|name| self.folder.path().join(name));
        // The case's placeholders become folders that the confined process may use.
        let places = [&work, &home, &skills].map(|path| path.to_string_lossy().into_owned());
        let [in_work, in_home, in_skills] = &places;
        let case = cases.example_call(skill.id(), Places { work: in_work, home: in_home, skills: in_skills });
        let case = case.ok_or("no recorded call of it succeeds")?;
        std::fs::create_dir_all(&work).map_err(|error| error.to_string())?;
        case.write_files(&work)?;
        let call = |times: &str| {
            let mut confined = self.confined_python();
            confined.args(["skillcell_call.py"]).arg(self.skill_folder(skill)).arg(case.json.to_string()).arg(times);
            for (name, value) in &case.env {
                confined.env(name, value);
            }
            let started = Instant::now();
            let output = confined.run_to_end(CALLS_DEADLINE)?;
            let time = started.elapsed().as_secs_f64() * 1e3;
            if output.code == Some(0) { Ok((time, output.last_line)) } else { Err(output.last_line) }
        };
        let mut processes =
            (0..PROCESSES).map(|_| call("1").map(|(time, _)| time)).collect::<Result<Vec<f64>, String>>()?;
        processes.sort_by(f64::total_cmp);
        // The script repeats the call and prints the median itself.
        let (_, line) = call("30")?;
        let timed: CallTimes = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        Ok((processes[PROCESSES / 2], timed.median_ms))
    }

    /// What one recorded call costs in a process that made it before, in milliseconds.
    pub fn time_in_python(&self, skill: &Skill, cases: &Cases, name: &str) -> Result<f64, String> {
        let [work, home, skills] =
            ["work", "home", "skills"].map(|name| self.folder.path().join(name).to_string_lossy().into_owned());
        let places = Places { work: &work, home: &home, skills: &skills };
        let case =
            cases.cases_of(skill.id(), places).find(|case| case.name() == name).ok_or("there is no such case")?;
        std::fs::create_dir_all(&work).map_err(|error| error.to_string())?;
        case.write_files(Path::new(&work))?;
        let mut confined = self.confined_python();
        confined.args(["skillcell_call.py"]).arg(self.skill_folder(skill)).arg(case.json.to_string()).arg("60");
        for (name, value) in &case.env {
            confined.env(name, value);
        }
        let output = confined.run_to_end(CALLS_DEADLINE)?;
        match output.code {
            Some(0) => serde_json::from_str(&output.last_line)
                .map(|times: CallTimes| times.median_ms)
                .map_err(|error| error.to_string()),
            _ => Err(output.last_line),
        }
    }

    fn confined_python(&self) -> ConfinedProcess {
        let needs: [&Path; 2] = [&self.venv.base().prefix, self.venv.root()];
        let mut confined = ConfinedProcess::new(&self.venv.python(), &needs, self.folder.path());
        confined.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONPATH", self.folder.path());
        confined
    }
}

fn error_with_causes(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    match error.source() {
        Some(cause) if !text.contains(&cause.to_string()) => format!("{text}: {}", error_with_causes(cause)),
        _ => text,
    }
}
