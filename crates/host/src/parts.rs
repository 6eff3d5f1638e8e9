//! What a host is made of: the runtime, the common files, the registry, the HTTP client. Each is made when it is first
//! needed, once.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::execute::PreparedTiers;
use super::facts::FactsByDigest;
use super::images::Images;
use super::{GrantError, Host, HostError};
use crate::approvals::Approvals;
use crate::session::SessionPlaces;
use skillcell_cache::progress::Progress;
use skillcell_cache::{Cache, Pack};
use skillcell_cell::runtime::files::CommonFiles;
use skillcell_cell::runtime::{self, Runtime};
use skillcell_cell::{Machine, Machines, RuntimeKind};
use skillcell_http::{ClientSettings, HttpClient, Lookup};
use skillcell_packages::provision::{self, Fetch, PyodideFiles};
use skillcell_packages::skill::Roots;
use skillcell_policy::ForwardProxy;
use skillcell_tiers::SandboxChoice;
use skillcell_tiers::container::Containers;

pub(super) struct Shared {
    pub(super) runtime: RuntimeKind,
    /// The runtime that the operator named.
    pub(super) named_runtime: Option<RuntimeKind>,
    pub(super) cache: Cache,
    pub(super) fetch: Fetch,
    pub(super) progress: Arc<dyn Progress + Send + Sync>,
    pub(super) roots: Roots,
    pub(super) ca_files: Vec<PathBuf>,
    pub(super) forward_proxy: Option<ForwardProxy>,
    pub(super) approvals: Option<Approvals>,
    /// Whether what was approved is granted; if not, approvals only refuse.
    pub(super) approvals_grant: bool,
    /// Whether a skill that changed since it was approved counts as one that never was.
    pub(super) allow_changed_skills: bool,
    pub(super) lookup: Option<Arc<dyn Lookup>>,
    pub(super) containers: Containers,
    pub(super) sandbox: SandboxChoice,
    /// Made for the first call that is granted something of the web.
    pub(super) http: OnceLock<Arc<HttpClient>>,
    pub(super) registry: OnceLock<Pack>,
    /// Of each runtime.
    pub(super) files: [OnceLock<CommonFiles>; 2],
    pub(super) machines: Machines,
    /// Held while something of the above is made, so that it is made once.
    pub(super) making: Mutex<()>,
    pub(super) images: Mutex<Images>,
    pub(super) facts: Mutex<FactsByDigest>,
    pub(super) prepared: Mutex<PreparedTiers>,
    pub(super) sessions: SessionPlaces,
    /// What images may take on disk.
    pub(super) max_image_bytes: u64,
}

impl Host {
    /// Gets everything ready that a first call would need.
    pub fn install(&self) -> Result<(), HostError> {
        self.install_runtime(self.shared.runtime, None)
    }

