//! The images that calls start from: found, baked, and kept mapped while the host lives.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::parts::Shared;
use super::{Host, HostError, on_enough_stack};
use crate::call::ImageUse;
use crate::entry::Entry;
use skillcell_cache::{Bucket, Pack};
use skillcell_cell::image::{BakeError, BakeReport, Baker, Image, MAX_AGE, WarmUp};
use skillcell_limits::{Limits, RuntimeKind};
use skillcell_packages::Packages;
use skillcell_packages::skill::Skill;
use skillcell_policy::manifest::{Manifest, StaticManifest};

/// Images that a host keeps mapped; another one is opened again when it is needed.
const MAX_IMAGES: usize = 64;
/// What images may take on disk by default.
pub(super) const DEFAULT_IMAGE_BYTES: u64 = 10 << 30;
/// Images by key and whether they count fuel.
pub(super) type Images = HashMap<(String, bool), Arc<Image>>;

impl Host {
    /// Bakes a skill's image ahead, replacing one that is there.
    pub fn build(&self, skill: &Skill, warm_up: &WarmUp, limits: &Limits) -> Result<(ImageUse, BakeReport), HostError> {
        let skill = &*Entry::Execute.of_skill(skill)?;
        on_enough_stack(|| self.build_here(&self.on_its_runtime(skill)?, warm_up, limits))
    }

    fn build_here(
        &self,
        skill: &Skill,
        warm_up: &WarmUp,
        limits: &Limits,
    ) -> Result<(ImageUse, BakeReport), HostError> {
        let baker = self.baker(skill.runtime(), limits.fuel.is_some())?;
        let image =
            self.with_repair(|| Ok(baker.rebake(skill, warm_up, limits, |skill| self.recorded_calls(skill))?))?;
        self.make_room();
        let about = (ImageUse { key: image.key.clone(), baked: true }, image.report.clone());
        let key = (image.key.clone(), limits.fuel.is_some());
        self.keep_image(key, image);
        Ok(about)
    }

    /// The report of a skill's image, if it is baked.
    pub fn baked(&self, skill: &Skill) -> Result<Option<(ImageUse, BakeReport)>, HostError> {
        let skill = &on_enough_stack(|| self.on_its_runtime(skill))?;
        let image = self.baker(skill.runtime(), false)?.find_image(skill)?;
        Ok(image.map(|image| (ImageUse { key: image.key.clone(), baked: false }, image.report)))
    }

    /// What a skill says of itself, read without running it.
    pub fn manifest(&self, skill: &Skill) -> Result<Manifest, HostError> {
        on_enough_stack(|| {
            let read = self.static_manifest(skill)?;
            read.manifest.map_err(|source| HostError::Manifest { skill: skill.id().to_owned(), source })
        })
    }

    /// What the guest reads of a skill's files, which the skill has no part in.
    pub(super) fn static_manifest(&self, skill: &Skill) -> Result<StaticManifest, HostError> {
        self.with_repair(|| Ok(self.baker(self.shared.runtime, false)?.static_manifest(skill)?))
    }

    /// What a skill's requirements resolve to on the runtime that its calls run on. It asks pip for what is neither there nor was resolved before.
    pub fn packages(&self, skill: &Skill) -> Result<Packages, HostError> {
        let kind = on_enough_stack(|| self.on_its_runtime(skill))?.runtime();
        self.packages_on(kind, skill)
    }

    /// The same on any runtime, whether or not its cells can be had here.
    pub fn packages_on(&self, kind: RuntimeKind, skill: &Skill) -> Result<Packages, HostError> {
        let with_packages = self.with_packages(&skill.on(kind))?;
        Ok(with_packages.site().map(|site| site.packages.clone()).unwrap_or_default())
    }

    /// The skill with its packages. A manifest that can't be read asks for none.
    pub(super) fn with_packages(&self, skill: &Skill) -> Result<Skill, HostError> {
        on_enough_stack(|| match self.static_manifest(skill)?.manifest {
            Ok(manifest) => Ok(self.baker(self.shared.runtime, false)?.with_packages(skill, &manifest)?),
            Err(_) => Ok(skill.clone()),
        })
    }

    /// The same with what any script of a folder with a `SKILL.md` requires.
    pub(super) fn with_all_packages(&self, skill: &Skill) -> Result<Skill, HostError> {
        if !skill.is_agent_skill() {
            return self.with_packages(skill);
        }
        let mut manifest = self.manifest(skill)?;
        manifest.requirements = self.all_requirements(skill)?;
        on_enough_stack(|| Ok(self.baker(self.shared.runtime, false)?.with_packages(skill, &manifest)?))
    }

    /// The files of a skill's packages, wheels and stand-ins, without those that the runtime and the framework have.
    pub fn site_files(&self, skill: &Skill) -> Result<Option<Pack>, HostError> {
        let with_packages = self.with_packages(skill)?;
        let Some(name) = with_packages.site().and_then(|site| site.pack.as_deref()) else { return Ok(None) };
        let artefact = self.cache().open(Bucket::Pack, name, &*self.shared.progress)?;
        Ok(artefact.map(Pack::open).transpose()?)
    }

