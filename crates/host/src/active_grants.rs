//! What a call was granted, made ready: folders opened, secrets read, the web's terms drawn up; and on the way out,
//! secrets scrubbed. Deciding is [`policy`](skillcell_policy)'s; this does what was decided.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::calling::MAX_PARAMS_BYTES;
use super::command::{self, CommandError};
use super::json_strings::TooLong;
use super::map_paths::PathMap;
use super::{Host, HostError};
use crate::call::{Call, Outcome, Raised, Report};
use skillcell_cell::Cell;
use skillcell_door::{Denials, Events, HttpSession};
use skillcell_http::{HttpLimits, Scrubber, Secret, SecretError, Secrets};
use skillcell_limits::cancel::CancelToken;
use skillcell_limits::{LimitKind, Limits};
use skillcell_policy::{BadEnv, Effective, EnvGrant, Grants, Mode, MountGrant, SecretGrant, SecretSource};
use skillcell_vfs::{HostFolder, Mount};

/// The longest file that is read for a secret.
const MAX_SECRET_FILE_BYTES: u64 = 64 << 10;

/// Why a grant can't be honoured. The operator has to fix it, so it is an error and not an outcome.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// A folder is not there, is no folder, or can't be opened.
    #[error("the folder `{folder}` can't be mounted")]
    Mount {
        /// As the grant names it.
        folder: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A folder is granted for writing, and a skill could replace what this program goes by there.
    #[error("the folder `{folder}` can't be mounted for writing: {what} `{kept}` could be replaced from there")]
    ReplaceableFiles {
        /// As the grant names it.
        folder: String,
        /// What is at stake, in words: the cache, the approvals, the policy file.
        what: String,
        /// Its path.
        kept: String,
    },
    /// A folder holds the file that a secret is read from, and a skill must not see that.
    #[error("the folder `{folder}` can't be mounted: the secret `{name}` could be read there, from `{file}`")]
    ReadableSecret {
        /// As the grant names it.
        folder: String,
        /// The secret's name.
        name: String,
        /// The file with its value.
        file: String,
    },
    /// A secret has no value: its variable is not set, or its file can't be read.
    #[error("the secret `{name}` can't be read from {place}")]
    Secret {
        /// The secret's name.
        name: String,
        /// Where it was to be read from, in words.
        place: String,
        /// What the system says of a file; none for a variable.
        source: Option<std::io::Error>,
    },
    /// The command that prints a secret failed, took too long or printed nothing of use.
    #[error("the secret `{name}` can't be had from its command")]
    Command {
        /// The secret's name.
        name: String,
        /// What became of the command, without a word of what it printed.
        source: CommandError,
    },
    /// The params are no JSON any more once paths in them are mapped.
    #[error("the params can't be read once their paths are mapped")]
    Params(#[source] serde_json::Error),
    /// The call brings a variable that has a fixed value in every cell.
    #[error(transparent)]
    Env(#[from] BadEnv),
    /// The secrets can't be used together, or one is too short or too long to be scrubbed.
    #[error(transparent)]
    BadSecret(#[from] SecretError),
    /// HTTPS can't be set up: an authority's file, or TLS itself.
    #[error(transparent)]
    Client(#[from] skillcell_http::ClientError),
}

impl GrantError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            GrantError::Secret { name, source: None, .. } => Some(format!(
                "set the variable, or name another source: `--secret {name}=file:PATH@HOST`, or the same in `skillcell.toml`"
            )),
            GrantError::ReplaceableFiles { .. } | GrantError::ReadableSecret { .. } => {
                Some("mount another folder, or one below it that does not hold it".to_owned())
            }
            _ => None,
        }
    }
}

/// Refuses values for variables that are fixed in every cell.
pub fn check_env(call: &Call) -> Result<(), GrantError> {
    let bad = call.env.keys().filter_map(|name| EnvGrant::parse(name).err());
    bad.filter(|bad| matches!(bad, BadEnv::Fixed(_))).map(|bad| Err(GrantError::Env(bad))).next().unwrap_or(Ok(()))
}

/// What a call was granted, ready to be used.
pub struct ActiveGrants {
    grants: Grants,
    secrets: Arc<Secrets>,
    env: BTreeMap<String, String>,
    /// Empty unless the call wants its paths mapped.
    paths: PathMap,
    scrubber: Option<Arc<Scrubber>>,
    /// What was granted and not asked for.
    unused: Vec<String>,
}

impl ActiveGrants {
    /// Reads the secrets and the granted variables.
    pub fn activate(effective: &Effective, map_paths: bool) -> Result<ActiveGrants, GrantError> {
        let grants = effective.grants.clone();
        let secrets = grants.secrets.iter().map(read_secret).collect::<Result<Vec<_>, _>>()?;
        let secrets = Arc::new(Secrets::new(secrets)?);
        let mut env = BTreeMap::new();
        for variable in &grants.env {
            let value = variable.value().map(str::to_owned).or_else(|| std::env::var(variable.name()).ok());
            env.extend(value.map(|value| (variable.name().to_owned(), value)));
        }
        for name in grants.secrets.iter().map(|secret| &secret.name) {
            env.extend(secrets.placeholder(name).map(|placeholder| (name.clone(), placeholder.to_owned())));
        }
        let scrubber = (!secrets.is_empty()).then(|| Arc::new(Scrubber::new(&secrets)));
        let paths = if map_paths { path_map(&grants.mounts) } else { PathMap::default() };
        Ok(ActiveGrants { grants, secrets, env, paths, scrubber, unused: effective.unused.clone() })
    }

    /// The call with what it was granted of the environment, and its params with the cell's paths. What it brings itself
    /// comes first, but for secrets.
    pub fn apply_to<'a>(&self, call: &'a Call) -> Result<Cow<'a, Call>, HostError> {
        let params = if self.paths.is_empty() { None } else { self.map_params(&call.params_json())? };
        if self.env.is_empty() && params.is_none() {
            return Ok(Cow::Borrowed(call));
        }
        let mut call = call.clone();
        if let Some(params) = params {
            call = call.with_params(&params).map_err(GrantError::Params)?;
        }
        call.secrets = self.grants.secrets.iter().map(|secret| secret.name.clone()).collect();
        for (name, value) in &self.env {
            if self.secrets.placeholder(name).is_some() || !call.env.contains_key(name) {
                call.env.insert(name.clone(), value.clone());
            }
        }
        Ok(Cow::Owned(call))
    }

    fn map_params(&self, params: &str) -> Result<Option<String>, HostError> {
        let cap = MAX_PARAMS_BYTES;
        self.paths.to_guest(params, cap as u64).map_err(|_| HostError::ParamsTooLarge { got: cap + 1, cap })
    }

    /// Makes the result's paths those of the host again. It may get longer by that, within its limit.
    pub fn map_result_paths(&self, report: &mut Report, limits: &Limits) {
        let Outcome::Returned(json) = &report.outcome else { return };
        if self.paths.is_empty() {
            return;
        }
        report.outcome =
            match self.paths.to_host(json.get(), limits.result_bytes).map(|new| new.map(RawValue::from_string)) {
                Ok(Some(Ok(json))) => Outcome::Returned(json),
                Ok(None | Some(Err(_))) => return,
                Err(TooLong) => Outcome::Exceeded(LimitKind::ResultBytes, None),
            };
    }

    /// Gives a cell what is not in its environment: folders and the web.
    pub fn apply_to_cell(&self, host: &Host, cell: &mut Cell, limits: &Limits) -> Result<(), HostError> {
        let mounts = self.grants.mounts.iter().map(open_mount).collect::<Result<Vec<_>, _>>()?;
        let state = cell.store().data_mut();
        if !mounts.is_empty() {
            state.wasi.vfs.add_mounts(mounts.into_iter().flatten().collect());
        }
        if !self.grants.http.allow.is_empty() {
            let denials = state.door.denials.get_or_insert_default();
            state.door.web = self.http_session(host, denials, limits, &state.wasi.cancel)?;
        }
        Ok(())
    }

    /// The web, as far as it is granted.
    pub fn http_session(
        &self,
        host: &Host,
        denials: &Arc<Denials>,
        limits: &Limits,
        cancel: &CancelToken,
    ) -> Result<Option<Box<HttpSession>>, HostError> {
        if self.grants.http.allow.is_empty() {
            return Ok(None);
        }
        let client = host.http_client()?.clone();
        let limits = HttpLimits { inflated_bytes: limits.inflated_bytes, ..HttpLimits::default() };
        Ok(Some(Box::new(HttpSession::new(
            client,
            &self.grants,
            self.secrets.clone(),
            denials,
            limits,
            cancel.clone(),
        ))))
    }

    /// The granted folders with their real paths, for a tier that does not use our virtual file system.
    pub fn real_folders(&self) -> Result<Vec<(PathBuf, MountGrant)>, HostError> {
        let found = self.grants.mounts.iter().map(|grant| {
            let failed = |source| GrantError::Mount { folder: grant.host.clone(), source };
            let real = Path::new(&grant.host).canonicalize().map_err(failed)?;
            if !real.is_dir() {
                return Err(failed(std::io::ErrorKind::NotADirectory.into()).into());
            }
            Ok((real, grant.clone()))
        });
        found.collect()
    }

    /// The scrubber, if there are secrets.
    pub fn scrubber(&self) -> Option<&Arc<Scrubber>> {
        self.scrubber.as_ref()
    }

    /// Removes secrets' values from what a cell reported of its tests.
    pub fn scrub_events(&self, events: &mut Events) {
        if let Some(scrubber) = &self.scrubber {
            events.map_texts(|text| {
                if let Cow::Owned(clean) = scrubber.scrub(text) {
                    *text = clean;
                }
            });
        }
    }

    /// Removes secrets' values from everything in a report, and adds the grants that were not used.
    pub fn scrub_report(&self, report: &mut Report) {
        report.unused_grants.clone_from(&self.unused);
        let Some(scrubber) = &self.scrubber else { return };
        report.stdout = scrubber.scrub_bytes(&report.stdout).into_owned();
        report.stderr = scrubber.scrub_bytes(&report.stderr).into_owned();
        for file in &mut report.files {
            file.bytes = scrubber.scrub_bytes(&file.bytes).into_owned();
            file.path = scrubber.scrub(&file.path).into_owned();
        }
        if let Some(Cow::Owned(clean)) = report.outcome.result().map(|json| scrubber.scrub(json.get())) {
            report.outcome = match RawValue::from_string(clean) {
                Ok(json) => Outcome::Returned(json),
                // Scrubbing broke the JSON: the secret's value overlapped an escape or a number.
                Err(_) => Outcome::Raised(Raised::of_host("ValueError", "the result held a secret's value")),
            };
        }
        if let Some(raised) = report.outcome.raised_mut() {
            for text in [&mut raised.kind, &mut raised.message, &mut raised.traceback] {
                *text = scrubber.scrub(text).into_owned();
            }
        }
        for note in &mut report.notes {
            note.message = scrubber.scrub(&note.message).into_owned();
        }
        for denial in &mut report.denials {
            let texts = [&mut denial.rule, &mut denial.hint, &mut denial.flag].into_iter().flatten();
            for text in texts.chain([&mut denial.asked, &mut denial.message]) {
                *text = scrubber.scrub(text).into_owned();
            }
        }
    }
}

