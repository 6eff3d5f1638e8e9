//! Modules that no skill gets anything out of, for an early word about them. A courtesy: the cell is the boundary.
//!
//! Importing them works, since libraries that are no worse for it do so: `asyncio` imports `subprocess` and `socket`,
//! `urllib3` imports `socket`, numpy imports `ctypes`. Using them raises, in the guest's stand-ins. An operator who would
//! rather have the import fail denies it.

/// What a cell refuses at use: the module, and what it lacks for it.
pub const REFUSED_AT_USE: [(&str, &str); 4] = [
    ("ctypes", "native libraries can't be loaded into a cell"),
    ("multiprocessing", "a cell has no processes; its thread pools work, one after the other"),
    ("socket", "a cell's sockets carry HTTP that was granted, and nothing else"),
    ("subprocess", "there are no programs in a cell to start"),
];
