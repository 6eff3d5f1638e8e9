//! Virtual environments: a skill's requirements as real packages, native ones too, for the tiers that run a Python of
//! this machine or of a container.
//!
//! Requirements are resolved as they are for cells (`packages`), for another target. The wheels are unpacked here; pip only
//! fetches them, one at a time by name, and nothing is built: building a package would run its code on the host. The tree
//! is named by what is in it, made in place under the lock of its artefact in the cache, and is there for others once its
//! seal is. Its content is untrusted: **its Python is to be started in a sandbox only**, since a package may have put
//! anything there that Python runs when it starts. What we run ourselves is the Python that it was made with, without it.

mod error;
mod foreign;
mod lock;
mod python;
mod tools;
mod unpack;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

pub use error::VenvError;
pub use foreign::Foreign;
pub use lock::{Lock, Locked};
pub use python::BasePython;

use self::tools::Tools;
use self::unpack::Unpacker;
use crate::provision::{self, Fetch, Pin, Wheel, pins};
use crate::{PackageStatus, Packages, Resolution, Resolved, Target, Wanted, wheel_pin};
use skillcell_cache::progress::Progress;
use skillcell_cache::{Artefact, Bucket, Cache, Writer, tree_size};
use skillcell_quote::cut;

type Result<T, E = VenvError> = std::result::Result<T, E>;

/// Raise it to invalidate existing environments.
const FORMAT: &str = "4";
/// The longest lock that is read back.
const MAX_LOCK_BYTES: u64 = 4 << 20;

/// An environment that is whole: Skillware as pinned, what a skill requires, and what those need.
#[derive(Debug, Clone)]
pub struct Venv {
    root: PathBuf,
    base: BasePython,
    lock: Lock,
    bytes: u64,
    downloaded: u64,
}

impl Venv {
    /// The environment with what is wanted, made if it is not in the cache; for the Python of another system, such as a
    /// container's, a plain folder of packages.
    pub fn make(
        cache: &Cache,
        fetch: &Fetch,
        progress: &dyn Progress,
        wanted: &Wanted,
        foreign: Option<&Foreign>,
    ) -> Result<Venv> {
        let base = BasePython::find(fetch.python.as_deref())?;
        let target = foreign.map_or_else(|| base.target(), Foreign::target);
        progress.step(&format!("resolving {}", describe_requirements(&wanted.requirements)));
        let maker = Maker { cache, fetch, progress, base: &base, foreign };
        Resolution { cache, fetch, progress, target: &target }
            .resolve_and_make(wanted, |resolved| maker.venv_of(resolved))
    }

    /// Resolves the requirements again, for a lock. A missing package is an error, as it would be in the tier.
    pub fn resolve(
        cache: &Cache,
        fetch: &Fetch,
        progress: &dyn Progress,
        requirements: &[String],
        target: &Target,
    ) -> Result<Packages> {
        let packages = Resolution { cache, fetch, progress, target }.resolve_anew(requirements)?.packages;
        check_whole(&packages)?;
        Ok(packages)
    }

    /// The interpreter, to be started in a sandbox.
    pub fn python(&self) -> PathBuf {
        self.root.join("bin/python")
    }

    /// The folder of the environment.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The Python that it was made with, whose standard library it uses.
    pub fn base(&self) -> &BasePython {
        &self.base
    }

    /// What it takes on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.bytes
    }

    /// How long its wheels are together.
    pub fn downloaded_bytes(&self) -> u64 {
        self.downloaded
    }

    /// Exactly which packages are in it.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }
}

/// Makes one environment at its final place.
struct Maker<'a> {
    cache: &'a Cache,
    fetch: &'a Fetch,
    progress: &'a dyn Progress,
    base: &'a BasePython,
    foreign: Option<&'a Foreign>,
}

