//! What a call was granted, made ready: folders opened, secrets read, the web's terms drawn up; and on the way out,
//! secrets scrubbed. Deciding is [`policy`](crate::policy)'s; this does what was decided.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::calling::MAX_PARAMS_BYTES;
use super::command::{self, CommandError};
use super::json_strings::TooLong;
use super::map_paths::PathMap;
use super::{Host, HostError};
use crate::call::{Call, Outcome, Raised, Report};
use crate::cell::Cell;
use crate::door::{Denials, Web};
use crate::http::{HostPattern, HttpLimits, Scrubber, Secret, SecretError, Secrets};
use crate::limits::{LimitKind, Limits};
use crate::policy::{
    BadEnv, Denial, DenialKind, Effective, EnvGrant, Grants, Mode, MountGrant, Permissions, SecretGrant, SecretSource,
};
use crate::skill::Skill;
use crate::testing::Events;
use crate::vfs::{HostFolder, Mount};

/// The longest file that is read for a secret.
const MAX_SECRET_FILE_BYTES: u64 = 64 << 10;

/// Why a grant can't be kept. The operator's to mend, so it is an error and not an outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    #[error("the folder `{folder}` can't be mounted")]
    Mount { folder: String, source: std::io::Error },
    #[error("the folder `{folder}` can't be mounted for writing: skillcell keeps what it relies on in `{kept}`")]
    Kept { folder: String, kept: String },
    #[error("the secret `{name}` can't be read from {place}")]
    Secret { name: String, place: String, source: Option<std::io::Error> },
    #[error("the secret `{name}` can't be had from its command")]
    Command { name: String, source: CommandError },
    #[error("the params can't be read once their paths are mapped")]
    Params(#[source] serde_json::Error),
    #[error(transparent)]
    Env(#[from] BadEnv),
    #[error(transparent)]
    BadSecret(#[from] SecretError),
    #[error(transparent)]
    Client(#[from] crate::http::ClientError),
}

impl GrantError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            GrantError::Secret { name, source: None, .. } => Some(format!(
                "set the variable, or name another source: `--secret {name}=file:PATH@HOST`, or the same in `skillcell.toml`"
            )),
            _ => None,
        }
    }
}

impl Host {
    /// A skill that could write to the cache or to the approvals could write what runs next, and with what.
    fn check_mounts(&self, mounts: &[MountGrant]) -> Result<(), GrantError> {
        let approvals = self.approvals().map(|approvals| approvals.folder());
        let kept: Vec<PathBuf> = [Some(self.cache().root()), approvals]
            .into_iter()
            .flatten()
            .filter_map(|it| it.canonicalize().ok())
            .collect();
        for mount in mounts.iter().filter(|mount| mount.mode == Mode::ReadWrite) {
            let Ok(folder) = Path::new(&mount.host).canonicalize() else { continue };
            if let Some(kept) = kept.iter().find(|kept| kept.starts_with(&folder) || folder.starts_with(kept)) {
                return Err(GrantError::Kept { folder: mount.host.clone(), kept: kept.display().to_string() });
            }
        }
        Ok(())
    }
}

/// What every cell has a value of its own for can't be given another.
pub fn check_env(call: &Call) -> Result<(), GrantError> {
    let bad = call.env.keys().filter_map(|name| EnvGrant::parse(name).err());
    bad.filter(|bad| matches!(bad, BadEnv::Fixed(_))).map(|bad| Err(GrantError::Env(bad))).next().unwrap_or(Ok(()))
}

/// What a call holds.
pub struct Held {
    grants: Grants,
    secrets: Arc<Secrets>,
    env: BTreeMap<String, String>,
    /// Empty unless the call wants its paths mapped.
    paths: PathMap,
    scrubber: Option<Arc<Scrubber>>,
    /// What was granted and not asked for.
    pub unused: Vec<String>,
}

