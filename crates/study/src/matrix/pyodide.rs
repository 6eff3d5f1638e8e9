//! Pyodide beside the cell: which of a skill's packages it has, from the lock file of its pinned npm package, and, where that
//! is asked for, what the skill's tests come to in it.
//!
//! It is a comparison, not a tier: on Node.js, Pyodide isolates nothing.

mod fetch;
mod node;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

pub use self::fetch::{PyodideError, obtain_package};
pub use self::node::Node;
use super::model::{Pyodide, PyodidePackage};
use skillcell_cache::Pack;
use skillcell_packages::provision::{Pin, normalize_name};

static PIN: LazyLock<NpmPin> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../../runtime-assets/pyodide.toml")).expect("tested: the pin is valid")
});

/// The pinned npm package.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NpmPin {
    pub name: String,
    pub version: String,
    pub integrity: String,
    pub python: String,
    /// Python packages that the tests need in Pyodide, see the file.
    #[serde(rename = "package")]
    pub packages: Vec<Pin>,
}

pub fn npm_pin() -> &'static NpmPin {
    &PIN
}

/// What Pyodide's lock file lists: packages by name, with their versions.
#[derive(Debug, Clone, Default)]
pub struct PyodideLock(BTreeMap<String, String>);

#[derive(Deserialize)]
struct LockFile {
    packages: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    version: String,
    #[serde(default)]
    package_type: String,
}

impl PyodideLock {
    pub fn read(package: &Pack) -> Result<PyodideLock, PyodideError> {
        let text = package.read("pyodide-lock.json").map_err(|_| PyodideError::NoLock)?;
        let lock: LockFile = serde_json::from_slice(&text).map_err(|_| PyodideError::NoLock)?;
        let packages = lock.packages.into_values().filter(|entry| entry.package_type == "package");
        Ok(PyodideLock(packages.map(|entry| (normalize_name(&entry.name), entry.version)).collect()))
    }

    /// Where each of these packages, `(name, is there a pure wheel)`, would come from.
    pub fn look_up(&self, packages: &[(String, bool)]) -> Pyodide {
        let package = |(name, pure): &(String, bool)| {
            let version = self.0.get(&normalize_name(name)).cloned();
            let how = match (&version, pure) {
                (Some(_), _) => "in Pyodide",
                (None, true) => "pure wheel",
                (None, false) => "neither",
            };
            PyodidePackage { name: name.clone(), how: how.to_owned(), version }
        };
        Pyodide { not_looked_up: None, packages: packages.iter().map(package).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pin_is_valid() {
        assert!(npm_pin().integrity.starts_with("sha512-"));
    }

    #[test]
    fn packages_are_found_by_any_spelling_and_else_by_their_wheels() {
        let listed = PyodideLock([("pydantic-core".to_owned(), "2.41.5".to_owned())].into());
        let found = listed.look_up(&[("pydantic_core".into(), false), ("six".into(), true), ("ckzg".into(), false)]);
        let how: Vec<&str> = found.packages.iter().map(|package| package.how.as_str()).collect();
        assert_eq!(how, ["in Pyodide", "pure wheel", "neither"]);
    }
}
