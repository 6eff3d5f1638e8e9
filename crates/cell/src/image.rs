//! Images: the memory of a runtime with one skill imported and constructed, and how they are made.
//!
//! ```text
//!   base ──boot──▶ framework image ──import, construct, warm up, settle──▶ skill image ──▶ cells
//!          once per runtime                     once per skill content
//! ```
//!
//! An image is a WebAssembly module of one memory and no code, precompiled, so that a cell maps it copy-on-write. Its
//! seal in the cache carries the rest of the state: the code's globals, where to enter, and the bake's report.
//!
//! What an image freezes: objects, and whatever was drawn from randomness while it was made. Every cell reseeds
//! Python's generators; the secret of string hashes stays, so images [expire](MAX_AGE). No descriptor is frozen: a
//! cell's only one is `/`, and what is mounted below is bound at each call.

mod bake;
mod reading;
mod snapshot;
mod source;
mod testing;
mod warming;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

pub use self::bake::file_name;
pub use self::bake::{BakeError, Baker, ImportFor, Start, WarmUp, note_of_bake};
pub use self::source::ModuleSource;
pub use self::warming::Warmth;
use crate::{EngineError, HotPages, Machine, MemoryImage};
use skillcell_cache::Artefact;
use skillcell_packages::{Packages, SitePackages};
use skillcell_policy::manifest::StaticManifest;

/// The maximum age of an image.
pub const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 3600);
/// Part of every key: images made by other rules are other images.
const FORMAT: u32 = 8;
/// The maximum age of an image with unresolved packages.
const MAX_AGE_INCOMPLETE: Duration = Duration::from_secs(300);

/// An image, loaded.
pub struct Image {
    pub key: String,
    /// What its cells run on.
    pub machine: Arc<Machine>,
    pub memories: MemoryImage,
    pub state: Frozen,
    pub report: BakeReport,
    /// The packages that it was baked with.
    pub site: Option<Arc<SitePackages>>,
    baked: u64,
    /// Whether it never expires: with a read-only cache no newer one could be kept.
    lasts: bool,
}

/// The state of a cell that is not in its memory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Frozen {
    pub globals: Vec<i32>,
    /// The address of the function that a call enters.
    pub entry: u32,
    /// What the monotonic clock showed.
    pub monotonic_ns: u64,
    pub memory_bytes: u64,
    /// Pages that a call is expected to write.
    #[serde(default)]
    pub hot: HotPages,
}

/// What a bake learned. The guest's part of it is untrusted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BakeReport {
    pub skill: String,
    pub digest: String,
    /// The manifest, as PyYAML reads it in a cell that runs nothing of the skill.
    pub manifest: serde_json::Value,
    /// Why it can't be read.
    pub manifest_error: Option<String>,
    pub class: String,
    /// Top-level modules that importing the skill added.
    pub imported: Vec<String>,
    /// Top-level names of everything that was imported meanwhile, whether or not it was there already: a call that denies
    /// one of them imports the skill itself.
    pub import_names: Vec<String>,
    /// What importing it is certain to import, by the look of its files, and where.
    pub early_imports: BTreeMap<String, String>,
    /// Environment variables that were read meanwhile, `*` for all: a call that brings one of them imports the skill
    /// itself.
    pub environment_read: Vec<String>,
    pub import_ms: f64,
    pub construct_ms: f64,
    /// What the libraries that it imports practised.
    pub practice_ms: f64,
    pub warm_up_ms: f64,
    pub settle_ms: f64,
    /// Why the skill could not be constructed without config; it is then constructed in each call.
    pub constructor_error: Option<skillcell_limits::outcome::Raised>,
    /// Whether the skill was called with example params; the first error of those calls is kept as its text.
    pub warm_up: Option<String>,
    /// The calls that were found to warm it by, and how many raised.
    pub warm_up_calls: u32,
    pub warm_up_failures: u32,
    /// What of them is in the image, and why not more.
    pub warmth: Warmth,
    pub cold_reason: Option<String>,
    /// Calls to warm it by, as JSON.
    #[serde(skip_serializing)]
    pub calls: Vec<String>,
    /// Random bytes drawn while the skill was imported and constructed: the same in every cell.
    pub entropy_bytes: u64,
    /// Descriptors and scratch files that importing left behind. Neither is in an image, so a skill that leaves some is
    /// imported in each call.
    pub open_files: u32,
    pub scratch_files: u32,
    pub immortal_objects: u64,
    pub image_bytes: u64,
    pub total_ms: f64,
    pub stdout: String,
    pub stderr: String,
    /// Where the call is entered; used by the host, of no interest to people.
    #[serde(skip_serializing)]
    pub entry: u32,
    /// The same for the rehearsal that follows a bake.
    #[serde(skip_serializing)]
    pub rehearsal: u32,
}

