//! What a cell has before anything is fetched for its skill: the runtime's distributions, read from its standard library,
//! and the framework's, which are pinned. Both count as installed there, and are never replaced.

use std::collections::BTreeMap;
use std::io::Read;

use pep440_rs::Version;
use zip::ZipArchive;

use super::metadata::{self, Required};
use super::specifier::parse_version;
use super::target::Target;
use super::{Error, PackageStatus};
use crate::provision::{self, Fetch, Pin, normalize_name};
use skillcell_cache::Cache;
use skillcell_cache::progress::Progress;
use skillcell_limits::RuntimeKind;

/// The most that is read of a distribution's metadata.
const MAX_METADATA: u64 = 4 << 20;
const INFO: &str = ".dist-info/METADATA";

/// The installed distributions, by normalized name.
pub struct Installed {
    there: BTreeMap<String, InstalledPackage>,
}

struct InstalledPackage {
    version: Version,
    /// Where its metadata is.
    place: MetadataPlace,
}

#[derive(Clone)]
enum MetadataPlace {
    Runtime(String),
    Framework,
    GivenToPyodide,
}

impl Installed {
    /// What is there for a target.
    pub fn at(target: &Target, cache: &Cache, progress: &dyn Progress) -> Result<Installed, Error> {
        match target.runtime {
            None => Ok(Installed::of_framework()),
            Some(RuntimeKind::WasiPython) => Installed::in_cells(cache, progress),
            Some(RuntimeKind::Pyodide) => Ok(Installed::in_pyodide()),
        }
    }

    /// The framework, and the packages that the second runtime is given besides.
    fn in_pyodide() -> Installed {
        let given = provision::pins().pyodide_packages();
        let mut installed = Installed::of_pins(given, &MetadataPlace::GivenToPyodide);
        installed.there.extend(Installed::of_framework().there);
        installed
    }

    /// Reads the first runtime's standard library, which must be in the cache.
    fn in_cells(cache: &Cache, progress: &dyn Progress) -> Result<Installed, Error> {
        let mut there = BTreeMap::new();
        for path in open_stdlib_archive(cache, progress)?.file_names().flatten() {
            if let Some((name, version)) = path.strip_suffix(INFO).and_then(|folder| folder.rsplit_once('-'))
                && let Some(version) = parse_version(version)
            {
                there.insert(
                    normalize_name(name),
                    InstalledPackage { version, place: MetadataPlace::Runtime(path.to_string()) },
                );
            }
        }
        there.extend(Installed::of_framework().there);
        Ok(Installed { there })
    }

    /// The framework's packages, which every tier gets.
    pub fn of_framework() -> Installed {
        Installed::of_pins(provision::pins().packages(), &MetadataPlace::Framework)
    }

    fn of_pins(pins: &[Pin], place: &MetadataPlace) -> Installed {
        let pinned = pins.iter().filter_map(|pin| {
            let version = parse_version(&pin.version)?;
            Some((normalize_name(&pin.name), InstalledPackage { version, place: place.clone() }))
        });
        Installed { there: pinned.collect() }
    }

    /// The installed version, and whether the runtime or the framework provides it.
    pub fn find_package(&self, name: &str) -> Option<(&Version, PackageStatus)> {
        let there = self.there.get(name)?;
        let version = there.version.to_string();
        let standing = match there.place {
            MetadataPlace::Runtime(_) | MetadataPlace::GivenToPyodide => PackageStatus::Runtime { version },
            MetadataPlace::Framework => PackageStatus::Framework { version },
        };
        Some((&there.version, standing))
    }

    /// What a distribution requires.
    pub fn requirements_of(
        &self,
        name: &str,
        cache: &Cache,
        fetch: &Fetch,
        progress: &dyn Progress,
    ) -> Result<Vec<Required>, Error> {
        let Some(there) = self.there.get(name) else { return Ok(Vec::new()) };
        let metadata = match &there.place {
            MetadataPlace::Runtime(path) => {
                let mut text = Vec::new();
                let mut archive = open_stdlib_archive(cache, progress)?;
                let member = archive.by_name(path).map_err(|error| Error::Runtime(error.to_string()))?;
                member.take(MAX_METADATA).read_to_end(&mut text).map_err(|error| Error::Runtime(error.to_string()))?;
                text
            }
            MetadataPlace::Framework | MetadataPlace::GivenToPyodide => {
                let pack = match &there.place {
                    MetadataPlace::GivenToPyodide => provision::pyodide_framework(cache, fetch, progress)?,
                    _ => provision::framework_pack(cache, fetch, progress)?,
                };
                // The pack is one folder for all of the framework; the distribution's own `.dist-info` has to be found.
                let ours = |path: &str| {
                    let folder = path.strip_suffix(INFO)?;
                    Some(normalize_name(folder.rsplit_once('-')?.0) == name)
                };
                let path = pack.files().map(|(path, _)| path).find(|path| ours(path) == Some(true)).map(str::to_owned);
                path.and_then(|path| pack.read(&path).ok()).unwrap_or_default()
            }
        };
        Ok(metadata::parse_requirements(&String::from_utf8_lossy(&metadata)))
    }
}

fn open_stdlib_archive(cache: &Cache, progress: &dyn Progress) -> Result<ZipArchive<std::fs::File>, Error> {
    let stdlib = provision::open_stdlib(cache, progress)?;
    let stdlib = stdlib.ok_or_else(|| Error::Runtime("it is no longer in the cache".into()))?;
    ZipArchive::new(stdlib.file).map_err(|error| Error::Runtime(error.to_string()))
}
