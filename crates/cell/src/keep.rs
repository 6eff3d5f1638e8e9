//! Cells that are kept between the calls of a session: memory, scratch files and slot stay, everything of the call that
//! ended goes. Not cells at rest (`rest`), which are their image again and serve anybody.
//!
//! ```text
//!   Cell ── keep_cell ──▶ KeptCell ── rearm_cell ──▶ Cell ── …          a session goes on
//!                             └────── drop ──▶ nothing is left           it ended
//! ```
//!
//! Invariant: a [`KeptCell`] is entered again only by who holds it, and there is no way from it to rest.

use std::time::{Duration, Instant};

use super::machine::{call_caps, capped_output};
use super::slots::Slot;
use super::{Body, Cell, EngineError, Machine, MemoryLimit, State};
use skillcell_door::Door;
use skillcell_limits::Limits;
use skillcell_limits::cancel::CancelToken;

/// A cell between two calls of its session. It can't run.
pub struct KeptCell {
    body: Body,
    uses: u32,
    // Dropped after the body, so that the slot is released only after its memory.
    slot: Slot,
}

/// What a kept cell is given for its next call. Its files stay those that it has.
pub struct NextCall {
    pub door: Door,
    pub limits: Limits,
    pub cancel: CancelToken,
    /// When the call ends at the latest.
    pub deadline: Instant,
}

impl KeptCell {
    /// The present size of its memory, which never shrinks.
    pub fn memory_bytes(&self) -> u64 {
        self.body.memory.data_size(&self.body.store) as u64
    }
}

impl Machine {
    /// Keeps a cell whose call ran to its end. What only that call was given is dropped here: its door with secrets and
    /// connections, its folders, deadline and token.
    pub fn keep_cell(&self, cell: Cell) -> KeptCell {
        let Cell { mut body, uses, _slot: slot, .. } = cell;
        body.gate.end_turn();
        let state = body.store.data_mut();
        state.door = Door::default();
        state.wasi.cancel = CancelToken::default();
        state.wasi.vfs.end_call();
        KeptCell { body, uses, slot }
    }

    /// Gets a kept cell ready for another call. It must have been made by this machine.
    pub fn rearm_cell(&self, kept: KeptCell, next: NextCall) -> Result<Cell, EngineError> {
        let KeptCell { mut body, uses, slot } = kept;
        let (deadline, fuel) = (next.deadline, next.limits.fuel);
        let cancel = next.cancel.clone();
        let size = body.memory.data_size(&body.store) as u64;
        bind_next_call(body.store.data_mut(), next, size);
        self.refuel(&mut body.store, fuel)?;
        let turn = body.gate.begin_turn()?;
        body.store.data_mut().turn = Some(turn.clone());
        Ok(self.cell_of_call(body, uses.saturating_add(1), slot, turn, deadline, &cancel))
    }
}

/// Counts and caps anew; clocks go on, since a guest must not see time run backwards.
fn bind_next_call(state: &mut State, next: NextCall, memory_bytes: u64) {
    let limits = &next.limits;
    state.wasi.vfs.begin_call(
        call_caps(limits),
        capped_output(limits.stdout_bytes),
        capped_output(limits.stderr_bytes),
    );
    state.wasi.deadline = Some(next.deadline);
    state.wasi.cancel = next.cancel;
    (state.wasi.host_calls, state.wasi.host_calls_cap) = (0, limits.host_calls);
    state.memory = MemoryLimit { cap: limits.memory_bytes, peak: memory_bytes, denied: false };
    state.deadline = next.deadline;
    state.waited_for_parts = Duration::ZERO;
    state.door = next.door;
}
