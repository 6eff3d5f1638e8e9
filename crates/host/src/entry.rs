//! What of a skill a call enters: `execute` of its `skill.py`, or one of its files, run as a script.
//!
//! A script gets `argv`, standard input and a working folder that is the skill's, with the call's own files laid into it. What
//! it made or changed there is in the report, with its exit code; the folder itself is gone afterwards.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine;
use serde::Serialize;

use super::HostError;
use skillcell_packages::skill::{Skill, SkillError};
pub use skillcell_vfs::{Input, InputStream, WrittenFile};

/// What of a skill a call enters.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Entry {
    /// `execute(params)` of the class in `skill.py`.
    #[default]
    Execute,
    /// A file of the skill, run as `python3 path …` in the skill's folder would.
    Script(Script),
}

/// A script, and what it is run with besides its arguments.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Script {
    /// Its path in the skill's folder: `scripts/convert.py`.
    pub path: String,
    /// What it reads as standard input; nothing by default.
    pub stdin: Input,
    /// Files that are laid into its folder, by their paths there. At most 1,000, and 256 MiB.
    pub files: Vec<(String, Arc<[u8]>)>,
    /// Whether it is code as somebody types it, see [`Call::with_lines`](crate::call::Call::with_lines).
    pub(crate) typed: bool,
}

impl Entry {
    /// The skill as this entry sees it.
    pub(super) fn of_skill<'a>(&self, skill: &'a Skill) -> Result<Cow<'a, Skill>, HostError> {
        match self {
            Entry::Execute if skill.script().is_none() && skill.is_agent_skill() => {
                Err(HostError::OnlyScripts { skill: skill.id().to_owned(), given: skill.as_given() })
            }
            Entry::Execute => Ok(Cow::Borrowed(skill)),
            Entry::Script(script) => {
                let missing = || HostError::NoScript { skill: skill.id().to_owned(), path: script.path.clone() };
                let skill = skill.for_script(&script.path).ok_or_else(missing)?;
                Ok(Cow::Owned(skill.with_files(&script.files).map_err(SkillError::from)?))
            }
        }
    }

    /// What a cell reads as standard input.
    pub(super) fn input(&self) -> Input {
        match self {
            Entry::Execute => Input::Empty,
            Entry::Script(script) => script.stdin.clone(),
        }
    }
}

/// A file that a script made or changed, in the envelope.
#[derive(Serialize)]
pub(super) struct FileEnvelope<'a> {
    path: &'a str,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl<'a> FileEnvelope<'a> {
    /// With its content, if there is room for it.
    pub(super) fn new(file: &'a WrittenFile, room: &mut usize) -> FileEnvelope<'a> {
        let left = room.checked_sub(file.bytes.len()).filter(|_| *room > 0);
        *room = left.unwrap_or(*room);
        let base64 = left.map(|_| base64::engine::general_purpose::STANDARD.encode(&file.bytes));
        FileEnvelope { path: &file.path, bytes: file.bytes.len(), base64 }
    }
}
