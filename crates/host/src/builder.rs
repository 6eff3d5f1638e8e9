//! Settings of a [`Host`].

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use super::images::DEFAULT_IMAGE_BYTES;
use super::{Host, HostError, Shared};
use crate::approvals::{ApprovalError, Approvals};
use crate::session::SessionPlaces;
use skillcell_cache::Cache;
use skillcell_cache::progress::{Progress, Silent};
use skillcell_cell::Machines;
use skillcell_http::Lookup;
use skillcell_limits::RuntimeKind;
use skillcell_packages::provision::Fetch;
use skillcell_packages::skill::Roots;
use skillcell_policy::ForwardProxy;
use skillcell_tiers::SandboxChoice;
use skillcell_tiers::container::Containers;

/// Defaults: the user's cache folder, the network through pip when something is missing, skills found through
/// `SKILLWARE_SKILL_PATH`, `./skills` and the pinned registry, the system's authorities for HTTPS (Mozilla's where it has
/// none), names looked up by the system, no proxy, the user's approvals to refuse what changed since and not to grant
/// anything, containers based on `python:3.13-slim` and built without network, no word about progress, 64 sessions.
#[derive(Default)]
#[must_use]
pub struct HostBuilder {
    cache_dir: Option<PathBuf>,
    runtime: Option<RuntimeKind>,
    fetch: Fetch,
    roots: Option<Roots>,
    ca_files: Vec<PathBuf>,
    forward_proxy: Option<ForwardProxy>,
    approvals: Option<Approvals>,
    allow_changed_skills: bool,
    lookup: Option<Arc<dyn Lookup>>,
    containers: Containers,
    sandbox: SandboxChoice,
    progress: Option<Arc<dyn Progress + Send + Sync>>,
    max_image_bytes: Option<u64>,
    max_sessions: Option<u32>,
}

impl HostBuilder {
    /// Where compiled code and images are kept. It must be writable by its owner only.
    pub fn cache_dir(mut self, folder: impl Into<PathBuf>) -> HostBuilder {
        self.cache_dir = Some(folder.into());
        self
    }

    /// The runtime of all cells; without it each skill's requirements decide, and the first one does what is done beside calls.
    pub fn runtime(mut self, kind: RuntimeKind) -> HostBuilder {
        self.runtime = Some(kind);
        self
    }

    /// Never run pip or npm: what is not in the cache, or given as a wheel, is missing.
    pub fn offline(mut self, offline: bool) -> HostBuilder {
        self.fetch.offline = offline;
        self
    }

    /// Wheels, or folders of wheels, to take instead of downloading. They must have the pinned hashes.
    pub fn wheels(mut self, wheels: impl IntoIterator<Item = PathBuf>) -> HostBuilder {
        self.fetch.wheels.extend(wheels);
        self
    }

    /// Where skills are looked for before the pinned registry.
    pub fn roots(mut self, roots: Roots) -> HostBuilder {
        self.roots = Some(roots);
        self
    }

    /// PEM files of authorities that HTTPS trusts besides the system's.
    pub fn ca_files(mut self, files: impl IntoIterator<Item = PathBuf>) -> HostBuilder {
        self.ca_files.extend(files);
        self
    }

    /// A proxy that the HTTP of all skills goes through, but for places that `--resolve` names. What the environment says of
    /// proxies is not read. Policy decides about requests as without one; where a name leads, the proxy decides.
    pub fn forward_proxy(mut self, proxy: ForwardProxy) -> HostBuilder {
        self.forward_proxy = Some(proxy);
        self
    }

    /// Approvals that calls go by: an approved skill is granted what it asks for, and one that changed since is refused.
    pub fn approvals(mut self, approvals: Approvals) -> HostBuilder {
        self.approvals = Some(approvals);
        self
    }

    /// Call a skill though it was approved and changed since, as if nobody had approved it. Without it such a skill is
    /// refused, also where no approvals were given: then those of the user are looked at for this alone.
    pub fn allow_changed_skills(mut self, allow: bool) -> HostBuilder {
        self.allow_changed_skills = allow;
        self
    }

