//! A skill, found and read.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A skill whose files were read: what was read is what runs, whatever happens to its folder. `Host.skill` finds one.
#[pyclass(frozen, module = "skillcell")]
pub struct Skill {
    pub skill: skillcell::Skill,
}

#[pymethods]
impl Skill {
    /// `category/name`, or the folder's name.
    #[getter]
    fn id(&self) -> &str {
        self.skill.id()
    }

    /// A digest of every file's path and content.
    #[getter]
    fn digest(&self) -> &str {
        self.skill.digest()
    }

    /// The paths of its files.
    #[getter]
    fn files(&self) -> Vec<&str> {
        self.skill.files().iter().map(|(path, _)| path.as_str()).collect()
    }

    /// The content of one of its files, as it was read.
    fn read<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyBytes>> {
        let found = self.skill.contents().find(|(name, _)| *name == path);
        let (_, bytes) = found.ok_or_else(|| PyKeyError::new_err(path.to_owned()))?;
        Ok(PyBytes::new(py, bytes))
    }

    fn __repr__(&self) -> String {
        format!("<Skill {}>", skillcell_quote::one_line(self.skill.id()))
    }
}
