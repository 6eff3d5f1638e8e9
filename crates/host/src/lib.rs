//! The host: what a program that runs skills holds on to. One way to call, from any thread.

#![deny(missing_docs)]

mod active_grants;
pub mod approvals;
mod builder;
pub mod call;
mod calling;
mod command;
pub mod entry;
mod environment;
mod execute;
mod facts;
mod following;
mod footprint;
mod images;
mod json_strings;
mod listing;
mod map_paths;
mod notes;
mod own_folders;
mod params;
mod parts;
pub mod plan;
mod program;
mod recorded_calls;
mod run_tests;
mod scripts;
mod session;
mod study;
pub mod testing;
pub mod written;

use std::sync::Arc;

pub use self::active_grants::GrantError;
pub use self::builder::HostBuilder;
pub use self::calling::Ahead;
pub use self::footprint::{Download, Footprint};
pub use self::listing::Known;
use self::parts::Shared;
pub use self::session::{Session, SessionEnd, SessionLimits};
use crate::approvals::ApprovalError;
use crate::testing::TestError;
use skillcell_cell::EngineError;
pub use skillcell_cell::engine::CALLER_STACK;
use skillcell_cell::engine::STACK_NEEDED;
use skillcell_cell::image::BakeError;
use skillcell_cell::runtime::RuntimeError;
use skillcell_door::audit::AuditError;
use skillcell_packages::provision;
use skillcell_packages::skill::{Skill, SkillError};
use skillcell_packages::venv::VenvError;
use skillcell_policy::manifest::ManifestError;
pub use skillcell_tiers::SandboxChoice;
use skillcell_tiers::TierError;

/// Runs skills in cells. Clones share everything.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
}

/// Why the host could not do its part. What a skill does is never an error: see [`Outcome`](skillcell_limits::outcome::Outcome).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The runtime can't be fetched, compiled or loaded.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The name leads to no skill, or the skill's files can't be taken.
    #[error(transparent)]
    Skill(#[from] SkillError),
    /// The image of a skill can't be made or loaded.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// The WebAssembly engine can't do its part.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The cache folder can't be read or written, or is not safe to use.
    #[error(transparent)]
    Cache(#[from] skillcell_cache::Error),
    /// What this program is pinned to can't be fetched, or is not what was pinned.
    #[error(transparent)]
    Provision(#[from] provision::Error),
    /// The packages for a tier outside of cells can't be installed.
    #[error(transparent)]
    Venv(#[from] VenvError),
    /// A tier other than a cell can't be used, or failed on the way.
    #[error(transparent)]
    Tier(#[from] TierError),
    /// A grant can't be kept: a folder that is not there, a secret without a value.
    #[error(transparent)]
    Grant(#[from] GrantError),
    /// Approvals can't be read or kept; nothing runs by approvals in doubt.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// The call can't be recorded, so it is not made, or not to its end.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// There are no tests to run, or what they need can't be read.
    #[error(transparent)]
    Test(#[from] TestError),
    /// What the skill says of itself can't be read, so nothing can be decided about it.
    #[error("the manifest of `{skill}` can't be read")]
    Manifest {
        /// The skill's id.
        skill: String,
        /// The place and the reason, in words.
        source: ManifestError,
    },
    /// A call of `execute` of a skill that has no `skill.py`.
    #[error("`{skill}` has no `skill.py`, only a `SKILL.md` with scripts")]
    OnlyScripts {
        /// The skill's id.
        skill: String,
        /// How a command names it.
        given: String,
    },
    /// A call of a script that the skill does not have.
    #[error("`{skill}` has no file `{path}`")]
    NoScript {
        /// The skill's id.
        skill: String,
        /// As the call has it.
        path: String,
    },
    /// A program is longer than any may be.
    #[error("the program is {got} bytes, and may be {cap}")]
    ProgramTooLarge {
        /// Its bytes.
        got: usize,
        /// The most that is taken: 8 MiB.
        cap: usize,
    },
    /// [`Call::config`](crate::call::Call::config) is JSON of another kind.
    #[error("the config of a call must be a JSON object")]
    ConfigNotAnObject,
    /// The params are longer than any call's may be.
    #[error("the params are {got} bytes as JSON, and may be {cap}")]
    ParamsTooLarge {
        /// Bytes of the params as JSON; `cap + 1` where they were not counted to the end.
        got: usize,
        /// The most that is taken, in bytes: 64 MiB.
        cap: usize,
    },
}

impl HostError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            HostError::Cache(error) | HostError::Runtime(RuntimeError::Cache(error)) => error.hint(),
            HostError::Bake(BakeError::Cache(error) | BakeError::Runtime(RuntimeError::Cache(error))) => error.hint(),
            HostError::Provision(error) | HostError::Runtime(RuntimeError::Provision(error)) => error.hint(),
            HostError::Bake(BakeError::Runtime(RuntimeError::Provision(error))) => error.hint(),
            HostError::Bake(BakeError::Packages(error)) => error.hint(),
            HostError::Audit(error) => error.hint(),
            HostError::Venv(error) => error.hint(),
            HostError::Tier(error) => error.hint(),
            HostError::Bake(BakeError::Damaged(_)) => {
                Some("call again: what was damaged was removed and is made anew".into())
            }
            HostError::OnlyScripts { given, .. } => {
                let given = skillcell_quote::shell_word(given);
                Some(format!("`skillcell script {given} SCRIPT -- ARGS` runs one of them"))
            }
            HostError::NoScript { .. } => {
                Some("a script is named by its path in the skill's folder, `scripts/convert.py` say".into())
            }
            HostError::Approval(error) => error.hint(),
            HostError::Grant(error) => error.hint(),
            HostError::Skill(SkillError::Find(_)) => Some(
                "a skill is a folder with a `skill.py`, or an id in SKILLWARE_SKILL_PATH, ./skills or the registry"
                    .into(),
            ),
            _ => None,
        }
    }
}

impl Host {
    /// Settings, all of which have defaults.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Finds a skill by path or id, and reads its files.
    pub fn skill(&self, name: &str) -> Result<Skill, HostError> {
        Ok(Skill::find(name, &self.shared.roots, self.registry()?)?)
    }

    /// The same in folders alone, so that nothing has to be fetched: none if the name may be an id of the registry.
    pub fn folder_skill(&self, name: &str) -> Result<Option<Skill>, HostError> {
        Ok(Skill::find_in_folders(name, &self.shared.roots)?)
    }
}

/// A cell runs on the stack of the thread that called for it. Running out of that would end the process, where running
/// out of the cell's share of it ends the call. So a thread with little left gets more, elsewhere, for as long as `work` takes. Each call
/// does that by itself; who makes many saves the time for it with one around all of them, or with threads of [`CALLER_STACK`].
pub fn on_enough_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK_NEEDED, CALLER_STACK, work)
}