fn open_mount(grant: &MountGrant) -> Result<Option<Mount>, GrantError> {
    let folder = HostFolder::open(Path::new(&grant.host), grant.mode == Mode::ReadWrite)
        .map_err(|source| GrantError::Mount { folder: grant.host.clone(), source })?;
    Ok(Mount::host(grant.guest.as_str(), folder))
}

/// The folders as the operator spelled them and as they really are.
fn path_map(mounts: &[MountGrant]) -> PathMap {
    let mut map = PathMap::default();
    for mount in mounts {
        let given = Path::new(&mount.host);
        // Because of symbolic links, the text does not tell where a `..` leads.
        let has_parent = given.components().any(|part| part == Component::ParentDir);
        let spelled = std::path::absolute(given).ok().filter(|_| !has_parent);
        let spellings = [spelled, std::fs::canonicalize(given).ok()];
        map.add_mount(spellings.iter().flatten().filter_map(|path| path.to_str()), mount.guest.as_str());
    }
    map
}

fn read_secret(grant: &SecretGrant) -> Result<Secret, GrantError> {
    Ok(Secret::new(grant.clone(), secret_value(grant)?))
}

fn secret_value(grant: &SecretGrant) -> Result<Zeroizing<String>, GrantError> {
    let failed = |place: String, source| GrantError::Secret { name: grant.name.clone(), place, source };
    match &grant.source {
        SecretSource::Env(variable) => {
            let value = std::env::var(variable);
            value.map(Zeroizing::new).map_err(|_| failed(format!("the environment variable `{variable}`"), None))
        }
        SecretSource::File(path) => {
            // Allocated once: growing would leave copies of the secret behind that are not wiped.
            let mut text = Zeroizing::new(String::with_capacity(MAX_SECRET_FILE_BYTES as usize + 64));
            std::fs::File::open(path)
                .and_then(|file| file.take(MAX_SECRET_FILE_BYTES).read_to_string(&mut text))
                .map_err(|source| failed(format!("`{path}`"), Some(source)))?;
            let length = text.trim_end_matches(['\n', '\r']).len();
            text.truncate(length);
            Ok(text)
        }
        SecretSource::Given(value) => Ok(Zeroizing::new(value.as_str().to_owned())),
        source => command::read_output(&source.command_words(), command::TIMEOUT)
            .map_err(|source| GrantError::Command { name: grant.name.clone(), source }),
    }
}
