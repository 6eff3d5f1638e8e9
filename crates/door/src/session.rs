//! One call's HTTP session, used both by the frames of a cell and by the proxy streams of other tiers.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::denials::Denials;
use super::gate::PolicyGate;
use super::not_granted;
use skillcell_http::{CallContext, Exchanges, HttpClient, HttpError, HttpLimits, Readiness, Refusal, Secrets};
use skillcell_limits::cancel::CancelToken;
use skillcell_policy::{Grants, Scheme, Target};

const RESOLVE: Duration = Duration::from_secs(10);
/// The most addresses of a name that are returned.
const MAX_ADDRESSES: usize = 16;
/// Returned for a name that only a proxy resolves: an address reserved for documentation, which nobody has.
const UNRESOLVED: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// The connections of one cell, or of one stream of a process.
pub struct HttpSession {
    exchanges: Exchanges,
    gate: Arc<PolicyGate>,
}

impl HttpSession {
    pub fn new(
        client: Arc<HttpClient>,
        grants: &Grants,
        secrets: Arc<Secrets>,
        denials: &Arc<Denials>,
        limits: HttpLimits,
        cancel: CancelToken,
    ) -> HttpSession {
        let gate = Arc::new(PolicyGate::new(grants, denials.clone()));
        let context = CallContext::new(client, gate.clone(), denials.clone(), secrets, limits);
        HttpSession { exchanges: Exchanges::new(context, cancel), gate }
    }

    /// Another set of connections that shares this one's grants and budget.
    pub fn with_same_grants(&self, cancel: CancelToken) -> HttpSession {
        HttpSession { exchanges: self.exchanges.with_same_context(cancel), gate: self.gate.clone() }
    }

    /// Whether the call was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.exchanges.is_cancelled()
    }

    /// Opens and connects, so that the guest's library sees failures where it expects them.
    pub fn open(&mut self, tls: bool, host: &str, port: u16, deadline: Instant) -> Result<u32, HttpError> {
        let id = self.exchanges.open(tls, host, port)?;
        self.exchanges.connect(id, deadline).inspect_err(|_| self.exchanges.close(id))?;
        Ok(id)
    }

    pub fn start_tls(&mut self, id: u32, deadline: Instant) -> Result<(), HttpError> {
        self.exchanges.start_tls(id, deadline)
    }

    pub fn write(&mut self, id: u32, bytes: &[u8], deadline: Instant) -> Result<(), HttpError> {
        self.exchanges.write(id, bytes, deadline)
    }

    pub fn read(&mut self, id: u32, max: usize, deadline: Instant) -> Result<Vec<u8>, HttpError> {
        self.exchanges.read(id, max, deadline)
    }

    /// See [`Exchanges::wait`].
    pub fn wait(&mut self, ids: &[u32], deadline: Instant) -> Vec<Readiness> {
        self.exchanges.wait(ids, deadline)
    }

    /// See [`Exchanges::wait_beside`].
    pub fn wait_beside(
        &mut self,
        id: u32,
        other: BorrowedFd<'_>,
        deadline: Instant,
    ) -> std::io::Result<(Readiness, bool)> {
        self.exchanges.wait_beside(id, other, deadline)
    }

    pub fn close(&mut self, id: u32) {
        self.exchanges.close(id);
    }

    /// The addresses of a name. It is looked up only if some rule is for that host, because DNS queries can leak data.
    pub fn look_up(&self, name: &str, port: Option<u16>, deadline: Instant) -> Result<Vec<IpAddr>, HttpError> {
        let refused = || HttpError::Refused(self.gate.refuse_name(name, not_granted(name, port)));
        let authority = format!("{name}:{}", port.unwrap_or(443));
        let target = Target::from_parts(Scheme::Https, &authority, "/").map_err(|_| refused())?;
        let allowed = self.gate.decide_lookup(&target).ok_or_else(refused)?;
        if let Some(entry) = self.gate.any_resolve(&target) {
            return Ok(vec![entry.addr()]);
        }
        if self.exchanges.is_proxied() {
            let checked = self.gate.check_left(&target, &allowed);
            checked.map_err(|denial| self.gate.refuse_name(name, *denial))?;
            return Ok(vec![UNRESOLVED]);
        }
        self.gate.record_lookup(name, &allowed)?;
        let mut found = self.exchanges.look_up(name, deadline.min(Instant::now() + RESOLVE))?;
        for addr in &found {
            let checked = self.gate.check_found(&target, &allowed, *addr);
            checked.map_err(|denial| self.gate.refuse_name(name, *denial))?;
        }
        found.truncate(MAX_ADDRESSES);
        Ok(found)
    }
}

/// The error when no network access is granted at all.
pub fn nothing_granted() -> HttpError {
    HttpError::Refused(Refusal::by_default("nothing of the network is granted"))
}

/// Refuses a connection when no network access is granted.
pub fn refuse_open(host: &str, port: u16, denials: &Denials) -> HttpError {
    denials.refuse_connection(host, port, not_granted(host, Some(port)));
    nothing_granted()
}

/// Refuses a name lookup when no network access is granted.
pub fn refuse_name(host: &str, port: Option<u16>, denials: &Denials) -> HttpError {
    let denial = not_granted(host, port);
    let _ = denials.record_lookup(host, Err(&denial));
    denials.add(denial);
    nothing_granted()
}
