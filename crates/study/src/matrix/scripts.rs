//! A skill's scripts, each a row: what its text says of it, `--help` if it has a command line, recorded runs; and all of that in the
//! tier `subprocess` beside the cell, if that was asked for.

use std::collections::{BTreeMap, BTreeSet};

use super::alike::{self, ended};
use super::cases::{Cases, ScriptCase};
use super::model::{Package, Reason, Row};
use super::packages;
use super::script_model::{NOT_PYTHON, ScriptRow, ScriptRun};
use crate::analysis::{Analysis, Effect, ScriptAnalysis, analyse_script, overall_verdict};
use skillcell_host::Host;
use skillcell_host::call::{Call, Report};
use skillcell_host::testing::has_command_line;
use skillcell_limits::Limits;
use skillcell_packages::skill::Skill;
use skillcell_policy::{Choice, Tier};

/// What each run may use: more than a call, since the other side's libraries reserve address space.
const MEMORY_BYTES: u64 = 1 << 30;
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(60);

/// How scripts are studied.
pub struct ScriptStudy<'a> {
    pub host: &'a Host,
    pub cases: &'a Cases,
    /// Whether each run is made in the tier `subprocess` too, of scripts whose imports a cell has.
    pub beside: bool,
}

impl ScriptStudy<'_> {
    /// Fills in what there is to say of a folder with a `SKILL.md`.
    pub fn fill_row(&self, skill: &Skill, row: &mut Row) {
        let mut analysed = Vec::new();
        for script in skill.scripts() {
            match analyse_script(self.host, skill, script) {
                Ok(analysis) => {
                    row.scripts.push(self.script_row(skill, &analysis));
                    analysed.push(analysis);
                }
                Err(error) => {
                    let problem = Some(error_with_causes(&error));
                    row.scripts.push(ScriptRow { script: script.to_owned(), problem, ..ScriptRow::default() });
                }
            }
        }
        let verdict = overall_verdict(&analysed).map(|verdict| verdict.name().to_owned());
        row.verdict = Some(verdict.unwrap_or_else(|| NO_SCRIPTS.to_owned()));
        row.reasons = row.scripts.iter().filter_map(|script| script.reasons.first().cloned()).collect();
        let classes: BTreeSet<&str> =
            analysed.iter().flat_map(|one| &one.analysis.classes).map(|class| class.name()).collect();
        row.classes = classes.into_iter().map(str::to_owned).collect();
        row.likely_tier = analysed.iter().map(|one| one.analysis.best_tier).max().map(|tier| tier.name().to_owned());
        row.packages = self.packages_of(skill);
        row.problem = row.scripts.iter().find_map(|script| script.problem.clone());
    }

    fn script_row(&self, skill: &Skill, analysed: &ScriptAnalysis) -> ScriptRow {
        let analysis = &analysed.analysis;
        let mut row = ScriptRow {
            script: analysed.script.clone(),
            verdict: Some(analysis.verdict.name().to_owned()),
            kind: kind_of(analysis).to_owned(),
            requirements: analysed.requirements.clone(),
            requirements_from: analysed.requirements_from.clone().filter(|_| !analysed.requirements.is_empty()),
            reasons: reasons_of(analysis),
            lacks: lacking(analysis),
            programs: analysis.programs.clone(),
            ..ScriptRow::default()
        };
        let cases: Vec<ScriptCase> = self.cases.script_cases(skill.id(), &analysed.script).collect();
        if row.kind != NOT_PYTHON && has_command_line(skill, &analysed.script) {
            let usage = ScriptCase::usage();
            let known = cases.iter().find(|case| case.args == usage.args && case.files.is_empty());
            let ran = self.run_case(skill, &row, known.unwrap_or(&usage));
            row.usage = Some(ScriptRun { case: usage.name().to_owned(), ..ran });
        }
        let runs = cases.iter().filter(|case| case.args != ScriptCase::usage().args);
        row.runs = runs.map(|case| self.run_case(skill, &row, case)).collect();
        row
    }

    /// One run of a script, in one place or both. What a cell can't import has nothing to be compared with.
    fn run_case(&self, skill: &Skill, script: &ScriptRow, case: &ScriptCase) -> ScriptRun {
        let run = |tier| self.run_in(skill, &script.script, case, tier);
        let cell = run(Tier::Wasm);
        let mut row = ScriptRun { case: case.name().to_owned(), cell: ended(&cell), ..ScriptRun::default() };
        if let Ok(report) = &cell {
            row.files = report.files.iter().map(|file| file.path.clone()).collect();
        }
        if self.beside && script.is_capable() {
            let other = run(Tier::Subprocess);
            row.subprocess = Some(ended(&other));
            if let (Ok(cell), Ok(other)) = (&cell, &other) {
                row.difference = alike::difference(cell, other).unwrap_or_default();
                row.same = Some(row.difference.is_empty());
            } else if cell.is_err() {
                row.same = Some(false);
            }
        }
        row.take_reason(case.differs.as_deref());
        row
    }

    fn run_in(&self, skill: &Skill, script: &str, case: &ScriptCase, tier: Tier) -> Result<Report, String> {
        let mut call = Call::script(script, case.args.iter().cloned());
        case.lay_out(&mut call)?;
        call.tier = Choice::Tier(tier);
        call.limits = Limits::within(DEADLINE);
        call.limits.memory_bytes = MEMORY_BYTES;
        self.host.call(skill, &call).map_err(|error| error_with_causes(&error))
    }

    /// What the packages of all scripts are in a cell, each once.
    fn packages_of(&self, skill: &Skill) -> Vec<Package> {
        let mut found: BTreeMap<String, Package> = BTreeMap::new();
        for script in skill.scripts().into_iter().filter_map(|script| skill.for_script(script)) {
            let Ok(packages) = self.host.packages(&script) else { continue };
            for package in packages::describe_packages(&packages) {
                found.entry(package.name.clone()).or_insert(package);
            }
        }
        found.into_values().collect()
    }
}

