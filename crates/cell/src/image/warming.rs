//! Warming: calls by which a skill's image is made warm, and the proof that they change nothing.
//!
//! ```text
//!   imported ──▶ other params, times, random numbers: what does a call leave?  ──┐
//!       │  └───▶ the calls, thrice: is it the same, or nothing? ──▶ settled ─┐ ◀─┘
//!       │                                                                    ├─▶ the same calls on both give the same?
//!       └────────────────────────────────────────────────────────────────────┘        yes: the warm image
//!                                                                                     no:  only imports, else cold
//! ```
//!
//! All of it runs in cells to which nothing is granted, within the bounds below. What the skill does there is its own affair: a
//! skill that fools the comparison fools its own calls.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::bake::report_of;
use super::snapshot::Snapshot;
use super::{BakeError, BakeReport, Baker};
use crate::runtime_kind::{call_python, run_source};
use crate::wasi::Practice;
use crate::{Cell, HotPages, MemoryImage};
use skillcell_door::{Denials, Door};
use skillcell_limits::outcome::Outcome;
use skillcell_limits::{LimitKind, Limits};
use skillcell_packages::skill::Skill;
use skillcell_quote::ascii_json;
use skillcell_vfs::now_ns;

/// How long calls may take that an image is warmed by, in one interpreter; who takes longer is stopped, and stays cold.
const CALLS_TIME: Duration = Duration::from_secs(3);
/// How long what the skill's functions import may take, before that.
const LATE_TIME: Duration = Duration::from_secs(20);
/// No further call is begun after this.
const ENOUGH: Duration = Duration::from_secs(1);
const DAY_NS: u64 = 24 * 3600 * 1_000_000_000;
/// What one of the calls that are compared may take.
const COMPARED_TIME: Duration = Duration::from_secs(3);
/// And all of them.
const COMPARING_TIME: Duration = Duration::from_secs(5);
/// The numbers of the clocks and random numbers: see [`Practice`].
const OTHER: u32 = 1;
const KEPT: u32 = 0;
const COMPARED: u32 = 2;
const MAX_RESULT: u64 = 1 << 24;

/// What of the calls came into an image.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warmth {
    /// Nothing: no calls were found, or they can't be made without changing what later ones give.
    #[default]
    Cold,
    /// What they imported and compiled, of which nothing is the skill's.
    Libraries,
    /// All that they left warm.
    Calls,
}

/// A skill that was imported, its image to be.
pub(super) struct Imported<'a> {
    pub skill: &'a Skill,
    pub limits: &'a Limits,
    /// As JSON.
    pub calls: &'a [String],
    /// Its memory, before anything was called in it.
    pub snapshot: &'a Snapshot,
    pub memories: MemoryImage,
    pub entry: u32,
}

/// An image about to be, with what its calls showed.
pub(super) struct Warmed {
    pub snapshot: Snapshot,
    pub report: BakeReport,
    pub hot: Option<HotPages>,
}

/// What came of making the same calls on a warm and on a cold image.
enum Comparison {
    Same(Box<Warmed>),
    /// With what differs first.
    Differs(String),
}

/// What the calls learnt.
#[derive(Default, Deserialize)]
struct Learnt {
    reason: Option<String>,
    modules: Value,
    patterns: Value,
    failures: u32,
    first_failure: Option<String>,
}

impl Learnt {
    fn stopped() -> Learnt {
        let reason =
            format!("its calls took longer than {CALLS_TIME:?}, went over a limit, or ended their interpreter");
        Learnt { reason: Some(reason), ..Learnt::default() }
    }
}

/// What the other interpreter keeps.
#[derive(Deserialize)]
struct Other {
    kept: Value,
    inputs: Vec<String>,
}

/// What a call shows of itself.
#[derive(PartialEq, Eq)]
struct Shown {
    outcome: String,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    entropy_bytes: u64,
    left_behind: (u32, u32),
    denials: usize,
}

impl Shown {
    /// What differs first.
    fn difference(&self, other: &Shown) -> Option<&'static str> {
        let [one, two] = [self, other];
        let differs = [
            ("result", one.outcome != two.outcome),
            ("output", (&one.stdout, &one.stderr) != (&two.stdout, &two.stderr)),
            ("random numbers", one.entropy_bytes != two.entropy_bytes),
            ("files", one.left_behind != two.left_behind),
            ("requests", one.denials != two.denials),
        ];
        differs.iter().find(|(_, differs)| *differs).map(|(what, _)| *what)
    }
}

