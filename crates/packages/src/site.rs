//! The files of a skill's packages: one pack of wheels and stand-ins, made once for each set, that cells see as a folder on
//! `sys.path`; and what was resolved, kept so that a second start needs no index.
//!
//! It comes last on the path, so nothing in it takes the place of the standard library, the runtime or the framework.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::contents::site_path;
use super::resolution::{RULES, Resolution, Resolved, Wanted, digest_sources};
use super::resolve::Wheels;
use super::target::Target;
use super::wheel_rules::wheel_rules;
use super::{Error, Package, PackageStatus, Packages, lock, standins};
use crate::pack_tree;
use crate::provision::{self, Fetch, Pin, Wheel};
use skillcell_cache::progress::Progress;
use skillcell_cache::{Bucket, Cache, Pack};
use skillcell_limits::RuntimeKind;
use skillcell_vfs::Mount;

/// Where cells see it.
pub const SITE_FOLDER: &str = "/usr/local/lib/requirements";
/// The most files and bytes in a pack, and the most bytes of one file.
const MAX_FILES: usize = 50_000;
const MAX_BYTES: u64 = 512 << 20;
const MAX_FILE_BYTES: u64 = 64 << 20;

/// A skill's packages, ready to be seen by its cells.
#[derive(Clone)]
pub struct SitePackages {
    pub packages: Packages,
    /// Whose cells they are for.
    pub runtime: RuntimeKind,
    /// The pack's name in the cache, if there is anything in it.
    pub pack: Option<String>,
    mount: Option<Mount>,
}

impl SitePackages {
    pub fn mount(&self) -> Option<Mount> {
        self.mount.clone()
    }
}

/// Makes site packages, and reopens them from the cache.
pub struct SitePackagesStore<'a> {
    pub cache: &'a Cache,
    pub fetch: &'a Fetch,
    pub progress: &'a dyn Progress,
}

impl SitePackagesStore<'_> {
    /// The site of a skill that asks for this, on this runtime; `None` if it requires nothing.
    pub fn get_or_make(&self, runtime: RuntimeKind, wanted: &Wanted) -> Result<Option<SitePackages>, Error> {
        if wanted.requirements.is_empty() {
            return Ok(None);
        }
        let target = Target::guest(runtime);
        self.resolution_for(&target).resolve_and_make(wanted, |resolved| self.make_site(runtime, resolved)).map(Some)
    }

    /// These requirements, resolved again.
    pub fn resolve_again(&self, runtime: RuntimeKind, requirements: &[String]) -> Result<Packages, Error> {
        let requirements = super::clean_requirements(requirements);
        if requirements.is_empty() {
            return Ok(Packages::default());
        }
        let resolved = self.resolution_for(&Target::guest(runtime)).resolve_anew(&requirements)?;
        Ok(self.make_site(runtime, resolved)?.packages)
    }

    fn resolution_for<'a>(&'a self, target: &'a Target) -> Resolution<'a> {
        Resolution { cache: self.cache, fetch: self.fetch, progress: self.progress, target }
    }

    /// The native libraries of the curated wheels, each where a site has it.
    pub fn curated_libraries(&self) -> Result<Pack, Error> {
        let pins: Vec<&Pin> = wheel_rules().curated.iter().collect();
        let digest = blake3::hash(pins.iter().map(|pin| &*pin.sha256).collect::<String>().as_bytes());
        let (name, purpose) = (format!("pyodide-libraries-{}", &digest.to_hex()[..16]), "unpacking native libraries");
        let artefact = self.cache.make(Bucket::Pack, &name, purpose, self.progress, |writer| {
            let scratch = self.cache.scratch()?;
            let fetched = provision::fetch_wheels(&pins, self.fetch, scratch.path(), self.progress)?;
            let mut files = Vec::new();
            for wheel in fetched {
                let mut wheel = Wheel::open(wheel)?;
                for member in wheel.members().to_vec().iter().filter(|member| member.path.ends_with(".so")) {
                    if let Some(path) = site_path(&member.path, Some(RuntimeKind::Pyodide)) {
                        files.push(Ok((path.to_owned(), wheel.read(member)?)));
                    }
                }
            }
            let count = Pack::build::<Error>(writer, files)?;
            Ok::<Value, Error>(json!({"kind": "native libraries", "files": count}))
        })?;
        Ok(Pack::open(artefact)?)
    }

    /// The site that an image was baked with; `None` if its files are gone or it has to be resolved again.
    pub fn reopen_site(
        &self,
        runtime: RuntimeKind,
        packages: Packages,
        pack: Option<String>,
    ) -> Result<Option<SitePackages>, Error> {
        // Resolved while offline, or with other wheel sources.
        if packages.was_offline() && !self.fetch.offline || !packages.holds_with(&digest_sources(self.fetch)) {
            return Ok(None);
        }
        let Some(name) = pack else { return Ok(Some(SitePackages { packages, runtime, pack, mount: None })) };
        let Some(artefact) = self.cache.open(Bucket::Pack, &name, self.progress)? else { return Ok(None) };
        let mount = Mount::tree(SITE_FOLDER, pack_tree(Pack::open(artefact)?).into());
        Ok(Some(SitePackages { packages, runtime, pack: Some(name), mount }))
    }

    /// Puts the files together. Wheels that are not at hand are fetched by their hashes.
    fn make_site(&self, runtime: RuntimeKind, resolved: Resolved) -> Result<SitePackages, Error> {
        let Resolved { packages, mut wheels, .. } = resolved;
        let ours = |package: &&Package| {
            matches!(package.standing, PackageStatus::Wheel { .. } | PackageStatus::StandIn { .. })
        };
        let members: Vec<&Package> = packages.packages.iter().filter(ours).collect();
        if members.is_empty() {
            return Ok(SitePackages { packages, runtime, pack: None, mount: None });
        }
        let name = pack_name(runtime, &members);
        let target = Target::guest(runtime);
        let purpose = "unpacking packages";
        let artefact = self.cache.make(Bucket::Pack, &name, purpose, self.progress, |writer| {
            let scratch = self.cache.scratch()?;
            // Wheels fetched during resolution are at hand; after a restart they have to be fetched again.
            let mut pins = Vec::new();
            for package in &members {
                if matches!(package.standing, PackageStatus::Wheel { .. }) && !wheels.contains_key(&package.name) {
                    let takes = |file: &str| target.takes_wheel(&package.name, file);
                    pins.push(lock::wheel_pin(&package.name, &package.standing, takes)?);
                }
                if matches!(package.standing, PackageStatus::StandIn { .. }) && !wheels.contains_key(&package.name) {
                    pins.extend(standins::stand_in_for(&package.name).and_then(|standin| standin.python_of.clone()));
                }
            }
            let fetched =
                provision::fetch_wheels(&pins.iter().collect::<Vec<_>>(), self.fetch, scratch.path(), self.progress)?;
            for (pin, fetched) in pins.iter().zip(fetched) {
                wheels.insert(pin.name.clone(), Wheel::open(fetched)?);
            }
            self.progress.step(purpose);
            let files = gather_files(runtime, &members, &mut wheels)?;
            let count = Pack::build::<Error>(writer, files)?;
            let listed: Vec<&String> = members.iter().map(|package| &package.name).collect();
            Ok::<Value, Error>(json!({"kind": "requirements", "files": count, "packages": listed}))
        })?;
        let mount = Mount::tree(SITE_FOLDER, pack_tree(Pack::open(artefact)?).into());
        Ok(SitePackages { packages, runtime, pack: Some(name), mount })
    }
}

