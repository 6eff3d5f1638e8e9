//! Where pages can't be taken away as on Linux: Wasmtime's epochs, which code compiled for them looks at. An epoch is the
//! whole engine's, so other cells are asked too, and go on (`on_epoch`).

use std::time::Instant;

use wasmtime::{Instance, Store, UpdateDeadline};

use super::Why;
use crate::State;

pub struct Barrier(wasmtime::EngineWeak);

impl Barrier {
    pub fn new(store: &mut Store<State>, _: &Instance) -> wasmtime::Result<Barrier> {
        store.epoch_deadline_callback(|context| on_epoch(context.data()));
        store.set_epoch_deadline(1);
        Ok(Barrier(store.engine().weak()))
    }

    pub fn close(&self) -> bool {
        if let Some(engine) = self.0.upgrade() {
            engine.increment_epoch();
        }
        true
    }

    pub fn open(&self) -> wasmtime::Result<()> {
        Ok(())
    }

    /// What ended the code says so itself.
    pub fn was_hit(&self) -> bool {
        false
    }

    pub fn forget(&self) {}
}

/// Called when the epoch has moved: stops the cell if it was cancelled or is past its deadline.
fn on_epoch(state: &State) -> wasmtime::Result<UpdateDeadline> {
    if state.wasi.cancel.is_cancelled() {
        return Err(wasmtime::Error::new(Why::Cancelled.as_stop()));
    }
    if Instant::now() >= state.deadline {
        return Err(wasmtime::Error::new(Why::Deadline.as_stop()));
    }
    Ok(UpdateDeadline::Continue(1))
}
