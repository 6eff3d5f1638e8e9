//! The sessions that clients have open: which handle leads to which [`Session`], for whom and for which skill. What a
//! session is and how it ends is the host's; who may open one is this table's.
//!
//! A handle is minted here, of 192 random bits. Another client's handle, another skill's and one that never was look
//! the same. An ended session stays for a while, so that its client is told why; there is no thread: [`SessionTable::sweep`]
//! is for a coarse tick of the server, and whatever opens a session sweeps too.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Client;
use skillcell_host::{Session, SessionLimits};

/// Random bytes of a handle.
const HANDLE_BYTES: usize = 24;
/// How long an ended session is remembered for its client.
const ENDED_KEPT: Duration = Duration::from_secs(60);

/// Bounds of a server's sessions.
///
/// Defaults: 8 for each client, 48 in all, each with the default [`SessionLimits`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionTableLimits {
    /// Sessions that one client may have open.
    pub per_client: usize,
    /// Sessions of all clients together. It should be less than the host keeps.
    pub in_all: usize,
    /// How long each may last.
    pub session: SessionLimits,
}

impl Default for SessionTableLimits {
    fn default() -> SessionTableLimits {
        SessionTableLimits { per_client: 8, in_all: 48, session: SessionLimits::default() }
    }
}

/// Why a client gets no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoSession {
    /// Nothing that this client opened for this skill has this handle, or it is long gone.
    #[error("there is no such session")]
    NotFound,
    /// This client has as many open as it may.
    #[error("{cap} sessions are open, and no more may be: close one first")]
    TooMany {
        /// How many it may have.
        cap: usize,
    },
    /// All clients together have as many open as there may be.
    #[error("the server has as many sessions open as it may; try again later")]
    Full,
    /// The system gave no random numbers.
    #[error("no handle can be made: the system gave no random numbers")]
    NoRandomness,
}

/// Sessions by handle.
#[derive(Default)]
pub struct SessionTable {
    limits: SessionTableLimits,
    open: Mutex<HashMap<String, Entry>>,
}

struct Entry {
    client: Option<String>,
    skill: String,
    session: Session,
    /// When its end was noticed.
    ended: Option<Instant>,
}

impl SessionTable {
    /// An empty table.
    pub fn new(limits: SessionTableLimits) -> SessionTable {
        SessionTable { limits, open: Mutex::default() }
    }

    /// Opens a session of a skill for a client, and gives its handle. The cell is made by the first call.
    pub fn open(&self, client: &Client, skill: &str) -> Result<String, NoSession> {
        let handle = mint_handle()?;
        let mut open = self.lock();
        sweep_entries(&mut open);
        self.check_room(&mut open, client)?;
        let session = Session::new(self.limits.session);
        let entry = Entry { client: client.name.clone(), skill: skill.to_owned(), session, ended: None };
        open.insert(handle.clone(), entry);
        Ok(handle)
    }

    /// The session behind a handle. One that ended lately is given too: a call with it says why.
    pub fn get(&self, client: &Client, skill: &str, handle: &str) -> Result<Session, NoSession> {
        let open = self.lock();
        let entry = open.get(handle).filter(|entry| entry.is_of(client) && entry.skill == skill);
        entry.map(|entry| entry.session.clone()).ok_or(NoSession::NotFound)
    }

    /// Ends a session and forgets it. A call that runs in it goes on to its own end.
    pub fn close(&self, client: &Client, skill: &str, handle: &str) -> Result<(), NoSession> {
        self.close_where(handle, |entry| entry.is_of(client) && entry.skill == skill)
    }

    /// The same where the skill is not named.
    pub fn close_by_handle(&self, client: &Client, handle: &str) -> Result<(), NoSession> {
        self.close_where(handle, |entry| entry.is_of(client))
    }

    fn close_where(&self, handle: &str, is_meant: impl FnOnce(&Entry) -> bool) -> Result<(), NoSession> {
        let mut open = self.lock();
        open.get(handle).filter(|entry| is_meant(entry)).ok_or(NoSession::NotFound)?;
        let removed = open.remove(handle);
        drop(open);
        // Not under the lock: unmapping a cell takes a while.
        removed.iter().for_each(|entry| entry.session.close());
        Ok(())
    }

    /// Ends what is past its bounds, and forgets what ended a while ago. Cheap; meant to be called every few seconds.
    pub fn sweep(&self) {
        sweep_entries(&mut self.lock());
    }

    /// How many sessions are open, for people and metrics.
    pub fn count(&self) -> usize {
        self.lock().values().filter(|entry| entry.session.ended().is_none()).count()
    }

