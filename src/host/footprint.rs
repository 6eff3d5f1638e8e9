//! What the tiers keep on disk, for the comparison.

use super::outside::requirements;
use super::{Host, HostError};
use crate::cache::Bucket;
use crate::compare::Footprint;
use crate::image::file_name;
use crate::provision::pins;
use crate::runtime;
use crate::skill::Skill;
use crate::tier::{Ground, Tier};

impl Host {
    /// What a tier keeps for this skill. What is not there yet is made.
    pub(crate) fn footprint(&self, tier: Tier, skill: &Skill) -> Result<Footprint, HostError> {
        if tier == Tier::Wasm {
            return self.footprint_of_cells(skill);
        }
        let manifest = self.manifest(skill)?;
        let mut footprint = Footprint::default();
        match self.ground(tier, skill, &manifest)? {
            Ground::Environment(venv) | Ground::Bare(venv) => {
                footprint.own_bytes = venv.bytes();
                footprint.downloads.push(format!("{} wheels", venv.lock().packages.len()));
            }
            Ground::Image(ready) => {
                footprint.own_bytes = ready.bytes().saturating_sub(ready.base_bytes(&self.shared.containers));
                footprint.shared_bytes = ready.base_bytes(&self.shared.containers);
                footprint.downloads.push(format!("the base image {}", self.shared.containers.base));
                let wheels = requirements(&manifest).len();
                footprint.downloads.push(format!("wheels of the framework and {wheels} requirements"));
            }
        }
        Ok(footprint)
    }

    fn footprint_of_cells(&self, skill: &Skill) -> Result<Footprint, HostError> {
        let key = self.baker(false)?.key(skill);
        let own_bytes = self.cache().bytes(Bucket::Image, &file_name(&key))?.unwrap_or_default();
        let of_runtime = |bucket| matches!(bucket, Bucket::Runtime | Bucket::Code);
        let shared_bytes = self.cache().list()?.iter().filter(|it| of_runtime(it.bucket)).map(|it| it.bytes).sum();
        let wheels: u64 = pins().packages().iter().map(|pin| pin.bytes).sum();
        let downloads = vec![
            format!("the runtime, {} MB", runtime::pin().wheel.bytes / 1_000_000),
            format!("{} wheels, {:.1} MB", pins().packages().len(), wheels as f64 / 1e6),
        ];
        Ok(Footprint { own_bytes, shared_bytes, downloads })
    }
}
