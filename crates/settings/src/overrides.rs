//! The settings of one source; what it does not set is taken from the next.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::units;
use skillcell_host::SandboxChoice;
use skillcell_limits::{Limits, RuntimeKind};
use skillcell_policy::{ForwardProxy, Grants};

/// What a caller sets: the flags of the command line, or the values set by a program that embeds this one. The default says
/// nothing. The names are those of the keys and flags.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Overrides {
    /// The `skillcell.toml` to read.
    #[serde(skip)]
    pub policy: Option<PathBuf>,
    /// See [`Settings::cache_dir`](super::Settings::cache_dir).
    pub cache_dir: Option<PathBuf>,
    /// See [`Settings::approvals_dir`](super::Settings::approvals_dir).
    pub approvals_dir: Option<PathBuf>,
    /// In bytes; see [`Settings::max_image_bytes`](super::Settings::max_image_bytes).
    #[serde(deserialize_with = "units::size")]
    pub max_images: Option<u64>,
    /// See [`Settings::runtime`](super::Settings::runtime).
    pub runtime: Option<RuntimeKind>,
    /// See [`Settings::offline`](super::Settings::offline).
    pub offline: Option<bool>,
    /// See [`Settings::wheels`](super::Settings::wheels). A list replaces the next source's as a whole.
    pub from_wheel: Vec<PathBuf>,
    /// See [`Settings::ca_files`](super::Settings::ca_files). A list replaces the next source's as a whole.
    pub ca_file: Vec<PathBuf>,
    /// See [`Settings::forward_proxy`](super::Settings::forward_proxy). A file has it in `[http]`.
    #[serde(skip)]
    pub proxy: Option<ForwardProxy>,
    /// See [`Settings::python`](super::Settings::python).
    pub python: Option<PathBuf>,
    /// See [`Settings::container_base`](super::Settings::container_base).
    pub container_base: Option<String>,
    /// See [`Settings::sandbox`](super::Settings::sandbox).
    #[serde(deserialize_with = "units::sandbox")]
    pub sandbox: Option<SandboxChoice>,
    /// See [`Settings::allow_build_network`](super::Settings::allow_build_network).
    pub container_build_network: Option<bool>,
    /// See [`Settings::audit_file`](super::Settings::audit_file).
    pub audit: Option<PathBuf>,
    /// Limits of calls.
    #[serde(skip)]
    pub limits: LimitOverrides,
    /// What is granted besides the file's grants.
    #[serde(skip)]
    pub grants: Grants,
}

impl Overrides {
    /// These values, with `next` filling in what is not set.
    #[must_use]
    pub(super) fn or(self, next: Overrides) -> Overrides {
        Overrides {
            policy: self.policy.or(next.policy),
            cache_dir: self.cache_dir.or(next.cache_dir),
            approvals_dir: self.approvals_dir.or(next.approvals_dir),
            max_images: self.max_images.or(next.max_images),
            runtime: self.runtime.or(next.runtime),
            offline: self.offline.or(next.offline),
            from_wheel: first_list(self.from_wheel, next.from_wheel),
            ca_file: first_list(self.ca_file, next.ca_file),
            proxy: self.proxy.or(next.proxy),
            python: self.python.or(next.python),
            container_base: self.container_base.or(next.container_base),
            sandbox: self.sandbox.or(next.sandbox),
            container_build_network: self.container_build_network.or(next.container_build_network),
            audit: self.audit.or(next.audit),
            limits: self.limits.or(next.limits),
            grants: next.grants.merged_with(self.grants),
        }
    }
}

