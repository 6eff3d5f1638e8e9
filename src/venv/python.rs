//! The Python of this machine that an environment is made with. Not the environment's own, which is a stranger's.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
        let candidates = provision::candidates(explicit)?;
        for program in &candidates {
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
        Err(provision::no_python(&candidates).into())
    }

    pub(super) fn identity(&self) -> String {
        format!("{} {} {}", self.executable.display(), self.prefix.display(), self.build)
    }
}
