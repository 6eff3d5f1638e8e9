//! A call as a client asks for it.

use std::fmt;

use serde_json::Value;

use skillcell_door::audit::RequestOrigin;
use skillcell_limits::cancel::CancelToken;
use skillcell_settings::LimitOverrides;

/// A call as a client asks for it. Made with [`CallRequest::new`], then completed.
#[non_exhaustive]
pub struct CallRequest {
    /// The id of a skill that is served.
    pub skill: String,
    /// The params as JSON text.
    pub params: String,
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
}

impl CallRequest {
    /// A call with these params, as JSON text; no config, the server's limits.
    pub fn new(skill: impl Into<String>, params: impl Into<String>) -> CallRequest {
        CallRequest {
            skill: skill.into(),
            params: params.into(),
            config: None,
            limits: LimitOverrides::default(),
            cancel: CancelToken::new(),
            session: None,
            origin: None,
            on_start: None,
        }
    }
}

impl fmt::Debug for CallRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRequest").field("skill", &self.skill).field("limits", &self.limits).finish_non_exhaustive()
    }
}
