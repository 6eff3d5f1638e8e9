//! What a list of skills shows: which there are, which have an image, and the verdicts that were reached before. Nothing is
//! compiled, baked or run for it.

use serde_json::{Value, json};

use super::{Host, HostError};
use skillcell_cache::{Bucket, Pack};
use skillcell_packages::provision;
use skillcell_packages::skill::{self, Found, Skill};

/// What is known of a skill as it is now.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The verdict's name, and the first of its reasons.
    pub verdict: Option<(String, Option<String>)>,
    /// Whether the next call starts from an image that is there.
    pub is_baked: bool,
}

impl Host {
    /// The skills in folders that an id would lead to, in the order of the search.
    pub fn folder_skills(&self) -> Vec<Found> {
        skill::skills_below(&self.shared.roots)
    }

    /// What is known of a skill; `analysis` names the code that verdicts were reached by. Looks at seals only. Without a
    /// compiled runtime there can be neither a verdict nor an image.
    pub fn known(&self, skill: &Skill, analysis: &str) -> Result<Known, HostError> {
        if !self.runtime(self.shared.runtime).is_compiled()? {
            return Ok(Known::default());
        }
        let is_baked = self.baker(skill.runtime(), false)?.is_baked(skill)?;
        let verdict = match self.verdict_name(skill, analysis)? {
            Some(name) => self.cache().meta(Bucket::Pack, &name)?.and_then(|meta| read_verdict(&meta)),
            None => None,
        };
        Ok(Known { verdict, is_baked })
    }

    /// Keeps a verdict for [`Host::known`]. One that can't be kept is reached again.
    pub fn remember_verdict(&self, skill: &Skill, analysis: &str, verdict: &str, reason: Option<&str>) {
        let Ok(Some(name)) = self.verdict_name(skill, analysis) else { return };
        let about = json!({"kind": "verdict", "verdict": verdict, "reason": reason});
        if self.cache().meta(Bucket::Pack, &name).is_ok_and(|known| known.as_ref() == Some(&about)) {
            return;
        }
        let progress = &*self.shared.progress;
        let _ = self.cache().replace(Bucket::Pack, &name, "keeping a verdict", progress, |writer| {
            Pack::build::<provision::Error>(writer, [])?;
            Ok::<Value, provision::Error>(about)
        });
    }

    /// All that a verdict depends on. With wheels that are given it depends on those too, and is not kept.
    fn verdict_name(&self, skill: &Skill, analysis: &str) -> Result<Option<String>, HostError> {
        if !self.shared.fetch.wheels.is_empty() {
            return Ok(None);
        }
        let key = self.baker(skill.runtime(), false)?.image_key(skill);
        Ok(Some(format!("verdict-{}-{key}", analysis)))
    }
}

fn read_verdict(meta: &Value) -> Option<(String, Option<String>)> {
    Some((meta["verdict"].as_str()?.to_owned(), meta["reason"].as_str().map(str::to_owned)))
}
