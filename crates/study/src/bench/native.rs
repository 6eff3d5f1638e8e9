//! The alternative that everybody has: a fresh Python process for each call, with the real Skillware package.
//!
//! **This executes the skill outside of any sandbox**, so that it is done only for the pinned registry, whose bytes are known
//! by hash, and for what an operator trusts by `--trust-remote-code`. It gets none of the operator's environment.

use std::path::Path;
use std::time::{Duration, Instant};

use skillcell_cache::progress::Progress;
use skillcell_child::{Finished, Keep, Program};
use skillcell_host::Host;
use skillcell_host::call::Call;
use skillcell_packages::skill::{Origin, Skill};
use skillcell_packages::venv::Venv;

/// Loads a skill as Skillware does, calls it once and prints the result.
const PROGRAM: &str = "\
import json, sys
from skillware.core.loader import SkillLoader
bundle = SkillLoader.load_skill(sys.argv[1], check_requirements=False)
print(json.dumps(bundle['class']().execute(json.loads(sys.argv[2]))))
";
/// How long one process may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How much of a process's output is kept.
const KEPT_OUTPUT: Keep = Keep::Last(64 << 10);

pub struct NativeRunner {
    /// With Skillware and what the skill requires.
    venv: Venv,
    folder: tempfile::TempDir,
    params: String,
}

impl NativeRunner {
    /// Why there are no native runs of this skill, if nobody trusts it.
    pub fn refusal(skill: &Skill, trusted: bool) -> Option<String> {
        let is_refused = *skill.origin() != Origin::Registry && !trusted;
        is_refused.then(|| {
            format!(
                "`{}` is not of the pinned registry, and running it outside of a cell, with all that you may do, needs \
                 `--trust-remote-code`",
                skill.id()
            )
        })
    }

    pub fn new(host: &Host, skill: &Skill, call: &Call, progress: &dyn Progress) -> Result<NativeRunner, String> {
        progress.step("getting a Python with Skillware for comparison");
        let required = host.manifest(skill).map_err(|error| error.to_string())?.requirements;
        let venv = host.venv(&required, &[]).map_err(|error| error.to_string())?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        // A short name for the skill's folder, below the layout that its own imports may expect.
        let place = folder.path().join("skills").join(skill.id());
        skill.write_to(&place).map_err(|error| error.to_string())?;
        std::os::unix::fs::symlink(place, folder.path().join("skill")).map_err(|error| error.to_string())?;
        Ok(NativeRunner { venv, folder, params: call.params_json().into_owned() })
    }

    /// The leanest Python start there is.
    pub fn time_bare_start(&self) -> Result<Duration, String> {
        time_program(self.python_program(&self.venv.base().executable).args(["-I", "-S", "-c", "pass"]))
    }

    /// A process that imports the skill and executes it once.
    pub fn time_skill(&self) -> Result<Duration, String> {
        let mut python = self.python_program(&self.venv.python());
        python.args(["-I", "-c", PROGRAM]).arg(self.folder.path().join("skill")).arg(&self.params);
        time_program(&mut python)
    }

    fn python_program(&self, python: &Path) -> Program {
        let mut program = Program::new(python, self.folder.path());
        program.env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8").env("HOME", self.folder.path());
        program.keep(KEPT_OUTPUT, KEPT_OUTPUT).may_outlive_us();
        program
    }
}

fn time_program(program: &mut Program) -> Result<Duration, String> {
    let started = Instant::now();
    let finished = program.finish(TIMEOUT).map_err(|error| error.to_string())?;
    let time = started.elapsed();
    match finished {
        Finished::Ended(said) if said.status.success() => Ok(time),
        Finished::Ended(said) => Err(last_line(&said.stderr)),
        Finished::TookTooLong => Err(format!("it took longer than {TIMEOUT:?}")),
    }
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output").to_owned()
}
