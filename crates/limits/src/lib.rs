//! What one call may use. Every limit has a default, a flag and a field; docs/reference/limits.md is the table.

#![deny(missing_docs)]

pub mod cancel;
pub mod outcome;
mod runtime_kind;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::runtime_kind::RuntimeKind;

/// The bounds of one call.
///
/// Defaults: 30 s, 256 MiB of memory, 1 MiB each of stdout and stderr, 16 MiB of result, 64 open files, 64 MiB in
/// 4,096 files of scratch space, 1,000,000 host calls, 64 MiB of a decompressed answer, no fuel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Wall-clock time from the start of the cell to its result; also while it sleeps or waits for the host.
    pub deadline: Duration,
    /// Linear memory, the image's included. The skill sees a `MemoryError`.
    pub memory_bytes: u64,
    /// Bytes written to file descriptor 1; the call ends where they run out.
    pub stdout_bytes: u64,
    /// Bytes written to file descriptor 2; the call ends where they run out.
    pub stderr_bytes: u64,
    /// Bytes of the result as JSON.
    pub result_bytes: u64,
    /// Files open at once. The skill sees `OSError` 33, too many open files.
    pub open_files: u32,
    /// Bytes in `/tmp` and the home folder. The skill sees `OSError` 51, no space left.
    pub scratch_bytes: u64,
    /// Files and folders in `/tmp` and the home folder. The skill sees `OSError` 51, no space left.
    pub scratch_files: u32,
    /// Calls from the cell to the host, WASI and door together.
    pub host_calls: u64,
    /// Bytes of one compressed HTTP answer once it is decompressed. The skill sees `ConnectionAbortedError`.
    pub inflated_bytes: u64,
    /// Instructions, counted the same on every machine. Needs the runtime compiled a second time, so it is off by default.
    pub fuel: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            deadline: Duration::from_secs(30),
            memory_bytes: 256 << 20,
            stdout_bytes: 1 << 20,
            stderr_bytes: 1 << 20,
            result_bytes: 16 << 20,
            open_files: 64,
            scratch_bytes: 64 << 20,
            scratch_files: 4096,
            host_calls: 1_000_000,
            inflated_bytes: 64 << 20,
            fuel: None,
        }
    }
}

impl Limits {
    /// The defaults, with another deadline.
    pub fn within(deadline: Duration) -> Limits {
        Limits { deadline, ..Limits::default() }
    }

    /// Every limit with its name in the JSON contract; times in milliseconds.
    pub fn amounts(&self) -> Vec<(&'static str, u64)> {
        let deadline_ms = u64::try_from(self.deadline.as_millis()).unwrap_or(u64::MAX);
        let mut amounts = vec![
            ("deadline_ms", deadline_ms),
            ("memory_bytes", self.memory_bytes),
            ("stdout_bytes", self.stdout_bytes),
            ("stderr_bytes", self.stderr_bytes),
            ("result_bytes", self.result_bytes),
            ("open_files", self.open_files.into()),
            ("scratch_bytes", self.scratch_bytes),
            ("scratch_files", self.scratch_files.into()),
            ("host_calls", self.host_calls),
            ("inflated_bytes", self.inflated_bytes),
        ];
        amounts.extend(self.fuel.map(|fuel| ("fuel", fuel)));
        amounts
    }
}

/// Which limit ended a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// It took longer than [`Limits::deadline`], and was ended where it stood: no `finally` ran.
    Deadline,
    /// It wanted more than [`Limits::memory_bytes`], and let the `MemoryError` out of `execute`.
    Memory,
    /// It wrote more than [`Limits::stdout_bytes`]; the report has what fitted.
    StdoutBytes,
    /// It wrote more than [`Limits::stderr_bytes`]; the report has what fitted.
    StderrBytes,
    /// What it returned is longer than [`Limits::result_bytes`] as JSON; none of it is handed out.
    ResultBytes,
    /// It had [`Limits::open_files`] open, wanted another, and let the `OSError` out of `execute`.
    OpenFiles,
    /// Its files outgrew [`Limits::scratch_bytes`], and it let the `OSError` out of `execute`.
    ScratchBytes,
    /// It made more than [`Limits::scratch_files`], and let the `OSError` out of `execute`.
    ScratchFiles,
    /// Nested calls used up the native stack, 1 MiB. No field or flag moves this.
    Recursion,
    /// It ran more instructions than [`Limits::fuel`].
    Fuel,
    /// It called the host more often than [`Limits::host_calls`].
    HostCalls,
}

impl LimitKind {
    /// The flag of `skillcell run` that moves this limit, if one does.
    pub fn flag(self) -> Option<&'static str> {
        Some(match self {
            LimitKind::Deadline => "--timeout",
            LimitKind::Memory => "--memory",
            LimitKind::StdoutBytes => "--max-stdout",
            LimitKind::StderrBytes => "--max-stderr",
            LimitKind::ResultBytes => "--max-result",
            LimitKind::OpenFiles => "--max-open-files",
            LimitKind::ScratchBytes => "--max-scratch",
            LimitKind::ScratchFiles => "--max-scratch-files",
            LimitKind::HostCalls => "--max-host-calls",
            LimitKind::Fuel => "--fuel",
            LimitKind::Recursion => return None,
        })
    }
}

impl std::fmt::Display for LimitKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LimitKind::Deadline => "deadline",
            LimitKind::Memory => "memory",
            LimitKind::StdoutBytes => "stdout bytes",
            LimitKind::StderrBytes => "stderr bytes",
            LimitKind::ResultBytes => "result bytes",
            LimitKind::OpenFiles => "open files",
            LimitKind::ScratchBytes => "scratch bytes",
            LimitKind::ScratchFiles => "scratch files",
            LimitKind::Recursion => "recursion",
            LimitKind::Fuel => "fuel",
            LimitKind::HostCalls => "host calls",
        })
    }
}
