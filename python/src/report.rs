//! What came of a call.

mod html;
mod parts;
pub mod pickled;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use skillcell_host::call::UsageEnvelope;
use skillcell_quote::one_line;

use crate::errors::outcome_error;
use crate::json;

pub use self::parts::{Denial, Error, Note, Usage};

/// Everything there is to tell about one call. `result` is what the skill returned, or raises why there is none.
#[pyclass(frozen, module = "skillcell")]
pub struct Report {
    report: skillcell::Report,
    /// The result as Python objects, once somebody asked for it.
    result: PyOnceLock<Py<PyAny>>,
}

impl Report {
    pub fn new(report: skillcell::Report) -> Report {
        Report { report, result: PyOnceLock::new() }
    }
}

#[pymethods]
impl Report {
    /// What `execute` returned, as Python objects; made when it is first asked for. Raises the exception of the outcome if
    /// it did not return: `Raised`, `Refused`, `Exceeded`, `Crashed`, `Cancelled`, `Busy`.
    #[getter]
    fn result<'py>(slf: &Bound<'py, Report>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let Some(text) = this.report.outcome.result() else { return Err(outcome_error(slf)) };
        let made = this.result.get_or_try_init(py, || json::decode_text(py, text.get()).map(Bound::unbind))?;
        Ok(made.bind(py).clone())
    }

    /// The result as the JSON text that the cell gave; none if it did not return.
    #[getter]
    fn result_json(&self) -> Option<&str> {
        self.report.outcome.result().map(|text| text.get())
    }

    /// `returned`, `raised`, `refused`, `exceeded`, `cancelled` or `busy`.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.report.outcome.name()
    }

    /// Whether it returned.
    #[getter]
    fn ok(&self) -> bool {
        self.report.outcome.result().is_some()
    }

    /// The report itself if the call returned; else raises the exception of the outcome.
    fn raise_for_outcome<'py>(slf: Bound<'py, Report>) -> PyResult<Bound<'py, Report>> {
        if slf.get().ok() { Ok(slf) } else { Err(outcome_error(&slf)) }
    }

    /// The exception that it ended with, or that a limit showed itself as.
    #[getter]
    fn error(&self) -> Option<Error> {
        self.report.outcome.raised().map(Error::new)
    }

    /// The limit that ended it: `deadline`, `memory`, …
    #[getter]
    fn limit(&self) -> Option<String> {
        self.report.outcome.limit().map(|limit| limit.to_string().replace(' ', "_"))
    }

    /// The skill's id.
    #[getter]
    fn skill(&self) -> &str {
        &self.report.skill
    }

    /// Where it was executed, or would have been: `wasm`, `container`, `subprocess` or `in_process`.
    #[getter]
    fn tier(&self) -> &'static str {
        self.report.tier.name()
    }

    /// Why there, where that needed deciding.
    #[getter]
    fn tier_reason(&self) -> Option<&str> {
        self.report.tier_reason.as_deref()
    }

    /// What policy refused: before the call, or while it ran.
    #[getter]
    fn denials(&self) -> Vec<Denial> {
        self.report.denials.iter().map(Denial::new).collect()
    }

    /// What to know of the result or of the call, and that is no error.
    #[getter]
    fn notes(&self) -> Vec<Note> {
        self.report.notes.iter().map(Note::new).collect()
    }

    /// What was granted and did not hold, since the manifest's `permissions` don't ask for it.
    #[getter]
    fn unused_grants(&self) -> Vec<String> {
        self.report.unused_grants.clone()
    }

    /// What the skill wrote to its stdout, as text; bytes that are no UTF-8 are replaced.
    #[getter]
    fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.report.stdout).into_owned()
    }

    /// What the skill wrote to its stderr, as text; bytes that are no UTF-8 are replaced.
    #[getter]
    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.report.stderr).into_owned()
    }

    /// What the skill wrote to its stdout, as it is.
    #[getter]
    fn stdout_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.report.stdout)
    }

    /// What the skill wrote to its stderr, as it is.
    #[getter]
    fn stderr_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.report.stderr)
    }

    /// The status that a program ended with; none if the call ran none, or a limit or a refusal ended it.
    #[getter]
    fn exit_code(&self) -> Option<u8> {
        self.report.exit_code
    }

    /// The files that a program made or changed in its folder, by their paths there, which lead nowhere else.
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = PyDict::new(py);
        for file in &self.report.files {
            files.set_item(&file.path, PyBytes::new(py, &file.bytes))?;
        }
        Ok(files)
    }

    /// Time, memory and host calls.
    #[getter]
    fn usage(&self) -> Usage {
        Usage(UsageEnvelope::new(&self.report.usage))
    }

    /// All of it as `skillcell run --json` prints it: the JSON contract, version 1.
    fn envelope<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::decode_value(py, &self.report.envelope())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        Ok((pickled::restoring(py, "restore_report")?, pickled::take_apart(py, self)?))
    }

    fn __repr__(&self) -> String {
        let (skill, outcome) = (one_line(&self.report.skill), one_line(&self.report.outcome.describe()));
        let ms = self.report.usage.wall.as_secs_f64() * 1e3;
        format!("<Report of {skill}: {outcome}, {ms:.1} ms, {}>", self.report.tier)
    }

    /// The report for a notebook: outcome, time, denials and notes.
    fn _repr_html_(&self) -> String {
        html::render_report(&self.report)
    }
}
