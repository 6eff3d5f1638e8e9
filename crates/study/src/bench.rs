//! Measures a skill's calls beside the alternatives, interleaved in one run: absolute times on a shared machine mean
//! little, ratios between neighbours hold.

mod memory;
mod native;
mod stats;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::native::NativeRunner;
pub use self::stats::Series;
use skillcell_cache::progress::Progress;
use skillcell_host::call::{Call, Outcome, Report};
use skillcell_host::{Host, HostError};
use skillcell_packages::skill::Skill;

/// How much to measure.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Calls in fresh cells.
    pub calls: usize,
    /// Threads for the second throughput figure.
    pub threads: usize,
    /// Cells alive at once when their memory is measured.
    pub live_cells: usize,
    /// How long each throughput figure is measured.
    pub throughput_time: Duration,
    /// Whether a skill that is not of the pinned registry is run natively too, outside of any sandbox. Not by default.
    pub trust_remote_code: bool,
}

impl Default for Plan {
    fn default() -> Plan {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        Plan {
            calls: 1000,
            threads,
            live_cells: 100,
            throughput_time: Duration::from_secs(2),
            trust_remote_code: false,
        }
    }
}

/// What was measured.
#[derive(Debug)]
pub struct Figures {
    pub skill: String,
    pub series: Vec<Series>,
    /// Threads and calls per second.
    pub throughput: Vec<(usize, f64)>,
    /// Medians: set-up, guest, tear-down.
    pub parts: [Duration; 3],
    pub faults_per_call: f64,
    pub bytes_per_live_cell: f64,
    pub resident_bytes: u64,
    /// What could not be measured, and why.
    pub missing: Vec<String>,
}

