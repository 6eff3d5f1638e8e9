//! What came of a call, and what would come of one.

mod html;

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;

use skillcell::Decision;
use skillcell_host::plan::PlanView;
use skillcell_quote::one_line;

use crate::errors::outcome_error;
use crate::json;

/// Everything there is to tell about one call. `result` is what the skill returned, or raises why there is none.
#[pyclass(frozen, module = "skillcell")]
pub struct Report {
    report: skillcell::Report,
    /// The result as Python objects, once somebody asked for it.
    result: PyOnceLock<Py<PyAny>>,
}

/// An exception of the skill's, as its author would see it. All of it is the skill's own word.
#[pyclass(frozen, get_all, module = "skillcell")]
pub struct Error {
    /// The class, with its module unless it is built in.
    r#type: String,
    /// `str()` of the exception.
    message: String,
    /// With the skill's own file names and lines; empty when Python did not raise it.
    traceback: String,
}

/// Something that policy refused, before the call or while it ran.
#[pyclass(frozen, get_all, module = "skillcell")]
pub struct Denial {
    /// What it is about: `http`, `address`, `file`, `env`, `secret`, `import`, `tier`, …
    kind: String,
    /// What the skill asked for.
    asked: String,
    /// The rule that decided; none if it was refused because no rule allows it.
    rule: Option<String>,
    /// What was refused and why, in words.
    message: String,
    /// What would allow it, in words; none where nothing would.
    hint: Option<String>,
    /// The flag of `skillcell run` that would allow it, quoted for a shell.
    flag: Option<String>,
}

/// Something to know of the result or of the call that is no error.
#[pyclass(frozen, get_all, module = "skillcell")]
pub struct Note {
    /// `integer_width`, `stand_in`, `secret_not_used`, `bake`.
    kind: String,
    /// What it is about: a package, a secret's name.
    subject: String,
    /// What to know and what to do about it, in words.
    message: String,
}

/// What one call used. All but `wall_ms` is 0 if no cell was made.
#[pyclass(frozen, get_all, module = "skillcell")]
pub struct Usage {
    /// From accepting the call to its end.
    wall_ms: f64,
    /// Making the cell.
    setup_ms: f64,
    /// Running in it.
    guest_ms: f64,
    /// Throwing it away.
    teardown_ms: f64,
    /// The largest size of the cell's memory.
    memory_peak_bytes: u64,
    /// Calls from the cell to the host.
    host_calls: u64,
    /// Fuel burnt, when it was limited.
    fuel: Option<u64>,
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
        let raised = self.report.outcome.raised()?.clone();
        Some(Error { r#type: raised.kind, message: raised.message, traceback: raised.traceback })
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
        let note = |note: &skillcell::Note| Note {
            kind: note.kind.name().to_owned(),
            subject: note.subject.clone(),
            message: note.message.clone(),
        };
        self.report.notes.iter().map(note).collect()
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

    /// Time, memory and host calls.
    #[getter]
    fn usage(&self) -> Usage {
        let used = &self.report.usage;
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        Usage {
            wall_ms: ms(used.wall),
            setup_ms: ms(used.setup),
            guest_ms: ms(used.guest),
            teardown_ms: ms(used.teardown),
            memory_peak_bytes: used.memory_peak_bytes,
            host_calls: used.host_calls,
            fuel: used.fuel,
        }
    }

    /// All of it as `skillcell run --json` prints it: the JSON contract, version 1.
    fn envelope<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::decode_value(py, &self.report.envelope())
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

impl Denial {
    fn new(denial: &skillcell::Denial) -> Denial {
        let kind = serde_json::to_value(denial.kind).ok();
        Denial {
            kind: kind.and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default(),
            asked: denial.asked.clone(),
            rule: denial.rule.clone(),
            message: denial.message.clone(),
            hint: denial.hint.clone(),
            flag: denial.flag.clone(),
        }
    }
}

#[pymethods]
impl Denial {
    fn __repr__(&self) -> String {
        format!("<Denial {}: {}>", self.kind, one_line(&self.message))
    }
}

#[pymethods]
impl Note {
    fn __repr__(&self) -> String {
        format!("<Note {}: {}>", self.kind, one_line(&self.message))
    }
}

#[pymethods]
impl Error {
    fn __repr__(&self) -> String {
        format!("<Error {}: {}>", one_line(&self.r#type), one_line(&self.message))
    }
}

#[pymethods]
impl Usage {
    fn __repr__(&self) -> String {
        let (wall, guest, mib) = (self.wall_ms, self.guest_ms, self.memory_peak_bytes >> 20);
        format!("<Usage {wall:.3} ms, {guest:.3} of it in the cell, {mib} MiB, {} host calls>", self.host_calls)
    }
}

/// What was decided about a call that is not made.
#[pyclass(frozen, module = "skillcell")]
pub struct Plan {
    skill: String,
    decision: Decision,
}

impl Plan {
    pub fn new(skill: String, decision: Decision) -> Plan {
        Plan { skill, decision }
    }
}

#[pymethods]
impl Plan {
    /// `planned` or `refused`.
    #[getter]
    fn state(&self) -> &'static str {
        match self.decision {
            Decision::Planned(_) => "planned",
            Decision::Refused(_) => "refused",
        }
    }

    /// The tier that it would run in, or would have.
    #[getter]
    fn tier(&self) -> &'static str {
        match &self.decision {
            Decision::Planned(plan) => plan.tier.name(),
            Decision::Refused(refused) => refused.tier.name(),
        }
    }

    /// Why it would be refused; empty if it would not.
    #[getter]
    fn denials(&self) -> Vec<Denial> {
        match &self.decision {
            Decision::Planned(_) => Vec::new(),
            Decision::Refused(refused) => refused.denials.iter().map(Denial::new).collect(),
        }
    }

    /// All of it as `skillcell run --dry-run --json` prints it.
    fn envelope<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::decode_value(py, &PlanView::new(&self.skill, &self.decision))
    }

    /// A line for each thing that was decided.
    fn describe(&self) -> Vec<String> {
        match &self.decision {
            Decision::Planned(plan) => plan.describe(),
            Decision::Refused(refused) => refused.denials.iter().map(|denial| denial.message.clone()).collect(),
        }
    }

    fn __repr__(&self) -> String {
        format!("<Plan of {}: {}, {}>", one_line(&self.skill), self.state(), self.tier())
    }
}
