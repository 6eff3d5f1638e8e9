//! What is no longer as it was approved: what is asked for, and files.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::Approval;
use skillcell_packages::skill::Skill;
use skillcell_policy::{Change, Permissions};
use skillcell_quote::brief;

/// A message names so many of each.
const MAX_NAMED: usize = 8;

/// Between an approval and the skill as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What the skill asks for now and did not then, or the other way round.
    pub permissions: Vec<Change>,
    /// Files that are not as they were, by path.
    pub files: Vec<FileChange>,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", content = "path", rename_all = "snake_case")]
pub enum FileChange {
    /// It was not there when the skill was approved.
    Added(String),
    /// It was there, and is gone.
    Removed(String),
    /// It has other content.
    Changed(String),
}

impl FileChange {
    /// As a sentence. The file name is untrusted, so it goes through `brief`.
    pub fn describe(&self) -> String {
        match self {
            FileChange::Added(path) => format!("`{}` is new", brief(path)),
            FileChange::Removed(path) => format!("`{}` is gone", brief(path)),
            FileChange::Changed(path) => format!("`{}` changed", brief(path)),
        }
    }
}

impl Difference {
    /// `asked`: what the skill asks for now.
    pub fn between(approval: &Approval, skill: &Skill, asked: &Permissions) -> Difference {
        let permissions = asked.changes_since(&approval.permissions);
        Difference { permissions, files: changed_files(&approval.files, &file_digests(skill)) }
    }

    /// A summary that is short enough for a message.
    pub fn summarize(&self) -> String {
        let permissions: Vec<String> = self.permissions.iter().map(Change::describe).collect();
        let files: Vec<String> = self.files.iter().map(FileChange::describe).collect();
        let parts: Vec<String> = [permissions, files].into_iter().filter_map(join_some).collect();
        parts.join("; ")
    }

    /// As the JSON contract has it: `permissions` and `files`.
    pub fn to_value(&self) -> Value {
        json!({"permissions": self.permissions, "files": self.files})
    }
}

fn join_some(items: Vec<String>) -> Option<String> {
    let more = items.len().saturating_sub(MAX_NAMED);
    let named = items.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join("; ");
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!items.is_empty()).then(|| named + &more)
}

/// A digest of each file.
pub fn file_digests(skill: &Skill) -> BTreeMap<String, String> {
    let digest = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
    skill.contents().map(|(path, bytes)| (path.to_owned(), digest(bytes))).collect()
}

fn changed_files(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<FileChange> {
    let changed = now.iter().filter_map(|(path, digest)| match then.get(path) {
        None => Some(FileChange::Added(path.clone())),
        Some(earlier) if earlier != digest => Some(FileChange::Changed(path.clone())),
        Some(_) => None,
    });
    let removed = then.keys().filter(|path| !now.contains_key(*path)).cloned().map(FileChange::Removed);
    changed.chain(removed).collect()
}
