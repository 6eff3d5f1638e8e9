//! Recorded runs of scripts: what they are given. What they give is compared with a run beside it, not with a record.
//!
//! A run is `{id, skill, script, args, stdin?, files?, differs?}`. `files` are laid into the skill's folder: a path there, and the name
//! of the file beside the cases. `differs` is the reason why a run is known not to be the same; one with the arguments `--help` and no
//! files is about the script's usage.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::cases::Files;
use skillcell_host::call::Call;
use skillcell_host::entry::Input;

const USAGE: &str = "--help";

/// One recorded run of a script.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ScriptCase {
    id: String,
    pub args: Vec<String>,
    /// What it reads as standard input.
    stdin: Option<String>,
    /// Paths in the skill's folder, and the recorded files that they are.
    pub files: BTreeMap<String, String>,
    /// Why it is known not to be the same.
    pub differs: Option<String>,
    #[serde(skip)]
    source: Files,
}

impl ScriptCase {
    pub(super) fn read(value: &Value, source: &Files) -> Option<ScriptCase> {
        let case = ScriptCase::deserialize(value).ok()?;
        Some(ScriptCase { source: source.clone(), ..case })
    }

    /// The run that every script with a command line is given.
    pub fn usage() -> ScriptCase {
        ScriptCase { id: USAGE.to_owned(), args: vec![USAGE.to_owned()], ..ScriptCase::default() }
    }

    /// Whether it is what a row calls by this name: `--help` is the script's usage, whatever the case is called.
    pub fn is_run(&self, name: &str) -> bool {
        if name == USAGE { self.is_usage() } else { self.name() == name }
    }

    fn is_usage(&self) -> bool {
        self.args == [USAGE] && self.files.is_empty()
    }

    /// Its name without its skill.
    pub fn name(&self) -> &str {
        self.id.split_once('#').map_or(&self.id, |(_, name)| name)
    }

    /// Gives a call of the script what the run is given.
    pub fn lay_out(&self, call: &mut Call) -> Result<(), String> {
        let Some(script) = call.script_mut() else { return Ok(()) };
        for (path, name) in &self.files {
            script.files.push((path.clone(), self.source.read(name)?.into()));
        }
        if let Some(text) = &self.stdin {
            script.stdin = Input::Bytes(text.clone().into_bytes().into());
        }
        Ok(())
    }
}
