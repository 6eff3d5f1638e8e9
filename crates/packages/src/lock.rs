//! `skillcell.lock`: what a skill's requirements resolved to, with the sha256 of each wheel, beside the skill: for cells, and
//! for the Pythons of other tiers that were there when it was made. It names no index.
//!
//! The lock comes with the skill, so it is untrusted: its entries are checked before they are used, and wheels are accepted
//! only by their hashes.

use serde::{Deserialize, Serialize};

use super::installed::Installed;
use super::requirement::Requirement;
use super::specifier::parse_version;
use super::target::Target;
use super::{Package, PackageStatus, Packages, standins};
use crate::provision::{GUEST_PYTHON, Pin};
use skillcell_limits::RuntimeKind;

/// The name of the file, in the skill's folder.
pub const LOCK_FILE: &str = "skillcell.lock";
const SCHEMA: u32 = 1;
const MAX_BYTES: usize = 4 << 20;

#[derive(Serialize, Deserialize)]
struct File {
    schema: u32,
    python: String,
    #[serde(flatten)]
    packages: Packages,
    /// For other tiers and the second runtime. Older locks lack it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    native: Vec<Native>,
}

/// The packages that are locked for a native Python.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Native {
    target: String,
    #[serde(flatten)]
    packages: Packages,
}

/// What a skill's requirements resolve to, for cells and for the other Pythons that were asked about.
#[derive(Debug, Clone, Default)]
pub struct SkillLock {
    pub cells: Packages,
    /// Pythons of other tiers, each with its packages, all of which are there; and the second runtime, with what became of each.
    native: Vec<Native>,
    /// Pythons that nothing is locked for, with the reason.
    pub not_locked: Vec<(String, String)>,
}

impl SkillLock {
    pub fn new(cells: Packages) -> SkillLock {
        SkillLock { cells, ..SkillLock::default() }
    }

    /// Adds what another target gets, a Python of another tier or the second runtime; or says why it is not locked.
    pub fn add_other(&mut self, target: &Target, packages: Result<Packages, String>) {
        match packages {
            Ok(packages) => self.native.push(Native { target: target.id.clone(), packages }),
            Err(why) => self.not_locked.push((target.describe(), why)),
        }
    }

    /// The other targets that are locked, by their ids, with the number of their packages.
    pub fn other_targets(&self) -> impl Iterator<Item = (&str, usize)> {
        self.native.iter().map(|native| (native.target.as_str(), native.packages.packages.len()))
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        // `sources` is particular to this machine, so it is left out of the lock.
        let plain = |packages: &Packages| Packages { sources: String::new(), ..packages.clone() };
        let native = self.native.iter().map(|one| Native { packages: plain(&one.packages), ..one.clone() }).collect();
        let (schema, python, packages) = (SCHEMA, GUEST_PYTHON.to_owned(), plain(&self.cells));
        serde_json::to_string_pretty(&File { schema, python, packages, native }).unwrap_or_default() + "\n"
    }
}

/// Why a lock can't be used.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("the skill's `{LOCK_FILE}` is not one: {0}")]
    Invalid(String),
    #[error("the skill's `{LOCK_FILE}` is out of date: {0}")]
    Stale(String),
    #[error("the skill's `{LOCK_FILE}` has no packages for {0}")]
    OtherPython(String),
}

impl LockError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        let again = "`skillcell lock SKILL` makes it anew";
        Some(match self {
            LockError::OtherPython(_) => format!("{again}, for cells and for the Pythons of this machine"),
            _ => again.to_owned(),
        })
    }
}

/// What a lock says that it is for; nothing if it can't be read.
pub fn locked_requirements(text: &[u8]) -> Option<Vec<String>> {
    let file = Some(text).filter(|text| text.len() <= MAX_BYTES).map(serde_json::from_slice::<File>)?;
    Some(file.ok()?.packages.requirements)
}

/// Reads a lock for these requirements and this target.
pub fn read(
    text: &[u8],
    requirements: &[String],
    target: &Target,
    installed: &Installed,
) -> Result<Packages, LockError> {
    if text.len() > MAX_BYTES {
        return Err(LockError::Invalid(format!("it is longer than {MAX_BYTES} bytes")));
    }
    let file: File = serde_json::from_slice(text).map_err(|error| LockError::Invalid(error.to_string()))?;
    if file.schema != SCHEMA || file.python != GUEST_PYTHON {
        return Err(LockError::Stale(format!("it is of schema {} for Python {}", file.schema, file.python)));
    }
    let native = || file.native.into_iter().find(|native| native.target == target.id).map(|native| native.packages);
    let first = target.runtime == Some(RuntimeKind::WasiPython);
    let packages = if first { Some(file.packages) } else { native() };
    let packages = packages.ok_or_else(|| LockError::OtherPython(target.describe()))?;
    if packages.requirements != requirements {
        return Err(LockError::Stale("the manifest has other requirements".into()));
    }
    packages.packages.iter().try_for_each(|package| check_package(package, target, installed))?;
    Ok(packages)
}

