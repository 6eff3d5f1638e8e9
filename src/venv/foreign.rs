//! The Python of another system, such as the one in a container's base image: what pip must know to choose wheels for it
//! without running there.

use serde::Deserialize;

/// What a Python says of itself when [`ASK`](Foreign::ASK) is run with it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Foreign {
    major: u16,
    minor: u16,
    /// The second number of the C library's version; none where that is not glibc.
    glibc: Option<u16>,
    machine: Machine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Machine {
    X86_64,
    Aarch64,
}

impl Foreign {
    /// A program that prints what [`Foreign`] is read from.
    pub const ASK: &str = "\
import json, os, platform, sys
try: libc = os.confstr('CS_GNU_LIBC_VERSION').split()[1].split('.')
except Exception: libc = None
print(json.dumps({'major': sys.version_info[0], 'minor': sys.version_info[1],
                  'glibc': int(libc[1]) if libc and libc[0] == '2' else None, 'machine': platform.machine()}))
";

    /// pip's options that choose for it. Wheels are for a C library of their version or newer.
    pub fn options(&self) -> Vec<String> {
        let Foreign { major, minor, .. } = self;
        let machine = match self.machine {
            Machine::X86_64 => "x86_64",
            Machine::Aarch64 => "aarch64",
        };
        let mut options = vec!["--python-version".to_owned(), format!("{major}.{minor}")];
        let mut add = |name: &str, value: String| options.extend([name.to_owned(), value]);
        add("--implementation", "cp".to_owned());
        for abi in [format!("cp{major}{minor}"), "abi3".to_owned(), "none".to_owned()] {
            add("--abi", abi);
        }
        for version in (5..=self.glibc.unwrap_or(0)).rev() {
            add("--platform", format!("manylinux_2_{version}_{machine}"));
            if let Some(alias) = alias(version) {
                add("--platform", format!("{alias}_{machine}"));
            }
        }
        add("--platform", format!("linux_{machine}"));
        options
    }
}

/// The older names of three of them.
fn alias(version: u16) -> Option<&'static str> {
    match version {
        17 => Some("manylinux2014"),
        12 => Some("manylinux2010"),
        5 => Some("manylinux1"),
        _ => None,
    }
}
