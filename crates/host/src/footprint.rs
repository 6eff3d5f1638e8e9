//! What the tiers keep on disk, for the comparison.

use serde::Serialize;

use super::parts::Shared;
use super::{Host, HostError};
use skillcell_cache::Bucket;
use skillcell_cell::image::file_name;
use skillcell_cell::runtime;
use skillcell_packages::PackageStatus;
use skillcell_packages::provision::pins;
use skillcell_packages::skill::Skill;
use skillcell_policy::Tier;
use skillcell_tiers::Prepared;

/// Both kinds of disk space, and the downloads.
#[derive(Debug, Clone, Default)]
pub struct Footprint {
    /// For this skill alone.
    pub own_bytes: u64,
    /// Once, for all skills.
    pub shared_bytes: u64,
    /// What comes over the network before the first call, one by one.
    pub downloads: Vec<Download>,
}

/// Something that is fetched before the first call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Download {
    /// A few words for people, as `12 wheels`.
    pub what: String,
    /// As it is sent, where that is known.
    pub bytes: Option<u64>,
}

impl Footprint {
    pub(crate) fn add_download(&mut self, what: String, bytes: Option<u64>) {
        self.downloads.push(Download { what, bytes });
    }

    /// What is known of them together, and what else there is.
    pub fn total_downloads(&self) -> (u64, Vec<&str>) {
        let known = self.downloads.iter().filter_map(|it| it.bytes).fold(0, u64::saturating_add);
        let unknown = self.downloads.iter().filter(|it| it.bytes.is_none()).map(|it| it.what.as_str());
        (known, unknown.collect())
    }
}

impl Host {
    /// What a tier keeps for this skill. What is not there yet is made.
    pub fn footprint(&self, tier: Tier, skill: &Skill) -> Result<Footprint, HostError> {
        if tier == Tier::Wasm {
            return self.footprint_of_cells(skill);
        }
        let mut footprint = Footprint::default();
        match self.make_outside(tier, skill)? {
            Prepared::Environment(venv) | Prepared::Bare(venv) => {
                footprint.own_bytes = venv.disk_bytes();
                footprint.add_download(format!("{} wheels", venv.lock().packages.len()), Some(venv.downloaded_bytes()));
            }
            Prepared::Image(ready) => {
                let Shared { containers, .. } = &*self.shared;
                footprint.own_bytes = ready.bytes().saturating_sub(ready.base_bytes(containers));
                footprint.shared_bytes = ready.base_bytes(containers);
                footprint.add_download(format!("image {}", ready.source_image(containers)), None);
                let wanted = skill.wanted(&self.manifest(skill)?.requirements);
                if let Some(packages) = self.container_maker().packages(&ready, &wanted)? {
                    let wheels = format!("{} wheels", packages.lock().packages.len());
                    footprint.add_download(wheels, Some(packages.downloaded_bytes()));
                }
            }
        }
        Ok(footprint)
    }

    fn footprint_of_cells(&self, skill: &Skill) -> Result<Footprint, HostError> {
        let key = self.baker(skill.runtime(), false)?.image_key(skill);
        let mut footprint = Footprint::default();
        footprint.own_bytes = self.cache().bytes(Bucket::Image, &file_name(&key))?.unwrap_or_default();
        let of_runtime = |bucket| matches!(bucket, Bucket::Runtime | Bucket::Code);
        footprint.shared_bytes =
            self.cache().list()?.iter().filter(|it| of_runtime(it.bucket)).map(|it| it.bytes).sum();
        footprint.add_download("the runtime".to_owned(), Some(runtime::pinned_runtime().wheel.bytes));
        let framework: u64 = pins().packages().iter().map(|pin| pin.bytes).sum();
        footprint.add_download(format!("{} wheels of the framework", pins().packages().len()), Some(framework));
        let own = self.packages(skill)?;
        let wheels = own.packages.iter().filter(|it| matches!(it.standing, PackageStatus::Wheel { .. }));
        match wheels.count() {
            0 => {}
            count => footprint.add_download(format!("{count} wheels of its own"), None),
        }
        Ok(footprint)
    }
}
