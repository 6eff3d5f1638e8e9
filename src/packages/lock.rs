//! `skillcell.lock`: what a skill's requirements resolved to, with the sha256 of each wheel, beside the skill. It names no index.
//!
//! It comes with the skill, so it is a stranger's: what it says is checked before it is used, and the wheels are whatever has
//! those hashes.

use serde::{Deserialize, Serialize};

use super::installed::Installed;
use super::requirement::Requirement;
use super::version::Version;
use super::{Packages, Standing, standins};
use crate::provision::{GUEST_PYTHON, Pin};

/// The name of the file, in the skill's folder.
pub const LOCK_FILE: &str = "skillcell.lock";
const SCHEMA: u32 = 1;
const MAX_BYTES: usize = 1 << 20;
/// What the file name of a wheel ends with that is pure Python.
const PURE: &str = "-none-any.whl";

#[derive(Serialize, Deserialize)]
struct File {
    schema: u32,
    python: String,
    #[serde(flatten)]
    packages: Packages,
}

/// Why a lock can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    #[error("the skill's `{LOCK_FILE}` is not one: {0}")]
    Invalid(String),
    #[error("the skill's `{LOCK_FILE}` is out of date: {0}")]
    Stale(String),
}

impl LockError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        Some("`skillcell lock SKILL` makes it anew".into())
    }
}

/// The text of a lock.
pub fn write(packages: &Packages) -> String {
    // Which folder a wheel came from is of this machine.
    let packages = Packages { sources: String::new(), ..packages.clone() };
    let file = File { schema: SCHEMA, python: GUEST_PYTHON.to_owned(), packages };
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}

/// Reads a lock for these requirements.
pub fn read(text: &[u8], requirements: &[String], installed: &Installed) -> Result<Packages, LockError> {
    if text.len() > MAX_BYTES {
        return Err(LockError::Invalid(format!("it is longer than {MAX_BYTES} bytes")));
    }
    let file: File = serde_json::from_slice(text).map_err(|error| LockError::Invalid(error.to_string()))?;
    if file.schema != SCHEMA || file.python != GUEST_PYTHON {
        return Err(LockError::Stale(format!("it is of schema {} for Python {}", file.schema, file.python)));
    }
    if file.packages.requirements != requirements {
        return Err(LockError::Stale("the manifest has other requirements".into()));
    }
    for package in &file.packages.packages {
        let (name, stale) = (&package.name, |what: String| Err(LockError::Stale(what)));
        match &package.standing {
            Standing::Wheel { .. } => drop(pin(name, &package.standing)?),
            Standing::Runtime { version } | Standing::Framework { version } | Standing::OtherVersion { version } => {
                let there = installed.of(name).map(|(there, _)| there.to_string());
                if there.as_ref() != Some(version) {
                    return stale(format!("a cell has no `{name}` {version}"));
                }
            }
            Standing::StandIn { version, .. } => {
                if standins::of(name).is_none_or(|standin| standin.version.as_str() != version) {
                    return stale(format!("there is no stand-in for `{name}` {version}"));
                }
            }
            _ => {}
        }
    }
    Ok(file.packages)
}

/// The pin of a wheel. What it is made of may be a stranger's, and becomes a line that pip reads.
pub fn pin(name: &str, standing: &Standing) -> Result<Pin, LockError> {
    let Standing::Wheel { version, file, sha256 } = standing else {
        return Err(LockError::Invalid(format!("`{name}` is no wheel")));
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._+!-".contains(c);
    let sound = Requirement::parse(&format!("{name}=={version}")).is_ok_and(|read| read.name == *name)
        && Version::parse(version).is_some()
        && version.chars().all(plain)
        && file.ends_with(PURE)
        && !file.starts_with('.')
        && file.chars().all(plain)
        && sha256.len() == 64
        && sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !sound {
        return Err(LockError::Invalid(format!("{name:?} is not pinned to a pure Python wheel")));
    }
    Ok(Pin { name: name.into(), version: version.clone(), file: file.clone(), sha256: sha256.clone(), bytes: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wheel(name: &str, version: &str, file: &str, sha256: &str) -> Result<Pin, LockError> {
        let standing = Standing::Wheel { version: version.into(), file: file.into(), sha256: sha256.into() };
        pin(name, &standing)
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
}
