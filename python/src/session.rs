//! A session: one cell for several calls.

use std::time::Duration;

use pyo3::prelude::*;

use skillcell::SessionLimits;

use crate::errors::host_error;
use crate::options::read_time;
use crate::process::OfProcess;

/// One cell that is kept across the calls that carry this as `session`, for skills that hold state. `idle` is how long it may
/// be without a call, `lifetime` how long it may last in all. As a context manager it is closed at its end.
#[pyclass(frozen, module = "skillcell")]
pub struct Session {
    session: OfProcess<skillcell::Session>,
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (*, idle=None, lifetime=None))]
    fn new(idle: Option<&Bound<'_, PyAny>>, lifetime: Option<&Bound<'_, PyAny>>) -> PyResult<Session> {
        let default = SessionLimits::default();
        let or = |given: Option<&Bound<'_, PyAny>>, other: Duration| given.map_or(Ok(other), read_time);
        let limits = SessionLimits::new(or(idle, default.idle)?, or(lifetime, default.lifetime)?);
        Ok(Session { session: OfProcess::new(skillcell::Session::new(limits)) })
    }

    /// Ends it. A call that runs goes on to its own end. Once is enough.
    fn close(&self, py: Python<'_>) {
        // A child of the process that made it has nothing to close.
        if let Some(session) = self.session.get() {
            py.detach(|| session.close());
        }
    }

    /// Why it ended, in words, if it did.
    #[getter]
    fn ended(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let session = self.get_session()?;
        Ok(py.detach(|| session.ended()).map(|end| end.to_string()))
    }

    fn __enter__(slf: Bound<'_, Session>) -> Bound<'_, Session> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        self.close(py);
    }
}

impl Session {
    /// The session, if this process made it.
    pub fn get_session(&self) -> PyResult<skillcell::Session> {
        let session = self.session.get().cloned();
        session.ok_or_else(|| host_error("this session is of the process that forked this one", None))
    }
}
