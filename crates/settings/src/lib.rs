//! Settings: what the caller says (flags, usually), the environment and `skillcell.toml` become one value, of which a host
//! and the beginnings of its calls are made. The command line, servers and other languages share it.
//!
//! ```text
//!   Overrides (flags)       ─┐
//!   SKILLCELL_… variables   ─┼─▶ Settings ─▶ HostBuilder ─▶ Host
//!   skillcell.toml          ─┘       └─────▶ CallDefaults ─▶ Call of a skill
//! ```
//!
//! Of each setting the first in this order that says something counts, then the default. Grants are the exception: those of
//! the file and of the caller add up, by the rules of [`Grants`]. A file is read only if it is named: the folder that a
//! program is started in may be untrusted.

mod environment;
mod error;
mod file;
mod overrides;
mod tokens;
mod units;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;

pub use self::error::SettingsError;
pub use self::overrides::{LimitOverrides, Overrides};
pub use self::tokens::{BadToken, TokenSettings, is_token_name};
pub use self::units::{parse_size, parse_time};
use skillcell_door::audit::AuditLog;
use skillcell_host::approvals::{ApprovalError, Approvals};
use skillcell_host::call::Call;
use skillcell_host::{GrantError, Host, HostBuilder, HostError, SandboxChoice};
use skillcell_limits::{Limits, RuntimeKind};
use skillcell_policy::{ForwardProxy, Grants, PolicyFile, SecretSource};

/// Everything that is set. docs/reference/settings.md lists the keys, variables and flags.
///
/// Defaults: the user's own folders, 10 GiB of images, the network through pip, the well-known authorities, no audit, the
/// default [`Limits`], nothing granted.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Settings {
    /// Where compiled code and images are kept; the user's cache folder if it is not set.
    pub cache_dir: Option<PathBuf>,
    /// Where approvals are kept; in the user's data folder if it is not set.
    pub approvals_dir: Option<PathBuf>,
    /// What all images together may take on disk.
    pub max_image_bytes: Option<u64>,
    /// The runtime of all cells; what each skill requires decides if it is not set.
    pub runtime: Option<RuntimeKind>,
    /// Never use the network to get what is missing.
    pub offline: bool,
    /// Wheels, or folders of wheels, to take instead of downloading.
    pub wheels: Vec<PathBuf>,
    /// PEM files of authorities to trust besides the well-known ones.
    pub ca_files: Vec<PathBuf>,
    /// The proxy that all requests of skills go through; no variable of the environment names one.
    pub forward_proxy: Option<ForwardProxy>,
    /// Whose pip fetches, and which Python the tiers that run a Python of this machine start.
    pub python: Option<PathBuf>,
    /// The image that a skill's container is built on.
    pub container_base: Option<String>,
    /// Which sandbox the tier `subprocess` has.
    pub sandbox: SandboxChoice,
    /// Give the build of a skill's own `Dockerfile` the network, and pull the image that a manifest names.
    pub allow_build_network: bool,
    /// The file that calls are recorded in.
    pub audit_file: Option<PathBuf>,
    /// What a call may use.
    pub limits: Limits,
    /// The limits that were set, for work whose defaults are not those of a call.
    pub limit_overrides: LimitOverrides,
    /// Grants for every skill and for single ones, and which tiers are allowed.
    pub policy: PolicyFile,
    /// What the caller grants, besides the file.
    pub grants: Grants,
    /// The clients of a server. Only a file has them.
    pub tokens: Vec<TokenSettings>,
}

impl Settings {
    /// From what the caller says, the environment of this process, and the file that one of them names.
    pub fn load(caller: Overrides) -> Result<Settings, SettingsError> {
        Settings::load_with(caller, &|name| std::env::var_os(name))
    }

