//! Resolves names with the system's resolver, which can't be interrupted: it runs on its own thread, with a deadline.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::error::HttpError;
use crate::wait::Wait;

/// How long an answer is cached. Short, because the system's resolver doesn't report the TTL.
const FRESH: Duration = Duration::from_secs(5);
const MAX_KNOWN: usize = 256;
/// The most threads that wait for the resolver, so that a hanging one doesn't cost a thread for each call.
const MAX_ASKING: usize = 32;

/// Resolves names: the system's resolver, unless an embedder provides its own. Its answers are not trusted; policy
/// decides about every address.
pub trait Lookup: fmt::Debug + Send + Sync {
    /// All addresses of a name; none, or an error, where it has none. It may take long: it runs on its own thread.
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

#[derive(Debug)]
struct System;

impl Lookup for System {
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
    }
}

pub struct Resolver {
    lookup: Arc<dyn Lookup>,
    known: Mutex<HashMap<String, (Vec<IpAddr>, Instant)>>,
    asking: Arc<AtomicUsize>,
}

impl Resolver {
    /// Asks `lookup`, or the system.
    pub fn new(lookup: Option<Arc<dyn Lookup>>) -> Resolver {
        let lookup = lookup.unwrap_or_else(|| Arc::new(System));
        Resolver { lookup, known: Mutex::default(), asking: Arc::default() }
    }

    /// All addresses of a name, IPv4 inside IPv6 as IPv4.
    pub fn resolve(&self, host: &str, wait: Wait<'_>) -> Result<Vec<IpAddr>, HttpError> {
        if let Some(addresses) = self.cached_addresses(host) {
            return Ok(addresses);
        }
        let addresses = self.ask_lookup(host, wait)?;
        if addresses.is_empty() {
            return Err(HttpError::NameNotFound { host: host.to_owned() });
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (_, since)| since.elapsed() < FRESH);
        if known.len() < MAX_KNOWN {
            known.insert(host.to_owned(), (addresses.clone(), Instant::now()));
        }
        Ok(addresses)
    }

    fn cached_addresses(&self, host: &str) -> Option<Vec<IpAddr>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(host).filter(|(_, since)| since.elapsed() < FRESH).map(|(addresses, _)| addresses.clone())
    }

    fn ask_lookup(&self, host: &str, wait: Wait<'_>) -> Result<Vec<IpAddr>, HttpError> {
        let late = || wait.timeout_error("resolving the host's name");
        if self.asking.fetch_add(1, Ordering::Relaxed) >= MAX_ASKING {
            self.asking.fetch_sub(1, Ordering::Relaxed);
            return Err(late());
        }
        let (asking, lookup, name) = (Asking(self.asking.clone()), self.lookup.clone(), host.to_owned());
        let (send, receive) = mpsc::sync_channel(2);
        let cancelled = send.clone();
        let _wakes = wait.on_cancel(move || drop(cancelled.try_send(None)));
        let thread = std::thread::Builder::new().name("resolve".to_owned()).spawn(move || {
            let _asking = asking;
            let found = lookup.addresses(&name);
            let _ = send.send(Some(found.map(|found| found.iter().map(IpAddr::to_canonical).collect::<Vec<_>>())));
        });
        if thread.is_err() {
            return Err(late());
        }
        match receive.recv_timeout(wait.time_left()) {
            Ok(Some(Ok(mut addresses))) => {
                let mut seen = Vec::new();
                addresses.retain(|address| {
                    !seen.contains(address) && {
                        seen.push(*address);
                        true
                    }
                });
                Ok(addresses)
            }
            Ok(Some(Err(_))) => Err(HttpError::NameNotFound { host: host.to_owned() }),
            Ok(None) | Err(_) => Err(late()),
        }
    }
}

/// Decrements the number of waiting threads when dropped.
struct Asking(Arc<AtomicUsize>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
