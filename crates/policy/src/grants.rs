//! What an operator grants: by flags, in `skillcell.toml`, or by an approval. All three use the same syntax.
//!
//! Layers are merged in the order: the approval, the file's defaults, the file's skill, the flags. Rules add up, denials
//! too. Of what can only be one (a folder at a place, a variable, an address for a name, a secret's source), the later layer's
//! replaces the earlier's; within one layer, two that differ are an error.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::env::{BadEnv, EnvGrant};
use super::http::{BadRule, HttpRule};
use super::mount::{BadMount, MountGrant};
use super::permissions::Permissions;
use super::quote::brief;
use super::resolve::{BadResolve, Resolve};
use super::rules::HttpRules;
use super::secret::{BadSecret, GivenValue, SecretGrant, SecretSource};
use super::written::{GrantPlaces, Written};

const MAX_ENTRIES: usize = 256;
const MAX_MODULE_BYTES: usize = 128;

/// The kinds of grants; each is a flag and a key of `skillcell.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrantKind {
    /// Requests: `[METHODS] URL`. Without methods GET and HEAD; the path may end in `*`.
    AllowHttp,
    /// Requests that are denied whatever allows them: `[METHODS] URL`. Without methods, any.
    DenyHttp,
    /// Where a name leads: `HOST:PORT:ADDR[:PORT]`. That address is granted too, even a private one.
    Resolve,
    /// A folder of this machine: `HOST:GUEST[:ro|rw]`. Read-only unless it says `rw`.
    Mount,
    /// The use of a secret with a host: `NAME[=SOURCE]@HOST`. The skill sees a placeholder only.
    Secret,
    /// An environment variable: `NAME` with the value that it has here, or `NAME=VALUE`.
    Env,
    /// A module that raises `ImportError` when it is imported. Takes away, grants nothing.
    DenyImport,
    /// A module that the skill may import though it is of no use in a cell, as `subprocess`.
    AllowImport,
}

impl GrantKind {
    /// Every kind, in the order in which grants are listed.
    pub const ALL: [GrantKind; 8] = [
        GrantKind::AllowHttp,
        GrantKind::DenyHttp,
        GrantKind::Resolve,
        GrantKind::Mount,
        GrantKind::Secret,
        GrantKind::Env,
        GrantKind::DenyImport,
        GrantKind::AllowImport,
    ];

    /// The key in `skillcell.toml`.
    pub fn key(self) -> &'static str {
        match self {
            GrantKind::AllowHttp => "allow_http",
            GrantKind::DenyHttp => "deny_http",
            GrantKind::Resolve => "resolve",
            GrantKind::Mount => "mount",
            GrantKind::Secret => "secret",
            GrantKind::Env => "env",
            GrantKind::DenyImport => "deny_import",
            GrantKind::AllowImport => "allow_import",
        }
    }

    /// The flag of `skillcell run`.
    pub fn flag(self) -> String {
        format!("--{}", self.key().replace('_', "-"))
    }
}

