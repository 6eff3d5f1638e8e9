//! What a host is made of: the runtime, the common files, the registry, the HTTP client. Each is made when it is first
//! needed, once.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::execute::PreparedTiers;
use super::facts::FactsByDigest;
use super::images::Images;
use super::run_tests::TestBench;
use super::{GrantError, Host, HostError};
use crate::approvals::Approvals;
use crate::session::SessionPlaces;
use skillcell_cache::progress::Progress;
use skillcell_cache::{Cache, Pack};
use skillcell_cell::Machine;
use skillcell_cell::runtime::Runtime;
use skillcell_cell::runtime::files::CommonFiles;
use skillcell_http::{ClientSettings, HttpClient, Lookup};
use skillcell_packages::provision::{self, Fetch, Pin};
use skillcell_packages::skill::Roots;
use skillcell_policy::ForwardProxy;
use skillcell_tiers::SandboxChoice;
use skillcell_tiers::container::Containers;

pub(super) struct Shared {
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
    pub(super) files: OnceLock<CommonFiles>,
    /// The plain machine, and the one that counts fuel.
    pub(super) machines: [OnceLock<Machine>; 2],
    /// What tests are run on.
    pub(super) bench: OnceLock<TestBench>,
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
        self.registry()?;
        self.with_repair(|| Ok(self.baker(false)?.prepare_framework()?))
    }

    /// The folder of compiled code and images, to be listed or cleaned.
    pub fn cache(&self) -> &Cache {
        &self.shared.cache
    }

    pub(super) fn runtime(&self) -> Runtime<'_> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        Runtime { cache, fetch, progress: &**progress }
    }

    /// Fetches the standard library and its data again if they are damaged or gone.
    pub(super) fn fetch_stdlib(&self) -> Result<(), HostError> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        provision::stdlib_bytes(cache, fetch, &**progress)?;
        provision::matplotlib_data(cache, fetch, &**progress)?;
        Ok(())
    }

    /// The pinned registry's skills.
    pub fn registry(&self) -> Result<&Pack, HostError> {
        self.get_or_make(&self.shared.registry, || {
            let Shared { cache, fetch, progress, .. } = &*self.shared;
            Ok(provision::registry_pack(cache, fetch, &**progress)?)
        })
    }

    /// What tests in Pyodide are given: the framework, what tests are run with, and these wheels.
    pub fn packages_in_pyodide(&self, pins: &[Pin]) -> Result<[Pack; 3], HostError> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        let progress = &**progress;
        Ok([
            provision::framework_pack(cache, fetch, progress)?,
            provision::test_packages(cache, fetch, progress)?,
            provision::pyodide_packages(cache, pins, fetch, progress)?,
        ])
    }

    pub(crate) fn machine(&self, metered: bool) -> Result<&Machine, HostError> {
        self.get_or_make(&self.shared.machines[usize::from(metered)], || Ok(self.runtime().load_machine(metered)?))
    }

    pub(super) fn http_client(&self) -> Result<&Arc<HttpClient>, HostError> {
        self.get_or_make(&self.shared.http, || {
            let mut settings = ClientSettings::with_ca_files(self.shared.ca_files.clone());
            settings.lookup = self.shared.lookup.clone();
            settings.forward_proxy = self.shared.forward_proxy.clone();
            Ok(Arc::new(HttpClient::new(&settings).map_err(GrantError::from)?))
        })
    }

    pub(super) fn common_files(&self) -> Result<&CommonFiles, HostError> {
        self.get_or_make(&self.shared.files, || {
            let (cache, progress) = (self.shared.cache.clone(), self.shared.progress.clone());
            let stdlib = move || {
                let found = provision::open_stdlib(&cache, &*progress).map_err(std::io::Error::other)?;
                found.ok_or_else(|| std::io::Error::other("the standard library is no longer in the cache"))
            };
            let (cache, progress) = (self.shared.cache.clone(), self.shared.progress.clone());
            let plots = move || provision::open_matplotlib_data(&cache, &*progress).map_err(std::io::Error::other);
            Ok(CommonFiles::open(&self.runtime(), Box::new(stdlib), Box::new(plots))?)
        })
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
