//! Something that a skill asks for and was not granted, with everything that would grant it.

use serde::Serialize;

use super::denial::DenialKind;
use super::grants::GrantKind;
use super::permissions::{Asked, FolderAsk};
use super::quote::{brief, list, shell, shell_word, toml};

/// What stands for a folder of the host that only the operator can name.
const FOLDER: &str = "FOLDER";

/// A wish that was not granted, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    #[serde(skip)]
    pub(super) skill: String,
    pub kind: DenialKind,
    /// As a grant would be written.
    pub asked: String,
    /// In words, after "it wants to".
    pub words: String,
    /// Why, as the skill's author says.
    pub reason: Option<String>,
    /// What of it was granted; empty where nothing was.
    pub granted_in_part: Vec<String>,
    /// The rule that denies it, whatever allows it.
    pub denied_by: Option<String>,
    /// The flags of `skillcell run` that would grant it, for a POSIX shell.
    pub flag: Option<String>,
    /// The lines of `skillcell.toml` that would.
    pub line: Option<String>,
    /// The command that would.
    pub command: Option<String>,
    /// What to think about first; there is no line to paste then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl Missing {
    /// `texts`: what a flag or the policy file would have to say.
    pub(super) fn new(
        skill: &str,
        kind: GrantKind,
        texts: &[String],
        words: String,
        reason: &Option<String>,
    ) -> Missing {
        let flags: Vec<String> = texts.iter().map(|text| format!("{} {}", kind.flag(), shell(text))).collect();
        let entries: Vec<String> = texts.iter().map(|text| toml(text)).collect();
        Missing {
            skill: brief(skill),
            kind: denial_kind(kind),
            asked: texts.join(" "),
            words,
            reason: reason.clone(),
            granted_in_part: Vec::new(),
            denied_by: None,
            flag: Some(flags.join(" ")),
            line: Some(format!("[skill.{}]\n{} = [{}]", toml(skill), kind.key(), entries.join(", "))),
            command: Some(format!("skillcell approve {}", shell_word(skill))),
            warning: None,
        }
    }

    /// A folder, which approving can't grant: it doesn't say which.
    pub(super) fn for_folder(skill: &str, asked: &Asked<FolderAsk>, words: String) -> Missing {
        let text = format!("{FOLDER}:{}:{}", asked.what.path, asked.what.mode.name());
        let missing = Missing::new(skill, GrantKind::Mount, &[text], words, &asked.reason);
        Missing { command: None, ..missing }
    }

    /// No flag and no approval helps against a rule that denies.
    pub(super) fn with_denying_rule(self, by: String) -> Missing {
        Missing { denied_by: Some(by), flag: None, line: None, command: None, ..self }
    }

    /// Something that no line to paste should grant.
    pub(super) fn with_warning(self, warning: Option<String>) -> Missing {
        match warning {
            Some(_) => Missing { warning, flag: None, line: None, command: None, ..self },
            None => self,
        }
    }

    /// Whether nothing of it was granted.
    pub fn is_whole(&self) -> bool {
        self.granted_in_part.is_empty()
    }

    pub fn message(&self) -> String {
        let wish = format!("`{}` asks to {}", self.skill, self.words);
        if let Some(rule) = &self.denied_by {
            return format!("{wish}, which the rule `{rule}` denies");
        }
        if self.is_whole() {
            return format!("{wish}, which is not granted");
        }
        let held: Vec<String> = self.granted_in_part.iter().map(|text| format!("`{text}`")).collect();
        format!("{wish}, of which only {} is granted", list(&held))
    }

    pub fn hint(&self) -> String {
        if self.denied_by.is_some() {
            return "no flag overrides a rule in `deny_http`; it would have to go from `skillcell.toml`".into();
        }
        if let Some(warning) = &self.warning {
            return warning.clone();
        }
        let flag = self.flag.iter().map(|flag| format!("`{flag}`"));
        let command = self.command.iter().map(|command| format!("`{command}`"));
        // Last and on lines of their own, to be pasted as they are.
        let lines = self.line.iter().map(|lines| format!("in `skillcell.toml`:\n{lines}"));
        let ways: Vec<String> = flag.chain(command).chain(lines).collect();
        format!("any of these grants it: {}", ways.join("; "))
    }
}

fn denial_kind(kind: GrantKind) -> DenialKind {
    match kind {
        GrantKind::AllowHttp | GrantKind::DenyHttp => DenialKind::Http,
        GrantKind::Resolve => DenialKind::Address,
        GrantKind::Mount => DenialKind::File,
        GrantKind::Secret => DenialKind::Secret,
        GrantKind::Env => DenialKind::Env,
        GrantKind::DenyImport | GrantKind::AllowImport => DenialKind::Import,
    }
}
