//! The Python package, as a user gets it: a wheel, installed into a fresh environment, and used from there. What it promises is
//! in `python/tests`; that its stubs and its form are right is checked by the tools that Python programmers use.
//!
//! The wheel is built in this `target`, with the crates that the tests are built of. Where there is no Python that does, or
//! pip gets nothing, this says so and ends.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::common::ran::{Ran, finish};

/// What fetches the others, twenty times as fast as pip; without it, pip does.
const UV: &str = "uv==0.13.8";

/// What builds the wheel and looks at it, by name and version.
const TOOLS: [&str; 5] = ["maturin==1.16.0", "pytest==9.2.0", "mypy==2.4.1", "ruff==0.17.5", "pyright==1.1.414"];

/// The real packages that the drop-in and the runners stand in for, gunicorn, and what their tests need, by name and version.
const FRAMEWORKS: [&str; 11] = [
    "skillware==0.6.0",
    "agent-framework-core==1.23.0",
    "google-adk==2.13.0",
    "smolagents==1.26.0",
    "litellm==1.106.2",
    "anthropic==2.10.0",
    "openai==2.54.0",
    "ollama==0.6.3",
    "trustme==1.2.1",
    "gunicorn==27.0.1",
    "pytest-asyncio==1.5.0",
];

#[test]
fn the_wheel_installs_and_passes_its_tests() {
    let folder = tempfile::tempdir().unwrap();
    let Some(environment) = make_environment(folder.path()) else {
        println!("skipped: no Python 3.11 with venv here, or pip can't fetch {TOOLS:?}");
        return;
    };
    let wheels = folder.path().join("wheels");
    let has_frameworks = std::thread::scope(|scope| {
        let fetched = scope.spawn(|| environment.install(&FRAMEWORKS, 240));
        environment.run("maturin", &["build", "--release", "--out", wheels.to_str().unwrap()], 900);
        fetched.join().unwrap()
    });
    let wheel = std::fs::read_dir(&wheels).unwrap().next().unwrap().unwrap().path();
    assert!(wheel.to_string_lossy().contains("-cp311-abi3-"), "{wheel:?}");
    environment.run("pip", &["install", "-q", "--no-deps", "--no-index", wheel.to_str().unwrap()], 60);
    environment.run("skillcell", &["--version"], 60).is(0, &["skillcell "]);
    let tests = ["-q", "-x", "-rs", "-p", "no:cacheprovider", "python/tests"];
    let tested = std::thread::scope(|scope| {
        let looked_at = scope.spawn(|| environment.look_at_the_source(folder.path()));
        let tested = environment.run("pytest", &tests, 800);
        looked_at.join().unwrap();
        tested
    });
    if has_frameworks {
        assert!(!tested.stdout.contains("SKIPPED"), "{}", tested.stdout);
    } else {
        println!("skipped: the drop-in and the runners, since pip can't fetch {FRAMEWORKS:?}\n{}", tested.stdout);
    }
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
    (made && environment.install(&TOOLS, 180)).then_some(environment)
}

impl Environment {
    /// Whether these packages could be fetched.
    fn install(&self, packages: &[&str], seconds: u32) -> bool {
        let pip = ["install", "-q", "--no-input"];
        let has_uv = self.programs.join("uv").exists() || self.start("pip", &[&pip, &[UV][..]].concat(), 60).code == 0;
        has_uv && self.start("uv", &[&["pip", "install", "-q"], packages].concat(), seconds).code == 0
            || self.start("pip", &[&pip, packages].concat(), seconds).code == 0
    }

    /// What Python programmers hold their source against: its form, its types, and its stubs beside the module.
    fn look_at_the_source(&self, folder: &Path) {
        // Not all there is: what is nested to break a guest's parser breaks ruff's too.
        let ours = ["python", "docs/examples/python"];
        self.run("ruff", &[&["check", "--no-cache"], &ours[..]].concat(), 60);
        self.run("ruff", &[&["format", "--no-cache", "--check"], &ours[..]].concat(), 60);
        let cache = folder.join("mypy");
        self.run("mypy", &["--cache-dir", cache.to_str().unwrap()], 200);
        let stubtest = ["-m", "mypy.stubtest", "skillcell._skillcell", "--mypy-config-file", "pyproject.toml"];
        self.run("python", &stubtest, 200);
        // It looks for the packages of another Python otherwise.
        let python = self.programs.join("python");
        self.run("pyright", &["--pythonpath", python.to_str().unwrap()], 200);
    }

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
        // What is imported is compiled once, and not into the repository.
        let place = self.programs.parent().unwrap();
        finish(command.env("VIRTUAL_ENV", place).env("PYTHONPYCACHEPREFIX", place.join("compiled")))
    }

    /// The same, and it has to succeed.
    fn run(&self, program: &str, arguments: &[&str], seconds: u32) -> Ran {
        let ran = self.start(program, arguments, seconds);
        assert_eq!(ran.code, 0, "{program} {arguments:?}\n{}{}", ran.stdout, ran.stderr);
        ran
    }
}
