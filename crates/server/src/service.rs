//! The service: what every door calls. One host, the skills that are served, and who may wait for a call.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::Catalogue;
use skillcell_host::call::Report;
use skillcell_host::{Host, HostError};
use skillcell_limits::cancel::CancelToken;
use skillcell_settings::{CallDefaults, LimitOverrides};

/// Who calls: the bearer of a token, or whoever can reach the server where no token is asked for.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// The token's name in the settings; none for whoever needs no token.
    pub name: Option<String>,
}

/// A call as a client asks for it.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// The id of a skill that is served.
    pub skill: String,
    /// The params as JSON text.
    pub params: String,
    /// What the skill's constructor gets.
    pub config: Option<Value>,
    /// Tighter limits; those that are wider than the server's are cut to them.
    pub limits: LimitOverrides,
    /// Ends the call.
    pub cancel: CancelToken,
}

/// Why there is no report of a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No skill with this id is served, or not to this client.
    #[error("there is no skill `{0}`")]
    NoSuchSkill(String),
    /// The params are no JSON.
    #[error("the params are not JSON: {0}")]
    Params(#[from] serde_json::Error),
    /// Too many calls wait already.
    #[error("too many calls are waiting; try again in {} s", retry_after.as_secs())]
    Busy {
        /// When it is worth trying again.
        retry_after: Duration,
    },
    /// The host could not do its part.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// What every door calls. Clones share everything.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

struct Inner {
    host: Host,
    defaults: CallDefaults,
    catalogue: Catalogue,
}

impl Service {
    /// Serves these skills.
    pub fn new(host: Host, defaults: CallDefaults, catalogue: Catalogue) -> Service {
        Service { inner: Arc::new(Inner { host, defaults, catalogue }) }
    }

    /// The skills that are served.
    pub fn catalogue(&self) -> &Catalogue {
        &self.inner.catalogue
    }

    /// The host that calls are made on.
    pub fn host(&self) -> &Host {
        &self.inner.host
    }

    /// Makes a call. Dropping the future cancels it.
    pub async fn call(&self, _client: &Client, request: CallRequest) -> Result<Report, CallError> {
        let inner = self.inner.clone();
        let ended = EndWithFuture(request.cancel.clone());
        let done = tokio::task::spawn_blocking(move || inner.make_call(&request)).await;
        drop(ended);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }
}

impl Inner {
    fn make_call(&self, request: &CallRequest) -> Result<Report, CallError> {
        let CallRequest { skill, params, config, limits, cancel } = request;
        let skill = self.catalogue.get(skill).ok_or_else(|| CallError::NoSuchSkill(skill.clone()))?;
        let mut call = self.defaults.call(skill.id()).with_params(params)?;
        call.config = config.clone();
        call.limits = limits.clone().apply_to(call.limits);
        call.cancel = cancel.clone();
        Ok(self.host.call(skill, &call)?)
    }
}

/// Cancels the call when its future is dropped. After its end that does nothing.
struct EndWithFuture(CancelToken);

impl Drop for EndWithFuture {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