impl Baker<'_> {
    /// The image, as warm as it can be without a difference to calls.
    pub(super) fn warm_image(&self, imported: &Imported<'_>) -> Result<Warmed, BakeError> {
        let started = Instant::now();
        let (learnt, mut reason) = match self.try_calls(imported)? {
            (learnt, Some(mut cell)) => match self.settled_and_compared(&mut cell, imported)? {
                Comparison::Same(warmed) => {
                    return Ok(finish(*warmed, &learnt, Warmth::Calls, None, imported, started));
                }
                Comparison::Differs(reason) => (learnt, reason),
            },
            (learnt, None) => {
                let reason = learnt.reason.clone().unwrap_or_else(|| "its calls did not come to an end".to_owned());
                (learnt, reason)
            }
        };
        let has_libraries =
            [&learnt.modules, &learnt.patterns].iter().any(|list| list.as_array().is_some_and(|list| !list.is_empty()));
        if has_libraries {
            let mut cell = self.practising(imported, KEPT, imported.limits)?;
            let words =
                json!([json!({"modules": learnt.modules, "patterns": learnt.patterns}).to_string()]).to_string();
            let _ = run_source(
                &mut cell,
                &format!("from skillcell_guest import warm; warm.libraries(*{})", ascii_json(&words)),
            );
            match self.settled_and_compared(&mut cell, imported)? {
                Comparison::Same(warmed) => {
                    return Ok(finish(*warmed, &learnt, Warmth::Libraries, Some(reason), imported, started));
                }
                Comparison::Differs(why) => reason = format!("{reason}; with its late imports alone, {why}"),
            }
        }
        let mut cell = self.practising(imported, KEPT, imported.limits)?;
        let (snapshot, report) = self.settle(&mut cell)?;
        drop(cell);
        let warmed = Warmed { snapshot, report, hot: None };
        Ok(finish(warmed, &learnt, Warmth::Cold, Some(reason), imported, started))
    }

    /// Makes the calls. A cell only if it may become the image.
    fn try_calls(&self, imported: &Imported<'_>) -> Result<(Learnt, Option<Cell>), BakeError> {
        let mut other = self.practising(imported, OTHER, imported.limits)?;
        let imports_late = self.begin(&mut other, imported.skill, true, true) && shows_nothing(&other);
        if !imports_late {
            other = self.practising(imported, OTHER, imported.limits)?;
        }
        let backwards: Vec<&String> = imported.calls.iter().rev().collect();
        let is_ready = imports_late || self.begin(&mut other, imported.skill, true, false);
        if !is_ready || !self.make_calls(&mut other, &backwards) {
            return Ok((Learnt::stopped(), None));
        }
        let Other { kept, mut inputs } = match reported(&mut other, "warm.other()") {
            Ok(told) => told,
            Err(reason) => return Ok((Learnt { reason: Some(reason), ..Learnt::default() }, None)),
        };
        inputs.extend(outer_inputs(&other));
        drop(other);
        // This one is settled too, in the time of the bake.
        let mut cell = self.practising(imported, KEPT, imported.limits)?;
        let in_order: Vec<&String> = imported.calls.iter().collect();
        if !self.begin(&mut cell, imported.skill, false, imports_late) || !self.make_calls(&mut cell, &in_order) {
            return Ok((Learnt::stopped(), None));
        }
        inputs.extend(outer_inputs(&cell));
        let words = ascii_json(&json!([kept.to_string(), json!(inputs).to_string()]).to_string());
        let mut learnt: Learnt = match reported(&mut cell, &format!("warm.finish(*{words})")) {
            Ok(told) => told,
            Err(reason) => return Ok((Learnt { reason: Some(reason), ..Learnt::default() }, None)),
        };
        if cell.state().memory.denied || cell.state().wasi.vfs.limits_hit().is_some() {
            learnt.reason = Some("its calls went over a limit".to_owned());
        } else if cell.state().wasi.vfs.left_behind() != (0, 0) {
            learnt.reason.get_or_insert_with(|| "a call leaves files open, or in scratch space".to_owned());
        }
        let is_fit = learnt.reason.is_none();
        Ok((learnt, is_fit.then_some(cell)))
    }

    /// Makes a cell ready for calls; with `late`, it imports what the skill's functions would import when they are called. Not if
    /// it was stopped, since nobody knows in what state its interpreter is then.
    fn begin(&self, cell: &mut Cell, skill: &Skill, is_other: bool, late: bool) -> bool {
        let words = ascii_json(&json!([skill.guest_folder(), skill.package(), i32::from(is_other)]).to_string());
        let mut source = format!("from skillcell_guest import warm; warm.begin(*{words})");
        if late {
            source.push_str("; warm.import_late()");
        }
        self.within(cell, LATE_TIME, |cell| matches!(run_source(cell, &source), Ok(true)))
    }

    /// Makes calls in a cell until there were enough. What became of them is for the cell to tell.
    fn make_calls(&self, cell: &mut Cell, calls: &[&String]) -> bool {
        let started = Instant::now();
        self.within(cell, CALLS_TIME, |cell| {
            let mut rest = calls.iter().take_while(|_| started.elapsed() <= ENOUGH);
            rest.all(|call| {
                run_source(cell, &format!("warm.make(*{})", ascii_json(&json!([call]).to_string()))).is_ok()
            })
        })
    }

    /// Does something in a cell, which is stopped after a time if that comes before its own deadline.
    fn within(&self, cell: &mut Cell, time: Duration, action: impl FnOnce(&mut Cell) -> bool) -> bool {
        let later = cell.state().deadline;
        let soon = later.min(Instant::now() + time);
        let watch = self.machine.watch_deadline(cell, soon);
        set_deadline(cell, soon);
        let done = action(cell);
        drop(watch);
        set_deadline(cell, later);
        done && cell.go_on().is_ok()
    }

    /// The cell's image, if its calls are those of the one that nothing was called in; else what differs.
    fn settled_and_compared(&self, cell: &mut Cell, imported: &Imported<'_>) -> Result<Comparison, BakeError> {
        let Ok((snapshot, report)) = self.settle(cell) else {
            return Ok(Comparison::Differs("it can't be completed after its calls".to_owned()));
        };
        let warm = self.unsealed_image(&snapshot)?;
        let started = Instant::now();
        let mut pages = Vec::new();
        for params in imported.calls {
            let (cold, _) = self.show_call(&imported.memories, imported, params)?;
            let (warm, written) = self.show_call(&warm, imported, params)?;
            if let Some(what) = cold.difference(&warm) {
                return Ok(Comparison::Differs(format!("the {what} of a call would differ")));
            }
            pages.push(written);
            if started.elapsed() > COMPARING_TIME {
                return Ok(Comparison::Differs("its calls take too long to be compared".to_owned()));
            }
        }
        let hot = Some(HotPages::of_most(&pages));
        Ok(Comparison::Same(Box::new(Warmed { snapshot, report, hot })))
    }

    /// One call in a fresh cell, with the pages that it wrote.
    fn show_call(
        &self,
        memories: &MemoryImage,
        imported: &Imported<'_>,
        params: &str,
    ) -> Result<(Shown, HotPages), BakeError> {
        let mut limits = imported.limits.clone();
        limits.deadline = COMPARED_TIME;
        let denials = std::sync::Arc::new(Denials::default());
        let call = Door::pack(params.as_bytes(), None);
        let door = Door { call, result_cap: MAX_RESULT, denials: Some(denials.clone()), ..Door::default() };
        let monotonic = imported.snapshot.state.monotonic_ns;
        let inputs = self.cell_inputs(imported.skill.mounts(), door, &limits, monotonic);
        let mut cell = self.machine.new_cell(memories, inputs)?;
        cell.store().data_mut().wasi.practice = Some(Practice::new(COMPARED, now_ns() / DAY_NS * DAY_NS));
        let ran = call_python(&mut cell, imported.entry);
        let memory = cell.memory();
        let pages = HotPages::written_pages(memory.data(&mut *cell.store())).unwrap_or_default();
        let (entropy_bytes, left_behind) = (cell.state().wasi.entropy_bytes, cell.state().wasi.vfs.left_behind());
        let ending = cell.take_ending(ran);
        if let Some(fault) = ending.source_fault {
            return Err(BakeError::Damaged(fault));
        }
        if let Some(fault) = ending.part_fault {
            return Err(BakeError::Engine(fault.into()));
        }
        let outcome = match &ending.outcome {
            Outcome::Returned(result) => result.get().to_owned(),
            other => format!("{other:?}"),
        };
        let (stdout, stderr) = (ending.stdout, ending.stderr);
        let denials = denials.take().len();
        Ok((Shown { outcome, stdout, stderr, entropy_bytes, left_behind, denials }, pages))
    }

    /// A cell that goes on where the skill was imported, with clocks and random numbers of its own.
    fn practising(&self, imported: &Imported<'_>, number: u32, limits: &Limits) -> Result<Cell, BakeError> {
        let denials = std::sync::Arc::new(Denials::default());
        let door = Door { denials: Some(denials), ..super::bake::baking_door() };
        let inputs = self.cell_inputs(imported.skill.mounts(), door, limits, imported.snapshot.state.monotonic_ns);
        let mut cell = self.machine.new_cell(&imported.memories, inputs)?;
        cell.store().data_mut().wasi.practice = Some(Practice::new(number, now_ns()));
        Ok(cell)
    }

    /// Completes an image in its cell.
    pub(super) fn settle(&self, cell: &mut Cell) -> Result<(Snapshot, BakeReport), BakeError> {
        let ran = run_source(cell, "bake.settle()");
        let report = report_of(cell, ran)?;
        if cell.state().memory.denied {
            let stop = crate::wasi::Stop::Exceeded(LimitKind::Memory);
            return Err(super::bake::ending_error(cell, Err(wasmtime::Error::new(stop))));
        }
        Ok((self.take_snapshot(cell, report.entry)?, report))
    }

    /// A snapshot as cells can start from it, without being kept.
    pub(super) fn unsealed_image(&self, snapshot: &Snapshot) -> Result<MemoryImage, BakeError> {
        let compiled = snapshot.precompile(&self.machine)?;
        let file = self.runtime.cache.unnamed_file(&[compiled.bytes()])?;
        Ok(self.machine.new_image(compiled.into_image(file), snapshot.state.globals.clone())?)
    }
}

