//! Connections that finished a request and can serve another. Shared by the cells of one client, bounded in number and age.
//!
//! A server that doesn't read a request's body may parse it as the next request, or as the beginning of one that
//! continues with whatever is sent next (request smuggling). So a connection that carried a body is reused only by the
//! call that sent it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::client::Checked;
use crate::connection::Connection;

const MAX_IDLE: usize = 32;
const MAX_IDLE_PER_PLACE: usize = 4;
/// Servers commonly close idle connections after 5 s or more. A request that can't be repeated only uses a connection
/// that was idle for much less.
pub const MAX_REST: Duration = Duration::from_secs(15);
pub const MAX_REST_UNREPEATABLE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Pool {
    resting: Mutex<Vec<(Connection, Instant)>>,
}

impl Pool {
    /// Takes the most recently used idle connection to any of these addresses.
    pub fn take_idle(&self, checked: &Checked, tls: bool, rest: Duration, call: u64) -> Option<Connection> {
        loop {
            let mut connection = {
                let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
                resting.retain(|(_, since)| since.elapsed() < MAX_REST);
                let fits = |(connection, since): &(Connection, Instant)| {
                    let key = &connection.key;
                    let open_to = connection.only_for.is_none_or(|owner| owner == call);
                    let same = key.tls == tls && checked.covers_connection(key);
                    same && open_to && since.elapsed() < rest
                };
                let index = resting.iter().rposition(fits)?;
                resting.remove(index).0
            };
            if connection.is_quiet() {
                connection.reused = true;
                return Some(connection);
            }
        }
    }

    pub fn give_back(&self, connection: Connection) {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(other, _): &(Connection, Instant)| other.key == connection.key;
        if resting.iter().filter(|entry| same(entry)).count() >= MAX_IDLE_PER_PLACE
            && let Some(oldest) = resting.iter().position(same)
        {
            resting.remove(oldest);
        }
        if resting.len() >= MAX_IDLE {
            resting.remove(0);
        }
        resting.push((connection, Instant::now()));
    }

    /// Whether there is an idle connection for a request, with or without TLS.
    pub fn has_idle(&self, checked: &Checked, call: u64) -> bool {
        let resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |(connection, since): &(Connection, Instant)| {
            let key = &connection.key;
            let open_to = connection.only_for.is_none_or(|owner| owner == call);
            checked.covers_connection(key) && open_to && since.elapsed() < MAX_REST_UNREPEATABLE
        };
        resting.iter().any(fits)
    }
}