impl Maker<'_> {
    fn venv_of(&self, resolved: Resolved) -> Result<Venv> {
        check_whole(&resolved.packages)?;
        let pins = pins_of(&resolved.packages)?;
        let name = self.tree_name(&pins);
        let root = self.cache.tree_path(&name)?;
        let produce = |writer: &mut Writer| {
            let lock = Lock::from_pins(&pins);
            let downloaded = self.build_tree(&root, &pins, resolved)?;
            let path = root.join(lock::FILE);
            std::fs::write(&path, lock.to_requirements()).map_err(VenvError::io("write", &path))?;
            writer.write_all(lock.to_json().as_bytes()).map_err(VenvError::io("write", &root))?;
            let about = json!({"python": self.base.version, "bytes": tree_size(&root), "downloaded": downloaded});
            Ok::<_, VenvError>(about)
        };
        let purpose = "making a virtual environment";
        // If the tree was removed by hand, its seal in the cache is no longer valid.
        let lost = self.cache.meta(Bucket::Venv, &name)?.is_some() && !root.join(lock::FILE).is_file();
        let artefact = if lost {
            self.cache.replace(Bucket::Venv, &name, purpose, self.progress, produce)?
        } else {
            self.cache.make(Bucket::Venv, &name, purpose, self.progress, produce)?
        };
        let number = |name: &str| artefact.meta[name].as_u64().unwrap_or_default();
        let (bytes, downloaded) = (number("bytes"), number("downloaded"));
        Ok(Venv { lock: read_lock(artefact, &root)?, root, base: self.base.clone(), bytes, downloaded })
    }

    /// Makes the tree. Gives the bytes of its wheels.
    fn build_tree(&self, root: &Path, pins: &[Pin], resolved: Resolved) -> Result<u64> {
        let work = self.cache.scratch()?;
        let tools = Tools { base: self.base, work: work.path(), root };
        // An earlier attempt may have been interrupted.
        remove_tree(root)?;
        let site = match self.foreign {
            Some(_) => root.to_owned(),
            None => {
                self.progress.step(&format!("making a virtual environment with Python {}", self.base.version));
                tools.make_environment(self.progress)?;
                root.join(format!("lib/python{}/site-packages", self.base.minor_version()))
            }
        };
        let mut wheels = resolved.wheels;
        let missing: Vec<&Pin> = pins.iter().filter(|pin| !wheels.contains_key(&pin.name)).collect();
        let fetched = provision::fetch_wheels(&missing, self.fetch, work.path(), self.progress)?;
        for (pin, fetched) in missing.into_iter().zip(fetched) {
            wheels.insert(pin.name.clone(), Wheel::open_native(fetched)?);
        }
        self.progress.step(&format!("installing {} packages", pins.len()));
        let mut unpacker = Unpacker::new(&site)?;
        let mut bytes = 0;
        for wheel in wheels.values_mut() {
            bytes += wheel.path().metadata().map_or(0, |meta| meta.len());
            unpacker.unpack(wheel)?;
        }
        // Bytecode is specific to a minor version: for another Python it can't be compiled here.
        if self.foreign.is_none_or(|foreign| foreign.version() == self.base.minor_version()) {
            tools.compile_packages(&site, self.progress);
        }
        Ok(bytes)
    }

    /// Everything that decides what is in it.
    fn tree_name(&self, pins: &[Pin]) -> String {
        let mut hasher = blake3::Hasher::new();
        let place = self.foreign.map(Foreign::version).unwrap_or_default();
        let content = pins.iter().map(|Pin { name, version, sha256, .. }| format!("{name}=={version} {sha256}"));
        for part in [FORMAT.to_owned(), self.base.identity(), place].into_iter().chain(content) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

/// Outside of cells a missing package is an error. Refused requirements are reported first: they may be an attack.
fn check_whole(packages: &Packages) -> Result<()> {
    if let Some((requirement, why)) = packages.refused.first() {
        return Err(VenvError::Requirement { requirement: cut(requirement, 300), why: why.clone() });
    }
    match packages.missing().next() {
        Some(package) => Err(VenvError::Unmet { what: package.describe_elsewhere() }),
        None => Ok(()),
    }
}

/// What is to be unpacked, by name.
fn pins_of(packages: &Packages) -> Result<Vec<Pin>> {
    let pinned = packages.packages.iter().map(|package| match &package.standing {
        // The same bytes as in cells, whatever an index has under that name.
        PackageStatus::Framework { .. } => {
            let pin = pins().package(&package.name).cloned();
            let pin = pin.map(|pin| Pin { name: package.name.clone(), ..pin });
            pin.ok_or_else(|| VenvError::Unmet { what: format!("`{}` is not pinned", package.name) })
        }
        standing => Ok(wheel_pin(&package.name, standing, |file| file.ends_with(".whl")).map_err(crate::Error::from)?),
    });
    let mut pinned = pinned.collect::<Result<Vec<Pin>>>()?;
    pinned.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(pinned)
}

fn remove_tree(root: &Path) -> Result<()> {
    match std::fs::remove_dir_all(root) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(VenvError::io("remove", root)(error)),
        _ => Ok(()),
    }
}

fn describe_requirements(requirements: &[String]) -> String {
    match requirements {
        [] => "the framework".to_owned(),
        [one] => one.clone(),
        [one, rest @ ..] => format!("{one} and {} more", rest.len()),
    }
}

fn read_lock(artefact: Artefact, root: &Path) -> Result<Lock> {
    let mut text = String::new();
    let read = artefact.file.take(MAX_LOCK_BYTES).read_to_string(&mut text);
    read.map_err(VenvError::io("read the lock of", root))?;
    Lock::from_json(&text)
}
