//! All connections that one cell has open, by number. This is what the door talks to.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use crate::error::HttpError;
use crate::exchange::{Exchange, shown};
use crate::gate::Refusal;
use crate::ready::{self, Readiness};
use crate::terms::Terms;

/// The connections of one cell. Dropping it ends them all.
pub struct Exchanges {
    terms: Arc<Terms>,
    open: HashMap<u32, Exchange>,
    next: u32,
}

impl Exchanges {
    pub fn new(terms: Terms) -> Exchanges {
        Exchanges { terms: Arc::new(terms), open: HashMap::new(), next: 1 }
    }

    /// None of these connections, on the same terms.
    pub fn sibling(&self) -> Exchanges {
        Exchanges { terms: self.terms.clone(), open: HashMap::new(), next: 1 }
    }

    /// Opens a connection and gives its number, which is never given again.
    pub fn open(&mut self, tls: bool, host: &str, port: u16) -> Result<u32, HttpError> {
        let cap = self.terms.limits.connections;
        if self.open.len() >= cap {
            let error = HttpError::TooLarge { what: "the number of open connections", cap: cap as u64 };
            self.terms.tell_refusal(None, shown(host, port), &Refusal::always("limit", error.to_string()));
            return Err(error);
        }
        let exchange = Exchange::open(self.terms.clone(), tls, host, port)?;
        let id = self.next;
        self.next = id.checked_add(1).ok_or(HttpError::NotOpen)?;
        self.open.insert(id, exchange);
        Ok(id)
    }

    /// See [`Exchange::connect`].
    pub fn connect(&mut self, id: u32, deadline: Instant) -> Result<(), HttpError> {
        self.get(id)?.connect(deadline)
    }

    /// See [`Exchange::start_tls`].
    pub fn start_tls(&mut self, id: u32, deadline: Instant) -> Result<(), HttpError> {
        self.get(id)?.start_tls(deadline)
    }

    /// See [`Exchange::write`].
    pub fn write(&mut self, id: u32, bytes: &[u8], deadline: Instant) -> Result<(), HttpError> {
        self.get(id)?.write(bytes, deadline)
    }

    /// See [`Exchange::read`].
    pub fn read(&mut self, id: u32, max: usize, deadline: Instant) -> Result<Vec<u8>, HttpError> {
        self.get(id)?.read(max, deadline)
    }

    /// See [`Exchange::is_readable`].
    pub fn is_readable(&mut self, id: u32) -> Result<bool, HttpError> {
        self.get(id).map(|exchange| exchange.is_readable())
    }

    /// What reading each of these would do; waits, within the deadline, until there is something to read. See `ready`.
    pub fn wait(&mut self, ids: &[u32], deadline: Instant) -> Vec<Readiness> {
        let mut found: HashMap<u32, &mut Exchange> =
            self.open.iter_mut().filter(|(id, _)| ids.contains(id)).map(|(id, exchange)| (*id, exchange)).collect();
        let mut all: Vec<Option<&mut Exchange>> = ids.iter().map(|id| found.remove(id)).collect();
        ready::wait(&mut all, deadline)
    }

    pub fn close(&mut self, id: u32) {
        self.open.remove(&id);
    }

    fn get(&mut self, id: u32) -> Result<&mut Exchange, HttpError> {
        self.open.get_mut(&id).ok_or(HttpError::NotOpen)
    }
}
