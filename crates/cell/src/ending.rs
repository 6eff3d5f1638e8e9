//! What is left of a cell, and what it means: a result, an exception, a limit, or a crash inside the cell.

use serde_json::value::RawValue;
use wasmtime::Trap;

use super::State;
use crate::wasi::Stop;
use skillcell_limits::LimitKind;
use skillcell_limits::outcome::{Outcome, Raised};

/// What a finished cell leaves behind.
#[derive(Debug)]
pub struct Ending {
    pub outcome: Outcome,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub memory_peak_bytes: u64,
    pub host_calls: u64,
    pub fuel_left: Option<u64>,
    /// A file of ours that could not be read while the cell ran: the cache is damaged.
    pub source_fault: Option<String>,
    /// It ended while a skill's image was made, before any call.
    pub while_baking: bool,
}

impl Ending {
    pub(super) fn new(ran: wasmtime::Result<()>, state: &mut State, fuel_left: Option<u64>) -> Ending {
        Ending {
            while_baking: false,
            outcome: match ran {
                Ok(()) => outcome_of_return(state),
                Err(error) => outcome_of_error(&error, state),
            },
            source_fault: state.wasi.vfs.source_fault().map(ToString::to_string),
            stdout: std::mem::take(&mut state.wasi.vfs.stdout.bytes),
            stderr: std::mem::take(&mut state.wasi.vfs.stderr.bytes),
            memory_peak_bytes: state.memory.peak,
            host_calls: state.wasi.host_calls,
            fuel_left,
        }
    }
}

/// The cell ran to its end: it gave a result, or an exception.
fn outcome_of_return(state: &mut State) -> Outcome {
    if let Some(result) = state.door.result.take() {
        return match String::from_utf8(result).map(one_line).map(RawValue::from_string) {
            Ok(Ok(json)) => Outcome::Returned(json),
            _ => crash_outcome("the cell handed over a result that is not JSON"),
        };
    }
    match state.door.raised.take() {
        Some(raised) => match limit_behind(&raised, state) {
            Some(limit) => Outcome::Exceeded(limit, Some(raised)),
            None => Outcome::Raised(raised),
        },
        // Too little memory even to report the exception.
        None if state.memory.denied => Outcome::Exceeded(LimitKind::Memory, None),
        None => crash_outcome("the cell ended without a result"),
    }
}

/// Replaces line ends, which in JSON are only whitespace between values, so that readers of lines get the result as one.
fn one_line(json: String) -> String {
    if json.contains(['\n', '\r']) { json.replace(['\n', '\r'], " ") } else { json }
}

/// A limit that the skill saw as an exception, and did not handle.
fn limit_behind(raised: &Raised, state: &State) -> Option<LimitKind> {
    match raised.errno {
        _ if raised.out_of_memory && state.memory.denied => Some(LimitKind::Memory),
        // WASI `ENOSPC` (51) and `EMFILE` (33). Any other errno has another cause.
        Some(51 | 33) => state.wasi.vfs.limits_hit(),
        _ => None,
    }
}

/// The cell was stopped from outside, or crashed.
fn outcome_of_error(error: &wasmtime::Error, state: &State) -> Outcome {
    match error.downcast_ref::<Stop>() {
        Some(Stop::Exceeded(limit)) => return Outcome::Exceeded(*limit, None),
        Some(Stop::Cancelled) => return Outcome::Cancelled,
        Some(Stop::Exit(status)) => {
            return Outcome::Raised(Raised::of_host(
                "SystemExit",
                format!("the skill ended its interpreter with status {status}"),
            ));
        }
        _ => {}
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => Outcome::Exceeded(LimitKind::Recursion, None),
        Some(Trap::OutOfFuel) => Outcome::Exceeded(LimitKind::Fuel, None),
        Some(Trap::Interrupt) => Outcome::Exceeded(LimitKind::Deadline, None),
        _ if state.memory.denied => Outcome::Exceeded(LimitKind::Memory, None),
        Some(trap) => crash_outcome(&format!("the interpreter crashed inside its cell: {trap}")),
        None => crash_outcome(&format!("the interpreter crashed inside its cell: {error}")),
    }
}

fn crash_outcome(message: &str) -> Outcome {
    Outcome::Raised(Raised::of_host("CellCrash", message))
}
