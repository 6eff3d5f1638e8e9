//! The matrix' part about scripts of folders with a `SKILL.md`, as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cases::{Cases, ScriptCase};
use super::model::{Matrix, Reason, Row};

/// One script of a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptRow {
    /// Its path in the skill's folder.
    pub script: String,
    /// As a skill's; nothing if the script could not be analysed, see `problem`.
    pub verdict: Option<String>,
    /// `standard library`, `packages`, `http`, `programs` or `not Python 3`: what its text and that of the files that it imports use.
    pub kind: String,
    /// The packages that it wants, and where that is written: `imports` is a guess.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements_from: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// Modules that it imports and a cell does not have, those among them that it may do without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// Programs that it starts; none of them is in a cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// `--help`, if it has a command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ScriptRun>,
    /// Recorded runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<ScriptRun>,
    /// Why parts of the row are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One run of a script: in a cell, and perhaps in the tier `subprocess` beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptRun {
    /// `--help`, or the name of a recorded run.
    pub case: String,
    /// How it ended in a cell: `exit 0`, the limit that it met, or why it was not started.
    pub cell: String,
    /// The same in the tier `subprocess`, if it ran there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subprocess: Option<String>,
    /// What it wrote in its folder, in a cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Whether exit code, streams and files are the same in both, if it ran in both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same: Option<bool>,
    /// What differs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub difference: String,
    /// Why, in the words of somebody who looked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Sums over scripts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptTotals {
    pub skills: usize,
    pub scripts: usize,
    pub verdicts: BTreeMap<String, usize>,
    pub kinds: BTreeMap<String, usize>,
    /// Scripts with a command line, and of these the ones whose imports a cell has.
    pub with_usage: usize,
    pub capable: usize,
    /// Of the capable ones: those whose `--help` could be compared, and that behave the same.
    pub usage_compared: usize,
    pub usage_same: usize,
    /// Recorded runs that were compared, and that are the same.
    pub runs_compared: usize,
    pub runs_same: usize,
}

impl ScriptRow {
    /// Whether a cell has all that it imports: it is for a cell to run it.
    pub fn is_capable(&self) -> bool {
        self.verdict.is_some() && self.lacks.is_empty() && self.kind != NOT_PYTHON
    }
}

impl ScriptRun {
    /// Takes the reason why it differs, or could not be compared, if it does.
    pub fn take_reason(&mut self, differs: Option<&str>) {
        self.reason = differs.filter(|_| self.same != Some(true)).unwrap_or_default().to_owned();
    }
}

impl Matrix {
    /// Takes the reasons for differences anew from recorded runs: somebody looked only after the study was made.
    pub fn take_script_reasons(&mut self, cases: &Cases) {
        for row in &mut self.skills {
            for script in &mut row.scripts {
                let known: Vec<ScriptCase> = cases.script_cases(&row.id, &script.script).collect();
                for run in script.usage.iter_mut().chain(&mut script.runs) {
                    let case = known.iter().find(|case| case.is_run(&run.case));
                    run.take_reason(case.and_then(|case| case.differs.as_deref()));
                }
            }
        }
    }
}

/// The kind of a file that Python can't read.
pub const NOT_PYTHON: &str = "not Python 3";

impl ScriptTotals {
    /// None if no row has scripts.
    pub fn of(rows: &[Row]) -> Option<ScriptTotals> {
        let mut totals = ScriptTotals::default();
        for row in rows.iter().filter(|row| !row.scripts.is_empty()) {
            totals.skills += 1;
            row.scripts.iter().for_each(|script| totals.add_script(script));
        }
        (totals.scripts > 0).then_some(totals)
    }

    fn add_script(&mut self, script: &ScriptRow) {
        self.scripts += 1;
        let verdict = script.verdict.clone().unwrap_or_else(|| "unknown".to_owned());
        *self.verdicts.entry(verdict).or_default() += 1;
        *self.kinds.entry(script.kind.clone()).or_default() += 1;
        let count = |runs: &mut usize, alike: &mut usize, run: &ScriptRun| {
            *runs += usize::from(run.same.is_some());
            *alike += usize::from(run.same == Some(true));
        };
        if let Some(usage) = &script.usage {
            self.with_usage += 1;
            if script.is_capable() {
                self.capable += 1;
                count(&mut self.usage_compared, &mut self.usage_same, usage);
            }
        }
        for run in &script.runs {
            count(&mut self.runs_compared, &mut self.runs_same, run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scripts_that_a_cell_can_import_count_as_capable() {
        let usage = |same| Some(ScriptRun { same, ..ScriptRun::default() });
        let script = |lacks: &[&str], same| ScriptRow {
            verdict: Some("runs".into()),
            kind: "packages".into(),
            lacks: lacks.iter().map(|name| (*name).to_owned()).collect(),
            usage: usage(same),
            ..ScriptRow::default()
        };
        let mut row = Row::empty("a");
        row.scripts = vec![script(&[], Some(true)), script(&[], None), script(&["torch"], Some(false))];
        row.scripts.push(ScriptRow { usage: usage(Some(false)), ..ScriptRow::default() });
        let totals = ScriptTotals::of(&[Row::empty("b"), row]).unwrap();
        assert_eq!((totals.skills, totals.scripts, totals.with_usage, totals.capable), (1, 4, 4, 2));
        assert_eq!((totals.usage_compared, totals.usage_same), (1, 1));
        assert_eq!(ScriptTotals::of(&[Row::empty("b")]), None);
    }
}
