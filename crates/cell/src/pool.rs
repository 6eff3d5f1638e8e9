//! What all machines of one engine share: places for cells, the watchdog, cells at rest. Two runtimes side by side, and programs of
//! several sets of wheels, take their cells from one pool, so that there are never more than it holds.

use std::sync::Arc;

use wasmtime::Engine;

use super::engine;
use super::rest::Rest;
use super::slots::Slots;
use super::watchdog::Watchdog;

#[derive(Clone)]
pub struct Pool {
    pub(super) engine: Engine,
    pub(super) metered: bool,
    pub(super) cells: u32,
    pub(super) watchdog: Arc<Watchdog>,
    pub(super) slots: Slots,
    pub(super) rest: Arc<Rest>,
    pub(super) fingerprint: Arc<str>,
}

impl Pool {
    /// `metered` code counts fuel.
    pub fn new(metered: bool) -> wasmtime::Result<Pool> {
        let (engine, cells) = engine::running_engine(metered)?;
        Ok(Pool {
            watchdog: Arc::new(Watchdog::new()?),
            slots: Slots::new(cells),
            rest: Arc::new(Rest::new()),
            fingerprint: engine::fingerprint(&engine).into(),
            engine,
            metered,
            cells,
        })
    }
}
