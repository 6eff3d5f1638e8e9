//! Whether rayon may be used. Its threads are the process's, and are not there in a child that was forked: waiting for them
//! would never end. A program of ours never forks like that; a Python program that loads this library may.

use std::process;
use std::sync::OnceLock;

/// The process that rayon's threads are in, once this asks for them.
static OWNER: OnceLock<u32> = OnceLock::new();

/// Whether work can be shared out to rayon's threads: not in a child of the process that first did so.
pub fn has_rayon_threads() -> bool {
    *OWNER.get_or_init(process::id) == process::id()
}
