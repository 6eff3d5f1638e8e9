//! `skillcell.toml`, the tables that are not policy's:
//!
//! ```toml
//! [settings]
//! cache_dir = "/var/cache/skillcell"
//! max_images = "20G"
//!
//! [limits]
//! timeout = "5s"
//! memory = "128M"
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::tokens::{self, TokenSection, TokenSettings};
use super::{LimitOverrides, Overrides, SettingsError};
use skillcell_policy::{BadPolicyFile, MAX_FILE_BYTES, PolicyFile};

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Document {
    settings: Overrides,
    limits: LimitOverrides,
    token: BTreeMap<String, TokenSection>,
    // Policy reads these.
    #[serde(rename = "http")]
    _http: IgnoredAny,
    #[serde(rename = "tiers")]
    _tiers: IgnoredAny,
    #[serde(rename = "grants")]
    _grants: IgnoredAny,
    #[serde(rename = "skill")]
    _skill: IgnoredAny,
}

/// All that a file says.
#[derive(Default)]
pub struct FileSettings {
    pub policy: PolicyFile,
    pub overrides: Overrides,
    pub tokens: Vec<TokenSettings>,
}

/// Reads a file.
pub fn read(path: &Path) -> Result<FileSettings, SettingsError> {
    let mut bytes = Vec::new();
    // One byte over the limit is enough to tell that a file is too long.
    let read = File::open(path).and_then(|file| file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|source| SettingsError::Unreadable { path: path.to_owned(), source })?;
    let wrong = |source| SettingsError::BadFile { path: path.to_owned(), source };
    if bytes.len() > MAX_FILE_BYTES {
        return Err(wrong(BadPolicyFile::TooLong));
    }
    let not_text = |source| SettingsError::NotText { path: path.to_owned(), source };
    let text = String::from_utf8(bytes).map_err(not_text)?;
    let policy = PolicyFile::parse(&text).map_err(wrong)?.with_path(&path.display().to_string());
    let document = parse_document(&text).map_err(wrong)?;
    let bad_token = |source| SettingsError::BadToken { path: path.to_owned(), source };
    let tokens = tokens::read_all(document.token).map_err(bad_token)?;
    let overrides = Overrides { limits: document.limits, ..document.settings };
    Ok(FileSettings { policy, overrides, tokens })
}

fn parse_document(text: &str) -> Result<Document, BadPolicyFile> {
    toml::from_str(text).map_err(|error| BadPolicyFile::of_toml(text, &error))
}