    /// Whether there is room for another session of this client. The ended ones make way if need be, so the table never
    /// holds more than its bound.
    fn check_room(&self, open: &mut HashMap<String, Entry>, client: &Client) -> Result<(), NoSession> {
        let SessionTableLimits { per_client, in_all, .. } = self.limits;
        let of_client = |open: &HashMap<String, Entry>| open.values().filter(|entry| entry.is_of(client)).count();
        if of_client(open) >= per_client {
            open.retain(|_, entry| !entry.is_of(client) || entry.ended.is_none());
        }
        if of_client(open) >= per_client {
            return Err(NoSession::TooMany { cap: per_client });
        }
        if open.len() >= in_all {
            open.retain(|_, entry| entry.ended.is_none());
        }
        if open.len() >= in_all { Err(NoSession::Full) } else { Ok(()) }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn is_of(&self, client: &Client) -> bool {
        self.client == client.name
    }
}

fn sweep_entries(open: &mut HashMap<String, Entry>) {
    let now = Instant::now();
    open.retain(|_, entry| {
        if entry.ended.is_none() && entry.session.ended().is_some() {
            entry.ended = Some(now);
        }
        entry.ended.is_none_or(|ended| now.duration_since(ended) < ENDED_KEPT)
    });
}

fn mint_handle() -> Result<String, NoSession> {
    let mut bytes = [0; HANDLE_BYTES];
    getrandom::fill(&mut bytes).map_err(|_| NoSession::NoRandomness)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use skillcell_host::SessionEnd;

    use super::*;

    fn client(name: &str) -> Client {
        let mut client = Client::default();
        client.name = Some(name.to_owned());
        client
    }

    fn table(per_client: usize, in_all: usize) -> SessionTable {
        SessionTable::new(SessionTableLimits { per_client, in_all, ..SessionTableLimits::default() })
    }

    #[test]
    fn a_handle_is_long_random_and_good_for_its_client_and_skill_only() {
        let table = table(4, 4);
        let (ann, bob, nobody) = (client("ann"), client("bob"), Client::default());
        let handle = table.open(&ann, "a/b").unwrap();
        assert_eq!(handle.len(), 2 * HANDLE_BYTES);
        assert_ne!(table.open(&ann, "a/b").unwrap(), handle);
        assert!(table.get(&ann, "a/b", &handle).is_ok());
        let unknown = table.get(&ann, "a/b", "00").unwrap_err();
        for (who, skill) in [(&bob, "a/b"), (&nobody, "a/b"), (&ann, "a/c")] {
            assert_eq!(table.get(who, skill, &handle).unwrap_err(), unknown, "another's looks like none");
            assert_eq!(table.close(who, skill, &handle).unwrap_err(), unknown);
        }
        assert_eq!(table.close_by_handle(&bob, &handle).unwrap_err(), unknown);
        assert!(table.get(&ann, "a/b", &handle).unwrap().ended().is_none(), "nobody else closed it");
    }

    #[test]
    fn who_needs_no_token_shares_nothing_with_who_has_one() {
        let table = table(4, 4);
        let handle = table.open(&Client::default(), "a/b").unwrap();
        assert!(table.get(&Client::default(), "a/b", &handle).is_ok());
        assert_eq!(table.get(&client(""), "a/b", &handle).unwrap_err(), NoSession::NotFound);
    }

    #[test]
    fn a_closed_session_is_gone_and_its_place_is_free() {
        let (table, ann) = (table(1, 4), client("ann"));
        let handle = table.open(&ann, "a/b").unwrap();
        let session = table.get(&ann, "a/b", &handle).unwrap();
        assert_eq!(table.open(&ann, "a/b").unwrap_err(), NoSession::TooMany { cap: 1 });
        table.close(&ann, "a/b", &handle).unwrap();
        assert_eq!(session.ended(), Some(SessionEnd::Closed));
        assert_eq!(table.get(&ann, "a/b", &handle).unwrap_err(), NoSession::NotFound);
        let handle = table.open(&ann, "a/b").unwrap();
        table.close_by_handle(&ann, &handle).unwrap();
        assert!(table.open(&ann, "a/b").is_ok());
    }

    #[test]
    fn one_client_cannot_take_all_and_all_together_are_bounded() {
        let table = table(2, 3);
        for _ in 0..2 {
            table.open(&client("ann"), "a/b").unwrap();
        }
        assert_eq!(table.open(&client("ann"), "a/b").unwrap_err(), NoSession::TooMany { cap: 2 });
        table.open(&client("bob"), "a/b").unwrap();
        assert_eq!(table.open(&client("bob"), "a/b").unwrap_err(), NoSession::Full);
        assert_eq!(table.count(), 3);
    }

    #[test]
    fn an_ended_session_is_told_of_until_its_place_is_wanted() {
        let (table, ann) = (table(1, 1), client("ann"));
        let handle = table.open(&ann, "a/b").unwrap();
        table.get(&ann, "a/b", &handle).unwrap().close();
        table.sweep();
        assert_eq!(table.get(&ann, "a/b", &handle).unwrap().ended(), Some(SessionEnd::Closed), "its client learns why");
        assert_eq!(table.count(), 0);
        table.open(&ann, "a/b").unwrap();
        assert_eq!(table.get(&ann, "a/b", &handle).unwrap_err(), NoSession::NotFound);
    }

    #[test]
    fn a_sweep_ends_what_nobody_used() {
        let mut limits = SessionTableLimits::default();
        limits.session = SessionLimits::new(Duration::ZERO, Duration::from_secs(600));
        let (table, ann) = (SessionTable::new(limits), client("ann"));
        let handle = table.open(&ann, "a/b").unwrap();
        table.sweep();
        assert!(table.lock()[&handle].ended.is_some());
    }

    #[test]
    fn what_ended_long_ago_is_forgotten() {
        let (table, ann) = (table(2, 2), client("ann"));
        let handle = table.open(&ann, "a/b").unwrap();
        let long_ago = Instant::now().checked_sub(ENDED_KEPT);
        table.lock().get_mut(&handle).unwrap().ended = long_ago;
        table.sweep();
        assert_eq!(long_ago.is_some(), table.lock().is_empty());
    }
}
