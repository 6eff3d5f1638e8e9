//! Stand-ins: our own pure Python replacements for distributions that exist only as native code. They are embedded in the program;
//! `runtime-assets/standins/README.md` has their format.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pep440_rs::Version;
use serde::Deserialize;

use skillcell_assets::STANDIN_FILES;

use super::requirement::Requirement;
use super::specifier::parse_version;
use super::{Package, PackageStatus, Packages};
use crate::provision::{Pin, normalize_name};

static STANDINS: LazyLock<BTreeMap<String, StandIn>> =
    LazyLock::new(|| parse_stand_ins(STANDIN_FILES).expect("tested: the stand-ins are valid"));

const ABOUT: &str = "standin.toml";

/// A stand-in.
#[derive(Debug)]
pub struct StandIn {
    pub version: Version,
    pub modules: Vec<String>,
    pub limits: Vec<String>,
    pub requires: Vec<Requirement>,
    /// The wheel whose Python it completes: what is native there is in its own files, which come first.
    pub python_of: Option<Pin>,
    files: Vec<(&'static str, &'static [u8])>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    name: String,
    version: String,
    modules: Vec<String>,
    requires: Vec<String>,
    limits: Vec<String>,
    python_of: Option<PythonOf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PythonOf {
    file: String,
    sha256: String,
    bytes: u64,
}

/// The stand-in for a distribution, by its normalized name.
pub fn stand_in_for(name: &str) -> Option<&'static StandIn> {
    STANDINS.get(name)
}

impl Packages {
    /// Modules that are loaded only where a stand-in is used, and the distribution that each stands in for.
    pub fn stand_in_modules(&self) -> BTreeMap<String, &str> {
        let stand_ins =
            self.packages.iter().filter(|package| matches!(package.standing, PackageStatus::StandIn { .. }));
        let modules = |package: &Package| stand_in_for(&package.name).map(StandIn::own_modules).unwrap_or_default();
        stand_ins.flat_map(|package| modules(package).into_iter().map(|module| (module, &*package.name))).collect()
    }
}

/// A digest of all of them.
pub fn digest_all() -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (folder, path, bytes) in STANDIN_FILES {
        for part in [folder.as_bytes(), path.as_bytes(), bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
    }
    hasher.finalize()
}

impl StandIn {
    /// What is imported when it is used. Of one that completes a package these are its own files: the rest is the real one.
    fn own_modules(&self) -> Vec<String> {
        if self.python_of.is_none() {
            return self.modules.clone();
        }
        let name = |path: &str| Some(path.strip_suffix(".py")?.trim_end_matches("/__init__").replace('/', "."));
        let names: Vec<String> = self.files.iter().filter_map(|(path, _)| name(path)).collect();
        let is_below_another = |name: &String| names.iter().any(|other| name.starts_with(&format!("{other}.")));
        names.iter().filter(|name| !is_below_another(name)).cloned().collect()
    }

    /// Its files as site-packages has them, with metadata that says what it is.
    pub fn site_files(&self, name: &str) -> Vec<(String, Vec<u8>)> {
        let info = format!("{}-{}.dist-info", name.replace('-', "_"), self.version);
        let metadata = format!(
            "Metadata-Version: 2.1\nName: {name}\nVersion: {}\nSummary: a stand-in of skillcell\n",
            self.version
        );
        let top: String = self.modules.iter().map(|module| format!("{module}\n")).collect();
        let mut files: Vec<(String, Vec<u8>)> =
            self.files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
        files.push((format!("{info}/METADATA"), metadata.into_bytes()));
        files.push((format!("{info}/INSTALLER"), b"skillcell\n".to_vec()));
        files.push((format!("{info}/top_level.txt"), top.into_bytes()));
        files
    }
}

fn parse_stand_ins(
    files: &'static [(&'static str, &'static str, &'static [u8])],
) -> Result<BTreeMap<String, StandIn>, String> {
    let mut read: BTreeMap<String, StandIn> = BTreeMap::new();
    for (folder, _, bytes) in files.iter().filter(|(_, path, _)| *path == ABOUT) {
        let text = std::str::from_utf8(bytes).map_err(|error| format!("{folder}: {error}"))?;
        let about: About = toml::from_str(text).map_err(|error| format!("{folder}: {error}"))?;
        if about.name != *folder || normalize_name(&about.name) != about.name {
            return Err(format!("{folder}: the folder has to be named like the distribution, normalized"));
        }
        let version = parse_version(&about.version).ok_or_else(|| format!("{folder}: its version is none"))?;
        let requires = about.requires.iter().map(|text| Requirement::parse(text));
        let requires = requires.collect::<Result<_, _>>().map_err(|refused| format!("{folder}: {}", refused.why))?;
        let own = files.iter().filter(|(of, path, _)| of == folder && *path != ABOUT);
        let files = own.map(|(_, path, bytes)| (*path, *bytes)).collect();
        let python_of = about.python_of.map(|wheel| Pin {
            name: about.name.clone(),
            version: about.version.clone(),
            file: wheel.file,
            sha256: wheel.sha256,
            bytes: wheel.bytes,
        });
        let standin = StandIn { version, modules: about.modules, limits: about.limits, requires, python_of, files };
        read.insert(about.name, standin);
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_stand_ins_are_valid_and_say_what_they_lack() {
        let read = parse_stand_ins(STANDIN_FILES).unwrap();
        for (name, standin) in &read {
            assert!(!standin.limits.is_empty() && !standin.modules.is_empty(), "{name}");
            let pinned = |pin: &Pin| pin.sha256.len() == 64 && pin.bytes > 0 && pin.file.contains(&*pin.version);
            assert!(standin.python_of.as_ref().is_none_or(pinned), "{name}");
            assert!(standin.files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() <= 1 << 20, "{name}");
            assert!(!standin.own_modules().is_empty(), "{name}");
            for module in &standin.modules {
                let place = module.replace('.', "/");
                let there = |path: &str| path == format!("{place}.py") || path.starts_with(&format!("{place}/"));
                let ours = standin.files.iter().any(|(path, _)| there(path));
                assert!(ours || standin.python_of.is_some(), "{name} has no {module}");
            }
        }
        for (folder, _, _) in STANDIN_FILES {
            assert!(read.contains_key(*folder), "{folder} has no {ABOUT}");
        }
    }
}
