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

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{LimitOverrides, Overrides, SettingsError};
use skillcell_policy::{BadPolicyFile, MAX_FILE_BYTES, PolicyFile};

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Document {
    settings: Overrides,
    limits: LimitOverrides,
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

/// All that a file says: its policy, and its settings.
pub fn read(path: &Path) -> Result<(PolicyFile, Overrides), SettingsError> {
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
    Ok((policy, parse(&text).map_err(wrong)?))
}

/// The settings in a file's text.
pub fn parse(text: &str) -> Result<Overrides, BadPolicyFile> {
    let document: Document = toml::from_str(text).map_err(|error| BadPolicyFile::of_toml(text, &error))?;
    Ok(Overrides { limits: document.limits, ..document.settings })
}