/// What a manifest asks for, as far as the call grants it. `Ok(None)`: nothing is asked for and nothing granted.
/// `approve` is the command that would approve the skill, where approvals count.
pub fn decide(
    skill: &Skill,
    manifest: &Value,
    call: &Call,
    approve: Option<&str>,
) -> Result<Option<Effective>, Vec<Denial>> {
    let asked = manifest.get("permissions");
    if asked.is_none() && call.grants == Grants::default() {
        return Ok(None);
    }
    let asked = asked.map(Permissions::parse).transpose().map_err(|bad| {
        let message = format!("the `permissions` of `{}` can't be read: {bad}", skill.id());
        let asked = "permissions".to_owned();
        vec![Denial { kind: DenialKind::Permissions, asked, rule: None, message, hint: None, flag: None }]
    })?;
    let effective = Effective::of(skill.id(), asked.as_ref(), &call.grants).approved_by(approve);
    let given = |name: &str| call.env.contains_key(name);
    let missing = effective.missing.iter().filter(|missing| missing.is_whole());
    let lacking = missing.filter(|missing| missing.kind != DenialKind::Env || !given(&missing.asked));
    let denials: Vec<Denial> = lacking.map(Denial::from).collect();
    if denials.is_empty() { Ok(Some(effective)) } else { Err(denials) }
}

/// What tests hold: what was granted, as far as the manifest asks for it if it asks at all. Nothing of it is missing to them.
/// A manifest that can't be read asks for nothing.
pub fn narrowed(skill: &Skill, manifest: Option<&Value>, call: &Call) -> Option<Effective> {
    if call.grants == Grants::default() {
        return None;
    }
    let asked = manifest.map_or(Some(Permissions::default()), |manifest| {
        manifest.get("permissions").map(|asked| Permissions::parse(asked).unwrap_or_default())
    });
    Some(Effective::of(skill.id(), asked.as_ref(), &call.grants))
}

impl Held {
    /// Reads the secrets and the granted variables.
    pub fn new(grants: Grants, map_paths: bool) -> Result<Held, GrantError> {
        let secrets = grants.secrets.iter().map(secret).collect::<Result<Vec<_>, _>>()?;
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
        Ok(Held { grants, secrets, env, paths, scrubber, unused: Vec::new() })
    }