    /// The same with an environment of the caller's.
    pub fn load_with(
        caller: Overrides,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Settings, SettingsError> {
        // Merged before the file is read, since either may name it.
        let given = caller.or(environment::read(variable)?);
        let file::FileSettings { policy, overrides, tokens } = match &given.policy {
            Some(path) => file::read(path)?,
            None => file::FileSettings::default(),
        };
        let values = given.or(overrides);
        Ok(Settings {
            cache_dir: values.cache_dir,
            approvals_dir: values.approvals_dir,
            max_image_bytes: values.max_images,
            runtime: values.runtime,
            offline: values.offline.unwrap_or_default(),
            wheels: values.from_wheel,
            ca_files: values.ca_file,
            forward_proxy: values.proxy.or_else(|| policy.forward_proxy().cloned()),
            python: values.python,
            container_base: values.container_base,
            sandbox: values.sandbox.unwrap_or_default(),
            allow_build_network: values.container_build_network.unwrap_or_default(),
            audit_file: values.audit,
            limits: values.limits.apply_to(Limits::default()),
            limit_overrides: values.limits,
            policy,
            grants: values.grants,
            tokens,
        })
    }

    /// A host with these settings, to be completed and built. It uses the approvals that these settings lead to.
    pub fn host_builder(&self) -> Result<HostBuilder, HostError> {
        match self.approvals() {
            Ok(approvals) => Ok(self.base_builder().approvals(approvals)),
            // Without a place for approvals there can't be any.
            Err(ApprovalError::NoPlace) => Ok(self.base_builder()),
            Err(error) => Err(error.into()),
        }
    }

    /// A host that knows no approvals: it neither grants by them nor refuses what changed since. For studies of skills.
    pub fn host_builder_without_approvals(&self) -> HostBuilder {
        self.base_builder().allow_changed_skills(true)
    }

    fn base_builder(&self) -> HostBuilder {
        let mut builder = Host::builder()
            .offline(self.offline)
            .wheels(self.wheels.clone())
            .ca_files(self.ca_files.clone())
            .sandbox(self.sandbox)
            .allow_build_network(self.allow_build_network);
        if let Some(kind) = self.runtime {
            builder = builder.runtime(kind);
        }
        if let Some(bytes) = self.max_image_bytes {
            builder = builder.max_image_bytes(bytes);
        }
        if let Some(folder) = &self.cache_dir {
            builder = builder.cache_dir(folder);
        }
        if let Some(proxy) = &self.forward_proxy {
            builder = builder.forward_proxy(proxy.clone());
        }
        if let Some(python) = &self.python {
            builder = builder.python(python);
        }
        if let Some(image) = &self.container_base {
            builder = builder.container_base(image);
        }
        builder
    }

    /// The approvals that these settings lead to.
    pub fn approvals(&self) -> Result<Approvals, ApprovalError> {
        Approvals::locate(self.approvals_dir.as_deref())
    }

    /// What every call begins with. Opens the audit file.
    pub fn call_defaults(&self) -> Result<CallDefaults, HostError> {
        let audit = match &self.audit_file {
            Some(path) => AuditLog::new().to_file(path)?,
            None => AuditLog::new(),
        };
        Ok(CallDefaults { audit, settings: self.clone() })
    }

    /// A call of the skill with this id, with what these settings grant it, its limits and tiers. Nothing is recorded of
    /// it: this is for planning, and [`call_defaults`](Settings::call_defaults) for calls that are made.
    pub fn unrecorded_call(&self, skill: &str) -> Call {
        let mut call = Call::default();
        call.limits = self.limits.clone();
        call.tiers = self.policy.tiers().clone();
        call.grants = self.policy.grants_for(skill).merged_with(self.grants.clone());
        call
    }

    /// Looks at the files and folders that the caller's grants name, before any work is done. Those of the file may be for
    /// skills that are never called.
    pub fn check_grants(&self) -> Result<(), HostError> {
        for mount in &self.grants.mounts {
            let found = std::fs::metadata(&mount.host);
            let is_folder =
                found.and_then(|found| if found.is_dir() { Ok(()) } else { Err(ErrorKind::NotADirectory.into()) });
            is_folder.map_err(|source| GrantError::Mount { folder: mount.host.clone(), source })?;
        }
        for secret in &self.grants.secrets {
            if let SecretSource::File(path) = &secret.source {
                let unreadable = |source| GrantError::Secret {
                    name: secret.name.clone(),
                    place: format!("`{path}`"),
                    source: Some(source),
                };
                std::fs::File::open(path).map_err(unreadable)?;
            }
        }
        Ok(())
    }
}

/// What every call begins with, whichever skill is called. Its calls share one audit file.
#[derive(Debug, Clone)]
pub struct CallDefaults {
    settings: Settings,
    audit: AuditLog,
}

impl CallDefaults {
    /// A call of the skill with this id: with the limits, the tiers and the audit of the settings, and what they grant it.
    pub fn call(&self, skill: &str) -> Call {
        let mut call = self.settings.unrecorded_call(skill);
        call.audit = self.audit.clone();
        call
    }
}
