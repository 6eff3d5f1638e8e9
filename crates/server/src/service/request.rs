//! A call as a client asks for it.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::CallError;
use skillcell_door::audit::RequestOrigin;
use skillcell_host::call::{Call, OnOutput};
use skillcell_host::entry::Input;
use skillcell_limits::cancel::CancelToken;
use skillcell_packages::skill::Skill;
use skillcell_settings::LimitOverrides;

/// A call as a client asks for it. Made with [`CallRequest::new`], then completed.
#[non_exhaustive]
pub struct CallRequest {
    /// The id of a skill that is served.
    pub skill: String,
    /// The params as JSON text.
    pub params: String,
    /// The script that is run, of a skill in the Agent Skills format: it takes no params. `execute` without one.
    pub script: Option<ScriptRequest>,
    /// What the skill's constructor gets.
    pub config: Option<Value>,
    /// Tighter limits; those that are wider than the server's are cut to them.
    pub limits: LimitOverrides,
    /// Ends the call. Dropping the call's future cancels it too.
    pub cancel: CancelToken,
    /// The handle of a session that this client opened for this skill; a fresh cell without one.
    pub session: Option<String>,
    /// Which request it came with, for the audit.
    pub origin: Option<RequestOrigin>,
    /// Called when a worker begins it, on that worker's thread.
    pub on_start: Option<Box<dyn FnOnce() + Send>>,
    /// Told of what it prints, on that worker's thread.
    pub on_output: Option<OnOutput>,
}

/// A script of a skill's folder, and what it is run with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptRequest {
    /// Its path in the folder: `scripts/convert.py`.
    pub path: String,
    /// What it gets as its arguments.
    pub args: Vec<String>,
    /// What it reads as standard input.
    pub stdin: Vec<u8>,
    /// Files that are laid into its folder, by their paths there.
    pub files: Vec<(String, Arc<[u8]>)>,
}

impl ScriptRequest {
    /// Whether it can be run of this skill. A skill of Skillware is entered by `execute` alone: that is what its manifest
    /// speaks of, and what its imports are checked for.
    fn check(&self, skill: &Skill) -> Result<(), CallError> {
        let missing = || CallError::NoSuchScript { skill: skill.id().to_owned(), script: self.path.clone() };
        let found = skill.is_agent_skill().then(|| skill.for_script(&self.path)).flatten().ok_or_else(missing)?;
        found.with_files(&self.files).map(drop).map_err(CallError::Files)
    }
}

impl CallRequest {
    /// Whether what it enters is there in this skill.
    pub(super) fn check_entry(&self, skill: &Skill) -> Result<(), CallError> {
        match &self.script {
            Some(script) => script.check(skill),
            None if skill.is_agent_skill() => Err(CallError::OnlyScripts(skill.id().to_owned())),
            None => Ok(()),
        }
    }

    /// The call with the entry that is asked for, and what that takes.
    pub(super) fn enter(&mut self, call: Call) -> Result<Call, CallError> {
        let Some(asked) = self.script.take() else { return Ok(call.with_params(&self.params)?) };
        let mut call = call.with_script(asked.path, asked.args);
        if let Some(script) = call.script_mut() {
            script.stdin = Input::Bytes(asked.stdin.into());
            script.files = asked.files;
        }
        Ok(call)
    }
}

impl CallRequest {
    /// A call with these params, as JSON text; no config, the server's limits.
    pub fn new(skill: impl Into<String>, params: impl Into<String>) -> CallRequest {
        CallRequest {
            skill: skill.into(),
            params: params.into(),
            script: None,
            config: None,
            limits: LimitOverrides::default(),
            cancel: CancelToken::new(),
            session: None,
            origin: None,
            on_start: None,
            on_output: None,
        }
    }
}

impl fmt::Debug for CallRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRequest").field("skill", &self.skill).field("limits", &self.limits).finish_non_exhaustive()
    }
}
