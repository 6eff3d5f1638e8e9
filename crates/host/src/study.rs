//! What the study of a registry needs of a host beside calls.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{Host, HostError};
use skillcell_packages::skill::{self, Roots, Skill};

impl Host {
    /// The ids of the pinned registry.
    pub fn registry_ids(&self) -> Result<BTreeSet<String>, HostError> {
        Ok(skill::registry_ids(self.registry()?))
    }

    /// A skill of the pinned registry, whatever else has its id.
    pub fn registry_skill(&self, id: &str) -> Result<Skill, HostError> {
        Ok(Skill::from_registry(self.registry()?, id)?)
    }

    /// Another host over the same cache, with nothing open yet, which trusts this authority too.
    pub fn fresh(&self, authority: Option<PathBuf>) -> Result<Host, HostError> {
        let builder = Host::builder().cache_dir(self.cache().root()).offline(self.is_offline()).roots(Roots::new([]));
        builder.ca_files(authority).allow_changed_skills(true).build()
    }

    /// Whether pip is never run: see [`HostBuilder::offline`](crate::HostBuilder::offline).
    pub fn is_offline(&self) -> bool {
        self.shared.fetch.offline
    }
}
