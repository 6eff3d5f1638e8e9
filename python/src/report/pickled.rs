//! Reports for other processes: pools of processes pickle what their workers return. A pickled report is its data, and what it
//! is made of again is checked; nothing of a skill is in it but texts and bytes.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use serde::{Deserialize, Serialize};

use skillcell::{Denial, Note, Outcome, RuntimeKind, Tier};
use skillcell_host::call::{ImageUse, Usage};
use skillcell_host::entry::WrittenFile;

use super::Report;

/// A report without what is bytes. Its form is for one version of this package, and promised to nobody.
#[derive(Serialize, Deserialize)]
struct Kept {
    skill: String,
    outcome: Outcome,
    denials: Vec<Denial>,
    unused_grants: Vec<String>,
    exit_code: Option<u8>,
    usage: Usage,
    image: Option<ImageUse>,
    tier: Tier,
    tier_reason: Option<String>,
    runtime: Option<RuntimeKind>,
    runtime_reason: Option<String>,
    notes: Vec<Note>,
}

impl Kept {
    fn of_report(report: skillcell::Report) -> Kept {
        let skillcell::Report { skill, outcome, denials, unused_grants, exit_code, usage, image, .. } = report;
        let skillcell::Report { tier, tier_reason, runtime, runtime_reason, notes, .. } = report;
        Kept {
            skill,
            outcome,
            denials,
            unused_grants,
            exit_code,
            usage,
            image,
            tier,
            tier_reason,
            runtime,
            runtime_reason,
            notes,
        }
    }

    fn into_report(self) -> skillcell::Report {
        let mut report = skillcell::Report::new(self.skill, self.outcome);
        report.denials = self.denials;
        report.unused_grants = self.unused_grants;
        report.exit_code = self.exit_code;
        report.usage = self.usage;
        report.image = self.image;
        report.tier = self.tier;
        report.tier_reason = self.tier_reason;
        (report.runtime, report.runtime_reason) = (self.runtime, self.runtime_reason);
        report.notes = self.notes;
        report
    }
}

/// What `restore_report` takes.
pub fn take_apart<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyTuple>> {
    let files = report.files(py)?;
    let text = write(&Kept::of_report(report.report.clone()))?;
    let printed = |bytes| PyBytes::new(py, bytes);
    (text, printed(&report.report.stdout), printed(&report.report.stderr), files).into_pyobject(py)
}

/// The report that was pickled.
#[pyfunction]
pub fn restore_report(text: &str, stdout: Vec<u8>, stderr: Vec<u8>, files: &Bound<'_, PyDict>) -> PyResult<Report> {
    let mut report = read::<Kept>(text)?.into_report();
    (report.stdout, report.stderr) = (stdout, stderr);
    for (path, bytes) in files {
        report.files.push(WrittenFile { path: path.extract()?, bytes: bytes.extract()? });
    }
    Ok(Report::new(report))
}

/// The same of a part of one.
#[pyfunction]
pub fn restore_usage(text: &str) -> PyResult<super::Usage> {
    Ok(super::Usage(read(text)?))
}

/// The function of this module by that name.
pub fn restoring<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import(intern!(py, "skillcell._skillcell"))?.getattr(name)
}

/// A value as the text that `read` takes.
pub fn write(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(format!("this is no pickled report: {error}")))
}
