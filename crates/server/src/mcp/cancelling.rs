//! Calls that can be ended by a message of another request: a client of the older era over HTTP sends its cancellation as a
//! notification, with the id of a session and of a request.
//!
//! A session here is a name and nothing else: the server keeps none, so a restart or another replica does no harm. It is not
//! to be guessed, which is what keeps one client from ending another's calls.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Whose call it is: the session's name, the client's name and the id of the request, as JSON.
pub type CallName = (String, Option<String>, String);

/// The calls that run now.
#[derive(Default)]
pub struct RunningCalls(Mutex<HashMap<CallName, CancellationToken>>);

/// One of them, until this is dropped.
pub struct Registered<'a> {
    calls: &'a RunningCalls,
    name: Option<CallName>,
    /// Cancelled by its client.
    pub token: CancellationToken,
}

impl RunningCalls {
    /// Has a call be found by its name; one without a name only ends by itself.
    pub fn register(&self, name: Option<CallName>) -> Registered<'_> {
        let token = CancellationToken::new();
        if let Some(name) = &name {
            self.lock().insert(name.clone(), token.clone());
        }
        Registered { calls: self, name, token }
    }

    /// Ends a call; one that is unknown, or over, is none.
    pub fn cancel(&self, name: &CallName) {
        if let Some(token) = self.lock().get(name) {
            token.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CallName, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            self.calls.lock().remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(session: &str, client: Option<&str>, id: &str) -> CallName {
        (session.to_owned(), client.map(str::to_owned), id.to_owned())
    }

    #[test]
    fn a_call_is_ended_by_its_own_client_alone() {
        let calls = RunningCalls::default();
        let registered = calls.register(Some(name("s", Some("a"), "1")));
        for other in [name("t", Some("a"), "1"), name("s", None, "1"), name("s", Some("a"), "\"1\"")] {
            calls.cancel(&other);
            assert!(!registered.token.is_cancelled());
        }
        calls.cancel(&name("s", Some("a"), "1"));
        assert!(registered.token.is_cancelled());
        drop(registered);
        assert!(calls.lock().is_empty());
    }
}
