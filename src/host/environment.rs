//! Virtual environments of this host, for the tiers that run a Python of this machine.

use super::{Host, HostError};
use crate::venv::Venv;

impl Host {
    /// The environment with these requirements, and `extras` besides; made if it is not in the cache. Only wheels are
    /// taken, by the user's own pip. Its Python is to be started in a sandbox only: what is in it is a stranger's.
    pub fn venv(&self, requirements: &[String], extras: &[String]) -> Result<Venv, HostError> {
        let shared = &*self.shared;
        Ok(Venv::for_requirements(&shared.cache, &shared.fetch, &*shared.progress, requirements, extras)?)
    }
}
