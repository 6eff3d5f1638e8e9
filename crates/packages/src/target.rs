//! The Python that packages are for: the guest's, one of this machine, or one of another system.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::provision::GUEST_PYTHON;

/// What environment markers see, by variable.
pub type MarkerValues = BTreeMap<String, String>;

/// A program that prints what a Python is: what [`Target`] is made of.
pub const ABOUT_PYTHON: &str = include_str!("about_python.py");

/// What markers see in a cell. Tested against one in `tests/behaviour/packages.rs`.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("implementation_name", "cpython"),
    ("implementation_version", "3.15.0"),
    ("os_name", "posix"),
    ("platform_machine", "wasm32"),
    ("platform_python_implementation", "CPython"),
    ("platform_release", "0.0.0"),
    ("platform_system", "wasi"),
    ("platform_version", "0.0.0"),
    ("python_full_version", "3.15.0"),
    ("python_version", "3.15"),
    ("sys_platform", "wasi"),
];

/// The older names of three C libraries, with the second number of their versions.
pub const OLD_NAMES: [(&str, u16); 3] = [("manylinux2014", 17), ("manylinux2010", 12), ("manylinux1_", 5)];

/// A Python that packages are chosen for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// In a lock, and in the names of what is kept for it: `cell`, or `3.11 x86_64 glibc`.
    pub id: String,
    pub values: MarkerValues,
    /// Whether it is the guest: pure wheels only, beside what the runtime has, and stand-ins.
    pub is_guest: bool,
    /// The second number of the C library's version; none where that is not glibc.
    pub glibc: Option<u16>,
    /// What pip is told to choose for. Without it pip chooses for the Python that it runs on.
    pub pip_options: Vec<String>,
    /// The Python that pip runs on; none for whichever there is.
    pub python: Option<PathBuf>,
}

impl Target {
    /// Cells: pure Python only. `Requires-Python` is ignored: packages that exclude so new a version mostly do so because of
    /// extension modules.
    pub fn guest() -> Target {
        let options =
            ["--platform", "any", "--implementation", "py", "--abi", "none", "--python-version", GUEST_PYTHON];
        Target {
            id: "cell".to_owned(),
            values: ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            is_guest: true,
            glibc: None,
            pip_options: options.into_iter().chain(["--ignore-requires-python"]).map(str::to_owned).collect(),
            python: None,
        }
    }

    /// The id of a native Python.
    pub fn native_id(major: u16, minor: u16, machine: &str, glibc: Option<u16>) -> String {
        format!("{major}.{minor} {machine} {}", if glibc.is_some() { "glibc" } else { "other libc" })
    }

    /// Whether a wheel that was chosen for a Python of this name on another machine runs here: it may be for a C library
    /// that is newer than this one.
    pub fn accepts_wheel(&self, file: &str) -> bool {
        let platforms = file.strip_suffix(".whl").and_then(|stem| stem.rsplit('-').next()).unwrap_or_default();
        platforms.split('.').any(|platform| {
            let old = OLD_NAMES.iter().find(|(name, _)| platform.starts_with(name)).map(|(_, version)| *version);
            let newer = || platform.strip_prefix("manylinux_2_")?.split('_').next()?.parse().ok();
            match old.or_else(newer) {
                Some(needed) => self.glibc.is_some_and(|there| needed <= there),
                None => platform == "any" || platform.starts_with("linux_") || self.glibc.is_none(),
            }
        })
    }

    /// A digest of everything that decides which wheels are chosen, which the kernel's version does not.
    pub fn digest(&self) -> String {
        let mut values = self.values.clone();
        values.retain(|name, _| !matches!(name.as_str(), "platform_release" | "platform_version"));
        let all = format!("{} {values:?} {:?} {:?}", self.id, self.pip_options, self.python);
        blake3::hash(all.as_bytes()).to_hex()[..16].to_owned()
    }

    /// For messages.
    pub fn describe(&self) -> String {
        if self.is_guest { "cells".to_owned() } else { format!("Python {}", self.id) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_for_a_newer_c_library_does_not_run_here() {
        let here = Target { glibc: Some(28), ..Target::guest() };
        for file in [
            "a-1-py3-none-any.whl",
            "a-1-cp311-cp311-manylinux_2_28_x86_64.whl",
            "a-1-cp311-abi3-manylinux_2_34_x86_64.manylinux2014_x86_64.whl",
            "a-1-cp311-cp311-linux_x86_64.whl",
        ] {
            assert!(here.accepts_wheel(file), "{file}");
        }
        for file in ["a-1-cp311-cp311-manylinux_2_29_x86_64.whl", "a-1-cp311-cp311-musllinux_1_2_x86_64.whl"] {
            assert!(!here.accepts_wheel(file), "{file}");
        }
    }
}
