//! Ends cells that compute past their deadline.
//!
//! One thread per engine sleeps until the earliest deadline, then closes that cell's gate (`interrupt`). There is no tick: a call
//! that ends in time only adds and removes an entry, and the thread is woken for it only if its deadline is earlier than
//! all others. A cell that waits in a host function is not reached by this: host functions watch the deadline themselves.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::interrupt::{Turn, Why};
use skillcell_limits::cancel::{CancelToken, Registration};

/// When a gate is tried again that could not be closed.
const AGAIN: Duration = Duration::from_millis(1);

pub struct Watchdog {
    shared: Arc<Shared>,
}

struct Shared {
    waits: Mutex<Waits>,
    changed: Condvar,
}

#[derive(Default)]
struct Waits {
    deadlines: BTreeMap<(Instant, u64), (Instant, Turn, Why)>,
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
    pub fn new() -> std::io::Result<Watchdog> {
        let shared = Arc::new(Shared { waits: Mutex::default(), changed: Condvar::new() });
        let theirs = shared.clone();
        let thread = thread::Builder::new().name("skillcell-watchdog".into()).stack_size(256 << 10);
        thread.spawn(move || theirs.run_loop())?;
        Ok(Watchdog { shared })
    }

    /// Ends a call that still runs at its deadline.
    pub fn watch(&self, deadline: Instant, turn: &Turn) -> Watch {
        Watch { entry: self.shared.add(deadline, turn, Why::Deadline), shared: self.shared.clone() }
    }

    /// Ends a call when it is cancelled; it may be already.
    pub fn end_on(&self, cancel: &CancelToken, turn: Turn) -> Option<Registration> {
        let shared = self.shared.clone();
        cancel.on_cancel(move || {
            if !turn.close(Why::Cancelled) {
                shared.add(Instant::now() + AGAIN, &turn, Why::Cancelled);
            }
        })
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

    fn add(&self, when: Instant, turn: &Turn, why: Why) -> (Instant, u64) {
        let mut waits = self.lock();
        let entry = (when, waits.next_id);
        waits.next_id += 1;
        waits.deadlines.insert(entry, (when, turn.clone(), why));
        if waits.sleeping_until.is_none_or(|until| when < until) {
            self.changed.notify_one();
        }
        entry
    }

    fn run_loop(&self) {
        let mut waits = self.lock();
        while !waits.closed {
            let now = Instant::now();
            while let Some(due) = waits.deadlines.first_entry().filter(|due| due.key().0 <= now) {
                let ((_, id), (due, turn, why)) = due.remove_entry();
                let postponed = if why == Why::Deadline { turn.postponed(due) } else { None };
                let again = postponed.or_else(|| (!turn.close(why)).then_some(now + AGAIN));
                if let Some(again) = again {
                    waits.deadlines.insert((again, id), (due, turn, why));
                }
            }
            waits.sleeping_until = waits.deadlines.first_key_value().map(|((deadline, _), _)| *deadline);
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
