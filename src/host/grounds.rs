//! What calls outside of a cell were found to run on, by the skill's content, so that only the first of them looks.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::skill::Skill;
use crate::tier::{Ground, Tier};

/// Skills that are remembered; beyond that all are forgotten, and looked for again.
const MOST: usize = 64;

#[derive(Default)]
pub(super) struct Grounds {
    pub(super) manifests: HashMap<String, Arc<Value>>,
    pub(super) grounds: HashMap<(Tier, String), Arc<Ground>>,
}

impl Grounds {
    pub(super) fn keep_manifest(&mut self, skill: &Skill, manifest: Arc<Value>) {
        if self.manifests.len() >= MOST {
            self.manifests.clear();
        }
        self.manifests.insert(skill.digest().to_owned(), manifest);
    }

    pub(super) fn keep(&mut self, tier: Tier, skill: &Skill, ground: Arc<Ground>) {
        if self.grounds.len() >= MOST {
            self.grounds.clear();
        }
        self.grounds.insert((tier, skill.digest().to_owned()), ground);
    }

    pub(super) fn forget(&mut self, tier: Tier, skill: &Skill) {
        self.grounds.remove(&(tier, skill.digest().to_owned()));
    }
}
