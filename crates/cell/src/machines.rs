//! The machines of a host: one for each runtime and set of wheels, with and without fuel, over two pools. Each is made when it is
//! first needed, once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::runtime::{Runtime, RuntimeError};
use super::{EngineError, Machine, Pool};

/// Machines that are kept although no image uses them.
const MAX_IDLE: usize = 8;

#[derive(Default)]
pub struct Machines {
    /// Plain, and with fuel.
    pools: [OnceLock<Pool>; 2],
    made: Mutex<HashMap<(String, bool), Arc<Place>>>,
    /// Held while something of the above is made.
    making: Mutex<()>,
}

type Place = OnceLock<Arc<Machine>>;

impl Machines {
    /// The machine that runs this runtime.
    pub fn get(&self, runtime: &Runtime<'_>, metered: bool) -> Result<Arc<Machine>, RuntimeError> {
        let place = self.place((runtime.id(), metered));
        if let Some(machine) = place.get() {
            return Ok(machine.clone());
        }
        let _one_at_a_time = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(machine) = place.get() {
            return Ok(machine.clone());
        }
        let machine = Arc::new(runtime.load_machine(self.pool(metered)?)?);
        let _ = place.set(machine.clone());
        Ok(machine)
    }

    fn place(&self, key: (String, bool)) -> Arc<Place> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.len() > MAX_IDLE && !made.contains_key(&key) {
            made.retain(|_, place| place.get().is_none_or(|machine| Arc::strong_count(machine) > 1));
        }
        made.entry(key).or_default().clone()
    }

    fn pool(&self, metered: bool) -> Result<&Pool, RuntimeError> {
        let place = &self.pools[usize::from(metered)];
        if place.get().is_none() {
            // A second one, should two threads get here, is dropped again.
            let _ = place.set(Pool::new(metered).map_err(EngineError::from)?);
        }
        place.get().ok_or_else(|| EngineError::Wasmtime("no pool of cells was made".to_owned()).into())
    }
}
