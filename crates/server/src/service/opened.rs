//! A session that a call opens for itself.

use super::Service;
use crate::{Client, NoSession};

/// A session that was opened and in which nothing ran yet. Dropped before [`keep`](OpenedSession::keep), it is closed: the call
/// that it was opened for was not made.
pub struct OpenedSession {
    service: Service,
    client: Client,
    skill: String,
    handle: String,
    is_kept: bool,
}

impl Service {
    /// Opens a session of a skill for a client's call.
    pub fn open_session(&self, client: &Client, skill: &str) -> Result<OpenedSession, NoSession> {
        let handle = self.sessions().open(client, skill)?;
        let (service, client, skill) = (self.clone(), client.clone(), skill.to_owned());
        Ok(OpenedSession { service, client, skill, handle, is_kept: false })
    }
}

impl OpenedSession {
    /// What it is called by.
    pub fn handle(&self) -> &str {
        &self.handle
    }

    /// Leaves it open for the next call.
    pub fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for OpenedSession {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = self.service.sessions().close(&self.client, &self.skill, &self.handle);
        }
    }
}
