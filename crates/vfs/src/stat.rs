//! What a file is, as plain data shared by every backend. No file contents, no paths.

use std::time::{SystemTime, UNIX_EPOCH};

/// The kind of a file, with the numbers of WASI's `filetype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Standard streams: neither a terminal nor a seekable file.
    Stream = 0,
    Device = 2,
    Directory = 3,
    File = 4,
}

/// The answer to `stat`. Times are nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub dev: u64,
    pub ino: u64,
    pub kind: Kind,
    pub nlink: u64,
    pub size: u64,
    pub times: Times,
}

/// The three times of a file, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    pub accessed_ns: u64,
    pub modified_ns: u64,
    pub changed_ns: u64,
}

impl Times {
    /// 1980-01-01, the oldest time a zip archive can hold: read-only files have no other time, so that
    /// nothing a cell sees depends on when a host unpacked something.
    pub const FIXED: Times = Times::all_at(315_532_800_000_000_000);

    pub const fn all_at(ns: u64) -> Times {
        Times { accessed_ns: ns, modified_ns: ns, changed_ns: ns }
    }

    pub fn now() -> Times {
        Times::all_at(now_ns())
    }
}

/// Which times to set, and to what. `None` leaves a time alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewTimes {
    pub accessed_ns: Option<u64>,
    pub modified_ns: Option<u64>,
}

/// One name in a directory, and where to go on after it.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    pub name: &'a str,
    pub ino: u64,
    pub kind: Kind,
    /// The cookie of the entry that follows.
    pub next: u64,
}

/// The wall clock in nanoseconds since 1970; a host clock set before that counts as 1970.
pub fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
