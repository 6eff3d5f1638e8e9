//! Keyword arguments as settings, limits and grants. The names are those of the keys in `skillcell.toml`; `None` says
//! nothing.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use serde_json::Value;
use skillcell::settings::{LimitOverrides, Overrides, parse_size, parse_time};
use skillcell::{AuditLog, Call, Choice, GrantKind, Grants, NoteKind};
use skillcell_policy::ForwardProxy;

use crate::errors::Failure;
use crate::json;
use crate::secret::Secret;
use crate::session::Session;
use crate::workers::DEFAULT_THREADS;

/// What a host is made with.
pub struct HostOptions {
    pub overrides: Overrides,
    /// How many calls of event loops may run at once.
    pub threads: usize,
}

/// What a call is made with, besides its params.
#[derive(Default)]
pub struct CallOptions {
    config: Option<String>,
    limits: LimitOverrides,
    grants: Grants,
    tier: Option<Choice>,
    audit: Option<PathBuf>,
    map_paths: Option<bool>,
    validate: Option<bool>,
    use_image: Option<bool>,
    trust_remote_code: Option<bool>,
    acknowledge: Vec<NoteKind>,
    session: Option<skillcell::Session>,
}

impl HostOptions {
    pub fn read(given: Option<&Bound<'_, PyDict>>) -> PyResult<HostOptions> {
        let mut options = HostOptions { overrides: Overrides::default(), threads: DEFAULT_THREADS };
        each_option(given, |key, value| options.set(key, value))?;
        Ok(options)
    }

    fn set(&mut self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let to = &mut self.overrides;
        match key {
            "policy" => to.policy = Some(value.extract()?),
            "cache_dir" => to.cache_dir = Some(value.extract()?),
            "approvals_dir" => to.approvals_dir = Some(value.extract()?),
            "max_images" => to.max_images = Some(read_size(value)?),
            "offline" => to.offline = Some(value.extract()?),
            "from_wheel" => to.from_wheel = read_list(value)?,
            "ca_file" => to.ca_file = read_list(value)?,
            "proxy" => to.proxy = Some(ForwardProxy::parse(&value.extract::<String>()?).map_err(bad_value)?),
            "python" => to.python = Some(value.extract()?),
            "container_base" => to.container_base = Some(value.extract()?),
            "container_build_network" => to.container_build_network = Some(value.extract()?),
            "audit" => to.audit = Some(value.extract()?),
            "threads" => self.threads = value.extract::<u16>()?.clamp(1, 256).into(),
            _ => return Ok(read_limit(&mut to.limits, key, value)? || read_grant(&mut to.grants, key, value)?),
        }
        Ok(true)
    }
}

impl CallOptions {
    pub fn read(given: Option<&Bound<'_, PyDict>>) -> PyResult<CallOptions> {
        let mut options = CallOptions::default();
        each_option(given, |key, value| options.set(key, value))?;
        Ok(options)
    }

    fn set(&mut self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        match key {
            "config" => self.config = Some(json::encode_object("config", value)?),
            "tier" => self.tier = Some(Choice::from_str(&value.extract::<String>()?).map_err(bad_value)?),
            "audit" => self.audit = Some(value.extract()?),
            "session" => self.session = Some(value.cast::<Session>()?.get().get_session()?),
            "map_paths" => self.map_paths = Some(value.extract()?),
            "validate" => self.validate = Some(value.extract()?),
            "use_image" => self.use_image = Some(value.extract()?),
            "trust_remote_code" => self.trust_remote_code = Some(value.extract()?),
            "acknowledge" => {
                let kinds = read_list::<String>(value)?;
                let kinds = kinds.iter().map(|kind| kind.parse()).collect::<Result<_, String>>();
                self.acknowledge = kinds.map_err(PyValueError::new_err)?;
            }
            _ => return Ok(read_limit(&mut self.limits, key, value)? || read_grant(&mut self.grants, key, value)?),
        }
        Ok(true)
    }

    /// Sets what was given; what the host's settings grant stays, and adds up with it.
    pub fn apply_to(self, call: &mut Call) -> Result<(), Failure> {
        if let Some(config) = self.config {
            call.config = Some(serde_json::from_str::<Value>(&config)?);
        }
        call.limits = self.limits.apply_to(call.limits.clone());
        call.grants = std::mem::take(&mut call.grants).merged_with(self.grants);
        call.tier = self.tier.unwrap_or(call.tier);
        if let Some(path) = self.audit {
            call.audit = AuditLog::new().to_file(&path).map_err(skillcell::HostError::from)?;
        }
        call.map_paths = self.map_paths.unwrap_or(call.map_paths);
        call.validate = self.validate.unwrap_or(call.validate);
        call.use_image = self.use_image.unwrap_or(call.use_image);
        call.trust_remote_code = self.trust_remote_code.unwrap_or(call.trust_remote_code);
        call.acknowledge.extend(self.acknowledge);
        call.session = self.session;
        Ok(())
    }
}

