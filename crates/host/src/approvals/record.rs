//! The file's text. Read with bounds: it may have been written by another program, or by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::place;
use super::{ApprovalError, Result};
use skillcell_packages::skill::Skill;
use skillcell_policy::Permissions;
use skillcell_policy::Tier;

const SCHEMA: u32 = 1;
const MAX_APPROVALS: usize = 4096;
const MAX_FILES: usize = 10_000;
const MAX_TEXT_BYTES: usize = 4096;
const DIGEST_CHARS: usize = 64;

/// What was agreed to: all that a skill asked for, in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// The id that the skill had: `category/name`, or the folder's name.
    pub skill: String,
    /// The folder's full path, or `registry:` and the id: where a later state of it is looked for.
    pub place: String,
    /// Of every file's path and content.
    pub digest: String,
    /// When, in seconds since 1970.
    pub approved: u64,
    /// What it asked for, and what it is therefore granted; folders have to be mounted besides.
    pub permissions: Permissions,
    /// Tiers that were named when it was approved. Isolated ones it may use anyway, the other only if it is here.
    pub tiers: Vec<Tier>,
    /// A digest for each file, to tell what changed.
    pub files: BTreeMap<String, String>,
}

impl Approval {
    /// Whether it was made for the skill in this place, so that a change there is found.
    pub fn is_for(&self, skill: &Skill) -> bool {
        self.place == place::place_of(skill)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: u32,
    approvals: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    skill: String,
    place: String,
    digest: String,
    approved: u64,
    permissions: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tiers: Vec<Tier>,
    files: BTreeMap<String, String>,
}

pub fn write(approvals: &[Arc<Approval>]) -> Result<String> {
    let approvals = approvals.iter().map(|approval| Entry {
        skill: approval.skill.clone(),
        place: approval.place.clone(),
        digest: approval.digest.clone(),
        approved: approval.approved,
        permissions: approval.permissions.to_value(),
        tiers: approval.tiers.clone(),
        files: approval.files.clone(),
    });
    let document = Document { schema: SCHEMA, approvals: approvals.collect() };
    serde_json::to_string(&document).map_err(|error| ApprovalError::bad_file("approvals".as_ref(), error))
}

pub fn read(text: &str) -> std::result::Result<Vec<Approval>, String> {
    let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if document.schema != SCHEMA {
        return Err(format!("its schema is {}, and this program knows {SCHEMA}", document.schema));
    }
    if document.approvals.len() > MAX_APPROVALS {
        return Err(format!("it has more than {MAX_APPROVALS} approvals"));
    }
    document.approvals.into_iter().map(Entry::into_approval).collect()
}

impl Entry {
    fn into_approval(self) -> std::result::Result<Approval, String> {
        let Entry { skill, place, digest, approved, permissions, tiers, files } = self;
        let fits = |text: &str| (1..=MAX_TEXT_BYTES).contains(&text.len());
        if ![&skill, &place].into_iter().chain(files.keys()).all(|text| fits(text)) {
            return Err("a name in it is empty or too long".into());
        }
        if files.len() > MAX_FILES {
            return Err(format!("`{skill}` has more than {MAX_FILES} files"));
        }
        if tiers.len() > Tier::ALL.len() {
            return Err(format!("`{skill}` has more tiers than there are"));
        }
        if let Some(bad) = files.values().chain([&digest]).find(|digest| !is_digest(digest)) {
            return Err(format!("`{bad}` is not a digest"));
        }
        let permissions = Permissions::parse(&permissions).map_err(|bad| format!("`{skill}`: {bad}"))?;
        Ok(Approval { skill, place, digest, approved, permissions, tiers, files })
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == DIGEST_CHARS && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
