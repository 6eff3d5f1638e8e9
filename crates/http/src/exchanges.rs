//! All open connections of one cell, by number. The door uses this.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Instant;

use crate::call_context::CallContext;
use crate::error::HttpError;
use crate::exchange::{Exchange, audit_url};
use crate::gate::Refusal;
use crate::ready::{self, Readiness};
use crate::wait::Wait;
use skillcell_limits::cancel::CancelToken;

/// The connections of one cell. Dropping it closes them all.
pub struct Exchanges {
    context: Arc<CallContext>,
    open: HashMap<u32, Exchange>,
    next: u32,
    cancel: CancelToken,
}

impl Exchanges {
    /// Cancelling the token ends every wait.
    pub fn new(context: CallContext, cancel: CancelToken) -> Exchanges {
        Exchanges { context: Arc::new(context), open: HashMap::new(), next: 1, cancel }
    }

    /// A new, empty set of connections that shares this one's context.
    pub fn with_same_context(&self, cancel: CancelToken) -> Exchanges {
        Exchanges { context: self.context.clone(), open: HashMap::new(), next: 1, cancel }
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Opens a connection and returns its number. Numbers are never reused.
    pub fn open(&mut self, tls: bool, host: &str, port: u16) -> Result<u32, HttpError> {
        let cap = self.context.limits.connections;
        if self.open.len() >= cap {
            let error = HttpError::TooLarge { what: "the number of open connections", cap: cap as u64 };
            self.context.record_refusal(
                None,
                audit_url(host, port),
                &Refusal::by_builtin_check("limit", error.to_string()),
            );
            return Err(error);
        }
        let exchange = Exchange::open(self.context.clone(), tls, host, port)?;
        let id = self.next;
        self.next = id.checked_add(1).ok_or(HttpError::NotOpen)?;
        self.open.insert(id, exchange);
        Ok(id)
    }

    /// See [`Exchange::connect`].
    pub fn connect(&mut self, id: u32, deadline: Instant) -> Result<(), HttpError> {
        let (exchange, wait) = self.get_with_wait(id, deadline)?;
        exchange.connect(wait)
    }

    /// See [`Exchange::start_tls`].
    pub fn start_tls(&mut self, id: u32, deadline: Instant) -> Result<(), HttpError> {
        let (exchange, wait) = self.get_with_wait(id, deadline)?;
        exchange.start_tls(wait)
    }

    /// See [`Exchange::write`].
    pub fn write(&mut self, id: u32, bytes: &[u8], deadline: Instant) -> Result<(), HttpError> {
        let (exchange, wait) = self.get_with_wait(id, deadline)?;
        exchange.write(bytes, wait)
    }

    /// See [`Exchange::read`].
    pub fn read(&mut self, id: u32, max: usize, deadline: Instant) -> Result<Vec<u8>, HttpError> {
        let (exchange, wait) = self.get_with_wait(id, deadline)?;
        exchange.read(max, wait)
    }

    /// See [`Exchange::is_readable`].
    pub fn is_readable(&self, id: u32) -> Result<bool, HttpError> {
        self.open.get(&id).map(Exchange::is_readable).ok_or(HttpError::NotOpen)
    }

    /// Waits until one of these has something to read, or until the deadline. Returns the state of each. See `ready`.
    pub fn wait(&mut self, ids: &[u32], deadline: Instant) -> Vec<Readiness> {
        let mut found: HashMap<u32, &mut Exchange> =
            self.open.iter_mut().filter(|(id, _)| ids.contains(id)).map(|(id, exchange)| (*id, exchange)).collect();
        let mut all: Vec<Option<&mut Exchange>> = ids.iter().map(|id| found.remove(id)).collect();
        ready::wait_for_any(&mut all, Wait::new(deadline, &self.cancel))
    }

    /// Waits until a connection is ready or another descriptor is readable. Returns the connection's state, and whether the
    /// other is readable.
    pub fn wait_beside(&mut self, id: u32, other: BorrowedFd<'_>, deadline: Instant) -> io::Result<(Readiness, bool)> {
        let exchange = self.open.get_mut(&id).ok_or(ErrorKind::NotConnected)?;
        ready::wait_beside(exchange, other, Wait::new(deadline, &self.cancel))
    }

    /// Whether a proxy resolves names.
    pub fn is_proxied(&self) -> bool {
        self.context.client.is_proxied()
    }

    /// The addresses of a name, not checked against policy.
    pub fn look_up(&self, host: &str, deadline: Instant) -> Result<Vec<IpAddr>, HttpError> {
        self.context.client.look_up(host, Wait::new(deadline, &self.cancel))
    }

    pub fn close(&mut self, id: u32) {
        self.open.remove(&id);
    }

    fn get_with_wait(&mut self, id: u32, deadline: Instant) -> Result<(&mut Exchange, Wait<'_>), HttpError> {
        let exchange = self.open.get_mut(&id).ok_or(HttpError::NotOpen)?;
        Ok((exchange, Wait::new(deadline, &self.cancel)))
    }
}
