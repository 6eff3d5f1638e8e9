//! A permission that a skill asks for and was not granted, with the flag, line or command that would grant it.

use serde::Serialize;

use super::denial::DenialKind;
use super::grants::GrantKind;
use super::permissions::{Asked, FolderAsk};
use super::quote::{brief, list, shell, shell_word, toml};

/// Placeholder for a host folder, which only the operator can name.
const FOLDER: &str = "FOLDER";

/// A requested permission that was not granted, or only in part.
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
    /// The deny rule that overrides any grant of it.
    pub denied_by: Option<String>,
    /// The flags of `skillcell run` that would grant it, for a POSIX shell.
    pub flag: Option<String>,
    /// The lines of `skillcell.toml` that would grant it.
    pub line: Option<String>,
    /// The command that would grant it.
    pub command: Option<String>,
    /// A risk to consider first; if set, no flag, line or command is suggested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl Missing {
    /// `texts` are the grants that would have to be added.
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

    /// A missing folder. Approving can't grant it, because an approval doesn't name a host folder.
    pub(super) fn for_folder(skill: &str, asked: &Asked<FolderAsk>, words: String) -> Missing {
        let text = format!("{FOLDER}:{}:{}", asked.what.path, asked.what.mode.name());
        let missing = Missing::new(skill, GrantKind::Mount, &[text], words, &asked.reason);
        Missing { command: None, ..missing }
    }

    /// Marks it as denied by a rule, which no flag or approval overrides.
    pub(super) fn with_denying_rule(self, by: String) -> Missing {
        Missing { denied_by: Some(by), flag: None, line: None, command: None, ..self }
    }

    /// Adds a warning, if there is one, and removes the suggestions.
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
        // Last and on their own lines, so that they can be copied verbatim.
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
