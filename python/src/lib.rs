//! The Python module `skillcell._skillcell`.

use pyo3::prelude::*;

#[pymodule]
mod _skillcell {}