    /// The call with what it was granted of the environment, and its params with the cell's paths. What it brings itself
    /// comes first, but for secrets.
    pub fn call<'a>(&self, call: &'a Call) -> Result<Cow<'a, Call>, HostError> {
        let params = if self.paths.is_empty() { None } else { self.mapped(&call.params_json())? };
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

    fn mapped(&self, params: &str) -> Result<Option<String>, HostError> {
        let cap = MAX_PARAMS_BYTES;
        self.paths.to_guest(params, cap as u64).map_err(|_| HostError::ParamsTooLarge { got: cap + 1, cap })
    }

    /// Makes the result's paths those of the host again. It may get longer by that, within its limit.
    pub fn map_back(&self, report: &mut Report, limits: &Limits) {
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
    pub fn give(&self, host: &Host, cell: &mut Cell, limits: &Limits) -> Result<(), HostError> {
        host.check_mounts(&self.grants.mounts)?;
        let mounts = self.grants.mounts.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let state = cell.store().data_mut();
        if !mounts.is_empty() {
            state.wasi.vfs.add_mounts(mounts.into_iter().flatten().collect());
        }
        if !self.grants.http.allow.is_empty() {
            let denials = state.door.denials.get_or_insert_default();
            state.door.web = self.web(host, denials, limits)?;
        }
        Ok(())
    }

    /// The web, as far as it is granted.
    pub fn web(&self, host: &Host, denials: &Arc<Denials>, limits: &Limits) -> Result<Option<Box<Web>>, HostError> {
        if self.grants.http.allow.is_empty() {
            return Ok(None);
        }
        let client = host.http_client()?.clone();
        let limits = HttpLimits { inflated_bytes: limits.inflated_bytes, ..HttpLimits::default() };
        Ok(Some(Box::new(Web::new(client, &self.grants, self.secrets.clone(), denials, limits))))
    }

    /// What of it has no meaning where nothing is kept from a skill.
    pub fn needs_isolation(&self) -> Option<Denial> {
        let (asked, why) = if let Some(mount) = self.grants.mounts.first() {
            (mount.guest.as_str(), "there are no mounts in `in_process`: the skill sees every file where it is")
        } else if let Some(secret) = self.grants.secrets.first() {
            (secret.name.as_str(), "a secret can't be kept from a skill in `in_process`")
        } else {
            return None;
        };
        let hint = Some("run it in a tier that isolates: `--isolated`".to_owned());
        Some(Denial {
            kind: DenialKind::Tier,
            asked: asked.to_owned(),
            rule: None,
            message: why.to_owned(),
            hint,
            flag: None,
        })
    }

    /// The folders, for a tier that has no file system of ours: where each really is, and what was granted of it.
    pub fn folders(&self, host: &Host) -> Result<Vec<(PathBuf, MountGrant)>, HostError> {
        host.check_mounts(&self.grants.mounts)?;
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

    /// What finds the secrets' values, where there are any.
    pub fn scrubber(&self) -> Option<&Arc<Scrubber>> {
        self.scrubber.as_ref()
    }

    /// Takes secrets' values out of what a cell told of its tests.
    pub fn scrub_events(&self, events: &mut Events) {
        if let Some(scrubber) = &self.scrubber {
            events.map(|text| {
                if let Cow::Owned(clean) = scrubber.scrub(text) {
                    *text = clean;
                }
            });
        }
    }

    /// Takes secrets' values out of everything that leaves, and adds what did not hold.
    pub fn scrub(&self, report: &mut Report) {
        report.unused_grants.clone_from(&self.unused);
        let Some(scrubber) = &self.scrubber else { return };
        report.stdout = scrubber.scrub_bytes(&report.stdout).into_owned();
        report.stderr = scrubber.scrub_bytes(&report.stderr).into_owned();
        match &mut report.outcome {
            Outcome::Returned(json) => {
                if let Cow::Owned(clean) = scrubber.scrub(json.get()) {
                    report.outcome = match RawValue::from_string(clean) {
                        Ok(json) => Outcome::Returned(json),
                        // A value that began in the middle of an escape, or of a number.
                        Err(_) => Outcome::Raised(Raised::of_host("ValueError", "the result held a secret's value")),
                    };
                }
            }
            Outcome::Raised(raised) | Outcome::Exceeded(_, Some(raised)) => {
                for text in [&mut raised.kind, &mut raised.message, &mut raised.traceback] {
                    *text = scrubber.scrub(text).into_owned();
                }
            }
            Outcome::Refused | Outcome::Exceeded(_, None) => {}
        }
        for denial in &mut report.denials {
            let texts = [&mut denial.rule, &mut denial.hint, &mut denial.flag].into_iter().flatten();
            for text in texts.chain([&mut denial.asked, &mut denial.message]) {
                *text = scrubber.scrub(text).into_owned();
            }
        }
    }
}

fn open(grant: &MountGrant) -> Result<Option<Mount>, GrantError> {
    let folder = HostFolder::open(Path::new(&grant.host), grant.mode == Mode::ReadWrite)
        .map_err(|source| GrantError::Mount { folder: grant.host.clone(), source })?;
    Ok(Mount::host(grant.guest.as_str(), folder))
}

/// The folders as the operator spelled them and as they really are.
fn path_map(mounts: &[MountGrant]) -> PathMap {
    let mut map = PathMap::default();
    for mount in mounts {
        let given = Path::new(&mount.host);
        // Which folder a `..` leads to can't be told from the text.
        let has_parent = given.components().any(|part| part == Component::ParentDir);
        let spelled = std::path::absolute(given).ok().filter(|_| !has_parent);
        let spellings = [spelled, std::fs::canonicalize(given).ok()];
        map.add(spellings.iter().flatten().filter_map(|path| path.to_str()), mount.guest.as_str());
    }
    map
}

fn secret(grant: &SecretGrant) -> Result<Secret, GrantError> {
    let hosts = grant.hosts.iter().map(|host| {
        let text = host.to_string();
        HostPattern::parse(text.strip_prefix("http://").unwrap_or(&text))
    });
    Ok(Secret {
        name: grant.name.clone(),
        value: value(grant)?,
        hosts: hosts.collect::<Result<_, _>>()?,
        // One setting for all hosts of a secret: the narrower one.
        allow_plain_http: grant.hosts.iter().all(|host| host.allows_plain_http()),
    })
}

fn value(grant: &SecretGrant) -> Result<String, GrantError> {
    let failed = |place: String, source| GrantError::Secret { name: grant.name.clone(), place, source };
    match &grant.source {
        SecretSource::Env(variable) => {
            std::env::var(variable).map_err(|_| failed(format!("the environment variable `{variable}`"), None))
        }
        SecretSource::File(path) => {
            let mut text = String::new();
            std::fs::File::open(path)
                .and_then(|file| file.take(MAX_SECRET_FILE_BYTES).read_to_string(&mut text))
                .map_err(|source| failed(format!("`{path}`"), Some(source)))?;
            text.truncate(text.trim_end_matches(['\n', '\r']).len());
            Ok(text)
        }
        source => command::output(&source.words(), command::PATIENCE)
            .map_err(|source| GrantError::Command { name: grant.name.clone(), source }),
    }
}
