//! What would come of a call.

use pyo3::prelude::*;

use skillcell::Decision;
use skillcell_host::plan::PlanView;
use skillcell_quote::one_line;

use crate::json;
use crate::report::Denial;

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
