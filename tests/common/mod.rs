//! What the tests share: one host with the user's cache (or `SKILLCELL_CACHE_DIR`), so the runtime is compiled once.

#![allow(dead_code, reason = "every group of tests uses some of it")]

pub mod browser;
pub mod debian;
pub mod form;
pub mod held;
pub mod ran;
pub mod server;
pub mod serving;
pub mod trials;
pub mod watched;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;
use skillcell::{Call, Host, HostBuilder, NoteKind, Outcome, Raised, Report, Roots, RuntimeKind, SandboxChoice, Skill};

pub static HOST: LazyLock<Host> = LazyLock::new(|| host_builder().build().expect("the cache folder can be used"));

/// A host without the user's own skills, and with the sandbox that `SKILLCELL_SANDBOX` names: tests of it are run again with
/// another.
pub fn host_builder() -> HostBuilder {
    let builder = Host::builder().roots(Roots::new([])).sandbox(sandbox_choice());
    runtime_choice().into_iter().fold(builder, HostBuilder::runtime)
}

/// The runtime that `SKILLCELL_RUNTIME` names: suites are run again on the second one.
pub fn runtime_choice() -> Option<RuntimeKind> {
    std::env::var("SKILLCELL_RUNTIME").ok().map(|name| name.parse().expect("a runtime"))
}

pub fn sandbox_choice() -> SandboxChoice {
    std::env::var("SKILLCELL_SANDBOX").map_or(SandboxChoice::Best, |name| name.parse().expect("a sandbox"))
}

/// The fixture skill in `tests/skills/<path>`.
pub fn fixture(path: &str) -> Skill {
    let folder = tests().join("skills").join(path);
    HOST.skill(folder.to_str().expect("a plain path")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

pub fn call(skill: &Skill, call: &Call) -> Report {
    HOST.call(skill, call).unwrap_or_else(|error| panic!("{}: {error}", skill.id()))
}

/// The result as JSON, or what came instead as text.
pub fn returned(report: Report) -> Result<Value, String> {
    match report.outcome {
        Outcome::Returned(json) => Ok(serde_json::from_str(json.get()).expect("a result is JSON")),
        Outcome::Raised(raised) => Err(format!("raised {}: {}\n{}", raised.kind, raised.message, raised.traceback)),
        other => Err(other.name().to_owned()),
    }
}

/// The kinds of a call's notes, and what they are about. That code of the runtime was compiled first is another matter: it depends on the cache.
pub fn notes(report: &Report) -> Vec<(NoteKind, String)> {
    let notes = report.notes.iter().filter(|note| note.kind != NoteKind::Parts);
    notes.map(|note| (note.kind, note.subject.clone())).collect()
}

/// The exception, or what came instead as text.
pub fn raised(report: Report) -> Result<Raised, String> {
    match report.outcome {
        Outcome::Raised(raised) => Ok(raised),
        Outcome::Returned(json) => Err(format!("returned {json}")),
        other => Err(other.name().to_owned()),
    }
}
