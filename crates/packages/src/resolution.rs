//! What a skill's requirements are resolved to for a target: what the lock beside the skill says, else what was resolved
//! before, else what pip has now.
//!
//! What was resolved is kept under a name that has the requirements, the target and the given wheels in it: a wheel that is
//! given for one skill is never another's.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::installed::Installed;
use super::requirement::clean_requirements;
use super::resolve::{Resolver, Wheels};
use super::target::Target;
use super::{Error, Package, PackageStatus, Packages, lock, standins};
use crate::provision::{self, Fetch};
use skillcell_cache::progress::Progress;
use skillcell_cache::{Bucket, Cache, Guard, Pack, Scratch};
use skillcell_limits::RuntimeKind;

/// The version of the rules of resolving and packing: another one makes everything anew.
pub const RULES: u32 = 5;
/// The most notes about missing packages.
const MAX_NOTES: usize = 8;

/// What a skill asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    pub requirements: Vec<String>,
    /// The `skillcell.lock` beside the skill.
    pub lock: Option<Vec<u8>>,
}

impl Wanted {
    /// Requirements with the lock beside them, which counts only where something is required.
    pub fn new(requirements: &[String], lock: Option<&[u8]>) -> Wanted {
        let requirements = clean_requirements(requirements);
        let lock = lock.filter(|_| !requirements.is_empty()).map(<[u8]>::to_vec);
        Wanted { lock, requirements }
    }

    /// A digest of it and of the wheels that are given: of all that decides what is chosen, but for the index.
    pub fn digest(&self, fetch: &Fetch) -> String {
        let mut hasher = blake3::Hasher::new();
        let sources = digest_sources(fetch);
        let lock = self.lock.as_deref().unwrap_or_default();
        let lines = self.requirements.iter().map(String::as_bytes);
        for part in [resolution_basis().as_bytes(), sources.as_bytes(), lock].into_iter().chain(lines) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

/// Packages, and the wheels of them that are at hand as long as this is.
pub struct Resolved {
    pub packages: Packages,
    pub wheels: Wheels,
    _scratch: Option<Scratch>,
}

impl From<Packages> for Resolved {
    fn from(packages: Packages) -> Resolved {
        Resolved { packages, wheels: Wheels::new(), _scratch: None }
    }
}

/// Resolves for one target.
pub struct Resolution<'a> {
    pub cache: &'a Cache,
    pub fetch: &'a Fetch,
    pub progress: &'a dyn Progress,
    pub target: &'a Target,
}

impl Resolution<'_> {
    /// Resolves, and calls `make` with the result. If `make` fails on a remembered resolution (a wheel may be gone from the
    /// index), resolves again.
    pub fn resolve_and_make<T, E: From<Error>>(
        &self,
        wanted: &Wanted,
        make: impl Fn(Resolved) -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(text) = &wanted.lock {
            return make(self.read_lock(text, &wanted.requirements)?.into());
        }
        let _guard = self.lock_resolution(&wanted.requirements)?;
        if let Some(packages) = self.load_resolved(&wanted.requirements)?
            && let Ok(made) = make(packages.into())
        {
            return Ok(made);
        }
        make(self.resolve_anew(&wanted.requirements)?)
    }

    /// Resolves again, ignoring what was remembered, and remembers the result.
    pub fn resolve_anew(&self, requirements: &[String]) -> Result<Resolved, Error> {
        let Resolution { cache, fetch, progress, target } = *self;
        let (mut packages, wheels, scratch) = Resolver { cache, fetch, target, progress }.resolve(requirements)?;
        packages.sources = digest_sources(fetch);
        if target.runtime == Some(RuntimeKind::WasiPython) {
            self.report_missing(&packages);
        }
        // An incomplete resolution is not remembered, so that the next call tries again.
        if packages.is_complete() {
            self.store_resolved(&packages)?;
        }
        Ok(Resolved { packages, wheels, _scratch: Some(scratch) })
    }

    fn read_lock(&self, text: &[u8], requirements: &[String]) -> Result<Packages, Error> {
        let installed = Installed::at(self.target, self.cache, self.progress)?;
        let packages = lock::read(text, requirements, self.target, &installed)?;
        // Wherever its wheels come from, they have the locked hashes.
        Ok(Packages { sources: digest_sources(self.fetch), ..packages })
    }

    fn lock_resolution(&self, requirements: &[String]) -> Result<Guard, Error> {
        let name = format!("{}-lock", self.cache_name(requirements));
        Ok(self.cache.lock(&name, "resolving packages", self.progress)?)
    }

    fn load_resolved(&self, requirements: &[String]) -> Result<Option<Packages>, Error> {
        let meta = self.cache.meta(Bucket::Pack, &self.cache_name(requirements))?;
        let known = meta.and_then(|meta| serde_json::from_value::<Packages>(meta["packages"].clone()).ok());
        Ok(known.filter(|packages| packages.requirements == requirements))
    }

    fn store_resolved(&self, packages: &Packages) -> Result<(), Error> {
        let name = self.cache_name(&packages.requirements);
        self.cache.replace(Bucket::Pack, &name, "remembering packages", self.progress, |writer| {
            Pack::build::<Error>(writer, [])?;
            Ok::<Value, Error>(json!({"kind": "resolved", "packages": packages}))
        })?;
        Ok(())
    }

    fn cache_name(&self, requirements: &[String]) -> String {
        let wanted = Wanted { requirements: requirements.to_vec(), lock: None };
        let key = format!("{} {}", wanted.digest(self.fetch), self.target.digest());
        format!("resolved-{}", &blake3::hash(key.as_bytes()).to_hex()[..32])
    }

    /// Reports missing packages: when they are resolved, not at every start.
    fn report_missing(&self, packages: &Packages) {
        let refused =
            packages.refused.iter().map(|(text, why)| format!("the requirement `{text}` is not taken: {why}"));
        let missing = packages.missing().map(Package::describe);
        let other = packages.packages.iter().filter(|p| matches!(p.standing, PackageStatus::OtherVersion { .. }));
        for note in refused.chain(missing).chain(other.map(Package::describe)).take(MAX_NOTES) {
            self.progress.note(&note);
        }
    }
}

/// A digest of the wheels that are given: their places, names, sizes and times.
pub fn digest_sources(fetch: &Fetch) -> String {
    if fetch.wheels.is_empty() {
        return String::new();
    }
    let mut files: Vec<String> = Vec::new();
    for given in &fetch.wheels {
        let inside = std::fs::read_dir(given).into_iter().flatten().flatten().map(|entry| entry.path());
        for path in inside.chain([given.clone()]) {
            let about = path.metadata().map(|meta| (meta.len(), meta.modified().ok())).ok();
            files.push(format!("{} {about:?}\n", path.display()));
        }
    }
    files.sort();
    blake3::hash(files.concat().as_bytes()).to_hex()[..16].to_owned()
}

/// Everything besides the requirements that a resolution depends on.
static BASIS: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(format!("{RULES} {}\n{}\n", provision::runtime_pin().wheel.sha256, standins::digest_all()).as_bytes());
    for pin in provision::pins().packages() {
        hasher.update(format!("{} {}\n", pin.name, pin.version).as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
});

/// Part of every image's key: other rules or stand-ins make other images.
pub fn resolution_basis() -> &'static str {
    &BASIS
}
