//! Turns the end of a process into an outcome: a result, an exception, a limit or a crash. `cell/ending.rs` does the same for
//! cells.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::channel::End;
use skillcell_door::Door;
use skillcell_limits::LimitKind;
use skillcell_limits::outcome::{Outcome, Raised};

const NO_SPACE: i64 = 28;
const FILE_TOO_LARGE: i64 = 27;
const TOO_MANY_OPEN_FILES: i64 = 24;

/// The exit status of a process.
pub struct ProcessExit {
    pub status: ExitStatus,
    /// A wrapper (bubblewrap, a container engine) reported the status, and reports signal N as 128+N.
    pub via_wrapper: bool,
}

/// The outcome of a container, whose status the engine reports.
pub fn outcome_of_container(end: End, door: &mut Door, status: Option<ExitStatus>, writes: bool) -> Outcome {
    outcome_of(end, door, status.map(|status| ProcessExit { status, via_wrapper: true }), writes)
}

/// The outcome of a process. `writes` says whether it could write to folders of the host: these may be full for other
/// reasons than the scratch limit.
pub fn outcome_of(end: End, door: &mut Door, ended: Option<ProcessExit>, writes: bool) -> Outcome {
    match end {
        End::Exceeded(limit) => Outcome::Exceeded(limit, None),
        End::Garbage => Outcome::crash("the skill wrote something that is no frame on the host's channel"),
        End::Done => door
            .take_outcome("skill", |raised| limit_behind_exception(raised, writes))
            .unwrap_or_else(|| Outcome::crash("the process ended without a result")),
        End::Closed => match ended {
            None => Outcome::crash("the process closed its channel without a result"),
            // A file went over RLIMIT_FSIZE. Python ignores this signal, but native code may be killed by it.
            Some(ended) if ended.signal() == Some(libc::SIGXFSZ) && !writes => {
                Outcome::Exceeded(LimitKind::ScratchBytes, None)
            }
            Some(ended) => outcome_of_exit(&ended),
        },
    }
}

/// The limit that caused an unhandled exception, if one did.
fn limit_behind_exception(raised: &Raised, writes: bool) -> Option<LimitKind> {
    match raised.errno {
        _ if raised.out_of_memory => Some(LimitKind::Memory),
        Some(TOO_MANY_OPEN_FILES) => Some(LimitKind::OpenFiles),
        Some(NO_SPACE | FILE_TOO_LARGE) if !writes => Some(LimitKind::ScratchBytes),
        _ => None,
    }
}

impl ProcessExit {
    /// The signal that ended it or, if a wrapper reported the status, may have ended it.
    fn signal(&self) -> Option<i32> {
        let reported = self.status.code().filter(|_| self.via_wrapper).map(|code| code - 128);
        self.status.signal().or(reported.filter(|number| (1..=64).contains(number)))
    }
}

fn outcome_of_exit(ended: &ProcessExit) -> Outcome {
    match (ended.signal(), ended.status.code()) {
        (Some(signal), None) => Outcome::crash(format!("the process was ended by signal {signal}")),
        (Some(signal), Some(code)) => {
            Outcome::crash(format!("the process was ended by signal {signal}, or by itself with status {code}"))
        }
        (None, Some(code)) => Outcome::Raised(Raised::of_host(
            "SystemExit",
            format!("the skill ended its interpreter with status {code}"),
        )),
        (None, None) => Outcome::crash("the process ended without a result"),
    }
}
