//! Measures the tiers in interleaved rounds, so that other load on the machine affects all of them alike.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{CompareError, Comparison, Figures, Missing, Plan};
use crate::bench::Series;
use skillcell_cache::progress::Progress;
use skillcell_child::{Finished, Inherited, Keep, Program};
use skillcell_host::Host;
use skillcell_host::call::{Call, Outcome, Report};
use skillcell_packages::skill::Skill;
use skillcell_policy::{Choice, Tier};

const ROUNDS: usize = 5;
/// How long a cold start may take.
const COLD_START_TIMEOUT: Duration = Duration::from_secs(600);
/// Cold starts in each round.
const COLD_STARTS_PER_ROUND: usize = 1;

/// Runs the plan. A tier that this machine lacks, or in which the skill does not return, is missing, with the reason.
pub fn run_comparison(
    host: &Host,
    skill: &Skill,
    call: &Call,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<(Comparison, Vec<Missing>), CompareError> {
    let (mut tiers, mut missing) = (Vec::new(), Vec::new());
    for &tier in &plan.tiers {
        progress.step(&format!("getting {} ready for the tier {tier}", skill.id()));
        match first_call(host, skill, &call_in_tier(call, tier)) {
            Ok(figures) => tiers.push(Figures { footprint: host.footprint(tier, skill)?, ..figures }),
            Err((why, failed)) => missing.push(Missing { tier, why, failed }),
        }
    }
    if tiers.is_empty() {
        let reasons: Vec<_> = missing.iter().map(|it| format!("{}: {}", it.tier, it.why)).collect();
        return Err(CompareError::Nothing(reasons.join("; ")));
    }
    progress.step(&format!("measuring {}", skill.id()));
    for round in 0..ROUNDS {
        for figures in &mut tiers {
            let call = call_in_tier(call, figures.tier);
            let calls = if figures.tier == Tier::Wasm { plan.cell_calls } else { plan.calls };
            for _ in 0..calls.div_ceil(ROUNDS) {
                let started = Instant::now();
                let report = host.call(skill, &call)?;
                figures.warm.add(started.elapsed());
                record_memory(figures, &report);
                figures.steady &= returned_value(&report).is_ok_and(|result| result == figures.result);
            }
            for _ in 0..plan.cold.as_ref().map_or(0, |_| COLD_STARTS_PER_ROUND) {
                time_cold_start(plan, figures)?;
            }
        }
        progress.fraction(round as u64 + 1, ROUNDS as u64);
    }
    // A tier in which the skill ran and failed differs; one that could not run it does not count.
    let same = tiers.iter().all(|figures| figures.steady && figures.result == tiers[0].result);
    let equal = same && !missing.iter().any(|it| it.failed);
    Ok((Comparison { skill: skill.id().to_owned(), tiers, equal }, missing))
}

fn call_in_tier(call: &Call, tier: Tier) -> Call {
    let mut call = call.clone();
    call.tier = Choice::Tier(tier);
    call
}

/// Makes the first call, which prepares the tier. An error is the reason, and whether the skill ran.
fn first_call(host: &Host, skill: &Skill, call: &Call) -> Result<Figures, (String, bool)> {
    let started = Instant::now();
    let report = host.call(skill, call).map_err(|error| (error.to_string(), false))?;
    let first_ms = started.elapsed().as_secs_f64() * 1e3;
    let ran = !matches!(report.outcome, Outcome::Refused);
    let result = returned_value(&report).map_err(|why| (why, ran))?;
    let mut figures = Figures {
        tier: report.tier,
        first_ms,
        cold: Series::new("cold"),
        warm: Series::new("warm"),
        memory_bytes: None,
        footprint: super::Footprint::default(),
        result,
        steady: true,
    };
    record_memory(&mut figures, &report);
    Ok(figures)
}

fn returned_value(report: &Report) -> Result<Value, String> {
    match &report.outcome {
        Outcome::Returned(json) => Ok(serde_json::from_str(json.get()).unwrap_or(Value::Null)),
        Outcome::Refused => Err(report.denials.iter().map(|denial| &*denial.message).collect::<Vec<_>>().join("; ")),
        other => Err(other.describe()),
    }
}

fn record_memory(figures: &mut Figures, report: &Report) {
    let bytes = Some(report.usage.memory_peak_bytes).filter(|bytes| *bytes > 0);
    figures.memory_bytes = figures.memory_bytes.max(bytes);
}

fn time_cold_start(plan: &Plan, figures: &mut Figures) -> Result<(), CompareError> {
    let Some((program, words)) = &plan.cold else { return Ok(()) };
    // In the working directory, since the skill may be a relative path.
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let mut command = Program::new(program, &folder);
    command.args(words).args(["--tier", figures.tier.name()]).inherit_env(Inherited::Everything);
    command.keep(Keep::First(0), Keep::First(0)).may_outlive_us();
    let started = Instant::now();
    let finished = command.finish(COLD_START_TIMEOUT)?;
    let time = started.elapsed();
    let what = match finished {
        Finished::Ended(said) if said.status.success() => {
            figures.cold.add(time);
            return Ok(());
        }
        Finished::Ended(said) => format!("gave {}", said.status),
        Finished::TookTooLong => format!("took longer than {COLD_START_TIMEOUT:?}"),
    };
    Err(std::io::Error::other(format!("a cold start in the tier {} {what}", figures.tier)).into())
}