/// Hands over what is not `None`, and raises `TypeError` for a name that nothing takes.
fn each_option(
    given: Option<&Bound<'_, PyDict>>,
    mut set: impl FnMut(&str, &Bound<'_, PyAny>) -> PyResult<bool>,
) -> PyResult<()> {
    for (key, value) in given.into_iter().flatten() {
        let key = key.cast::<PyString>()?.to_str()?;
        if value.is_none() {
            continue;
        }
        let known = set(key, &value).map_err(|error| name_option(value.py(), key, error))?;
        if !known {
            return Err(PyTypeError::new_err(format!("there is no option `{key}`")));
        }
    }
    Ok(())
}

/// Puts the option's name before what is wrong with its value.
fn name_option(py: Python<'_>, key: &str, error: PyErr) -> PyErr {
    let message = format!("`{key}`: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(message)
    } else if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyOverflowError>(py) {
        PyValueError::new_err(message)
    } else {
        error
    }
}

fn read_limit(limits: &mut LimitOverrides, key: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match key {
        "timeout" => limits.timeout = Some(read_time(value)?),
        "memory" => limits.memory = Some(read_size(value)?),
        "max_stdout" => limits.max_stdout = Some(read_size(value)?),
        "max_stderr" => limits.max_stderr = Some(read_size(value)?),
        "max_result" => limits.max_result = Some(read_size(value)?),
        "max_open_files" => limits.max_open_files = Some(value.extract()?),
        "max_scratch" => limits.max_scratch = Some(read_size(value)?),
        "max_scratch_files" => limits.max_scratch_files = Some(value.extract()?),
        "max_host_calls" => limits.max_host_calls = Some(value.extract()?),
        "max_inflated" => limits.max_inflated = Some(read_size(value)?),
        "fuel" => limits.fuel = Some(value.extract()?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn read_grant(grants: &mut Grants, key: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let kind = match key {
        "allow_http" => GrantKind::AllowHttp,
        "deny_http" => GrantKind::DenyHttp,
        "resolve" => GrantKind::Resolve,
        "mounts" => GrantKind::Mount,
        "secrets" => GrantKind::Secret,
        "env" => GrantKind::Env,
        "deny_imports" => GrantKind::DenyImport,
        "allow_imports" => GrantKind::AllowImport,
        _ => return Ok(false),
    };
    let texts = match value.cast::<PyDict>() {
        Ok(variables) if kind == GrantKind::Env => env_texts(variables)?,
        _ if kind == GrantKind::Secret => add_values(grants, value)?,
        _ => read_list(value)?,
    };
    for text in texts {
        grants.add(kind, &text).map_err(bad_value)?;
    }
    Ok(true)
}

/// Grants those secrets that come with their value; the others are texts.
fn add_values(grants: &mut Grants, given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if given.is_instance_of::<PyString>() {
        return Ok(vec![given.extract()?]);
    }
    if let Ok(secret) = given.cast::<Secret>() {
        return secret.get().add_to(grants).map_err(bad_value).map(|()| Vec::new());
    }
    let mut texts = Vec::new();
    for item in given.try_iter()? {
        let item = item?;
        match item.cast::<Secret>() {
            Ok(secret) => secret.get().add_to(grants).map_err(bad_value)?,
            Err(_) => texts.push(item.extract()?),
        }
    }
    Ok(texts)
}

/// `{"NAME": "value"}` as `NAME=value`; a variable whose value is `None` has the one of this process.
fn env_texts(variables: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let text = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = name.extract::<String>()?;
        if name.contains('=') {
            return Err(PyValueError::new_err(format!("`{name}` is no name of a variable")));
        }
        Ok(if value.is_none() { name } else { format!("{name}={}", value.extract::<String>()?) })
    };
    variables.iter().map(text).collect()
}

/// A list of texts or paths, or a single one.
fn read_list<'py, T>(value: &Bound<'py, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let extract = |item: &Bound<'py, PyAny>| item.extract::<T>().map_err(Into::into);
    if value.is_instance_of::<PyString>() || value.hasattr("__fspath__")? {
        return Ok(vec![extract(value)?]);
    }
    value.try_iter()?.map(|item| extract(&item?)).collect()
}

/// Bytes, or a text such as `64M`.
fn read_size(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    match value.cast::<PyString>() {
        Ok(text) => parse_size(text.to_str()?).map_err(PyValueError::new_err),
        Err(_) => value.extract(),
    }
}

/// Seconds, a text such as `500ms`, or a `timedelta`.
pub fn read_time(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let text = match value.cast::<PyString>() {
        Ok(text) => text.to_str()?.to_owned(),
        Err(_) if value.hasattr("total_seconds")? => value.call_method0("total_seconds")?.extract::<f64>()?.to_string(),
        Err(_) => value.extract::<f64>()?.to_string(),
    };
    parse_time(&text).map_err(PyValueError::new_err)
}

fn bad_value(error: impl std::error::Error) -> PyErr {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    PyValueError::new_err(format!("{error}{cause}"))
}
