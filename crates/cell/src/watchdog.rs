//! Ends cells that compute past their deadline.
//!
//! One thread per engine sleeps until the earliest deadline, then moves the engine's epoch on; compiled code notices
//! and asks whether it was meant. There is no tick: a call that ends in time only adds and removes an entry, and the
//! thread is woken for it only if its deadline is earlier than all others. A cell that waits in a host function is not
//! reached by this: host functions watch the deadline themselves.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use wasmtime::Engine;

pub struct Watchdog {
    shared: Arc<Shared>,
}

struct Shared {
    waits: Mutex<Waits>,
    changed: Condvar,
}

#[derive(Default)]
struct Waits {
    deadlines: BTreeSet<(Instant, u64)>,
    next_id: u64,
    /// When the thread wakes by itself; `None` while it has nothing to wait for.
    sleeping_until: Option<Instant>,
    closed: bool,
}

/// A deadline being watched, until it is dropped.
pub struct Watch {
    shared: Arc<Shared>,
    entry: (Instant, u64),
}

impl Watchdog {
    pub fn new(engine: &Engine) -> std::io::Result<Watchdog> {
        let shared = Arc::new(Shared { waits: Mutex::default(), changed: Condvar::new() });
        let (theirs, engine) = (shared.clone(), engine.weak());
        thread::Builder::new().name("skillcell-watchdog".into()).stack_size(256 << 10).spawn(move || {
            theirs.run_loop(|| {
                if let Some(engine) = engine.upgrade() {
                    engine.increment_epoch();
                }
            })
        })?;
        Ok(Watchdog { shared })
    }

    pub fn watch(&self, deadline: Instant) -> Watch {
        let mut waits = self.shared.lock();
        let entry = (deadline, waits.next_id);
        waits.next_id += 1;
        waits.deadlines.insert(entry);
        if waits.sleeping_until.is_none_or(|until| deadline < until) {
            self.shared.changed.notify_one();
        }
        Watch { shared: self.shared.clone(), entry }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_one();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.lock().deadlines.remove(&self.entry);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_loop(&self, fire: impl Fn()) {
        let mut waits = self.lock();
        while !waits.closed {
            let now = Instant::now();
            while waits.deadlines.first().is_some_and(|(deadline, _)| *deadline <= now) {
                waits.deadlines.pop_first();
                fire();
            }
            waits.sleeping_until = waits.deadlines.first().map(|(deadline, _)| *deadline);
            waits = match waits.sleeping_until {
                Some(until) => self
                    .changed
                    .wait_timeout(waits, until - now)
                    .map_or_else(|poisoned| poisoned.into_inner().0, |(waits, _)| waits),
                None => self.changed.wait(waits).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}