/// When computing and waiting in a cell ends.
fn set_deadline(cell: &mut Cell, deadline: Instant) {
    let state = cell.store().data_mut();
    (state.deadline, state.wasi.deadline) = (deadline, Some(deadline));
}

/// Whether nothing that was done in a cell would be missed in a call, or be another in each: what it imported may be in the image though
/// none of the calls that are compared imports it.
fn shows_nothing(cell: &Cell) -> bool {
    let wasi = &cell.state().wasi;
    let has_printed = !wasi.vfs.stdout.bytes.is_empty() || !wasi.vfs.stderr.bytes.is_empty();
    wasi.entropy_bytes == 0 && !has_printed && wasi.vfs.left_behind() == (0, 0) && outer_inputs(cell).is_empty()
}

/// What a cell says to this, or why it says nothing.
fn reported<T: for<'de> Deserialize<'de>>(cell: &mut Cell, source: &str) -> Result<T, String> {
    let silent = || "it does not tell what its calls leave".to_owned();
    let ran = run_source(cell, source);
    let state = cell.store().data_mut();
    if let Some(raised) = state.door.raised.take() {
        return Err(raised.message);
    }
    let told = state.door.report.take().filter(|_| ran.is_ok()).ok_or_else(silent)?;
    serde_json::from_value(told).map_err(|_| silent())
}

/// What was looked at outside of the interpreter that differs from call to call.
fn outer_inputs(cell: &Cell) -> Vec<String> {
    let state = cell.state();
    let files = (state.wasi.vfs.grantable_looks() > 0).then(|| "files that a call may be granted".to_owned());
    let web = state.door.denials.as_ref().is_some_and(|denials| !denials.take().is_empty());
    files.into_iter().chain(web.then(|| "the network".to_owned())).collect()
}

fn finish(
    warmed: Warmed,
    learnt: &Learnt,
    warmth: Warmth,
    reason: Option<String>,
    imported: &Imported<'_>,
    started: Instant,
) -> Warmed {
    let report = BakeReport {
        warmth,
        cold_reason: reason,
        warm_up_calls: imported.calls.len() as u32,
        warm_up_failures: learnt.failures,
        warm_up: Some(learnt.first_failure.clone().unwrap_or_else(|| "ok".to_owned())),
        warm_up_ms: started.elapsed().as_secs_f64() * 1e3,
        ..warmed.report
    };
    Warmed { report, ..warmed }
}