/// Why a bench has no figures.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error(transparent)]
    Host(#[from] HostError),
    #[error("the skill must return for a bench, and it {outcome}{detail}")]
    Outcome { outcome: &'static str, detail: String },
    #[error("a process of the bench failed")]
    Io(#[from] std::io::Error),
}

/// The alternatives take turns with blocks of cell calls. In blocks, because a process start empties the processor's
/// caches, and the call after it would measure that.
const ROUNDS: usize = 5;
const PASSES_PER_ROUND: usize = 10;
const SKILLS_PER_ROUND: usize = 2;

/// Runs the plan.
pub fn run_bench(
    host: &Host,
    skill: &Skill,
    call: &Call,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<Figures, BenchError> {
    let checked = |call: &Call| require_return(host.call(skill, call)?);
    let mut unbaked = call.clone();
    unbaked.use_image = false;
    // Warms up: the first calls bake the image and map it.
    for _ in 0..20 {
        checked(call)?;
    }
    let mut missing = Vec::new();
    let native =
        prepare_native(host, skill, call, plan, progress).map_err(|why| missing.push(format!("python series: {why}")));
    progress.step("measuring");
    let [mut cell, mut no_image] = [Series::new("cell"), Series::new("cell_no_image")];
    let [mut python_skill, mut python_pass] = [Series::new("python_skill"), Series::new("python_pass")];
    let mut parts: [Vec<Duration>; 3] = Default::default();
    for round in 0..ROUNDS {
        for _ in 0..plan.calls.div_ceil(ROUNDS) {
            let started = Instant::now();
            let report = checked(call)?;
            cell.add(started.elapsed());
            for (all, part) in parts.iter_mut().zip([report.usage.setup, report.usage.guest, report.usage.teardown]) {
                all.push(part);
            }
        }
        let started = Instant::now();
        checked(&unbaked)?;
        no_image.add(started.elapsed());
        if let Ok(native) = &native {
            let passes = (0..PASSES_PER_ROUND).map(|_| native.time_bare_start());
            add_all(&mut python_pass, passes, &mut missing);
            add_all(&mut python_skill, (0..SKILLS_PER_ROUND).map(|_| native.time_skill()), &mut missing);
        }
        progress.fraction(round as u64 + 1, ROUNDS as u64);
    }
    progress.step("measuring throughput");
    let throughput = [1, plan.threads]
        .iter()
        .map(|&threads| Ok((threads, measure_throughput(host, skill, call, threads, plan.throughput_time)?)))
        .collect::<Result<_, BenchError>>()?;
    Ok(Figures {
        skill: skill.id().to_owned(),
        series: vec![cell, no_image, python_skill, python_pass],
        throughput,
        parts: parts.map(|mut all| stats::median(&mut all)),
        faults_per_call: memory::faults_per_call(200, || checked(call).map(drop))?,
        bytes_per_live_cell: memory::bytes_per_live_cell(host, skill, call, plan.live_cells)?,
        resident_bytes: memory::resident_bytes(),
        missing,
    })
}

/// Calls in fresh cells alone, after some that warm up.
pub fn time_calls(host: &Host, skill: &Skill, call: &Call, calls: usize) -> Result<Series, BenchError> {
    let mut cell = Series::new("cell");
    for number in 0..20 + calls {
        let started = Instant::now();
        require_return(host.call(skill, call)?)?;
        if number >= 20 {
            cell.add(started.elapsed());
        }
    }
    Ok(cell)
}

/// Prepares native processes of the skill, outside of any sandbox, unless it is not trusted.
fn prepare_native(
    host: &Host,
    skill: &Skill,
    call: &Call,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<NativeRunner, String> {
    match NativeRunner::refusal(skill, plan.trust_remote_code) {
        Some(why) => Err(why),
        None => NativeRunner::new(host, skill, call, progress),
    }
}

/// Adds the times, and to `missing` the first reason why something could not be measured.
fn add_all(series: &mut Series, times: impl Iterator<Item = Result<Duration, String>>, missing: &mut Vec<String>) {
    for time in times {
        match time {
            Ok(time) => series.add(time),
            Err(why) if missing.is_empty() => missing.push(format!("{}: {why}", series.name)),
            Err(_) => {}
        }
    }
}

fn measure_throughput(
    host: &Host,
    skill: &Skill,
    call: &Call,
    threads: usize,
    time: Duration,
) -> Result<f64, BenchError> {
    let started = Instant::now();
    let counts = std::thread::scope(|scope| {
        let work = || {
            let mut count = 0u64;
            while started.elapsed() < time {
                require_return(host.call(skill, call)?)?;
                count += 1;
            }
            Ok::<u64, BenchError>(count)
        };
        let running: Vec<_> =
            (0..threads).map(|_| scope.spawn(move || skillcell_host::on_enough_stack(work))).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(std::io::Error::other("a thread panicked").into())))
            .collect::<Result<Vec<u64>, BenchError>>()
    })?;
    Ok(counts.iter().sum::<u64>() as f64 / started.elapsed().as_secs_f64())
}

/// An error unless the call returned: the time of a failure says nothing about a call.
fn require_return(report: Report) -> Result<Report, BenchError> {
    let detail = match &report.outcome {
        Outcome::Returned(_) => return Ok(report),
        Outcome::Raised(raised) => format!(" {}: {}", raised.kind, raised.message),
        Outcome::Exceeded(limit, _) => format!(" {limit}"),
        _ => String::new(),
    };
    Err(BenchError::Outcome { outcome: report.outcome.name(), detail })
}

impl Figures {
    pub fn to_json(&self) -> Value {
        let ms = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
        let [setup, guest, teardown] = self.parts;
        json!({
            "schema": 1,
            "skill": self.skill,
            "series": self.series.iter().map(Series::to_json).collect::<Vec<_>>(),
            "throughput": self.throughput.iter()
                .map(|(threads, rate)| json!({"threads": threads, "calls_per_s": rate.round()}))
                .collect::<Vec<_>>(),
            "parts": {"setup_ms": ms(setup), "guest_ms": ms(guest), "teardown_ms": ms(teardown)},
            "faults_per_call": (self.faults_per_call * 10.0).round() / 10.0,
            "bytes_per_live_cell": self.bytes_per_live_cell.round(),
            "resident_bytes": self.resident_bytes,
            "missing": self.missing,
        })
    }
}
