//! A Python program to run in the place of a skill: everything that it is run with, taken from Python.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use skillcell::{Call, Host, HostError, Input};

/// The most that is taken from Python for one program: its text, its files and its input.
const MAX_BYTES: usize = 256 << 20;
const MAX_FILES: usize = 1000;

/// A program that belongs to no skill, and what it is run with. It is called as a skill is.
#[pyclass(frozen, module = "skillcell._skillcell")]
pub struct Program {
    pub parts: Arc<ProgramParts>,
}

pub struct ProgramParts {
    /// Where the program lies in its folder.
    path: String,
    /// Its text; what it imports is in the image.
    text: Arc<[u8]>,
    /// Code to run instead, whose names a session keeps. Then the text is only there for its imports.
    code: Option<String>,
    files: Vec<(String, Arc<[u8]>)>,
    argv: Vec<String>,
    stdin: Arc<[u8]>,
}

#[pymethods]
impl Program {
    #[new]
    #[pyo3(signature = (text, *, path="main.py", code=None, files=None, argv=None, stdin=None))]
    fn new(
        text: &Bound<'_, PyAny>,
        path: &str,
        code: Option<String>,
        files: Option<&Bound<'_, PyDict>>,
        argv: Option<Vec<String>>,
        stdin: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Program> {
        let mut room = MAX_BYTES;
        let mut take = |value: &Bound<'_, PyAny>| read_bytes(value, &mut room);
        let text = take(text)?;
        let stdin = stdin.map(&mut take).transpose()?.unwrap_or_default();
        let mut laid = Vec::new();
        for (path, content) in files.into_iter().flatten() {
            if laid.len() == MAX_FILES {
                return Err(PyValueError::new_err(format!("a program has at most {MAX_FILES} files")));
            }
            laid.push((path.extract::<String>()?, take(&content)?));
        }
        let parts =
            ProgramParts { path: path.to_owned(), text, code, files: laid, argv: argv.unwrap_or_default(), stdin };
        Ok(Program { parts: Arc::new(parts) })
    }
}

impl ProgramParts {
    /// The skill that it runs over. Its text is read for its imports, in a cell.
    pub fn find_skill(&self, host: &Host) -> Result<skillcell::Skill, HostError> {
        let path = self.code.is_none().then_some(self.path.as_str());
        host.program(path, &self.text, &self.files)
    }

    /// The call, to run it.
    pub fn enter(&self, call: Call) -> Call {
        let argv = self.argv.iter().cloned();
        let mut call = match &self.code {
            Some(code) => call.with_code(code, argv),
            None => call.with_script(&self.path, argv),
        };
        if let Some(script) = call.script_mut() {
            script.stdin = Input::Bytes(self.stdin.clone());
            script.files = self.files.clone();
            if self.code.is_none() {
                script.files.retain(|(path, _)| *path != self.path);
                script.files.push((self.path.clone(), self.text.clone()));
            }
        }
        call
    }
}

/// Bytes, or a text as UTF-8, if there is room for them.
fn read_bytes(value: &Bound<'_, PyAny>, room: &mut usize) -> PyResult<Arc<[u8]>> {
    let bytes = match (value.cast::<PyString>(), value.cast::<PyBytes>()) {
        (Ok(text), _) => text.to_str()?.as_bytes(),
        (_, Ok(bytes)) => bytes.as_bytes(),
        _ => return Err(PyTypeError::new_err("a program, its files and its input are bytes or text")),
    };
    let too_much = || PyValueError::new_err(format!("a program and its files have at most {MAX_BYTES} bytes"));
    *room = room.checked_sub(bytes.len()).ok_or_else(too_much)?;
    Ok(bytes.into())
}
