//! Pyodide beside the cell: which of a skill's packages it has, from the lock file of its pinned npm package, and, where that
//! is asked for, what the skill's tests come to in it.
//!
//! It is a comparison, not a tier: on Node.js, Pyodide isolates nothing.

mod node;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use self::node::Node;
use super::model::{Pyodide, PyodidePackage};
use skillcell_packages::provision::{PyodideFiles, normalize_name};

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
    pub fn read(files: &PyodideFiles) -> Result<PyodideLock, String> {
        let text = files.lock().map_err(|error| error.to_string())?;
        let unreadable = |_| "its lock file can't be read".to_owned();
        let lock: LockFile = serde_json::from_slice(&text).map_err(unreadable)?;
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
    fn packages_are_found_by_any_spelling_and_else_by_their_wheels() {
        let listed = PyodideLock([("pydantic-core".to_owned(), "2.41.5".to_owned())].into());
        let found = listed.look_up(&[("pydantic_core".into(), false), ("six".into(), true), ("ckzg".into(), false)]);
        let how: Vec<&str> = found.packages.iter().map(|package| package.how.as_str()).collect();
        assert_eq!(how, ["in Pyodide", "pure wheel", "neither"]);
    }
}
