//! Virtual environments of this host, for the tiers that run a Python of this machine.

use super::parts::Shared;
use super::{Host, HostError};
use skillcell_limits::RuntimeKind;
use skillcell_packages::skill::Skill;
use skillcell_packages::venv::{BasePython, Venv};
use skillcell_packages::{SkillLock, Target, Wanted};

impl Host {
    /// The environment with these requirements, and `extras` besides; made if it is not in the cache. Only wheels are
    /// taken, by the user's own pip. Its Python is to be started in a sandbox only: its content is untrusted.
    pub fn venv(&self, requirements: &[String], extras: &[String]) -> Result<Venv, HostError> {
        let requirements = requirements.iter().chain(extras).cloned().collect();
        self.venv_with(&Wanted { requirements, lock: None })
    }

    /// The environment with what a skill asks for.
    pub fn venv_with(&self, wanted: &Wanted) -> Result<Venv, HostError> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        Ok(Venv::make(cache, fetch, &**progress, wanted, None)?)
    }

    /// What a skill's requirements resolve to, asked again whatever was resolved before: for cells, for this machine's
    /// Python, and for that of the containers' base image if it is there.
    pub fn lock(&self, skill: &Skill) -> Result<SkillLock, HostError> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        let mut lock = SkillLock::new(self.resolve(skill)?);
        if lock.cells.requirements.is_empty() {
            return Ok(lock);
        }
        // Where the first runtime has all of it, nothing leads to the second.
        if lock.cells.lacks_native() && self.runtime_unavailable(RuntimeKind::Pyodide).is_none() {
            let packages = self.resolve_on(RuntimeKind::Pyodide, &lock.cells.requirements);
            lock.add_other(&Target::guest(RuntimeKind::Pyodide), packages.map_err(|error| error.to_string()));
        }
        let machine = BasePython::find(fetch.python.as_deref()).map(|base| base.target());
        let others = [
            ("the Python of this machine", machine.map_err(HostError::from)),
            ("containers", self.container_maker().base_target().map_err(HostError::from)),
        ];
        let mut known: Vec<String> = Vec::new();
        for (what, target) in others {
            match target {
                // Both Pythons may be the same target.
                Ok(target) if known.contains(&target.id) => {}
                Ok(target) => {
                    let packages = Venv::resolve(cache, fetch, &**progress, &lock.cells.requirements, &target);
                    lock.add_other(&target, packages.map_err(|error| error.to_string()));
                    known.push(target.id);
                }
                Err(error) => lock.not_locked.push((what.to_owned(), error.to_string())),
            }
        }
        Ok(lock)
    }
}
