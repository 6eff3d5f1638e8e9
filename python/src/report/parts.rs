//! What a report is made of: an exception, a denial, a note, what the call used.

use pyo3::prelude::*;

use skillcell_host::call::{Raised, UsageEnvelope};
use skillcell_quote::one_line;

use super::pickled;

/// An exception of the skill's, as its author would see it. All of it is the skill's own word.
#[pyclass(frozen, get_all, new = "from_fields", module = "skillcell")]
pub struct Error {
    /// The class, with its module unless it is built in.
    r#type: String,
    /// `str()` of the exception.
    message: String,
    /// With the skill's own file names and lines; empty when Python did not raise it.
    traceback: String,
}

/// Something that policy refused, before the call or while it ran.
#[pyclass(frozen, get_all, new = "from_fields", module = "skillcell")]
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
#[pyclass(frozen, get_all, new = "from_fields", module = "skillcell")]
pub struct Note {
    /// `integer_width`, `stand_in`, `secret_not_used`, `bake`.
    kind: String,
    /// What it is about: a package, a secret's name.
    subject: String,
    /// What to know and what to do about it, in words.
    message: String,
}

/// What one call used, as the envelope has it. All but `wall_ms` is 0 if no cell was made.
#[pyclass(frozen, module = "skillcell")]
pub struct Usage(pub UsageEnvelope);

impl Error {
    pub fn new(raised: &Raised) -> Error {
        let Raised { kind, message, traceback, .. } = raised.clone();
        Error { r#type: kind, message, traceback }
    }
}

impl Note {
    pub fn new(note: &skillcell::Note) -> Note {
        let (kind, subject, message) = (note.kind.name().to_owned(), note.subject.clone(), note.message.clone());
        Note { kind, subject, message }
    }
}

impl Denial {
    pub fn new(denial: &skillcell::Denial) -> Denial {
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

    fn __getnewargs__(&self) -> (&str, &str, Option<&str>, &str, Option<&str>, Option<&str>) {
        let (rule, hint, flag) = (self.rule.as_deref(), self.hint.as_deref(), self.flag.as_deref());
        (&self.kind, &self.asked, rule, &self.message, hint, flag)
    }
}

#[pymethods]
impl Note {
    fn __repr__(&self) -> String {
        format!("<Note {}: {}>", self.kind, one_line(&self.message))
    }

    fn __getnewargs__(&self) -> (&str, &str, &str) {
        (&self.kind, &self.subject, &self.message)
    }
}

#[pymethods]
impl Error {
    fn __repr__(&self) -> String {
        format!("<Error {}: {}>", one_line(&self.r#type), one_line(&self.message))
    }

    fn __getnewargs__(&self) -> (&str, &str, &str) {
        (&self.r#type, &self.message, &self.traceback)
    }
}

#[pymethods]
impl Usage {
    /// From accepting the call to its end.
    #[getter]
    fn wall_ms(&self) -> f64 {
        self.0.wall_ms
    }

    /// Making the cell.
    #[getter]
    fn setup_ms(&self) -> f64 {
        self.0.setup_ms
    }

    /// Running in it.
    #[getter]
    fn guest_ms(&self) -> f64 {
        self.0.guest_ms
    }

    /// Throwing it away.
    #[getter]
    fn teardown_ms(&self) -> f64 {
        self.0.teardown_ms
    }

    /// The largest size of the cell's memory.
    #[getter]
    fn memory_peak_bytes(&self) -> u64 {
        self.0.memory_peak_bytes
    }

    /// Calls from the cell to the host.
    #[getter]
    fn host_calls(&self) -> u64 {
        self.0.host_calls
    }

    /// Fuel burnt, when it was limited.
    #[getter]
    fn fuel(&self) -> Option<u64> {
        self.0.fuel
    }

    fn __repr__(&self) -> String {
        let (wall, guest, mib) = (self.0.wall_ms, self.0.guest_ms, self.0.memory_peak_bytes >> 20);
        format!("<Usage {wall:.3} ms, {guest:.3} of it in the cell, {mib} MiB, {} host calls>", self.0.host_calls)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((pickled::restoring(py, "restore_usage")?, (pickled::write(&self.0)?,)))
    }
}
