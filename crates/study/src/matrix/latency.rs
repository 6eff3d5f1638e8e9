//! What a skill's calls cost: the image, the first call, a call; and a Python process beside it. What is measured is the
//! skill's first recorded call that succeeds, never one that fails.

use std::time::{Duration, Instant};

use super::cases::{Cases, Ending};
use super::model::{SkillFigures, round_figure};
use super::native::NativeEnvironment;
use super::parity::{CELL_PLACES, PreparedCase};
use crate::bench::Series;
use skillcell_cell::image::WarmUp;
use skillcell_host::Host;
use skillcell_host::call::Outcome;
use skillcell_limits::Limits;
use skillcell_packages::skill::Skill;

/// The most calls, and the time after which no more are made.
const MAX_CALLS: usize = 200;
const MAX_TIME: Duration = Duration::from_secs(2);

/// Measures one skill. What can't be measured stays empty.
pub fn measure_latency(
    host: &Host,
    skill: &Skill,
    cases: &Cases,
    native: Option<&NativeEnvironment>,
    figures: &mut SkillFigures,
) {
    let Ok((_, baked)) = host.build(skill, &WarmUp::Manifest, &Limits::default()) else { return };
    figures.bake_ms = Some(round_figure(baked.total_ms));
    figures.image_bytes = Some(round_figure(baked.image_bytes as f64) as u64);
    let Some(case) = cases.example_call(skill.id(), CELL_PLACES) else { return };
    // Its host has no image mapped, so its first call costs what the first call of a process does, except for loading
    // compiled code.
    let Some(mut prepared) = PreparedCase::new(host, &case).ok().filter(|prepared| prepared.host.install().is_ok())
    else {
        return;
    };
    prepared.call.validate = false;
    let Some(first) = time_of_success(&prepared, skill) else { return };
    figures.call = Some(case.name().to_owned());
    figures.requests = case.http_requests.len();
    figures.cell_cold_ms = Some(round_figure(first.as_secs_f64() * 1e3));
    let mut cell = Series::new("cell");
    let began = Instant::now();
    while cell.count() < MAX_CALLS && began.elapsed() < MAX_TIME {
        let Some(time) = time_of_success(&prepared, skill) else { break };
        cell.add(time);
    }
    figures.cell_warm_ms = cell.percentile_ms(50).map(round_figure);
    if let Some(Ok((process, warm))) = native.map(|native| native.measure_latency(skill, cases)) {
        figures.native_process_ms = Some(round_figure(process));
        figures.native_warm_ms = Some(round_figure(warm));
    }
}

/// How long the call took, if it succeeded.
pub(super) fn time_of_success(prepared: &PreparedCase, skill: &Skill) -> Option<Duration> {
    let started = Instant::now();
    let report = prepared.host.call(skill, &prepared.call).ok()?;
    let time = started.elapsed();
    let Outcome::Returned(json) = report.outcome else { return None };
    let result = serde_json::from_str(json.get()).ok()?;
    (Ending::of_result(&result) == Ending::Succeeds).then_some(time)
}

/// The machine in a few words.
pub fn describe_machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name.to_owned()));
    format!(
        "Measured on {} {}, {cores} cores",
        std::env::consts::OS,
        model.as_deref().unwrap_or(std::env::consts::ARCH)
    )
}
