//! Starts the host's Python for skillcell's own purposes: fetching packages, making environments, asking for its version.
//!
//! Python imports from the current folder, `PYTHONPATH` and the user's site-packages, and imports some modules at startup
//! (`sitecustomize`). The current folder may be untrusted, and contain a `pip.py` or a `json.py`. So Python is started in a
//! folder of skillcell's, isolated (`-I`), and without any `PYTHON*` variable of the user's.

use std::ffi::OsStr;
use std::path::Path;

use super::{Inherited, Program, is_locale_or_home, is_proxy_or_certificate};

/// Settings of pip that would override where packages are installed.
const NOT_FOR_PIP: [&str; 7] =
    ["PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_REQUIREMENT", "PIP_EDITABLE"];
/// Prefixes of variables for version managers, whose shims choose a Python.
const CHOOSERS: [&str; 4] = ["PYENV_", "ASDF_", "MISE_", "RYE_"];
/// What `python -m pip` prints if there is no pip.
const NO_PIP: &str = "No module named pip";

/// Whose packages a Python sees besides its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packages {
    /// None.
    Isolated,
    /// The user's site-packages (`pip install --user`), where some systems have pip; still no `PYTHONPATH`.
    WithUsers,
}

impl Packages {
    /// The order in which they are tried to find pip.
    pub const FOR_PIP: [Packages; 2] = [Packages::Isolated, Packages::WithUsers];

    /// Whether the output says that pip is missing, so that the next of `FOR_PIP` is worth trying.
    pub fn lacks_pip(said: &str) -> bool {
        said.contains(NO_PIP)
    }
}

/// An isolated Python, started in `folder`, which must be trusted. Arguments are added after `-I`.
pub fn isolated_python(program: impl AsRef<OsStr>, folder: &Path) -> Program {
    python_command(program, folder, Packages::Isolated)
}

/// A Python, started in `folder`, which must be trusted.
pub fn python_command(program: impl AsRef<OsStr>, folder: &Path, packages: Packages) -> Program {
    let mut python = Program::new(program, folder);
    python.inherit_env(Inherited::Matching(is_for_pip));
    // For the Pythons that it starts itself, as `pip --python` does.
    python.env("PYTHONSAFEPATH", "1");
    // `-E` alone leaves the current folder in `sys.path`; that folder is trusted and has no modules in it.
    python.arg(if packages == Packages::Isolated { "-I" } else { "-E" });
    python
}

/// The user's package index, proxy, certificates and credentials, and what a Python needs to start.
fn is_for_pip(name: &str) -> bool {
    let is_pips = name.starts_with("PIP_") && !NOT_FOR_PIP.contains(&name);
    let is_choosers = CHOOSERS.iter().any(|chooser| name.starts_with(chooser));
    let others = ["LD_LIBRARY_PATH", "DBUS_SESSION_BUS_ADDRESS", "KRB5CCNAME"];
    is_pips || is_choosers || others.contains(&name) || is_locale_or_home(name) || is_proxy_or_certificate(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_gets_settings_for_pip_and_none_for_a_python() {
        let given = ["PIP_INDEX_URL", "HOME", "https_proxy", "NO_PROXY", "SSL_CERT_FILE", "PYENV_ROOT", "LC_ALL"];
        for name in given {
            assert!(is_for_pip(name), "{name}");
        }
        for name in ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PIP_TARGET", "AWS_SECRET_ACCESS_KEY", "LD_PRELOAD"] {
            assert!(!is_for_pip(name), "{name}");
        }
    }
}
