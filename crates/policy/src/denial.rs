//! A refusal as the JSON output and the audit log show it: what was asked, which rule decided, what would allow it.

use serde::{Deserialize, Serialize};

use super::missing::Missing;
use super::quote::brief;
use super::resolve::{AddressDenial, NameDenial};
use super::rules::HttpDenial;
use super::url::BadUrl;

/// The default rule, named in refusals when no explicit rule decided.
pub const NO_RULE: &str = "what no rule allows is denied";

/// What a refusal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DenialKind {
    /// A request that no rule allows, or that is malformed.
    Http,
    /// A request that would have led to an address that is not granted.
    Address,
    /// A folder that the manifest asks for and that is not mounted.
    File,
    /// An environment variable that the manifest asks for and that is not granted.
    Env,
    /// A secret that the manifest asks to use with a host, and that is not granted for it.
    Secret,
    /// A module that the skill is sure to import and that is of no use in a cell.
    Import,
    /// A manifest's `permissions` that can't be read.
    Permissions,
    /// Another key of a manifest that can't be read.
    Manifest,
    /// A skill that is no longer what was approved.
    Approval,
    /// A tier that the skill may not run in, or that is not available here.
    Tier,
    /// A call in a session that ended, that is another one's, or that there is no place for.
    Session,
}

/// A refusal. Every field is safe to display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// For programs that treat refusals differently.
    pub kind: DenialKind,
    /// What the skill asked for.
    pub asked: String,
    /// The rule that decided; `None` if it was refused because no rule allows it.
    pub rule: Option<String>,
    /// What was refused and why, in words.
    pub message: String,
    /// What would allow it, in words; none where nothing would.
    pub hint: Option<String>,
    /// The flag that would allow it, if there is one, quoted for a POSIX shell.
    pub flag: Option<String>,
}

impl Denial {
    /// A request that a rule denies, or that none allows; the flag that would allow it comes along.
    pub fn http(method: &str, url: &str, denial: &HttpDenial) -> Denial {
        let rule = match denial {
            HttpDenial::Denied { rule, .. } => Some(rule.to_string()),
            HttpDenial::NotAllowed { closest, .. } => closest.as_ref().map(ToString::to_string),
            HttpDenial::Method(_) => None,
        };
        let (hint, flag) = (denial.hint(), denial.flag());
        Denial {
            kind: DenialKind::Http,
            asked: describe_request(method, url),
            rule,
            message: denial.to_string(),
            hint,
            flag,
        }
    }

    /// A request whose URL can't be read without doubt, so that no rule could allow it.
    pub fn url(method: &str, url: &str, bad: &BadUrl) -> Denial {
        let message = bad.to_string();
        Denial {
            kind: DenialKind::Http,
            asked: describe_request(method, url),
            rule: None,
            message,
            hint: None,
            flag: None,
        }
    }

    /// A request to a name of one machine or network, which a proxy must not be left to look up.
    pub fn name(method: &str, url: &str, denial: &NameDenial) -> Denial {
        let (asked, message) = (describe_request(method, url), denial.to_string());
        Denial { kind: DenialKind::Address, asked, rule: None, message, hint: denial.hint(), flag: None }
    }

    /// A request whose name leads to an address that is not granted.
    pub fn address(method: &str, url: &str, denial: &AddressDenial) -> Denial {
        Denial {
            kind: DenialKind::Address,
            asked: describe_request(method, url),
            rule: None,
            message: denial.to_string(),
            hint: denial.hint(),
            flag: None,
        }
    }
}

fn describe_request(method: &str, url: &str) -> String {
    brief(&format!("{method} {url}"))
}

impl From<&Missing> for Denial {
    fn from(missing: &Missing) -> Denial {
        Denial {
            kind: missing.kind,
            asked: missing.asked.clone(),
            rule: missing.denied_by.clone(),
            message: missing.message(),
            hint: Some(missing.hint()),
            flag: missing.flag.clone(),
        }
    }
}
