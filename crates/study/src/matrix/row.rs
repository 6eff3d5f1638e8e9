//! One skill's row: everything that is known of it, each part collected separately, so that a failure costs only its
//! column.

use serde_json::Value;

use super::discover::{Found, Source};
use super::model::{
    Figures, Matrix, Pyodide, PyodideDifference, Reason, Registry, Row, SCHEMA, SkillFigures, Suite, Totals,
    round_figure,
};
use super::native::NativeEnvironment;
use super::outcomes::{TestRun, test_differences};
use super::pyodide::{Node, PyodideLock};
use super::scripts::ScriptStudy;
use super::{NativeRuns, Study, cells, latency, packages, runtime_in_words};
use crate::analysis::{Analysis, analyse};
use skillcell_cache::progress::Progress;
use skillcell_host::Host;
use skillcell_packages::provision;
use skillcell_packages::skill::Skill;
use skillcell_policy::manifest::Manifest;

/// The longest text of a skill's own that is kept.
const MAX_TEXT: usize = 300;

/// What the rows of all skills share.
pub struct StudyResources<'a> {
    host: &'a Host,
    study: &'a Study,
    /// The virtual environment, or why there is none.
    native: Result<NativeEnvironment, String>,
    lock: Result<PyodideLock, String>,
    /// Pyodide on Node.js, or why there is none.
    node: Result<Node, String>,
}

