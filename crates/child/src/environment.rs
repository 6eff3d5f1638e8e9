//! Which environment variables a child gets. None is inherited unless a caller asks for it.

use std::ffi::OsString;

use super::find;

/// Which variables a child inherits, besides those it is given by name.
#[derive(Debug, Clone, Copy)]
pub enum Inherited {
    /// The `PATH`, without relative entries, and each variable whose name this predicate accepts.
    Matching(fn(&str) -> bool),
    /// The whole environment: for the operator's own commands, and for this program itself.
    Everything,
}

impl Inherited {
    pub(super) fn collect_variables(self) -> Vec<(OsString, OsString)> {
        let wanted = |name: &OsString| match self {
            Inherited::Everything => true,
            Inherited::Matching(wanted) => name != "PATH" && name.to_str().is_some_and(wanted),
        };
        let mut variables: Vec<_> = std::env::vars_os().filter(|(name, _)| wanted(name)).collect();
        if matches!(self, Inherited::Matching(_)) {
            variables.extend(find::absolute_path().map(|path| ("PATH".into(), path)));
        }
        variables
    }
}

/// The user's name, locale, and folders for home, settings and temporary files.
pub fn is_locale_or_home(name: &str) -> bool {
    const NAMES: [&str; 6] = ["HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR"];
    NAMES.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_")
}

/// Proxy settings, and where trusted certificates are.
pub fn is_proxy_or_certificate(name: &str) -> bool {
    const NAMES: [&str; 6] =
        ["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC", "NIX_SSL_CERT_FILE"];
    NAMES.contains(&name) || name.to_ascii_uppercase().ends_with("_PROXY")
}
