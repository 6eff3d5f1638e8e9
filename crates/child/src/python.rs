//! Every Python that is started for our own purposes: to fetch packages, to make an environment, to be asked what it is.
//!
//! A Python looks for modules in the current folder, in `PYTHONPATH` and in the user's own packages, and runs some without
//! being asked (`sitecustomize`). The current folder may be a stranger's, with a `pip.py` or a `json.py` in it. So it is
//! started in a folder of ours, isolated (`-I`), and without any variable that is for a Python.

use std::ffi::OsStr;
use std::path::Path;

use super::{Inherited, Program, is_locale_or_home, is_proxy_or_certificate};

/// Settings of the user's that would send packages elsewhere than they are told to go.
const NOT_FOR_PIP: [&str; 7] =
    ["PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_REQUIREMENT", "PIP_EDITABLE"];
/// What stands in front of a Python and chooses one: its settings.
const CHOOSERS: [&str; 4] = ["PYENV_", "ASDF_", "MISE_", "RYE_"];
/// What an isolated Python says of a module that it does not have.
const NO_PIP: &str = "No module named pip";

/// Whose packages a Python sees besides its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packages {
    /// Nobody's.
    Isolated,
    /// The user's own (`pip install --user`), which is where some have their pip, and none of a folder or a variable.
    WithUsers,
}

impl Packages {
    /// The order in which they are tried for a pip.
    pub const FOR_PIP: [Packages; 2] = [Packages::Isolated, Packages::WithUsers];

    /// Whether this is worth another try, by what it said.
    pub fn lacks_pip(said: &str) -> bool {
        said.contains(NO_PIP)
    }
}

/// An isolated Python in `folder`, which is ours or the system's. The arguments are what follows its options.
pub fn isolated(program: impl AsRef<OsStr>, folder: &Path) -> Program {
    python(program, folder, Packages::Isolated)
}

/// A Python in `folder`, which is ours or the system's.
pub fn python(program: impl AsRef<OsStr>, folder: &Path, packages: Packages) -> Program {
    let mut python = Program::new(program, folder);
    python.inherit_env(Inherited::Matching(is_for_pip));
    // For those that it starts itself, as `pip --python` does.
    python.env("PYTHONSAFEPATH", "1");
    // With `-E` alone the folder that it starts in is looked in too. It is ours, and has no module in it.
    python.arg(if packages == Packages::Isolated { "-I" } else { "-E" });
    python
}

/// The user's index, mirror, proxy, certificates and keys for them, and what their Python itself takes to start.
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