impl<'a> StudyResources<'a> {
    pub fn prepare(host: &'a Host, study: &'a Study, found: &[Found], progress: &dyn Progress) -> StudyResources<'a> {
        let native = match &study.native {
            NativeRuns::Skipped(why) => Err(why.clone()),
            NativeRuns::Allowed => {
                let read = found.iter().filter_map(|(_, skill)| skill.as_ref().ok());
                let skills: Vec<&Skill> = read.filter(|skill| !skill.is_agent_skill()).collect();
                NativeEnvironment::prepare(host, &skills, progress)
            }
        };
        if let (Err(why), NativeRuns::Allowed) = (&native, &study.native) {
            progress.note(&format!("no native runs: {why}"));
        }
        let files = host.pyodide_files().map_err(|error| error.to_string());
        let lock = files.and_then(|files| PyodideLock::read(&files));
        let lock = lock.map_err(|why| format!("not looked up: {why}"));
        let node = match &study.pyodide {
            NativeRuns::Skipped(why) => Err(why.clone()),
            NativeRuns::Allowed => Node::prepare(host, progress).map_err(|why| format!("not run: {why}")),
        };
        if let (Err(why), NativeRuns::Allowed) = (&node, &study.pyodide) {
            progress.note(&format!("no tests in Pyodide: {why}"));
        }
        StudyResources { host, study, native, lock, node }
    }

    /// The matrix without its rows.
    pub fn empty_matrix(&self, source: &Source) -> Matrix {
        let registry = match source {
            Source::Pinned => {
                let pin = provision::pins().package("skillware");
                Registry {
                    name: "skillware".to_owned(),
                    version: pin.map(|pin| pin.version.clone()),
                    sha256: pin.map(|pin| pin.sha256.clone()),
                }
            }
            Source::Folder(path) => {
                let name = path.canonicalize().unwrap_or_else(|_| path.clone());
                let name =
                    name.file_name().map_or_else(|| "skills".to_owned(), |name| name.to_string_lossy().into_owned());
                Registry { name, version: None, sha256: None }
            }
        };
        Matrix {
            schema: SCHEMA,
            registry,
            runtime: runtime_in_words(),
            native_python: self.native.as_ref().ok().map(NativeEnvironment::python_name),
            pyodide: {
                let pin = provision::pyodide_pin();
                let node = self.node.as_ref().map_or_else(|_| String::new(), |node| format!(" on {}", node.name()));
                format!("Pyodide {} (CPython {}){node}", pin.version, pin.python)
            },
            totals: Totals::default(),
            skills: Vec::new(),
            figures: Figures { machine: latency::describe_machine(), ..Figures::default() },
        }
    }

    pub fn study_skill(&self, id: &str, skill: &Result<Skill, String>) -> (Row, SkillFigures) {
        let mut row = Row::empty(id);
        let mut figures = SkillFigures::default();
        match skill {
            Ok(skill) => self.fill_row(skill, &mut row, &mut figures),
            Err(why) => row.problem = Some(why.clone()),
        }
        (row, figures)
    }

    fn fill_row(&self, skill: &Skill, row: &mut Row, figures: &mut SkillFigures) {
        row.digest = skill.digest().to_owned();
        if skill.is_agent_skill() {
            return self.fill_agent_row(skill, row, figures);
        }
        match analyse(self.host, skill) {
            Ok(analysis) => apply_analysis(row, &analysis),
            Err(error) => row.problem = Some(error.to_string()),
        }
        match self.host.packages(skill) {
            Ok(found) => row.packages = packages::describe_packages(&found),
            Err(error) => row.problem = Some(error.to_string()),
        }
        // The same tests in three places; each result is kept even if the others failed.
        let in_cells = cells::run_tests(self.host, skill);
        let native = self.native.as_ref().map_err(Clone::clone).and_then(|native| native.run_tests(skill));
        figures.tests_in_cells_s = in_cells.as_ref().ok().map(|ran| round_figure(ran.seconds));
        figures.tests_native_s = native.as_ref().ok().map(|ran| round_figure(ran.seconds));
        let in_pyodide = self.node.as_ref().map_err(Clone::clone).and_then(|node| node.run_tests(self.host, skill));
        figures.tests_in_pyodide_s = in_pyodide.as_ref().ok().map(|ran| round_figure(ran.seconds));
        row.tests.pyodide = suite_of(&in_pyodide);
        row.tests.pyodide_differences = in_pyodide.map_or_else(
            |_| Vec::new(),
            |ran| test_differences(&ran, native.as_ref().ok()).into_iter().map(PyodideDifference::from).collect(),
        );
        row.tests.cells = suite_of(&in_cells);
        // Needs the counts in cells from the line above.
        row.best_tier = proven_tier(row);
        row.tests.native = suite_of(&native);
        row.tests.differences =
            in_cells.as_ref().map_or_else(|_| Vec::new(), |in_cells| test_differences(in_cells, native.as_ref().ok()));
        row.parity = self.study.cases.replay_in_cells(self.host, skill);
        row.pyodide = match &self.lock {
            Ok(lock) => match self.native.as_ref().ok().and_then(|native| native.package_closure(skill)) {
                Some(packages) => lock.look_up(packages),
                None => unknown_packages(
                    "not looked up: what its packages pull in is known from the native environment".to_owned(),
                ),
            },
            Err(why) => unknown_packages(why.clone()),
        };
    }

    /// The same of a folder with a `SKILL.md`: its scripts are run here and, if that was asked for, in the tier `subprocess`.
    fn fill_agent_row(&self, skill: &Skill, row: &mut Row, figures: &mut SkillFigures) {
        if let Ok(manifest) = self.host.manifest(skill) {
            row.summary = manifest.summary.map(|text| text.chars().take(MAX_TEXT).collect());
        }
        let Study { cases, subprocess, .. } = self.study;
        ScriptStudy { host: self.host, cases, beside: *subprocess }.fill_row(skill, row);
        let in_cells = cells::run_tests(self.host, skill);
        figures.tests_in_cells_s = in_cells.as_ref().ok().map(|ran| round_figure(ran.seconds));
        row.tests.cells = suite_of(&in_cells);
        row.tests.native = Suite::not_run("not run: its scripts are compared instead");
        row.tests.differences = in_cells.map_or_else(|_| Vec::new(), |ran| test_differences(&ran, None));
        row.pyodide = unknown_packages("not looked up for folders with a SKILL.md".to_owned());
    }

    /// Measures calls one skill at a time: parallel work would distort the figures.
    pub fn measure_calls(&self, found: &[Found], matrix: &mut Matrix, progress: &dyn Progress) {
        for (index, (id, skill)) in found.iter().enumerate() {
            progress.step(&format!("measuring {}/{} {id}", index + 1, found.len()));
            let Some(skill) = skill.as_ref().ok().filter(|skill| !skill.is_agent_skill()) else { continue };
            let figures = matrix.figures.skills.entry(id.clone()).or_default();
            latency::measure_latency(self.host, skill, &self.study.cases, self.native.as_ref().ok(), figures);
        }
    }
}

