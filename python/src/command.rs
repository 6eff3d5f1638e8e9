//! The command `skillcell` that comes with the wheel.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Does what a command line says, and returns the exit code.
#[pyfunction]
pub fn run_command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    code_number(py.detach(|| skillcell::cli::run_command(words)))
}

/// The number of an exit code, which the standard library does not tell.
fn code_number(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(2)
}