impl BakeReport {
    /// What the skill's files say, as it was read before the bake.
    pub fn static_manifest(&self) -> StaticManifest {
        StaticManifest::new(self.manifest.clone(), self.manifest_error.clone(), self.early_imports.clone())
    }

    /// Whether a call with this environment and these denied imports has to import the skill itself.
    pub fn must_import(&self, env: &BTreeMap<String, String>, denied: &[String]) -> bool {
        self.open_files > 0
            || self.scratch_files > 0
            || env.keys().any(|name| self.reads_at_import(name))
            || denied.iter().any(|module| self.imports_module(module))
    }

    /// Whether the skill imported this module, or one of the same package, while its image was made.
    fn imports_module(&self, module: &str) -> bool {
        let package = module.split('.').next().unwrap_or(module);
        self.import_names.iter().any(|name| name == package)
    }

    /// Whether the skill looked at this environment variable while it was imported.
    fn reads_at_import(&self, name: &str) -> bool {
        self.environment_read.iter().any(|read| read == name || read == "*")
    }
}

#[derive(Serialize, Deserialize)]
struct Meta {
    state: Frozen,
    report: BakeReport,
    baked: u64,
    /// The packages that it was baked with, and the name of their pack: recorded by the host, unlike the report.
    #[serde(default)]
    site: Option<(Packages, Option<String>)>,
}

impl Meta {
    fn new(state: Frozen, report: BakeReport, site: Option<&SitePackages>) -> Meta {
        let site = site.map(|site| (site.packages.clone(), site.pack.clone()));
        Meta { state, report, baked: unix_now(), site }
    }
}

impl Image {
    /// Loads an image; its packages are found by `site`. Without them, or when it is too old and does not last, there is
    /// none.
    fn load_artefact<E: From<EngineError>>(
        machine: impl FnOnce(Option<&SitePackages>) -> Result<Arc<Machine>, E>,
        key: &str,
        artefact: Artefact,
        lasts: bool,
        site: impl FnOnce(Packages, Option<String>) -> Result<Option<SitePackages>, E>,
    ) -> Result<Option<Image>, E> {
        let Ok(meta) = serde_json::from_value::<Meta>(artefact.meta.clone()) else { return Ok(None) };
        let site = match meta.site {
            None => None,
            Some((packages, pack)) => match site(packages, pack)? {
                Some(site) => Some(Arc::new(site)),
                None => return Ok(None),
            },
        };
        let machine = machine(site.as_deref())?;
        let memories = machine.load_image(artefact, meta.state.globals.clone(), meta.state.hot.clone());
        let memories = memories.map_err(EngineError::from)?;
        let Meta { state, report, baked, .. } = meta;
        let image = Image { key: key.to_owned(), machine, memories, state, report, site, baked, lasts };
        Ok(Some(image).filter(|image| !image.is_expired()))
    }

    /// Whether it is time for a new one; also if it claims to come from the future.
    pub fn is_expired(&self) -> bool {
        !self.lasts && is_expired(self.baked, self.site.as_ref().map(|site| &site.packages))
    }
}

impl Meta {
    fn is_expired(&self) -> bool {
        is_expired(self.baked, self.site.as_ref().map(|(packages, _)| packages))
    }
}

fn is_expired(baked: u64, packages: Option<&Packages>) -> bool {
    let complete = packages.is_none_or(Packages::is_complete);
    let longest = if complete { MAX_AGE } else { MAX_AGE_INCOMPLETE };
    unix_now().checked_sub(baked).is_none_or(|age| age > longest.as_secs())
}

fn unix_now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
