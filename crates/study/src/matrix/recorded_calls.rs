//! What each recorded call that succeeds costs in a fresh cell, beside the same call in a Python that made it before.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::MatrixError;
use super::cases::{Cases, Ending};
use super::discover::{Source, discover_skills};
use super::latency::time_of_success;
use super::model::round_figure;
use super::native::NativeEnvironment;
use super::parity::{CELL_PLACES, PreparedCase};
use crate::bench::Series;
use skillcell_cache::progress::Progress;
use skillcell_cell::image::{BakeReport, WarmUp, Warmth};
use skillcell_host::Host;
use skillcell_limits::Limits;
use skillcell_packages::skill::Skill;

/// Calls of each case, and the time after which no more are made.
const MAX_CALLS: usize = 200;
const MAX_TIME: Duration = Duration::from_millis(700);
/// What a call of a skill that does nothing takes: it is taken off a cell's time before that is compared.
pub const FLOOR_MS: f64 = 0.1;

/// A skill's image and its calls.
#[derive(Debug, Serialize)]
pub struct SkillCalls {
    pub skill: String,
    /// What of its warming calls is in the image.
    pub warmth: Warmth,
    pub cold_reason: Option<String>,
    pub bake_ms: f64,
    pub calls: Vec<RecordedCall>,
}

/// Medians of one recorded call.
#[derive(Debug, Serialize)]
pub struct RecordedCall {
    pub case: String,
    pub cell_ms: f64,
    pub python_ms: f64,
}

impl RecordedCall {
    /// How many times a running Python's time the cell took, without the floor.
    pub fn times(&self) -> f64 {
        (self.cell_ms - FLOOR_MS).max(0.0) / self.python_ms
    }
}

impl SkillCalls {
    /// The median of its calls.
    pub fn times(&self) -> Option<f64> {
        median(self.calls.iter().map(RecordedCall::times).collect())
    }
}

/// The median of all skills.
pub fn median_times(skills: &[SkillCalls]) -> Option<f64> {
    median(skills.iter().filter_map(SkillCalls::times).collect())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Bakes the skills of the pinned registry anew and measures their calls, one after the other. What fails is noted, and left out.
pub fn measure_recorded_calls(
    host: &Host,
    cases: &Cases,
    globs: &[String],
    progress: &dyn Progress,
) -> Result<Vec<SkillCalls>, MatrixError> {
    host.install()?;
    let found = discover_skills(host, &Source::Pinned, globs)?;
    let skills: Vec<&Skill> = found.iter().filter_map(|(_, skill)| skill.as_ref().ok()).collect();
    let native = NativeEnvironment::prepare(host, &skills, progress).map_err(MatrixError::Native)?;
    let mut measured = Vec::new();
    for skill in skills {
        if cases.example_call(skill.id(), CELL_PLACES).is_none() {
            continue;
        }
        progress.step(&format!("measuring {}", skill.id()));
        match host.build(skill, &WarmUp::Manifest, &Limits::default()) {
            Ok((_, report)) => measured.push(measure_skill(host, skill, &report, cases, &native, progress)),
            Err(error) => progress.note(&format!("`{}` can't be baked: {error}", skill.id())),
        }
    }
    Ok(measured)
}

fn measure_skill(
    host: &Host,
    skill: &Skill,
    report: &BakeReport,
    cases: &Cases,
    native: &NativeEnvironment,
    progress: &dyn Progress,
) -> SkillCalls {
    let all = cases.cases_of(skill.id(), CELL_PLACES).filter(|case| case.not_recorded.is_none());
    let mut calls = Vec::new();
    for case in all.filter(|case| case.recorded_ending() == Ending::Succeeds) {
        let measured = time_in_cells(host, skill, &case)
            .and_then(|cell_ms| Ok((cell_ms, native.time_in_python(skill, cases, case.name())?)));
        match measured {
            Ok((cell_ms, python_ms)) => calls.push(RecordedCall { case: case.name().to_owned(), cell_ms, python_ms }),
            Err(why) => progress.note(&format!("`{}#{}` is left out: {why}", skill.id(), case.name())),
        }
    }
    let (warmth, cold_reason, bake_ms) =
        (report.warmth.clone(), report.cold_reason.clone(), round_figure(report.total_ms));
    SkillCalls { skill: skill.id().to_owned(), warmth, cold_reason, bake_ms, calls }
}

fn time_in_cells(host: &Host, skill: &Skill, case: &super::cases::Case) -> Result<f64, String> {
    let mut prepared = PreparedCase::new(host, case)?;
    prepared.call.validate = false;
    let failed = || "it does not succeed in a cell".to_owned();
    time_of_success(&prepared, skill).ok_or_else(failed)?;
    let mut cell = Series::new("cell");
    let began = Instant::now();
    while cell.count() < MAX_CALLS && (cell.count() < 3 || began.elapsed() < MAX_TIME) {
        cell.add(time_of_success(&prepared, skill).ok_or_else(failed)?);
    }
    cell.percentile_ms(50).ok_or_else(failed)
}
