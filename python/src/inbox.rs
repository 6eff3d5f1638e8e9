//! Where workers leave reports for an event loop. The loop watches a descriptor, so a worker needs no Python to wake it; what
//! arrives before it looks is taken at once.

use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use rustix::event::{EventfdFlags, eventfd};

use crate::errors::Failure;
use crate::report::Report;

/// What became of a call.
pub type Finished = Result<skillcell::Report, Failure>;

/// The inbox of one event loop. It belongs to the loop's thread; the mailbox in it is the workers' side.
#[pyclass(frozen, module = "skillcell._skillcell")]
pub struct Inbox {
    mailbox: Arc<Mailbox>,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    next_id: u64,
    futures: HashMap<u64, Py<PyAny>>,
}

/// The workers' side of an inbox.
pub struct Mailbox {
    event: OwnedFd,
    arrived: Mutex<Vec<(u64, Finished)>>,
}

#[pymethods]
impl Inbox {
    #[new]
    fn new() -> PyResult<Inbox> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(std::io::Error::from)?;
        let mailbox = Arc::new(Mailbox { event, arrived: Mutex::default() });
        Ok(Inbox { mailbox, waiting: Mutex::default() })
    }

    /// The descriptor for the loop to watch.
    fn fileno(&self) -> i32 {
        self.mailbox.event.as_raw_fd()
    }

    /// Gives the futures what arrived for them. To be called by the loop.
    fn deliver(&self, py: Python<'_>) -> PyResult<()> {
        for (id, finished) in self.mailbox.take_all() {
            // Bound here: the lock must not be held while Python runs.
            let future = lock(&self.waiting).futures.remove(&id);
            let Some(future) = future else { continue };
            let future = future.bind(py);
            // Who cancelled it does not wait for it any more.
            if future.call_method0(intern!(py, "done"))?.is_truthy()? {
                continue;
            }
            match finished {
                Ok(report) => future.call_method1(intern!(py, "set_result"), (Report::new(report),))?,
                Err(failure) => {
                    future.call_method1(intern!(py, "set_exception"), (PyErr::from(failure).into_value(py),))?
                }
            };
        }
        Ok(())
    }
}

impl Inbox {
    /// Keeps a future for a report that is to come, and says under which number.
    pub fn expect_report(&self, future: Py<PyAny>) -> u64 {
        let mut waiting = lock(&self.waiting);
        let id = waiting.next_id;
        waiting.next_id += 1;
        waiting.futures.insert(id, future);
        id
    }

    pub fn mailbox(&self) -> Arc<Mailbox> {
        self.mailbox.clone()
    }
}

impl Mailbox {
    /// Leaves what became of a call, and wakes the loop if it was not woken already.
    pub fn leave(&self, id: u64, finished: Finished) {
        let mut arrived = lock(&self.arrived);
        let was_empty = arrived.is_empty();
        arrived.push((id, finished));
        if was_empty {
            // It can only fail where it was written to 2^64 times.
            let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
        }
    }

    fn take_all(&self) -> Vec<(u64, Finished)> {
        let mut arrived = lock(&self.arrived);
        // Under the lock: what arrives after it finds an empty box, and wakes the loop again.
        let _ = rustix::io::read(&self.event, &mut [0u8; 8]);
        std::mem::take(&mut *arrived)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