/// The verdict of a folder whose `SKILL.md` comes without Python.
pub const NO_SCRIPTS: &str = "no scripts";

/// What of a script's text decides what it takes to run it.
fn kind_of(analysis: &Analysis) -> &'static str {
    let does = |wanted: &[Effect]| {
        analysis.effects.iter().any(|found| found.when.is_some() && found.effect.is_some_and(|it| wanted.contains(&it)))
    };
    let needs_packages = || {
        let foreign =
            |group: &str| !matches!(group, "stdlib" | "stand-in" | "stdlib, not in a cell" | "own" | "skillware");
        analysis.imports.iter().any(|import| import.when.is_some() && foreign(import.what.group()))
    };
    match () {
        () if is_unreadable(analysis) => NOT_PYTHON,
        () if does(&[Effect::Process]) => "programs",
        () if does(&[Effect::Http, Effect::Socket, Effect::Download, Effect::Server]) => "http",
        () if needs_packages() => "packages",
        () => "standard library",
    }
}

/// Whether the script itself can't be parsed; a file that it imports is another matter.
fn is_unreadable(analysis: &Analysis) -> bool {
    analysis.reasons.first().is_some_and(|reason| reason.text.contains("can't be read by Python"))
}

fn reasons_of(analysis: &Analysis) -> Vec<Reason> {
    let all = analysis.reasons.iter().take(8);
    all.map(|reason| Reason { what: reason.text.clone(), at: Some(reason.place()) }).collect()
}

/// What it imports and a cell does not have; not what it says that it goes on without.
fn lacking(analysis: &Analysis) -> Vec<String> {
    let missing = analysis.imports.iter().filter(|import| import.when.is_some() && !import.guarded);
    let names = missing.filter(|import| !import.what.is_there()).map(|import| import.module.clone());
    names.collect::<BTreeSet<_>>().into_iter().take(20).collect()
}

fn error_with_causes(error: &dyn std::error::Error) -> String {
    super::outcomes::stable_first_line(&super::discover::error_with_causes(error))
}