    /// What its requirements resolve to, asked again whatever was resolved before or is locked.
    pub fn resolve(&self, skill: &Skill) -> Result<Packages, HostError> {
        self.resolve_on(RuntimeKind::WasiPython, &self.all_requirements(skill)?)
    }

    /// What requirements resolve to on a runtime, likewise.
    pub(super) fn resolve_on(&self, kind: RuntimeKind, requirements: &[String]) -> Result<Packages, HostError> {
        on_enough_stack(|| {
            let baker = self.baker(self.shared.runtime, false)?;
            Ok(baker.site_store().resolve_again(kind, requirements).map_err(BakeError::from)?)
        })
    }

    /// What a skill requires; of a folder with scripts, what any of them does.
    fn all_requirements(&self, skill: &Skill) -> Result<Vec<String>, HostError> {
        let mut all = self.manifest(skill)?.requirements;
        if skill.is_agent_skill() && skill.script().is_none() {
            for script in skill.scripts().into_iter().filter_map(|path| skill.for_script(path)) {
                all.extend(self.manifest(&script)?.requirements);
            }
            all.sort();
            all.dedup();
        }
        Ok(all)
    }

    /// What is in a skill's files, for the analysis.
    pub fn facts(&self, skill: &Skill) -> Result<serde_json::Value, HostError> {
        on_enough_stack(|| self.with_repair(|| Ok(self.baker(self.shared.runtime, false)?.analysis_facts(skill)?)))
    }

    /// What becomes of importing packages that a skill names, in a cell that has its packages and not the skill.
    pub fn tried(&self, skill: &Skill, wanted: &serde_json::Value) -> Result<Option<serde_json::Value>, HostError> {
        let with_packages = self.with_packages(&on_enough_stack(|| self.on_its_runtime(skill))?)?;
        on_enough_stack(|| {
            self.with_repair(|| Ok(self.baker(with_packages.runtime(), false)?.try_imports(&with_packages, wanted)?))
        })
    }

    /// A skill's image, and whether it was baked for this.
    pub(super) fn get_or_bake(
        &self,
        skill: &Skill,
        metered: bool,
        limits: &Limits,
    ) -> Result<(Arc<Image>, bool), HostError> {
        if let Some(image) = self.found_image(skill, metered)? {
            return Ok((image, false));
        }
        let baker = self.baker(skill.runtime(), metered)?;
        let (image, baked) = self.with_repair(|| Ok(baker.bake(skill, limits, |skill| self.recorded_calls(skill))?))?;
        if baked {
            self.make_room();
        }
        Ok((self.keep_image((baker.image_key(skill), metered), image), baked))
    }

    /// A skill's image, if there is one.
    pub(super) fn found_image(&self, skill: &Skill, metered: bool) -> Result<Option<Arc<Image>>, HostError> {
        let baker = self.baker(skill.runtime(), metered)?;
        let key = (baker.image_key(skill), metered);
        if let Some(image) = self.lock_images().get(&key).filter(|image| !image.is_expired()) {
            return Ok(Some(image.clone()));
        }
        Ok(baker.find_image(skill)?.map(|image| self.keep_image(key, image)))
    }

    /// What images take on disk, and what they may.
    pub fn image_bytes(&self) -> Result<(u64, u64), HostError> {
        Ok((self.cache().bucket_bytes(Bucket::Image)?, self.shared.max_image_bytes))
    }

    /// Removes expired images, then the least recently used until the rest is within bounds. A failure is reported, but fails
    /// no call.
    fn make_room(&self) {
        let Shared { cache, progress, max_image_bytes, .. } = &*self.shared;
        match cache.trim(Bucket::Image, *max_image_bytes, MAX_AGE) {
            Ok(removed) if removed.is_empty() => {}
            Ok(removed) => progress.step(&format!("removed {} images that were not used for longest", removed.len())),
            Err(error) => progress.note(&format!("no room could be made for images: {error}")),
        }
    }

    /// Runs `work`. If it finds a damaged file of the cache, fetches that again and retries once.
    pub(super) fn with_repair<T>(&self, work: impl Fn() -> Result<T, HostError>) -> Result<T, HostError> {
        match work() {
            Err(HostError::Bake(BakeError::Damaged(_))) => {
                self.fetch_stdlib()?;
                work()
            }
            done => done,
        }
    }

    fn keep_image(&self, key: (String, bool), image: Image) -> Arc<Image> {
        let image = Arc::new(image);
        let mut images = self.lock_images();
        if images.len() >= MAX_IMAGES
            && let Some(other) = images.keys().find(|other| **other != key).cloned()
        {
            images.remove(&other);
        }
        images.insert(key, image.clone());
        image
    }

    fn lock_images(&self) -> MutexGuard<'_, Images> {
        self.shared.images.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes images on a runtime.
    pub(super) fn baker(&self, kind: RuntimeKind, metered: bool) -> Result<Baker<'_>, HostError> {
        let (machine, machines) = (self.machine(kind, metered)?, &self.shared.machines);
        Ok(Baker { runtime: self.runtime(kind), machine, machines, files: self.common_files(kind)? })
    }
}
