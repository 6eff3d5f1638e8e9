//! Ends guest code from another thread, at its deadline or when its call is cancelled.
//!
//! ```text
//!   watchdog, cancel token ── Turn::close ──▶ Gate        of one cell
//!                                              │  Linux: its page becomes inaccessible (`page`), elsewhere: the epoch moves (`epoch`)
//!   compiled code ── next check ───────────────┴──▶ trap ──▶ Gate::why ──▶ Stop
//! ```
//!
//! A gate belongs to one instance for its whole life. Each call is a turn of it, and who is to end the call holds that
//! [`Turn`]: it closes the gate for this call or not at all, so a watchdog that comes late can't end the next call of a cell
//! that rested or is kept.

#[cfg(not(target_os = "linux"))]
mod epoch;
#[cfg(target_os = "linux")]
mod page;

#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wasmtime::{Instance, Store, Trap};

#[cfg(not(target_os = "linux"))]
use self::epoch::Barrier;
#[cfg(target_os = "linux")]
use self::page::Barrier;
use super::State;
use crate::wasi::Stop;
use skillcell_limits::LimitKind;

/// Whether code is compiled with checks of ours (`runtime/checks.rs`), rather than with Wasmtime's epochs.
pub const OWN_CHECKS: bool = cfg!(target_os = "linux");

/// What is done before a cell is interrupted.
static PREPARATION: OnceLock<fn()> = OnceLock::new();

/// Has this called whenever a cell is about to be interrupted, which it is by a fault. For a process where others replace the
/// handlers of signals, which are to be put back before. The first one that is set counts.
pub fn before_interrupts(prepare: fn()) {
    let _ = PREPARATION.set(prepare);
}

/// Why a cell is ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    Deadline,
    Cancelled,
}

/// What the code of one instance looks at while it runs. Part of the instance: it is dropped before it.
pub struct Gate(Arc<Shared>);

/// A call's hold on the gate of the cell that it runs in.
#[derive(Clone)]
pub struct Turn {
    gate: Arc<Shared>,
    number: u64,
}

/// A call that waits for the host's own work, which its deadline does not count, until this is dropped.
pub struct Paused {
    turn: Turn,
    since: Instant,
}

/// How soon a deadline is looked at again that came while the call was paused.
const PAUSED: Duration = Duration::from_millis(5);

struct Shared {
    barrier: Barrier,
    state: Mutex<GateState>,
}

#[derive(Default)]
struct GateState {
    /// Counts calls.
    number: u64,
    /// Whether there is a call, which may be ended.
    running: bool,
    closed: Option<Why>,
    paused: bool,
    /// By how much its deadlines are later than they were.
    later: Duration,
}

impl Gate {
    /// The gate of an instance of code that was made just now.
    pub fn new(store: &mut Store<State>, code: &Instance) -> wasmtime::Result<Gate> {
        let barrier = Barrier::new(store, code)?;
        Ok(Gate(Arc::new(Shared { barrier, state: Mutex::default() })))
    }

    /// Begins a call.
    pub fn begin_turn(&self) -> wasmtime::Result<Turn> {
        let mut state = self.0.lock();
        self.0.open(&mut state)?;
        self.0.barrier.forget();
        *state = GateState { number: state.number + 1, running: true, ..GateState::default() };
        Ok(Turn { gate: self.0.clone(), number: state.number })
    }

    /// The call is over: nobody ends it any more.
    pub fn end_turn(&self) {
        let mut state = self.0.lock();
        state.running = false;
        // What fails here is tried again when the next call begins, and told then.
        let _ = self.0.open(&mut state);
    }

    /// Opens the gate again within a call that was to be ended at an earlier deadline than this.
    pub fn go_on_until(&self, deadline: Instant) -> wasmtime::Result<()> {
        if Instant::now() < deadline {
            self.0.open(&mut self.0.lock())?;
        }
        // Whoever came for this deadline meanwhile found it closed.
        if Instant::now() >= deadline {
            let turn = Turn { gate: self.0.clone(), number: self.0.lock().number };
            turn.close(Why::Deadline);
        }
        Ok(())
    }

    /// What came of running code, with a trap that was meant by who closed the gate shown as that.
    pub fn explain(&self, ran: wasmtime::Result<()>) -> wasmtime::Result<()> {
        let stopped = ran.as_ref().is_err_and(|error| error.downcast_ref() == Some(&Trap::MemoryOutOfBounds));
        match self.0.lock().closed {
            Some(why) if stopped && self.0.barrier.was_hit() => Err(wasmtime::Error::new(why.as_stop())),
            _ => ran,
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.end_turn();
    }
}

impl Turn {
    /// Stops the call's time.
    pub fn pause(&self) -> Paused {
        self.gate.lock().paused = true;
        Paused { turn: self.clone(), since: Instant::now() }
    }

    /// When to look again at a deadline that was to be at `due`, if it is not due yet.
    pub fn postponed(&self, due: Instant) -> Option<Instant> {
        let (state, now) = (self.gate.lock(), Instant::now());
        let later = if state.paused { now + PAUSED } else { due + state.later };
        (state.number == self.number && state.running && now < later).then_some(later)
    }

    /// Ends the call, if it still runs. `false` if that has to be tried again: the kernel was out of something.
    pub fn close(&self, why: Why) -> bool {
        let mut state = self.gate.lock();
        if state.number != self.number || !state.running || state.closed.is_some() {
            return true;
        }
        if let Some(prepare) = PREPARATION.get() {
            prepare();
        }
        let closed = self.gate.barrier.close();
        state.closed = closed.then_some(why);
        closed
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        let mut state = self.turn.gate.lock();
        state.paused = false;
        state.later += self.since.elapsed();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, state: &mut GateState) -> wasmtime::Result<()> {
        if state.closed.is_some() {
            self.barrier.open()?;
            state.closed = None;
        }
        Ok(())
    }
}

impl Why {
    fn as_stop(self) -> Stop {
        match self {
            Why::Deadline => Stop::Exceeded(LimitKind::Deadline),
            Why::Cancelled => Stop::Cancelled,
        }
    }
}
