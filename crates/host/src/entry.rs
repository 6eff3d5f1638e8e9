//! What of a skill a call enters: `execute` of its `skill.py`, or one of its files, run as a script.
//!
//! A script gets `argv`, standard input and a working folder that is the skill's, with the call's own files laid into it. What
//! it made or changed there is in the report, with its exit code; the folder itself is gone afterwards.

pub(super) mod outside;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::HostError;
use crate::call::{Call, Note, NoteKind, Outcome, Raised, Report};
use skillcell_packages::skill::{Skill, SkillError};
use skillcell_policy::manifest::Manifest;
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
}

impl Call {
    /// A call that runs a file of the skill with these arguments; all else as by default.
    pub fn script(path: impl Into<String>, argv: impl IntoIterator<Item = String>) -> Call {
        Call::default().with_script(path, argv)
    }

    /// The same call, to run a file of the skill with these arguments. What the script imports is no reason to refuse it:
    /// what a cell has no use for raises where it is used.
    pub fn with_script(self, path: impl Into<String>, argv: impl IntoIterator<Item = String>) -> Call {
        let entry = Entry::Script(Script { path: path.into(), ..Script::default() });
        let params = json!({"argv": argv.into_iter().collect::<Vec<_>>()});
        self.entering(entry, params)
    }

    /// The same call, to run this code as `python3 -c` would, with a skill from [`Host::program`](crate::Host::program).
    pub fn with_code(self, code: &str, argv: impl IntoIterator<Item = String>) -> Call {
        let entry = Entry::Script(Script { path: super::program::NAME.to_owned(), ..Script::default() });
        let params = json!({"argv": argv.into_iter().collect::<Vec<_>>(), "code": code});
        self.entering(entry, params)
    }

    /// The script that it runs, if it runs one.
    pub fn script_mut(&mut self) -> Option<&mut Script> {
        match &mut self.entry {
            Entry::Script(script) => Some(script),
            Entry::Execute => None,
        }
    }
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

    /// What a script's end means: an exit code, and a result only where that is 0.
    pub(super) fn finish(&self, report: &mut Report) {
        let Entry::Script(_) = self else { return };
        let code = match &report.outcome {
            Outcome::Returned(_) => Some(0),
            Outcome::Raised(raised) => Some(exit_status(raised)),
            _ => None,
        };
        report.exit_code = code;
        if code == Some(0) {
            report.outcome = Outcome::Returned(RawValue::NULL.to_owned());
        }
    }
}

/// As a shell sees it: the lowest eight bits. An exception is 1.
fn exit_status(raised: &Raised) -> u8 {
    raised.exit_code.map_or(1, |code| (code & 0xFF) as u8)
}

/// Notes on a script's packages, where they are only a guess.
pub(super) fn note_guess(manifest: &Manifest) -> Option<Note> {
    let raw = manifest.raw();
    let guessed = raw.get("requirements_from").and_then(Value::as_str) == Some("imports");
    (guessed && !manifest.requirements.is_empty()).then(|| {
        let names = manifest.requirements.join(", ");
        let message = format!(
            "nothing says which packages the script requires; by what it imports they are taken to be: {names}. A PEP 723 \
             block in the script, or a `requirements.txt` in the skill, would say it"
        );
        Note::new(NoteKind::GuessedPackages, names, message)
    })
}

/// A file that a script made or changed, in the envelope.
#[derive(Serialize)]
pub(super) struct FileEnvelope<'a> {
    path: &'a str,
    bytes: usize,
}

impl<'a> FileEnvelope<'a> {
    pub(super) fn new(file: &'a WrittenFile) -> FileEnvelope<'a> {
        FileEnvelope { path: &file.path, bytes: file.bytes.len() }
    }
}