fn pack_name(runtime: RuntimeKind, members: &[&Package]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{RULES}\n").as_bytes());
    if runtime != RuntimeKind::WasiPython {
        hasher.update(runtime.as_str().as_bytes());
    }
    for package in members {
        let content = match &package.standing {
            PackageStatus::Wheel { sha256, .. } => sha256.clone(),
            _ => standins::digest_all().to_string(),
        };
        hasher.update(format!("{} {content}\n", package.name).as_bytes());
    }
    format!("requirements-{}", &hasher.finalize().to_hex()[..32])
}

/// A file's path and content, as a pack takes them.
type PackedFile = Result<(String, Vec<u8>), Error>;

/// The files of all members. Where two have the same path, the first wins.
fn gather_files(runtime: RuntimeKind, members: &[&Package], wheels: &mut Wheels) -> Result<Vec<PackedFile>, Error> {
    let mut taken = PackedPaths::default();
    let mut files = Vec::new();
    for package in members {
        let standin =
            matches!(package.standing, PackageStatus::StandIn { .. }).then(|| standins::stand_in_for(&package.name));
        if let Some(standin) = standin.flatten() {
            for (path, bytes) in standin.site_files(&package.name) {
                if taken.claim_path(&path, bytes.len() as u64)? {
                    files.push(Ok((path, bytes)));
                }
            }
        }
        let Some(wheel) = wheels.get_mut(&package.name) else { continue };
        for member in wheel.members().to_vec() {
            let Some(path) = site_path(&member.path, Some(runtime)) else { continue };
            if taken.claim_path(path, member.bytes)? {
                files.push(Ok((path.to_owned(), wheel.read(&member)?)));
            }
        }
    }
    Ok(files)
}

#[derive(Default)]
struct PackedPaths {
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
    bytes: u64,
}

impl PackedPaths {
    /// Claims a path. `false` if it is taken, or if one path would be both a file and a folder.
    fn claim_path(&mut self, path: &str, bytes: u64) -> Result<bool, Error> {
        let above: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
        let clash = self.files.contains(path) || self.folders.contains(path);
        if clash || above.iter().any(|folder| self.files.contains(*folder)) {
            return Ok(false);
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if bytes > MAX_FILE_BYTES {
            return Err(Error::TooMuch(format!("`{path}` is larger than {} MiB", MAX_FILE_BYTES >> 20)));
        }
        if self.bytes > MAX_BYTES || self.files.len() >= MAX_FILES {
            let what = format!("they have more than {} MiB or {MAX_FILES} files", MAX_BYTES >> 20);
            return Err(Error::TooMuch(what));
        }
        self.folders.extend(above.into_iter().map(str::to_owned));
        self.files.insert(path.to_owned());
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_files_in_one_place_the_first_is_taken() {
        let mut taken = PackedPaths::default();
        assert!(taken.claim_path("a/b.py", 1).unwrap());
        for clash in ["a/b.py", "a", "a/b.py/c"] {
            assert!(!taken.claim_path(clash, 1).unwrap(), "{clash}");
        }
        assert!(taken.claim_path("a/c.py", MAX_FILE_BYTES + 1).is_err());
    }
}
