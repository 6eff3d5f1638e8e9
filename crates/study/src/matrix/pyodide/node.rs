//! A skill's own tests in Pyodide on Node.js: a process for each skill, with the packages that it has in a cell as far as
//! they are Python.
//!
//! **This is no boundary.** A test in Pyodide reaches all that Node.js reaches, with `os.system` for a start, so it is run as
//! native tests are: with no environment, a folder of its own and a deadline, and in bubblewrap where that is there.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::confine::{self, ConfinedProcess};
use super::super::layout;
use super::super::outcomes::TestRun;
use skillcell_cache::progress::Progress;
use skillcell_child::{Finished, Inherited, Program, is_locale_or_home};
use skillcell_host::Host;
use skillcell_packages::skill::Skill;

const SCRIPT: &str = include_str!("../../../../../runtime-assets/pyodide/run.mjs");
const DEADLINE: Duration = Duration::from_secs(300);
/// How long `node` may take to report its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);
/// The oldest Node.js that it was tried with.
const OLDEST_NODE: u32 = 20;
/// The exit code of our script when Pyodide does not start.
const EXIT_NOT_STARTED: i32 = 70;

/// Node.js, and what all skills' tests have in common.
pub struct Node {
    program: PathBuf,
    version: String,
    /// Pyodide, packages and the script; processes only read it.
    common: tempfile::TempDir,
}

impl Node {
    pub fn prepare(host: &Host, progress: &dyn Progress) -> Result<Node, String> {
        let (program, version) = find_node()?;
        let files = host.pyodide_files().map_err(|error| error.to_string())?;
        let packages = host.packages_in_pyodide().map_err(|error| error.to_string())?;
        progress.step("laying out Pyodide");
        let common = tempfile::tempdir().map_err(|error| error.to_string())?;
        let laid_out = layout::unpack_files(files.package(), &common.path().join("pyodide"))
            .and_then(|()| packages.iter().try_for_each(|pack| layout::unpack_files(pack, &common.path().join("site"))))
            .and_then(|()| std::fs::write(common.path().join("run.mjs"), SCRIPT));
        laid_out.map_err(|error| error.to_string())?;
        if !confine::has_bubblewrap() {
            progress.note("bubblewrap is not there: tests in Pyodide see the network and this machine's files");
        }
        Ok(Node { program, version, common })
    }

    /// `Node.js 20.20.2`.
    pub fn name(&self) -> String {
        format!("Node.js {}", self.version)
    }

    pub fn run_tests(&self, host: &Host, skill: &Skill) -> Result<TestRun, String> {
        let own = tempfile::tempdir().map_err(|error| error.to_string())?;
        let registry = host.registry().map_err(|error| error.to_string())?;
        layout::lay_out(own.path(), skill, registry).map_err(|error| error.to_string())?;
        if let Some(pack) = host.site_files(skill).map_err(|error| error.to_string())? {
            layout::unpack_files(&pack, &own.path().join("site")).map_err(|error| error.to_string())?;
        }
        let report = own.path().join("report.jsonl");
        // Made beforehand, so that a run without tests leaves an empty report, and a missing one is an error.
        std::fs::write(&report, "").map_err(|error| error.to_string())?;
        let mut confined = ConfinedProcess::new(&self.program, &[&self.program, self.common.path()], own.path());
        confined.arg(self.common.path().join("run.mjs")).arg(self.common.path()).arg(own.path()).arg(skill.id());
        let started = Instant::now();
        let output = confined.run_to_end(DEADLINE)?;
        if output.code == Some(EXIT_NOT_STARTED) {
            return Err(format!("not run: {}", output.last_line));
        }
        output.check_pytest_status()?;
        Ok(TestRun::from_lines(&confine::read_report(&report)?, started.elapsed().as_secs_f64()))
    }
}

/// The `node` of the `PATH`, behind whatever shim, and its version.
fn find_node() -> Result<(PathBuf, String), String> {
    let ask = ["-p", "process.version + '\\n' + process.execPath"];
    let mut node = Program::new("node", Path::new("/"));
    node.args(ask).inherit_env(Inherited::Matching(is_for_node));
    let output = match node.finish(VERSION_TIMEOUT) {
        Ok(Finished::TookTooLong) => return Err(format!("`node` took longer than {VERSION_TIMEOUT:?}")),
        Ok(Finished::Ended(output)) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(format!("Node.js is not there; it takes `node`, {OLDEST_NODE} or newer, in the PATH"));
        }
        Err(error) => return Err(format!("`node` does not start: {error}")),
    };
    parse_node_version(&String::from_utf8_lossy(&output.stdout)).map_err(|why| format!("the `node` in the PATH {why}"))
}

/// Variables by which version managers choose a `node`; none that Node.js itself takes options from.
fn is_for_node(name: &str) -> bool {
    is_locale_or_home(name) || ["NVM_", "VOLTA_", "FNM_", "ASDF_", "MISE_"].iter().any(|it| name.starts_with(it))
}

/// Parses `v20.20.2\n/usr/bin/node`; a version that is too old is an error.
fn parse_node_version(said: &str) -> Result<(PathBuf, String), String> {
    let (version, program) = said.trim().split_once('\n').unwrap_or_default();
    let version = version.trim().strip_prefix('v').unwrap_or_default();
    let major: Option<u32> = version.split('.').next().and_then(|major| major.parse().ok());
    match major {
        Some(major) if major >= OLDEST_NODE => Ok((PathBuf::from(program), version.to_owned())),
        Some(_) => Err(format!("is Node.js {version}; Pyodide takes {OLDEST_NODE} or newer")),
        None => Err("is no Node.js".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_node_and_what_is_none_are_refused_in_words() {
        assert_eq!(
            parse_node_version("v20.20.2\n/opt/x/node\n"),
            Ok((PathBuf::from("/opt/x/node"), "20.20.2".to_owned()))
        );
        assert!(parse_node_version("v18.1.0\n/usr/bin/node").unwrap_err().contains("20 or newer"));
        assert!(parse_node_version("node, the packet radio program").is_err());
    }
}
