//! The tiers, and a choice of one by flag or manifest. The plan decides which tier a call runs in.

use std::str::FromStr;

use super::quote::cut;

/// How a skill is executed, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// A fresh CPython in WebAssembly.
    Wasm,
    /// A container, for one call.
    Container,
    /// A process of this machine's Python in a sandbox of the kernel's.
    Subprocess,
    /// A process of this machine's Python, with all that the operator may do. No isolation.
    InProcess,
}

impl Tier {
    /// All of them, strongest isolation first.
    pub const ALL: [Tier; 4] = [Tier::Wasm, Tier::Container, Tier::Subprocess, Tier::InProcess];

    /// The name in manifests, flags and the JSON contract.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Wasm => "wasm",
            Tier::Container => "container",
            Tier::Subprocess => "subprocess",
            Tier::InProcess => "in_process",
        }
    }

    /// Whether it keeps a skill from what was not granted.
    pub fn is_isolated(self) -> bool {
        self != Tier::InProcess
    }
}

impl std::fmt::Display for Tier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A requested tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The strongest that the skill can run in, that this machine has and that policy allows for it.
    #[default]
    Auto,
    /// Like `Auto`, but any isolated tier is allowed, also for a skill that nobody vouches for.
    Isolated,
    /// This one.
    Tier(Tier),
}

/// A text that names no tier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no tier: it is one of auto, isolated, wasm, container, subprocess, in_process")]
pub struct BadTier(String);

impl FromStr for Tier {
    type Err = BadTier;

    fn from_str(text: &str) -> Result<Tier, BadTier> {
        let found = Tier::ALL.into_iter().find(|tier| tier.name() == text.replace('-', "_"));
        found.ok_or_else(|| BadTier(cut(text, 40)))
    }
}

impl FromStr for Choice {
    type Err = BadTier;

    fn from_str(text: &str) -> Result<Choice, BadTier> {
        match text {
            "auto" => Ok(Choice::Auto),
            "isolated" => Ok(Choice::Isolated),
            text => text.parse().map(Choice::Tier),
        }
    }
}