/// Limits that are set, by the names of their flags. docs/reference/limits.md says what each bounds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LimitOverrides {
    /// [`Limits::deadline`].
    #[serde(deserialize_with = "units::time")]
    pub timeout: Option<Duration>,
    /// [`Limits::memory_bytes`].
    #[serde(deserialize_with = "units::size")]
    pub memory: Option<u64>,
    /// [`Limits::stdout_bytes`].
    #[serde(deserialize_with = "units::size")]
    pub max_stdout: Option<u64>,
    /// [`Limits::stderr_bytes`].
    #[serde(deserialize_with = "units::size")]
    pub max_stderr: Option<u64>,
    /// [`Limits::result_bytes`].
    #[serde(deserialize_with = "units::size")]
    pub max_result: Option<u64>,
    /// [`Limits::open_files`].
    pub max_open_files: Option<u32>,
    /// [`Limits::scratch_bytes`].
    #[serde(deserialize_with = "units::size")]
    pub max_scratch: Option<u64>,
    /// [`Limits::scratch_files`].
    pub max_scratch_files: Option<u32>,
    /// [`Limits::host_calls`].
    pub max_host_calls: Option<u64>,
    /// [`Limits::inflated_bytes`].
    #[serde(deserialize_with = "units::size")]
    pub max_inflated: Option<u64>,
    /// [`Limits::fuel`].
    pub fuel: Option<u64>,
}

impl LimitOverrides {
    fn or(self, next: LimitOverrides) -> LimitOverrides {
        LimitOverrides {
            timeout: self.timeout.or(next.timeout),
            memory: self.memory.or(next.memory),
            max_stdout: self.max_stdout.or(next.max_stdout),
            max_stderr: self.max_stderr.or(next.max_stderr),
            max_result: self.max_result.or(next.max_result),
            max_open_files: self.max_open_files.or(next.max_open_files),
            max_scratch: self.max_scratch.or(next.max_scratch),
            max_scratch_files: self.max_scratch_files.or(next.max_scratch_files),
            max_host_calls: self.max_host_calls.or(next.max_host_calls),
            max_inflated: self.max_inflated.or(next.max_inflated),
            fuel: self.fuel.or(next.fuel),
        }
    }

    /// These limits, and the given ones where nothing is set.
    pub fn apply_to(&self, mut limits: Limits) -> Limits {
        limits.deadline = self.timeout.unwrap_or(limits.deadline);
        limits.memory_bytes = self.memory.unwrap_or(limits.memory_bytes);
        limits.stdout_bytes = self.max_stdout.unwrap_or(limits.stdout_bytes);
        limits.stderr_bytes = self.max_stderr.unwrap_or(limits.stderr_bytes);
        limits.result_bytes = self.max_result.unwrap_or(limits.result_bytes);
        limits.open_files = self.max_open_files.unwrap_or(limits.open_files);
        limits.scratch_bytes = self.max_scratch.unwrap_or(limits.scratch_bytes);
        limits.scratch_files = self.max_scratch_files.unwrap_or(limits.scratch_files);
        limits.host_calls = self.max_host_calls.unwrap_or(limits.host_calls);
        limits.inflated_bytes = self.max_inflated.unwrap_or(limits.inflated_bytes);
        limits.fuel = self.fuel.or(limits.fuel);
        limits
    }

    /// The given limits, and these where they are tighter: what a client asks for.
    pub fn narrow(&self, limits: Limits) -> Limits {
        let mut wanted = self.apply_to(limits.clone());
        wanted.deadline = wanted.deadline.min(limits.deadline);
        wanted.memory_bytes = wanted.memory_bytes.min(limits.memory_bytes);
        wanted.stdout_bytes = wanted.stdout_bytes.min(limits.stdout_bytes);
        wanted.stderr_bytes = wanted.stderr_bytes.min(limits.stderr_bytes);
        wanted.result_bytes = wanted.result_bytes.min(limits.result_bytes);
        wanted.open_files = wanted.open_files.min(limits.open_files);
        wanted.scratch_bytes = wanted.scratch_bytes.min(limits.scratch_bytes);
        wanted.scratch_files = wanted.scratch_files.min(limits.scratch_files);
        wanted.host_calls = wanted.host_calls.min(limits.host_calls);
        wanted.inflated_bytes = wanted.inflated_bytes.min(limits.inflated_bytes);
        wanted.fuel = [wanted.fuel, limits.fuel].into_iter().flatten().min();
        wanted
    }
}

fn first_list(list: Vec<PathBuf>, next: Vec<PathBuf>) -> Vec<PathBuf> {
    if list.is_empty() { next } else { list }
}
