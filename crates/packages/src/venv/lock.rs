//! Exactly which packages an environment has.

use serde::{Deserialize, Serialize};

use super::{Result, VenvError};
use crate::provision::Pin;

/// The lock as pip reads it, in the environment's folder.
pub const FILE: &str = "skillcell-lock.txt";

/// What was resolved, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    pub packages: Vec<Locked>,
}

/// One package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locked {
    pub name: String,
    pub version: String,
    /// The wheel's file name.
    pub file: String,
    pub sha256: String,
}

impl Locked {
    /// Whether the wheel has native code, by its tags.
    pub fn is_native(&self) -> bool {
        !self.file.ends_with("-none-any.whl")
    }
}

impl Lock {
    pub(super) fn from_pins(pins: &[Pin]) -> Lock {
        let locked = |pin: &Pin| {
            let Pin { name, version, file, sha256, .. } = pin.clone();
            Locked { name, version, file, sha256 }
        };
        Lock { packages: pins.iter().map(locked).collect() }
    }

    /// As requirements for `pip install --require-hashes`.
    pub fn to_requirements(&self) -> String {
        let line = |p: &Locked| format!("{}=={} --hash=sha256:{}\n", p.name, p.version, p.sha256);
        self.packages.iter().map(line).collect()
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn from_json(text: &str) -> Result<Lock> {
        serde_json::from_str(text).map_err(|error| VenvError::Lock(error.to_string()))
    }
}