    /// The Python whose pip fetches, and that the tiers `subprocess` and `in_process` start. Otherwise it is
    /// `SKILLCELL_PYTHON`, `python3` or `python`.
    pub fn python(mut self, program: impl Into<PathBuf>) -> HostBuilder {
        self.fetch.python = Some(program.into());
        self
    }

    /// Who looks up the names of hosts that are granted, instead of the system. Policy decides about what it says.
    pub fn lookup(mut self, lookup: Arc<dyn Lookup>) -> HostBuilder {
        self.lookup = Some(lookup);
        self
    }

    /// Which sandbox the tier `subprocess` has. Without it the best that works here.
    pub fn sandbox(mut self, choice: SandboxChoice) -> HostBuilder {
        self.sandbox = choice;
        self
    }

    /// The image that a skill's container is built on, where it brings none: it must have a `python3`.
    pub fn container_base(mut self, image: impl Into<String>) -> HostBuilder {
        self.containers.base = image.into();
        self
    }

    /// Give a skill's `Dockerfile` the network while its image is built, and pull the image that a manifest names. Both the
    /// instructions and the registry that the image comes from are untrusted.
    pub fn allow_build_network(mut self, allow: bool) -> HostBuilder {
        self.containers.allow_build_network = allow;
        self
    }

    /// Receives reports of work that takes long.
    pub fn progress(mut self, progress: Arc<dyn Progress + Send + Sync>) -> HostBuilder {
        self.progress = Some(progress);
        self
    }

    /// What all images together may take on disk: each bake makes room by removing those not used for longest, but for
    /// those that a running process has mapped. 10 GiB unless it is set.
    pub fn max_image_bytes(mut self, bytes: u64) -> HostBuilder {
        self.max_image_bytes = Some(bytes);
        self
    }

    /// Sessions that are kept at once: the first call of another one is refused. 64 unless it is set, and never more than
    /// half of the cells that may be alive at once (256 where address space is not limited), so that calls without a
    /// session find a cell.
    pub fn max_sessions(mut self, sessions: u32) -> HostBuilder {
        self.max_sessions = Some(sessions);
        self
    }

    /// Opens the cache folder, and looks at the files that were given. The runtime is obtained when it is first needed.
    pub fn build(self) -> Result<Host, HostError> {
        self.fetch.check_given_wheels()?;
        let cache = Cache::locate(self.cache_dir.as_deref())?;
        let approvals_grant = self.approvals.is_some();
        let approvals = match self.approvals {
            None if !self.allow_changed_skills => match Approvals::locate(None) {
                Err(ApprovalError::NoPlace) => None,
                located => Some(located?),
            },
            given => given,
        };
        let shared = Shared {
            runtime: self.runtime.unwrap_or_default(),
            named_runtime: self.runtime,
            cache,
            fetch: self.fetch,
            progress: self.progress.unwrap_or_else(|| Arc::new(Silent)),
            roots: self.roots.unwrap_or_else(Roots::from_env),
            ca_files: self.ca_files,
            forward_proxy: self.forward_proxy,
            approvals,
            approvals_grant,
            allow_changed_skills: self.allow_changed_skills,
            lookup: self.lookup,
            containers: self.containers,
            sandbox: self.sandbox,
            http: OnceLock::new(),
            registry: OnceLock::new(),
            files: [OnceLock::new(), OnceLock::new()],
            machines: Machines::default(),
            making: Mutex::new(()),
            images: Mutex::default(),
            facts: Mutex::default(),
            prepared: Mutex::default(),
            sessions: SessionPlaces::new(self.max_sessions),
            max_image_bytes: self.max_image_bytes.unwrap_or(DEFAULT_IMAGE_BYTES),
        };
        let host = Host { shared: Arc::new(shared) };
        // Report bad certificate files now, not at the first request.
        if !host.shared.ca_files.is_empty() {
            host.http_client()?;
        }
        Ok(host)
    }
}