fn check_package(package: &Package, target: &Target, installed: &Installed) -> Result<(), LockError> {
    let name = &package.name;
    match &package.standing {
        PackageStatus::Wheel { file, .. } => {
            wheel_pin(name, &package.standing, |file| target.takes_wheel(name, file))?;
            let newer = || LockError::OtherPython(format!("the C library of this system: `{file}` is for a newer one"));
            if target.is_guest() || target.accepts_wheel(file) { Ok(()) } else { Err(newer()) }
        }
        PackageStatus::Runtime { version }
        | PackageStatus::Framework { version }
        | PackageStatus::OtherVersion { version } => {
            let there = installed.find_package(name).map(|(there, _)| there.to_string());
            let stale = || LockError::Stale(format!("there is no `{name}` {version} in {}", target.describe()));
            if there.as_ref() == Some(version) { Ok(()) } else { Err(stale()) }
        }
        PackageStatus::StandIn { version, .. } => {
            let ours = standins::stand_in_for(name).is_some_and(|standin| standin.version.to_string() == *version);
            let stale = || LockError::Stale(format!("there is no stand-in for `{name}` {version}"));
            if ours && target.uses_stand_in(name) { Ok(()) } else { Err(stale()) }
        }
        _ => Ok(()),
    }
}

/// The pin of a wheel. Its parts may be untrusted and become a line of a requirements file, so each is validated.
/// `takes` says whether a wheel is for the Python in question, by its file name.
pub fn wheel_pin(name: &str, standing: &PackageStatus, takes: impl Fn(&str) -> bool) -> Result<Pin, LockError> {
    let PackageStatus::Wheel { version, file, sha256 } = standing else {
        return Err(LockError::Invalid(format!("`{name}` is no wheel")));
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._+!-".contains(c);
    let sound = Requirement::parse(&format!("{name}=={version}")).is_ok_and(|read| read.name == *name)
        && parse_version(version).is_some()
        && version.chars().all(plain)
        && file.ends_with(".whl")
        && takes(file)
        && !file.starts_with(['.', '-'])
        && file.chars().all(plain)
        && sha256.len() == 64
        && sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !sound {
        return Err(LockError::Invalid(format!("{name:?} is not pinned to a wheel that can be used")));
    }
    Ok(Pin { name: name.into(), version: version.clone(), file: file.clone(), sha256: sha256.clone(), bytes: 0 })
}

#[cfg(test)]
mod tests {
    use super::super::wheel_rules::PURE;
    use super::*;

    fn wheel(name: &str, version: &str, file: &str, sha256: &str) -> Result<Pin, LockError> {
        let standing = PackageStatus::Wheel { version: version.into(), file: file.into(), sha256: sha256.into() };
        wheel_pin(name, &standing, |file| file.ends_with(PURE))
    }

    #[test]
    fn only_a_pure_wheel_with_a_hash_is_a_pin() {
        let (file, sha256) = ("a-1-py3-none-any.whl", "0".repeat(64));
        assert!(wheel("a", "1", file, &sha256).is_ok());
        for (name, version, file, sha256) in [
            ("a\n--index-url=x", "1", file, &*sha256),
            ("A", "1", file, &sha256),
            ("a", "1 --hash=x", file, &sha256),
            ("a", "1\n-r /etc/passwd", file, &sha256),
            ("a", "1", "../a-1-py3-none-any.whl", &sha256),
            ("a", "1", "a-1-cp311-cp311-linux_x86_64.whl", &sha256),
            ("a", "1", file, "0"),
        ] {
            assert!(wheel(name, version, file, sha256).is_err(), "{name:?} {version:?} {file}");
        }
    }

    fn resolved(file: &str) -> Packages {
        let wheel = |name: &str, file: &str| Package {
            name: name.into(),
            wanted: String::new(),
            chain: vec![name.into()],
            modules: Vec::new(),
            of_extra: false,
            standing: PackageStatus::Wheel { version: "1".into(), file: file.into(), sha256: "0".repeat(64) },
        };
        Packages { requirements: vec!["a".into()], packages: vec![wheel("a", file)], ..Packages::default() }
    }

    #[test]
    fn the_second_runtime_has_packages_of_its_own_in_a_lock_and_only_wheels_for_it() {
        let target = Target::guest(RuntimeKind::Pyodide);
        let installed = Installed::of_framework();
        let read_second = |lock: &SkillLock| read(lock.to_text().as_bytes(), &["a".to_owned()], &target, &installed);
        let mut lock = SkillLock::new(resolved("a-1-py3-none-any.whl"));
        let absent = read_second(&lock).unwrap_err();
        assert!(matches!(&absent, LockError::OtherPython(whose) if whose.contains("pyodide")), "{absent}");
        let native = resolved("a-1-cp314-cp314-pyemscripten_2026_0_wasm32.whl");
        lock.add_other(&target, Ok(native.clone()));
        assert_eq!(read_second(&lock).unwrap(), native);
        assert!(lock.to_text().contains("\"target\": \"pyodide\""));
        let mut odd = SkillLock::new(resolved("a-1-py3-none-any.whl"));
        odd.add_other(&target, Ok(resolved("a-1-cp311-cp311-manylinux_2_28_x86_64.whl")));
        assert!(matches!(read_second(&odd), Err(LockError::Invalid(_))));
    }
}