/// Why a text can't be granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadGrant {
    /// It is no rule for requests: `[METHODS] URL`.
    #[error(transparent)]
    Rule(#[from] BadRule),
    /// It is no `HOST:PORT:ADDR[:PORT]`.
    #[error(transparent)]
    Resolve(#[from] BadResolve),
    /// It is no `HOST:GUEST[:ro|rw]`, or `GUEST` is no place for a folder.
    #[error(transparent)]
    Mount(#[from] BadMount),
    /// It is no `NAME[=SOURCE]@HOST`.
    #[error(transparent)]
    Secret(#[from] BadSecret),
    /// It is no `NAME[=VALUE]`, or the variable has a fixed value in every cell.
    #[error(transparent)]
    Env(#[from] BadEnv),
    /// It is no dotted name of Python's, or one of more than 128 bytes.
    #[error("`{0}` is not the name of a module")]
    Module(String),
    /// The same place, variable, name or secret is already granted otherwise.
    #[error("`{0}` is given twice, and not alike")]
    Conflict(String),
    /// There are 256 grants of this kind already.
    #[error("there are more than {MAX_ENTRIES} entries of `{key}`", key = .0.key())]
    TooMany(GrantKind),
}

/// What is granted. The default is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grants {
    /// Requests that are allowed, and requests that are denied all the same.
    pub http: HttpRules,
    /// Names with the addresses that they lead to, instead of what the system says.
    pub resolve: Vec<Resolve>,
    /// Folders of this machine; one for each place in the cell.
    pub mounts: Vec<MountGrant>,
    /// Secrets, each with where its value comes from and the hosts that it may go to.
    pub secrets: Vec<SecretGrant>,
    /// Environment variables, with a value or with the one that they have here.
    pub env: Vec<EnvGrant>,
    /// Modules that raise `ImportError` when they are imported.
    pub deny_imports: Vec<String>,
    /// Modules that an untrusted skill may import even though they don't work in a cell.
    pub allow_imports: Vec<String>,
    pub(super) places: GrantPlaces,
}

impl Grants {
    /// Adds one grant, given as the text of a flag or of an entry in the policy file.
    pub fn add(&mut self, kind: GrantKind, text: &str) -> Result<(), BadGrant> {
        if self.count(kind) >= MAX_ENTRIES {
            return Err(BadGrant::TooMany(kind));
        }
        match kind {
            GrantKind::AllowHttp => push_new(&mut self.http.allow, HttpRule::parse(text)?),
            GrantKind::DenyHttp => push_new(&mut self.http.deny, HttpRule::parse_deny(text)?),
            GrantKind::Resolve => add_or_conflict(&mut self.resolve, Resolve::parse(text)?, Resolve::is_same_name)?,
            GrantKind::Mount => add_or_conflict(&mut self.mounts, MountGrant::parse(text)?, |a, b| a.guest == b.guest)?,
            GrantKind::Env => add_or_conflict(&mut self.env, EnvGrant::parse(text)?, |a, b| a.name() == b.name())?,
            GrantKind::Secret => self.add_secret(SecretGrant::parse(text)?)?,
            GrantKind::DenyImport => push_new(&mut self.deny_imports, parse_module(text)?),
            GrantKind::AllowImport => push_new(&mut self.allow_imports, parse_module(text)?),
        }
        Ok(())
    }

    /// Adds the use of a secret with its value itself, which no text holds. For several hosts, once for each.
    pub fn add_given_secret(&mut self, name: &str, value: &str, host: &str) -> Result<(), BadGrant> {
        if self.count(GrantKind::Secret) >= MAX_ENTRIES {
            return Err(BadGrant::TooMany(GrantKind::Secret));
        }
        self.add_secret(SecretGrant::with_value(name, GivenValue::new(value.to_owned()), host)?)
    }

    fn add_secret(&mut self, secret: SecretGrant) -> Result<(), BadGrant> {
        match self.secrets.iter_mut().find(|held| held.name == secret.name) {
            None => self.secrets.push(secret),
            Some(held) if held.source != secret.source => return Err(BadGrant::Conflict(secret.name)),
            Some(held) => secret.hosts.into_iter().for_each(|host| push_new(&mut held.hosts, host)),
        }
        Ok(())
    }

    /// What approving a skill grants: everything it asks for except folders, which only `--mount` can name. Its secrets
    /// come from the environment variables of the same names.
    pub fn of_approval(asked: &Permissions) -> Grants {
        let mut grants = Grants::default();
        asked.network.iter().for_each(|asked| push_new(&mut grants.http.allow, asked.what.clone()));
        for asked in &asked.env {
            // A name that can't be granted was refused when the manifest was read.
            let _ = grants.add(GrantKind::Env, &asked.what);
        }
        for secret in &asked.secrets {
            let (name, hosts) = (secret.what.name.clone(), secret.what.hosts.clone());
            let _ = grants.add_secret(SecretGrant { source: SecretSource::Env(name.clone()), name, hosts });
        }
        grants.written(&Written::Approval)
    }

    /// Merges a later layer into this one; see the module for what replaces what.
    pub fn merged_with(mut self, later: Grants) -> Grants {
        later.http.allow.into_iter().for_each(|rule| push_new(&mut self.http.allow, rule));
        later.http.deny.into_iter().for_each(|rule| push_new(&mut self.http.deny, rule));
        later.deny_imports.into_iter().for_each(|module| push_new(&mut self.deny_imports, module));
        later.allow_imports.into_iter().for_each(|module| push_new(&mut self.allow_imports, module));
        later.resolve.into_iter().for_each(|entry| replace_same(&mut self.resolve, entry, Resolve::is_same_name));
        later.mounts.into_iter().for_each(|mount| replace_same(&mut self.mounts, mount, |a, b| a.guest == b.guest));
        later.env.into_iter().for_each(|env| replace_same(&mut self.env, env, |a, b| a.name() == b.name()));
        for secret in later.secrets {
            // A value from another source must not go to hosts that were granted for this one.
            self.secrets.retain(|held| held.name != secret.name || held.source == secret.source);
            let _ = self.add_secret(secret);
        }
        self.places.extend(later.places);
        self
    }

    /// Merges the operator's own grants over an approval's. A secret that the operator grants explicitly goes only to the
    /// hosts that they name.
    pub fn overruled_by(mut self, own: Grants) -> Grants {
        self.secrets.retain(|held| own.secrets.iter().all(|secret| secret.name != held.name));
        self.merged_with(own)
    }

    fn count(&self, kind: GrantKind) -> usize {
        match kind {
            GrantKind::AllowHttp => self.http.allow.len(),
            GrantKind::DenyHttp => self.http.deny.len(),
            GrantKind::Resolve => self.resolve.len(),
            GrantKind::Mount => self.mounts.len(),
            GrantKind::Secret => self.secrets.iter().map(|secret| secret.hosts.len()).sum(),
            GrantKind::Env => self.env.len(),
            GrantKind::DenyImport => self.deny_imports.len(),
            GrantKind::AllowImport => self.allow_imports.len(),
        }
    }

    /// All of them, as texts with their kinds.
    pub fn entries(&self) -> Vec<(GrantKind, String)> {
        GrantKind::ALL.into_iter().flat_map(|kind| self.texts(kind).into_iter().map(move |text| (kind, text))).collect()
    }

    /// The grants of a kind, as texts that [`add`](Self::add) reads; of variables, the names alone, and of secrets no given value.
    pub fn texts(&self, kind: GrantKind) -> Vec<String> {
        match kind {
            GrantKind::AllowHttp => self.http.allow.iter().map(ToString::to_string).collect(),
            GrantKind::DenyHttp => self.http.deny.iter().map(ToString::to_string).collect(),
            GrantKind::Resolve => self.resolve.iter().map(ToString::to_string).collect(),
            GrantKind::Mount => self.mounts.iter().map(ToString::to_string).collect(),
            GrantKind::Secret => self.secrets.iter().flat_map(SecretGrant::texts).collect(),
            GrantKind::Env => self.env.iter().map(ToString::to_string).collect(),
            GrantKind::DenyImport => self.deny_imports.clone(),
            GrantKind::AllowImport => self.allow_imports.clone(),
        }
    }
}

/// Serializes as in `skillcell.toml`: a list of texts for each kind that has entries.
impl Serialize for Grants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for kind in GrantKind::ALL.into_iter().filter(|kind| self.count(*kind) > 0) {
            map.serialize_entry(kind.key(), &self.texts(kind))?;
        }
        map.end()
    }
}

fn push_new<T: PartialEq>(items: &mut Vec<T>, item: T) {
    if !items.contains(&item) {
        items.push(item);
    }
}

fn replace_same<T>(items: &mut Vec<T>, item: T, same: fn(&T, &T) -> bool) {
    items.retain(|held| !same(held, &item));
    items.push(item);
}

fn add_or_conflict<T: PartialEq + ToString>(
    items: &mut Vec<T>,
    item: T,
    same: fn(&T, &T) -> bool,
) -> Result<(), BadGrant> {
    match items.iter().find(|held| same(held, &item)) {
        Some(held) if *held != item => return Err(BadGrant::Conflict(brief(&item.to_string()))),
        Some(_) => {}
        None => items.push(item),
    }
    Ok(())
}

/// Checks that a text is a dotted module name.
fn parse_module(text: &str) -> Result<String, BadGrant> {
    let identifier = |name: &str| {
        name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    if text.len() <= MAX_MODULE_BYTES && text.split('.').all(identifier) {
        Ok(text.to_owned())
    } else {
        Err(BadGrant::Module(brief(text)))
    }
}
