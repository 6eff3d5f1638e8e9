//! What a session is bound to: what its first call came with, which every later one has to come with too.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use serde_json::Value;

use super::denial;
use crate::Host;
use crate::call::Call;
use crate::parts::Shared;
use crate::plan::Plan;
use skillcell_limits::Limits;
use skillcell_packages::skill::Skill;
use skillcell_policy::{Denial, Grants};

/// What the first call of a session came with.
pub(crate) struct Bound {
    /// Whose machine the cell is of.
    host: Weak<Shared>,
    skill: String,
    digest: String,
    grants: Grants,
    config: Option<Value>,
    env: BTreeMap<String, String>,
    map_paths: bool,
    limits: Limits,
}

impl Bound {
    pub fn new(host: &Host, skill: &Skill, call: &Call, plan: &Plan) -> Bound {
        Bound {
            host: Arc::downgrade(&host.shared),
            skill: skill.id().to_owned(),
            digest: skill.digest().to_owned(),
            grants: plan.effective.grants.clone(),
            config: call.config.clone(),
            env: call.env.clone(),
            map_paths: call.map_paths,
            limits: call.limits.clone(),
        }
    }

    /// Refuses a later call that differs. The session itself goes on.
    pub fn check_later(&self, host: &Host, skill: &Skill, call: &Call, plan: &Plan) -> Result<(), Box<Denial>> {
        let same = [
            (std::ptr::eq(self.host.as_ptr(), Arc::as_ptr(&host.shared)), "host"),
            (self.skill == skill.id() && self.digest == skill.digest(), "skill, or another version of it"),
            // Another grant would reach state that was made under this one, or the other way round.
            (self.grants == plan.effective.grants, "set of grants that hold"),
            // The instance was constructed with these.
            (self.config == call.config, "`config`"),
            (self.env == call.env, "environment"),
            (self.map_paths == call.map_paths, "way with paths"),
            // Code that counts instructions is another machine's.
            (self.limits.fuel.is_some() == call.limits.fuel.is_some(), "way of counting fuel"),
        ];
        let differs = same.into_iter().find(|(is_same, _)| !is_same);
        differs.map_or(Ok(()), |(_, what)| {
            let message = format!("the session was begun with another {what}");
            Err(denial(message, Some("make the call as the session's first one was made, or begin another".to_owned())))
        })
    }

    /// The limits of a later call: of what lasts it gets no more than the session has.
    pub fn narrow_limits(&self, limits: &Limits) -> Limits {
        let mut narrow = limits.clone();
        narrow.memory_bytes = narrow.memory_bytes.min(self.limits.memory_bytes);
        narrow.scratch_bytes = narrow.scratch_bytes.min(self.limits.scratch_bytes);
        narrow.scratch_files = narrow.scratch_files.min(self.limits.scratch_files);
        narrow.open_files = narrow.open_files.min(self.limits.open_files);
        narrow
    }
}
