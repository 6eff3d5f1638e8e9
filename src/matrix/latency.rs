//! What a skill's calls cost: the image, the first call, a call; and a Python process beside it.

use std::time::{Duration, Instant};

use serde_json::json;

use super::model::{SkillFigures, rounded};
use super::native::Outside;
use super::parity::Cases;
use crate::bench::Series;
use crate::call::Call;
use crate::host::Host;
use crate::image::WarmUp;
use crate::limits::Limits;
use crate::skill::Skill;
use crate::tier::{Choice, Tier};

/// Calls, unless they take long.
const CALLS: usize = 200;
const LONG: Duration = Duration::from_secs(2);

/// Measures one skill. What can't be measured stays empty.
pub fn measure(host: &Host, skill: &Skill, cases: &Cases, outside: Option<&Outside>, figures: &mut SkillFigures) {
    let Ok((_, baked)) = host.build(skill, &WarmUp::Manifest, &Limits::default()) else { return };
    figures.bake_ms = Some(rounded(baked.total_ms));
    figures.image_bytes = Some(rounded(baked.image_bytes as f64) as u64);
    let (name, params) = cases.example(skill.id()).unwrap_or_else(|| ("{}".to_owned(), json!({})));
    let mut call = Call::new(params);
    call.validate = false;
    call.tier = Choice::Tier(Tier::Wasm);
    // Another host has no image mapped: its first call is what the first of a process costs, compiled code apart.
    let Some(fresh) = host.fresh().ok().filter(|fresh| fresh.install().is_ok()) else { return };
    let started = Instant::now();
    let Ok(first) = fresh.call(skill, &call) else { return };
    figures.cell_cold_ms = Some(ms(started.elapsed()));
    figures.call = Some(format!("{name}: {}", first.outcome.name()));
    let mut cell = Series::new("cell");
    let began = Instant::now();
    while cell.len() < CALLS && began.elapsed() < LONG {
        let started = Instant::now();
        if host.call(skill, &call).is_err() {
            return;
        }
        cell.add(started.elapsed());
    }
    figures.cell_warm_ms = cell.percentile_ms(50).map(rounded);
    if let Some(outside) = outside
        && let Ok((process, warm)) = outside.latency(skill, call.params())
    {
        figures.native_process_ms = Some(rounded(process));
        figures.native_warm_ms = Some(rounded(warm));
    }
}

fn ms(time: Duration) -> f64 {
    rounded(time.as_secs_f64() * 1e3)
}

/// The machine in a few words.
pub fn machine() -> String {
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