    /// Gets a runtime ready: the second one from this archive of npm, if there is one.
    pub fn install_runtime(&self, kind: RuntimeKind, archive: Option<&Path>) -> Result<(), HostError> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        // First of all: it may be what can't be had.
        if kind == RuntimeKind::Pyodide {
            let fetch = Fetch { archive: archive.map(Path::to_owned), ..fetch.clone() };
            provision::pyodide_files(cache, &fetch, &**progress)?;
        }
        self.registry()?;
        self.with_repair(|| Ok(self.baker(kind, false)?.prepare_framework()?))
    }

    /// The folder of compiled code and images, to be listed or cleaned.
    pub fn cache(&self) -> &Cache {
        &self.shared.cache
    }

    pub(super) fn runtime(&self, kind: RuntimeKind) -> Runtime<'_> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        Runtime { kind, sides: Arc::default(), cache, fetch, progress: &**progress }
    }

    /// Fetches the standard library and its data again if they are damaged or gone.
    pub(super) fn fetch_stdlib(&self) -> Result<(), HostError> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        provision::stdlib_bytes(cache, fetch, &**progress)?;
        provision::matplotlib_data(cache, fetch, &**progress)?;
        self.check_pyodide_stdlib()
    }

    /// The same of the second runtime, if it was used: there the library is made anew.
    fn check_pyodide_stdlib(&self) -> Result<(), HostError> {
        let Shared { files: [_, second], machines, .. } = &*self.shared;
        if second.get().is_some() {
            let runtime = self.runtime(RuntimeKind::Pyodide);
            runtime.compiled_stdlib(&*machines.get(&runtime, false)?)?;
        }
        Ok(())
    }

    /// The pinned registry's skills.
    pub fn registry(&self) -> Result<&Pack, HostError> {
        self.get_or_make(&self.shared.registry, || {
            let Shared { cache, fetch, progress, .. } = &*self.shared;
            Ok(provision::registry_pack(cache, fetch, &**progress)?)
        })
    }

    /// The second runtime's npm package.
    pub fn pyodide_files(&self) -> Result<PyodideFiles, HostError> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        Ok(provision::pyodide_files(cache, fetch, &**progress)?)
    }

    /// What tests in Pyodide on Node.js are given: the framework, what tests are run with, and what cells have besides.
    pub fn packages_in_pyodide(&self) -> Result<[Pack; 3], HostError> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        let progress = &**progress;
        Ok([
            provision::framework_pack(cache, fetch, progress)?,
            provision::test_packages(cache, fetch, progress)?,
            provision::pyodide_framework(cache, fetch, progress)?,
        ])
    }

    /// The machine of a runtime that has no libraries of wheels in it.
    pub(crate) fn machine(&self, kind: RuntimeKind, metered: bool) -> Result<Arc<Machine>, HostError> {
        let machine = self.shared.machines.get(&self.runtime(kind), metered)?;
        machine.tell_of_parts(|| self.shared.progress.clone());
        Ok(machine)
    }

    pub(super) fn http_client(&self) -> Result<&Arc<HttpClient>, HostError> {
        self.get_or_make(&self.shared.http, || {
            let mut settings = ClientSettings::with_ca_files(self.shared.ca_files.clone());
            settings.lookup = self.shared.lookup.clone();
            settings.forward_proxy = self.shared.forward_proxy.clone();
            Ok(Arc::new(HttpClient::new(&settings).map_err(GrantError::from)?))
        })
    }

    pub(super) fn common_files(&self, kind: RuntimeKind) -> Result<&CommonFiles, HostError> {
        let place = &self.shared.files[usize::from(kind == RuntimeKind::Pyodide)];
        match kind {
            RuntimeKind::WasiPython => self.get_or_make(place, || self.open_files()),
            RuntimeKind::Pyodide => self.get_or_make(place, || self.open_pyodide_files()),
        }
    }

    fn open_files(&self) -> Result<CommonFiles, HostError> {
        let (cache, progress) = (self.shared.cache.clone(), self.shared.progress.clone());
        let stdlib = move || {
            let found = provision::open_stdlib(&cache, &*progress).map_err(std::io::Error::other)?;
            found.ok_or_else(|| std::io::Error::other("the standard library is no longer in the cache"))
        };
        let (cache, progress) = (self.shared.cache.clone(), self.shared.progress.clone());
        let plots = move || provision::open_matplotlib_data(&cache, &*progress).map_err(std::io::Error::other);
        Ok(CommonFiles::open(&self.runtime(RuntimeKind::WasiPython), Box::new(stdlib), Box::new(plots))?)
    }

    fn open_pyodide_files(&self) -> Result<CommonFiles, HostError> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        let packages = provision::pyodide_framework(cache, fetch, &**progress)?;
        let runtime = self.runtime(RuntimeKind::Pyodide);
        let bytes = runtime.compiled_stdlib(&*self.shared.machines.get(&runtime, false)?)?.bytes;
        let (cache, progress) = (cache.clone(), progress.clone());
        let stdlib = move || {
            let found = runtime::open_compiled_stdlib(&cache, &*progress).map_err(std::io::Error::other)?;
            found.ok_or_else(|| std::io::Error::other("the standard library is no longer in the cache"))
        };
        Ok(CommonFiles::open_pyodide(&runtime, Box::new(stdlib), bytes, packages)?)
    }

    /// The value in `slot`, made on first use. Must not be called from `make`: it would deadlock.
    pub(super) fn get_or_make<'a, T>(
        &self,
        slot: &'a OnceLock<T>,
        make: impl FnOnce() -> Result<T, HostError>,
    ) -> Result<&'a T, HostError> {
        if let Some(made) = slot.get() {
            return Ok(made);
        }
        let _one_at_a_time = self.shared.making.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.get().is_none() {
            let _ = slot.set(make()?);
        }
        Ok(slot.get().expect("it was just set"))
    }
}
