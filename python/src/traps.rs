//! Keeps Wasmtime's handlers of the signals that a cell's traps show themselves as. Python programs replace them:
//! `faulthandler.enable()` and `disable()` do, and then a skill that crashes its cell, as `os.abort()` does, or one that
//! reaches its deadline, which is a fault too, would end the host's process.
//!
//! The handlers are looked at before each call, and before a cell is interrupted. What is replaced while a call runs is found
//! then, or at the next call; a crash in between is the process's. A crash of the host itself goes to whoever had the signal before Wasmtime.

#![allow(unsafe_code, reason = "there is no other way to ask for a signal's handler, nor to set it")]

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use pyo3::PyErr;

use crate::errors::host_error;

/// The signals of traps: memory out of bounds, `unreachable`, a division by zero.
const SIGNALS: [libc::c_int; 3] = [libc::SIGSEGV, libc::SIGILL, libc::SIGFPE];

/// Wasmtime's handlers, as they were when it had just installed them.
static HANDLERS: OnceLock<[Option<libc::sigaction>; SIGNALS.len()]> = OnceLock::new();

/// Has Wasmtime install its handlers, and remembers them. Before any engine is made, so that they are Wasmtime's.
pub fn install_handlers() -> Result<(), PyErr> {
    if HANDLERS.get().is_none() {
        let failed = |error| host_error(&format!("the engine can't be started: {error:#}"), None);
        skillcell_cell::engine::install_trap_handlers().map_err(failed)?;
        // Of two threads the first counts; both read the same.
        let _ = HANDLERS.set(SIGNALS.map(read_handler));
        skillcell_cell::before_interrupts(restore_handlers);
    }
    Ok(())
}

/// Puts back those handlers that were replaced.
pub fn restore_handlers() {
    let Some(handlers) = HANDLERS.get() else { return };
    for (signal, ours) in SIGNALS.into_iter().zip(handlers) {
        let Some(ours) = ours else { continue };
        let is_ours = read_handler(signal).is_some_and(|current| current.sa_sigaction == ours.sa_sigaction);
        if !is_ours {
            // SAFETY: `ours` was in force for this signal before, and its function lives as long as the process.
            unsafe { libc::sigaction(signal, ours, ptr::null_mut()) };
        }
    }
}

/// The handler of a signal; none if the system does not tell.
fn read_handler(signal: libc::c_int) -> Option<libc::sigaction> {
    let mut current = MaybeUninit::zeroed();
    // SAFETY: nothing is set, and `current` is what is written to.
    let failed = unsafe { libc::sigaction(signal, ptr::null(), current.as_mut_ptr()) } != 0;
    // SAFETY: all zeros is a `sigaction`, and the call above wrote one unless it failed.
    (!failed).then(|| unsafe { current.assume_init() })
}
