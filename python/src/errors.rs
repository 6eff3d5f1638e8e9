//! What goes wrong, as Python exceptions. Their classes are written in Python: `skillcell/_errors.py`.

use std::error::Error;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use skillcell::HostError;
use skillcell::settings::SettingsError;
use skillcell_quote::escape_unprintable;

use crate::report::Report;

static HOST_ERROR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static ERROR_OF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Why there is no report.
pub enum Failure {
    /// The host can't do its part.
    Host(HostError),
    /// The settings can't be used.
    Settings(SettingsError),
    /// The params or the config are JSON that can't be taken: nested too deeply.
    Json(serde_json::Error),
    /// A thread can't be started.
    Thread(std::io::Error),
    /// A bug of this program: it panicked, and the call is lost.
    Panicked,
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Failure {
        Failure::Host(error)
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Failure {
        Failure::Settings(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::Json(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match &failure {
            Failure::Host(error) => host_error(&join_causes(error), error.hint()),
            Failure::Settings(error) => host_error(&join_causes(error), None),
            Failure::Json(error) => PyValueError::new_err(format!("this JSON can't be taken: {error}")),
            Failure::Thread(error) => host_error(&format!("a thread can't be started: {error}"), None),
            Failure::Panicked => host_error("the call was lost: a bug of skillcell itself, please report it", None),
        }
    }
}

/// A `skillcell.HostError` with this message.
pub fn host_error(message: &str, hint: Option<String>) -> PyErr {
    Python::attach(|py| {
        let made = HOST_ERROR
            .import(py, "skillcell._errors", "HostError")
            .and_then(|class| class.call1((escape_unprintable(message), hint.as_deref().map(escape_unprintable))));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}

/// The exception for a call that did not return: `Raised`, `Refused`, `Exceeded`, …
pub fn outcome_error(report: &Bound<'_, Report>) -> PyErr {
    let made = ERROR_OF.import(report.py(), "skillcell._errors", "exception_of").and_then(|make| make.call1((report,)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// A stranger's text, with what a terminal would act on written out.
#[pyfunction]
pub fn escape_text(text: &str) -> String {
    escape_unprintable(text)
}

/// An error and its causes on one line.
fn join_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
