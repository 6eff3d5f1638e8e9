//! What calls outside of a cell were found to run on, by the skill's content, so that only the first of them looks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::skill::Skill;
use crate::tier::{Ground, Tier};

/// Skills that are remembered; beyond that all are forgotten, and looked for again.
const MOST: usize = 64;
/// How long what a tier lacks for a skill is not looked for again: asking for an image that can't be pulled takes seconds.
const LACKS_FOR: Duration = Duration::from_secs(300);

#[derive(Default)]
pub(super) struct Grounds {
    pub(super) manifests: HashMap<String, Arc<Value>>,
    pub(super) grounds: HashMap<(Tier, String), Arc<Ground>>,
    lacks: HashMap<(Tier, String), (Instant, String)>,
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

    /// Why there was nothing to run on in this tier, not long ago.
    pub(super) fn lack(&self, tier: Tier, skill: &Skill) -> Option<&str> {
        let (since, why) = self.lacks.get(&(tier, skill.digest().to_owned()))?;
        (since.elapsed() < LACKS_FOR).then_some(why)
    }

    pub(super) fn keep_lack(&mut self, tier: Tier, skill: &Skill, why: String) {
        if self.lacks.len() >= MOST {
            self.lacks.clear();
        }
        self.lacks.insert((tier, skill.digest().to_owned()), (Instant::now(), why));
    }
}
