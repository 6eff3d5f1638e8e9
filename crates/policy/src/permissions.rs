//! What a skill's manifest asks for: the `permissions` key, our extension. docs/reference/permissions.schema.json is its schema.
//!
//! Asking gives nothing; it bounds what a grant can give. An unknown key is an error, so that a
//! misspelt request is not silently ignored. The manifest is hostile: reasons are shown to the operator, who decides by them, so
//! they are short and can't steer a terminal.

mod read;
mod wish;

use serde_json::{Value, json};

pub use self::read::BadPermissions;
pub use self::wish::{Change, Wish};
use super::describe;
use super::http::HttpRule;
use super::mount::{GuestPath, Mode};
use super::secret::SecretHost;

/// Something asked for, and why, in the words of the skill's author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked<T> {
    pub what: T,
    pub reason: Option<String>,
}

/// A folder at a place in the cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderAsk {
    pub path: GuestPath,
    pub mode: Mode,
}

/// The use of a secret with some hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretAsk {
    pub name: String,
    pub hosts: Vec<SecretHost>,
}

/// All that a skill asks for. The default, and `permissions: {}`, is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    pub network: Vec<Asked<HttpRule>>,
    pub filesystem: Vec<Asked<FolderAsk>>,
    pub env: Vec<Asked<String>>,
    pub secrets: Vec<Asked<SecretAsk>>,
}

impl Permissions {
    /// Reads the value of the manifest's `permissions`.
    pub fn parse(value: &Value) -> Result<Permissions, BadPermissions> {
        read::read_permissions(value)
    }

    pub fn is_empty(&self) -> bool {
        *self == Permissions::default()
    }

    /// One spelling of all this, as [`parse`](Self::parse) reads it: for an approval's record.
    pub fn to_value(&self) -> Value {
        let network = self.network.iter().map(|asked| {
            let methods: Vec<String> = asked.what.methods().to_string().split(',').map(str::to_owned).collect();
            let url = format!("{}{}", asked.what.origin(), asked.what.path());
            with_reason(json!({"methods": methods, "url": url}), &asked.reason)
        });
        let filesystem = self.filesystem.iter().map(|asked| {
            let folder = json!({"path": asked.what.path.as_str(), "mode": asked.what.mode.name()});
            with_reason(folder, &asked.reason)
        });
        let env = self.env.iter().map(|asked| with_reason(json!({"name": asked.what}), &asked.reason));
        let secrets = self.secrets.iter().map(|asked| {
            let hosts: Vec<String> = asked.what.hosts.iter().map(ToString::to_string).collect();
            with_reason(json!({"name": asked.what.name, "hosts": hosts}), &asked.reason)
        });
        json!({
            "network": network.collect::<Vec<_>>(),
            "filesystem": filesystem.collect::<Vec<_>>(),
            "env": env.collect::<Vec<_>>(),
            "secrets": secrets.collect::<Vec<_>>(),
        })
    }
}

fn with_reason(mut value: Value, reason: &Option<String>) -> Value {
    if let (Some(fields), Some(reason)) = (value.as_object_mut(), reason) {
        fields.insert("reason".into(), reason.as_str().into());
    }
    value
}
