//! The Python of another system, such as the one in a container's base image: what pip must know to choose wheels for it
//! without running there.

use serde::Deserialize;

use crate::{ABOUT_PYTHON, MarkerValues, OLD_NAMES, Target};

/// What a Python says of itself when [`ASK`](Foreign::ASK) is run with it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Foreign {
    major: u16,
    minor: u16,
    /// The second number of the C library's version; none where that is not glibc.
    glibc: Option<u16>,
    machine: Machine,
    markers: MarkerValues,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Machine {
    X86_64,
    Aarch64,
}

impl Machine {
    fn name(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64",
            Machine::Aarch64 => "aarch64",
        }
    }
}

impl Foreign {
    /// A program that prints what [`Foreign`] is read from.
    pub const ASK: &str = ABOUT_PYTHON;

    /// As what packages are chosen for.
    pub fn target(&self) -> Target {
        Target {
            id: Target::native_id(self.major, self.minor, self.machine.name(), self.glibc),
            values: self.markers.clone(),
            runtime: None,
            glibc: self.glibc,
            pip_options: self.pip_options(),
            python: None,
        }
    }

    /// `3.11`.
    pub fn version(&self) -> String {
        format!("{}.{}", self.major, self.minor)
    }

    /// pip's options that choose for it. Wheels are for a C library of their version or newer.
    fn pip_options(&self) -> Vec<String> {
        let Foreign { major, minor, .. } = self;
        let machine = self.machine.name();
        let mut options = vec!["--python-version".to_owned(), format!("{major}.{minor}")];
        let mut add = |name: &str, value: String| options.extend([name.to_owned(), value]);
        add("--implementation", "cp".to_owned());
        for abi in [format!("cp{major}{minor}"), "abi3".to_owned(), "none".to_owned()] {
            add("--abi", abi);
        }
        for version in (5..=self.glibc.unwrap_or(0)).rev() {
            add("--platform", format!("manylinux_2_{version}_{machine}"));
            if let Some((alias, _)) = OLD_NAMES.iter().find(|(_, known)| *known == version) {
                add("--platform", format!("{}_{machine}", alias.trim_end_matches('_')));
            }
        }
        add("--platform", format!("linux_{machine}"));
        options
    }
}
