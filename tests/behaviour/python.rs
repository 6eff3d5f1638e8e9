//! The Python package, as a user gets it: a wheel, installed into a fresh environment, and used from there. What it promises is
//! in `python/tests`; that its stubs and its form are right is checked by the tools that Python programmers use.
//!
//! The wheel is built in this `target`, with the crates that the tests are built of. Where there is no Python that does, or
//! pip gets nothing, this says so and ends.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::common::ran::{Ran, finish};

/// What builds the wheel and looks at it, by name and version.
const TOOLS: [&str; 4] = ["maturin==1.16.0", "pytest==9.2.0", "mypy==2.4.1", "ruff==0.17.5"];

/// What is looked at: all that needs no other package than pytest.
const CORE: [&str; 12] = [
    "python/skillcell/__init__.py",
    "python/skillcell/__main__.py",
    "python/skillcell/_cli.py",
    "python/skillcell/_errors.py",
    "python/skillcell/_host.py",
    "python/skillcell/_options.py",
    "python/skillcell/_skillcell.pyi",
    "python/benches/calls.py",
    "python/tests/conftest.py",
    "python/tests/test_call.py",
    "python/tests/test_async.py",
    "python/tests/test_process.py",
];

#[test]
fn the_wheel_installs_and_passes_its_tests() {
    let folder = tempfile::tempdir().unwrap();
    let Some(environment) = make_environment(folder.path()) else {
        println!("skipped: no Python 3.11 with venv here, or pip can't fetch {TOOLS:?}");
        return;
    };
    let wheels = folder.path().join("wheels");
    environment.run("maturin", &["build", "--release", "--out", wheels.to_str().unwrap()], 900);
    let wheel = std::fs::read_dir(&wheels).unwrap().next().unwrap().unwrap().path();
    assert!(wheel.to_string_lossy().contains("-cp311-abi3-"), "{wheel:?}");
    environment.run("pip", &["install", "-q", "--no-deps", "--no-index", wheel.to_str().unwrap()], 60);
    environment.run("pytest", &["-q", "-x", "-p", "no:cacheprovider", "python/tests"], 400);
    environment.run("skillcell", &["--version"], 60).is(0, &["skillcell "]);
    environment.run("ruff", &[&["check", "--no-cache"], &CORE[..]].concat(), 60);
    environment.run("ruff", &[&["format", "--no-cache", "--check"], &CORE[..]].concat(), 60);
    let cache = folder.path().join("mypy");
    environment.run("mypy", &[&["--cache-dir", cache.to_str().unwrap()], &CORE[..]].concat(), 200);
    let stubtest = ["-m", "mypy.stubtest", "skillcell._skillcell", "--mypy-config-file", "pyproject.toml"];
    environment.run("python", &stubtest, 200);
}

struct Environment {
    programs: PathBuf,
}

/// A fresh virtual environment with the tools.
fn make_environment(folder: &Path) -> Option<Environment> {
    let place = folder.join("venv");
    let is_new = "import sys; sys.exit(sys.version_info < (3, 11))";
    let made = finish(Command::new("python3").args(["-c", is_new])).code == 0
        && finish(Command::new("python3").args(["-m", "venv"]).arg(&place)).code == 0;
    let environment = Environment { programs: place.join("bin") };
    let install = [&["install", "-q", "--no-input"], &TOOLS[..]].concat();
    (made && environment.start("pip", &install, 180).code == 0).then_some(environment)
}

impl Environment {
    /// Runs one of its programs in the repository, for so many seconds at most, and says what it did.
    fn start(&self, program: &str, arguments: &[&str], seconds: u32) -> Ran {
        let mut command = Command::new("timeout");
        command.args(["-k", "5", &seconds.to_string()]).arg(self.programs.join(program)).args(arguments);
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        // What Cargo tells a test of its own package is nothing for a build of another.
        let of_cargo = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(of_cargo)) {
            command.env_remove(name);
        }
        finish(command.env("VIRTUAL_ENV", self.programs.parent().unwrap()).env("PYTHONDONTWRITEBYTECODE", "1"))
    }

    /// The same, and it has to succeed.
    fn run(&self, program: &str, arguments: &[&str], seconds: u32) -> Ran {
        let ran = self.start(program, arguments, seconds);
        assert_eq!(ran.code, 0, "{program} {arguments:?}\n{}{}", ran.stdout, ran.stderr);
        ran
    }
}
