//! What the tiers keep on disk, for the comparison.

use super::outside::requirements;
use super::parts::Shared;
use super::{Host, HostError};
use crate::cache::Bucket;
use crate::compare::Footprint;
use crate::image::file_name;
use crate::packages::Standing;
use crate::provision::pins;
use crate::runtime;
use crate::skill::Skill;
use crate::tier::{Ground, Tier, container};

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
                footprint.downloads(format!("{} wheels", venv.lock().packages.len()), Some(venv.downloaded()));
            }
            Ground::Image(ready) => {
                let Shared { cache, fetch, progress, containers, .. } = &*self.shared;
                footprint.own_bytes = ready.bytes().saturating_sub(ready.base_bytes(containers));
                footprint.shared_bytes = ready.base_bytes(containers);
                footprint.downloads(format!("image {}", ready.from(containers)), None);
                let maker = container::Maker { cache, fetch, progress: &**progress, containers };
                if let Some(packages) = maker.packages(&ready, &requirements(&manifest))? {
                    let wheels = format!("{} wheels", packages.lock().packages.len());
                    footprint.downloads(wheels, Some(packages.downloaded()));
                }
            }
        }
        Ok(footprint)
    }

    fn footprint_of_cells(&self, skill: &Skill) -> Result<Footprint, HostError> {
        let key = self.baker(false)?.key(skill);
        let mut footprint = Footprint::default();
        footprint.own_bytes = self.cache().bytes(Bucket::Image, &file_name(&key))?.unwrap_or_default();
        let of_runtime = |bucket| matches!(bucket, Bucket::Runtime | Bucket::Code);
        footprint.shared_bytes =
            self.cache().list()?.iter().filter(|it| of_runtime(it.bucket)).map(|it| it.bytes).sum();
        footprint.downloads("the runtime".to_owned(), Some(runtime::pin().wheel.bytes));
        let framework: u64 = pins().packages().iter().map(|pin| pin.bytes).sum();
        footprint.downloads(format!("{} wheels of the framework", pins().packages().len()), Some(framework));
        let own = self.packages(skill)?;
        let wheels = own.packages.iter().filter(|it| matches!(it.standing, Standing::Wheel { .. }));
        match wheels.count() {
            0 => {}
            count => footprint.downloads(format!("{count} wheels of its own"), None),
        }
        Ok(footprint)
    }
}
