//! What is left of a cell, and what it means: a result, an exception, a limit, or a crash inside the cell.

use std::time::Duration;

use wasmtime::Trap;

use super::{PartFault, State};
use crate::wasi::Stop;
use skillcell_limits::LimitKind;
use skillcell_limits::outcome::{Outcome, Raised};
use skillcell_vfs::WrittenFile;

/// What a finished cell leaves behind.
#[derive(Debug)]
pub struct Ending {
    pub outcome: Outcome,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// What a script made or changed in its folder.
    pub files: Vec<WrittenFile>,
    pub memory_peak_bytes: u64,
    pub host_calls: u64,
    pub fuel_left: Option<u64>,
    /// A file of ours that could not be read while the cell ran: the cache is damaged.
    pub source_fault: Option<String>,
    /// Code that it needed and that could not be had.
    pub part_fault: Option<PartFault>,
    /// What it waited for parts of the code to be compiled, which its deadline did not count.
    pub waited_for_parts: Duration,
    /// It ended while a skill's image was made, before any call.
    pub while_baking: bool,
}

impl Ending {
    pub(super) fn new(ran: wasmtime::Result<()>, state: &mut State, fuel_left: Option<u64>) -> Ending {
        Ending {
            while_baking: false,
            part_fault: ran.as_ref().err().and_then(|error| error.downcast_ref::<PartFault>()).cloned(),
            waited_for_parts: state.waited_for_parts,
            outcome: match ran {
                Ok(()) => outcome_of_return(state),
                Err(error) => outcome_of_error(&error, state),
            },
            source_fault: state.wasi.vfs.source_fault().map(ToString::to_string),
            stdout: state.wasi.vfs.stdout.take(),
            stderr: state.wasi.vfs.stderr.take(),
            files: state.wasi.vfs.written_files(),
            memory_peak_bytes: state.memory.peak,
            host_calls: state.wasi.host_calls,
            fuel_left,
        }
    }
}

/// The cell ran to its end: it gave a result, or an exception.
fn outcome_of_return(state: &mut State) -> Outcome {
    let (denied, limit) = (state.memory.denied, state.wasi.vfs.limits_hit());
    match state.door.take_outcome("cell", |raised| limit_behind(raised, denied, limit)) {
        Some(outcome) => outcome,
        // Too little memory even to report the exception.
        None if denied => Outcome::Exceeded(LimitKind::Memory, None),
        None => Outcome::crash("the cell ended without a result"),
    }
}

/// A limit that the skill saw as an exception, and did not handle: memory that was denied, or a limit of its files.
fn limit_behind(raised: &Raised, memory_denied: bool, file_limit: Option<LimitKind>) -> Option<LimitKind> {
    match raised.errno {
        _ if raised.out_of_memory && memory_denied => Some(LimitKind::Memory),
        // WASI `ENOSPC` (51) and `EMFILE` (33). Any other errno has another cause.
        Some(51 | 33) => file_limit,
        _ => None,
    }
}

/// The cell was stopped from outside, or crashed.
fn outcome_of_error(error: &wasmtime::Error, state: &State) -> Outcome {
    match error.downcast_ref::<Stop>() {
        Some(Stop::Exceeded(limit)) => return Outcome::Exceeded(*limit, None),
        Some(Stop::Cancelled) => return Outcome::Cancelled,
        Some(Stop::Exit(status)) => {
            let message = format!("the skill ended its interpreter with status {status}");
            let raised = Raised::of_host("SystemExit", message);
            return Outcome::Raised(Raised { exit_code: Some(i64::from(*status)), ..raised });
        }
        _ => {}
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => Outcome::Exceeded(LimitKind::Recursion, None),
        Some(Trap::OutOfFuel) => Outcome::Exceeded(LimitKind::Fuel, None),
        _ if state.memory.denied => Outcome::Exceeded(LimitKind::Memory, None),
        Some(trap) => Outcome::crash(format!("the interpreter crashed inside its cell: {trap}")),
        None => Outcome::crash(format!("the interpreter crashed inside its cell: {}", error.root_cause())),
    }
}
