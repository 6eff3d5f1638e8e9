//! What belongs to one process. A host has threads, and those do not survive `fork`: the child makes its own.

use std::mem;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rustix::process::{Pid, getpid};

/// A value that is dropped only by the process that made it. In a child it is left as it is: its threads are not there
/// to be waited for, and its locks may be held by them for ever.
pub struct OfProcess<T> {
    pid: Pid,
    value: Option<T>,
}

impl<T> OfProcess<T> {
    pub fn new(value: T) -> OfProcess<T> {
        OfProcess { pid: getpid(), value: Some(value) }
    }

    /// The value, if this process made it.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.pid == getpid())
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.pid != getpid() {
            mem::forget(self.value.take());
        }
    }
}

/// `threading.get_native_id`.
static NATIVE_ID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Whether this is the thread that Python runs signal handlers on: the process's first, or the one that forked it. To Linux
/// that is the thread whose number is the process's.
pub fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let id: i32 = NATIVE_ID.import(py, "threading", "get_native_id")?.call0()?.extract()?;
    Ok(id == getpid().as_raw_nonzero().get())
}
