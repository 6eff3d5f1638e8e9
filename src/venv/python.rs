//! The Python of this machine that an environment is made with. Not the environment's own, which is a stranger's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use super::{Result, VenvError};
use crate::provision;

/// A Python, as it says of itself.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct BasePython {
    /// The interpreter itself, never a shim in front of it.
    pub executable: PathBuf,
    /// Where its standard library and its shared library are.
    pub prefix: PathBuf,
    pub version: String,
    /// The whole of `sys.version`, and the platform.
    build: String,
}

const ASK: &str = "\
import json, os, platform, sys
executable = os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable)
version = '.'.join(map(str, sys.version_info[:3]))
print(json.dumps({'executable': executable, 'prefix': sys.base_prefix, 'version': version,
                  'build': sys.version + platform.machine()}))
";

impl BasePython {
    /// `explicit`, else `SKILLCELL_PYTHON`, `python3`, `python`.
    pub fn find(explicit: Option<&Path>) -> Result<BasePython> {
        static FOUND: Mutex<Option<(Vec<OsString>, BasePython)>> = Mutex::new(None);
        let candidates = provision::candidates(explicit)?;
        // What is in front of a Python may take longer to start than itself; and it does not change while this runs.
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((asked, python)) = &*found
            && *asked == candidates
        {
            return Ok(python.clone());
        }
        let python = BasePython::ask(&candidates)?;
        *found = Some((candidates, python.clone()));
        Ok(python)
    }

    fn ask(candidates: &[OsString]) -> Result<BasePython> {
        for program in candidates {
            // In `/`, so that no `json.py` in the current folder answers.
            let mut command = Command::new(program);
            command.args(["-I", "-c", ASK]).current_dir("/").stdin(Stdio::null());
            let Ok(output) = command.output() else { continue };
            let unusable = |why: String| VenvError::Python { python: program.into(), why };
            if !output.status.success() {
                return Err(unusable(provision::last_lines(&output.stderr)));
            }
            return serde_json::from_slice(&output.stdout).map_err(|error| unusable(error.to_string()));
        }
        Err(provision::no_python(candidates).into())
    }

    pub(super) fn identity(&self) -> String {
        format!("{} {} {}", self.executable.display(), self.prefix.display(), self.build)
    }
}