fn apply_analysis(row: &mut Row, analysis: &Analysis) {
    apply_manifest(row, &analysis.manifest);
    row.verdict = Some(analysis.verdict.name().to_owned());
    row.likely_tier = Some(analysis.best_tier.name().to_owned());
    row.classes = analysis.classes.iter().map(|class| class.name().to_owned()).collect();
    let reasons = |all: &[crate::analysis::Reason]| {
        all.iter().map(|reason| Reason { what: reason.text.clone(), at: Some(reason.place()) }).collect()
    };
    row.reasons = reasons(&analysis.reasons);
    row.optional = reasons(&analysis.optional);
    row.reasons.extend(analysis.permissions.remarks.iter().map(|what| Reason { what: what.clone(), at: None }));
    row.permissions = Some(analysis.permissions.yaml.clone()).filter(|yaml| !yaml.is_empty());
    row.problem = analysis.manifest_error.as_ref().map(|why| format!("the manifest can't be read: {why}"));
}

/// A tier is named only if the skill's tests ran in it, and cells are where they do.
fn proven_tier(row: &Row) -> Option<String> {
    let ran = row.tests.cells.counts().is_some_and(|counts| counts.passed > 0);
    row.likely_tier.clone().filter(|tier| tier == "none" || (tier == "wasm" && ran))
}

fn apply_manifest(row: &mut Row, manifest: &Value) {
    let cut = |text: String| text.chars().take(MAX_TEXT).collect::<String>();
    let Manifest { version, summary, .. } = Manifest::read(manifest.clone()).unwrap_or_default();
    row.version = version.map(cut);
    row.summary = summary.map(cut);
}

fn unknown_packages(why: String) -> Pyodide {
    Pyodide { not_looked_up: Some(why), packages: Vec::new() }
}

fn suite_of(ran: &Result<TestRun, String>) -> Suite {
    match ran {
        Ok(ran) => ran.to_suite(),
        Err(why) => Suite::not_run(why),
    }
}

/// A row in one line, for progress.
pub fn progress_line(row: &Row) -> String {
    if !row.scripts.is_empty() {
        let verdict = row.verdict.as_deref().unwrap_or("unknown");
        let runs = || row.scripts.iter().flat_map(|script| script.usage.iter().chain(&script.runs));
        let same = runs().filter(|run| run.same == Some(true)).count();
        return format!("{}: {verdict}, {} scripts, {} runs, {same} alike", row.id, row.scripts.len(), runs().count());
    }
    let count = |suite: &Suite| match suite.counts() {
        Some(counts) => format!("{}/{}", counts.passed, counts.total() - counts.skipped),
        None => "-".to_owned(),
    };
    let verdict = row.verdict.as_deref().unwrap_or("unknown");
    format!("{}: {verdict}, tests in cells {}, natively {}", row.id, count(&row.tests.cells), count(&row.tests.native))
}

#[cfg(test)]
mod tests {
    use super::super::model::Counts;
    use super::*;

    #[test]
    fn a_tier_is_named_only_if_the_tests_ran_in_it() {
        let named = |likely: &str, passed: Option<usize>| {
            let mut row = Row::empty("a/b");
            row.likely_tier = Some(likely.to_owned());
            if let Some(passed) = passed {
                row.tests.cells = Suite::Ran(Counts { passed, ..Counts::default() });
            }
            proven_tier(&row)
        };
        assert_eq!(named("wasm", Some(3)).as_deref(), Some("wasm"));
        assert_eq!(named("wasm", Some(0)), None);
        assert_eq!(named("wasm", None), None);
        assert_eq!(named("subprocess", Some(3)), None, "they ran in cells, not there");
        assert_eq!(named("none", None).as_deref(), Some("none"), "no tier is named");
    }
}
