//! The Python of this machine that an environment is made with. Not the environment's own, which is untrusted.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use super::{Result, VenvError};
use crate::provision;
use crate::{ABOUT_PYTHON, MarkerValues, Target};
use skillcell_child::{Finished, python};

/// How long a Python may take to answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A Python, as it says of itself.
#[derive(Debug, Clone, Deserialize)]
pub struct BasePython {
    /// The interpreter itself, never a shim in front of it.
    pub executable: PathBuf,
    /// Where its standard library and its shared library are.
    pub prefix: PathBuf,
    pub version: String,
    /// The whole of `sys.version`, and the platform.
    build: String,
    major: u16,
    minor: u16,
    glibc: Option<u16>,
    machine: String,
    markers: MarkerValues,
}

impl BasePython {
    /// `explicit`, else `SKILLCELL_PYTHON`, `python3`, `python`.
    pub fn find(explicit: Option<&Path>) -> Result<BasePython> {
        static FOUND: Mutex<Option<(Vec<OsString>, BasePython)>> = Mutex::new(None);
        let candidates = provision::python_candidates(explicit)?;
        // A version manager's shim can take longer to start than Python itself, so the answer is kept for the life of the
        // process. A failure is not kept.
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((asked, python)) = &*found
            && *asked == candidates
            && python.executable.is_file()
        {
            return Ok(python.clone());
        }
        let python = BasePython::query_interpreter(&candidates)?;
        *found = Some((candidates, python.clone()));
        Ok(python)
    }

    fn query_interpreter(candidates: &[OsString]) -> Result<BasePython> {
        for program in candidates {
            // In `/`, so that no `json.py` in the current folder answers.
            let answer = python::isolated_python(program, Path::new("/")).args(["-c", ABOUT_PYTHON]).finish(TIMEOUT);
            let unusable = |why: String| VenvError::Python { python: program.into(), why };
            let output = match answer {
                Ok(Finished::Ended(output)) => output,
                Ok(Finished::TookTooLong) => return Err(unusable(format!("it took longer than {TIMEOUT:?}"))),
                Err(_) => continue,
            };
            if !output.status.success() {
                return Err(unusable(provision::last_lines(&output.stderr)));
            }
            return serde_json::from_slice(&output.stdout).map_err(|error| unusable(error.to_string()));
        }
        Err(provision::no_python(candidates).into())
    }

    /// As what packages are chosen for: by its own pip, which knows which wheels it takes.
    pub fn target(&self) -> Target {
        Target {
            id: Target::native_id(self.major, self.minor, &self.machine, self.glibc),
            values: self.markers.clone(),
            runtime: None,
            glibc: self.glibc,
            pip_options: Vec::new(),
            python: Some(self.executable.clone()),
        }
    }

    /// `3.11`.
    pub(super) fn minor_version(&self) -> String {
        format!("{}.{}", self.major, self.minor)
    }

    pub(super) fn identity(&self) -> String {
        format!("{} {} {}", self.executable.display(), self.prefix.display(), self.build)
    }
}
