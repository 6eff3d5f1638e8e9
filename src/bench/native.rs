//! The alternative that everybody has: a fresh Python process for each call, with the real Skillware package.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::call::Call;
use crate::progress::Progress;
use crate::provision;
use crate::skill::Skill;

/// Loads a skill as Skillware does, calls it once and prints the result.
const PROGRAM: &str = "\
import json, sys
from skillware.core.loader import SkillLoader
bundle = SkillLoader.load_skill(sys.argv[1], check_requirements=False)
print(json.dumps(bundle['class']().execute(json.loads(sys.argv[2]))))
";

pub struct Native {
    /// The interpreter itself (`sys.executable`), never a shim in front of it.
    python: PathBuf,
    folder: tempfile::TempDir,
    /// Where Skillware is, if it had to be installed for this.
    packages: Option<PathBuf>,
    params: String,
}

impl Native {
    pub fn new(skill: &Skill, call: &Call, progress: &dyn Progress) -> Result<Native, String> {
        let python = interpreter()?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        skill.write_to(&folder.path().join("skills").join(skill.id())).map_err(|error| error.to_string())?;
        let mut native = Native { python, packages: None, params: call.params_json().into_owned(), folder };
        if !native.has_skillware() {
            native.install(progress);
        }
        native.folder_of(skill);
        Ok(native)
    }

    /// The leanest Python start there is.
    pub fn pass(&self) -> std::io::Result<Duration> {
        let mut command = Command::new(&self.python);
        command.args(["-I", "-S", "-c", "pass"]).stdin(Stdio::null());
        let started = Instant::now();
        command.status()?;
        Ok(started.elapsed())
    }

    /// A process that imports the skill and executes it once.
    pub fn skill(&self) -> Result<Duration, String> {
        let mut command = Command::new(&self.python);
        command.args(["-c", PROGRAM]).arg(self.folder.path().join("skill")).arg(&self.params);
        command.stdin(Stdio::null()).current_dir(self.folder.path());
        if let Some(packages) = &self.packages {
            command.env("PYTHONPATH", packages);
        }
        let started = Instant::now();
        let output = command.output().map_err(|error| error.to_string())?;
        let time = started.elapsed();
        if output.status.success() { Ok(time) } else { Err(last_line(&output.stderr)) }
    }

    fn has_skillware(&self) -> bool {
        let mut command = Command::new(&self.python);
        command.args(["-c", "import skillware.core.loader"]).stdin(Stdio::null()).stderr(Stdio::null());
        command.current_dir(self.folder.path()).status().is_ok_and(|status| status.success())
    }

    /// Into a temporary folder, with its dependencies, by pip. Without an index the series stays empty.
    fn install(&mut self, progress: &dyn Progress) {
        let Some(pin) = provision::pins().package("skillware") else { return };
        progress.step(&format!("installing {} {} for comparison", pin.name, pin.version));
        let target = self.folder.path().join("packages");
        let mut command = Command::new(&self.python);
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]).arg(&target);
        command.arg(format!("{}=={}", pin.name, pin.version)).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if command.status().is_ok_and(|status| status.success()) {
            self.packages = Some(target);
        }
    }

    /// A short name for the skill's folder, below the layout that its own imports may expect.
    fn folder_of(&self, skill: &Skill) {
        let _ = std::os::unix::fs::symlink(
            self.folder.path().join("skills").join(skill.id()),
            self.folder.path().join("skill"),
        );
    }
}

fn interpreter() -> Result<PathBuf, String> {
    let python = std::env::var_os("SKILLCELL_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(&python);
    command.args(["-c", "import sys; print(sys.executable)"]).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("`{}`: {error}", python.display()))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output").to_owned()
}
