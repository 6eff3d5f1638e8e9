//! Which variables of the environment a child gets. None is passed on because it is there.

use std::ffi::OsString;

use super::find;

/// What a child gets of the environment, beside what it is given by name.
#[derive(Debug, Clone, Copy)]
pub enum Inherited {
    /// The `PATH`, without what is relative in it, and each variable that this is true of.
    Matching(fn(&str) -> bool),
    /// All of it: for a command that is the operator's own, or this program itself.
    Everything,
}

impl Inherited {
    pub(super) fn variables(self) -> Vec<(OsString, OsString)> {
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

/// Who the user is, their language, and where their settings are.
pub fn is_locale_or_home(name: &str) -> bool {
    const NAMES: [&str; 6] = ["HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR"];
    NAMES.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_")
}

/// How the network is reached from here, and whom to believe there.
pub fn is_proxy_or_certificate(name: &str) -> bool {
    const NAMES: [&str; 6] =
        ["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC", "NIX_SSL_CERT_FILE"];
    NAMES.contains(&name) || name.to_ascii_uppercase().ends_with("_PROXY")
}
