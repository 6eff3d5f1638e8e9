//! Parses the policy file `skillcell.toml` from its text. Locating and reading the file is the caller's job.
//!
//! ```toml
//! [grants]                                  # for every skill
//! deny_http = ["https://intranet.example.org"]
//!
//! [skill."finance/wallet_screening"]        # for one, added to those
//! allow_http = ["GET https://api.etherscan.io/*"]
//! secret = ["ETHERSCAN_API_KEY@api.etherscan.io"]
//! ```
//!
//! `[tiers]` says which tiers skills may run in: see `tiers.rs`. `[http]` has one key, `proxy`: see `forward_proxy.rs`.
//! `[settings]`, `[limits]` and `[token.NAME]` are not read here.
//!
//! The keys are the flags' names: `allow_http`, `deny_http`, `resolve`, `mount`, `secret`, `env`, `deny_import`,
//! `allow_import`.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::forward_proxy::{BadProxy, ForwardProxy};
use super::grants::{BadGrant, GrantKind, Grants};
use super::quote::brief;
use super::tiers::TierRules;
use super::written::Written;

/// A longer file is refused. Parsing needs up to about 700 times this much memory: a table takes a few bytes in TOML, and
/// its map more than a thousand.
pub const MAX_FILE_BYTES: usize = 256 << 10;
const MAX_SKILLS: usize = 1024;
const MAX_SKILL_NAME_BYTES: usize = 256;

/// What is wrong with a policy file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPolicyFile {
    #[error("the policy file is longer than {MAX_FILE_BYTES} bytes")]
    TooLong,
    #[error("line {line}: {problem}")]
    Toml { line: usize, problem: String },
    #[error("line {line}: {problem}")]
    Grant { line: usize, problem: BadGrant },
    #[error("line {line}: {problem}")]
    Proxy { line: usize, problem: BadProxy },
    #[error("the policy file names more than {MAX_SKILLS} skills")]
    TooManySkills,
    #[error("`{0}` is too long for the name of a skill, or empty")]
    SkillName(String),
}

impl BadPolicyFile {
    /// Converts a TOML error, with its line number.
    pub fn of_toml(text: &str, error: &toml::de::Error) -> BadPolicyFile {
        BadPolicyFile::Toml { line: line_number(text, error.span()), problem: brief(error.message()) }
    }
}

/// A policy file's grants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyFile {
    for_all: Grants,
    for_skill: BTreeMap<String, Grants>,
    tiers: TierRules,
    forward_proxy: Option<ForwardProxy>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Document {
    tiers: TierRules,
    http: HttpSection,
    grants: Section,
    skill: BTreeMap<String, Section>,
    #[serde(rename = "settings")]
    _settings: IgnoredAny,
    #[serde(rename = "limits")]
    _limits: IgnoredAny,
    #[serde(rename = "token")]
    _token: IgnoredAny,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct HttpSection {
    proxy: Option<Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Section {
    allow_http: Vec<Spanned<String>>,
    deny_http: Vec<Spanned<String>>,
    resolve: Vec<Spanned<String>>,
    mount: Vec<Spanned<String>>,
    secret: Vec<Spanned<String>>,
    env: Vec<Spanned<String>>,
    deny_import: Vec<Spanned<String>>,
    allow_import: Vec<Spanned<String>>,
}

impl PolicyFile {
    pub fn parse(text: &str) -> Result<PolicyFile, BadPolicyFile> {
        if text.len() > MAX_FILE_BYTES {
            return Err(BadPolicyFile::TooLong);
        }
        let document: Document = toml::from_str(text).map_err(|error| BadPolicyFile::of_toml(text, &error))?;
        if document.skill.len() > MAX_SKILLS {
            return Err(BadPolicyFile::TooManySkills);
        }
        let mut file = PolicyFile {
            for_all: document.grants.into_grants(text)?,
            for_skill: BTreeMap::new(),
            tiers: document.tiers,
            forward_proxy: document.http.forward_proxy(text)?,
        };
        for (name, section) in document.skill {
            if !(1..=MAX_SKILL_NAME_BYTES).contains(&name.len()) {
                return Err(BadPolicyFile::SkillName(brief(&name)));
            }
            file.for_skill.insert(name, section.into_grants(text)?);
        }
        Ok(file)
    }

    /// Records the path that the text was read from, so that the audit log can say where a grant is written.
    #[must_use]
    pub fn with_path(mut self, path: &str) -> PolicyFile {
        self.for_all.name_file(path);
        self.for_skill.values_mut().for_each(|grants| grants.name_file(path));
        self
    }

    /// Which tiers skills may run in.
    pub fn tiers(&self) -> &TierRules {
        &self.tiers
    }

    /// The proxy that HTTP is to go through.
    pub fn forward_proxy(&self) -> Option<&ForwardProxy> {
        self.forward_proxy.as_ref()
    }

    /// The skills that have a section of their own.
    pub fn skill_names(&self) -> impl Iterator<Item = &str> {
        self.for_skill.keys().map(String::as_str)
    }

    /// A skill's grants: those for all skills, then its own.
    pub fn grants_for(&self, skill: &str) -> Grants {
        let own = self.for_skill.get(skill).cloned().unwrap_or_default();
        self.for_all.clone().merged_with(own)
    }
}

impl HttpSection {
    fn forward_proxy(self, text: &str) -> Result<Option<ForwardProxy>, BadPolicyFile> {
        let Some(entry) = self.proxy else { return Ok(None) };
        let line = line_number(text, Some(entry.span()));
        ForwardProxy::parse(entry.get_ref()).map(Some).map_err(|problem| BadPolicyFile::Proxy { line, problem })
    }
}

impl Section {
    fn into_grants(self, text: &str) -> Result<Grants, BadPolicyFile> {
        let lists = [
            (GrantKind::AllowHttp, self.allow_http),
            (GrantKind::DenyHttp, self.deny_http),
            (GrantKind::Resolve, self.resolve),
            (GrantKind::Mount, self.mount),
            (GrantKind::Secret, self.secret),
            (GrantKind::Env, self.env),
            (GrantKind::DenyImport, self.deny_import),
            (GrantKind::AllowImport, self.allow_import),
        ];
        let mut grants = Grants::default();
        for (kind, entry) in lists.into_iter().flat_map(|(kind, list)| list.into_iter().map(move |entry| (kind, entry)))
        {
            let line = line_number(text, Some(entry.span()));
            let added = grants.add_written(kind, entry.get_ref(), &Written::File { path: String::new(), line });
            added.map_err(|problem| BadPolicyFile::Grant { line, problem })?;
        }
        Ok(grants)
    }
}

fn line_number(text: &str, span: Option<Range<usize>>) -> usize {
    let start = span.map_or(0, |span| span.start);
    text.bytes().take(start).filter(|b| *b == b'\n').count() + 1
}
