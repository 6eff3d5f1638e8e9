//! Makes connections: only to addresses that the gate allowed, all of a name's addresses checked before the first is tried.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::connect;
use crate::connection::{Connection, Key};
use crate::error::HttpError;
use crate::gate::Gate;
use crate::place::Place;
use crate::pool::Pool;
use crate::resolve::{Lookup, Resolver};
use crate::tls::Tls;
use crate::wait::{Wait, is_timeout};
use skillcell_policy::{Allowed, ForwardProxy};

/// What a client needs to know.
///
/// Defaults: no authorities but the system's, names looked up by the system, no proxy. Proxy variables of the environment
/// are not read.
#[derive(Debug, Clone, Default)]
pub struct ClientSettings {
    /// PEM files of authorities that are trusted besides the system's.
    pub ca_files: Vec<PathBuf>,
    /// Resolves names instead of the system's resolver.
    pub lookup: Option<Arc<dyn Lookup>>,
    /// Proxy for all requests except those to hosts with a `--resolve` entry.
    pub forward_proxy: Option<ForwardProxy>,
}

/// Why a client can't be made.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("can't take authorities from `{path}`: {reason}", path = path.display())]
    CaFile { path: PathBuf, reason: String },
    #[error("can't set up TLS")]
    Tls(#[source] rustls::Error),
}

/// The host's HTTP client: TLS settings, idle connections and cached names, shared by all cells.
pub struct HttpClient {
    tls: Tls,
    pool: Pool,
    resolver: Resolver,
    forward_proxy: Option<ForwardProxy>,
}

/// The addresses of a place, all of them allowed by the gate; or the addresses of the proxy, if the gate allowed the name.
/// Only [`HttpClient::check_addresses`] makes one.
#[derive(Debug, Clone)]
pub struct Checked {
    place: Place,
    addresses: Vec<SocketAddr>,
    proxied: bool,
}

impl ClientSettings {
    pub fn with_ca_files(ca_files: Vec<PathBuf>) -> ClientSettings {
        ClientSettings { ca_files, ..ClientSettings::default() }
    }
}

impl HttpClient {
    pub fn new(settings: &ClientSettings) -> Result<HttpClient, ClientError> {
        let resolver = Resolver::new(settings.lookup.clone());
        Ok(HttpClient {
            tls: Tls::new(&settings.ca_files)?,
            pool: Pool::default(),
            resolver,
            forward_proxy: settings.forward_proxy.clone(),
        })
    }

    /// Resolves the name once and asks the gate about every address.
    pub fn check_addresses(
        &self,
        place: &Place,
        allowed: &Allowed,
        gate: &dyn Gate,
        wait: Wait<'_>,
    ) -> Result<Checked, HttpError> {
        let proxy = self.forward_proxy.as_ref();
        // A `--resolve` entry overrides both the proxy and an address in the URL.
        let addresses = match (gate.resolve(place.host(), place.port()), proxy, place.address()) {
            (Some(address), _, _) => vec![SocketAddr::new(address.ip().to_canonical(), address.port())],
            (None, Some(proxy), _) => {
                // The proxy resolves the name, so there is no address to check; the name is checked instead.
                gate.unresolved(place, allowed)?;
                return Ok(Checked {
                    place: place.clone(),
                    addresses: self.proxy_addresses(proxy, wait)?,
                    proxied: true,
                });
            }
            (None, None, Some(address)) => vec![SocketAddr::new(address, place.port())],
            (None, None, None) => {
                let found = self.resolver.resolve(place.host(), wait)?;
                found.into_iter().map(|address| SocketAddr::new(address, place.port())).collect()
            }
        };
        for address in &addresses {
            gate.address(place, allowed, address.ip())?;
        }
        Ok(Checked { place: place.clone(), addresses, proxied: false })
    }

    /// The proxy's addresses. They are not checked against policy, because the operator named the proxy.
    fn proxy_addresses(&self, proxy: &ForwardProxy, wait: Wait<'_>) -> Result<Vec<SocketAddr>, HttpError> {
        let found = match proxy.host().addr() {
            Some(address) => vec![address],
            None => self.resolver.resolve(&proxy.host().to_string(), wait)?,
        };
        Ok(found.into_iter().map(|address| SocketAddr::new(address, proxy.port())).collect())
    }

    /// Whether a proxy resolves names.
    pub fn is_proxied(&self) -> bool {
        self.forward_proxy.is_some()
    }

    /// The addresses of a name, not checked against policy.
    pub fn look_up(&self, host: &str, wait: Wait<'_>) -> Result<Vec<std::net::IpAddr>, HttpError> {
        self.resolver.resolve(host, wait)
    }

    /// A new connection to the first address that answers.
    pub fn connect(&self, checked: &Checked, tls: bool, wait: Wait<'_>) -> Result<Connection, HttpError> {
        let (socket, address) = connect::connect_first(&checked.addresses, wait)
            .map_err(|error| connect_error(&checked.place, &error, wait))?;
        let key = Key { tls: false, place: checked.place.clone(), address, proxied: checked.proxied };
        let connection = Connection::new(key, socket);
        if tls { self.start_tls(connection, wait) } else { Ok(connection) }
    }

    pub fn start_tls(&self, connection: Connection, wait: Wait<'_>) -> Result<Connection, HttpError> {
        connection.start_tls(self.tls.config(), wait)
    }

    /// An idle connection that finished its last request less than `rest` ago and that this call may use.
    pub fn take_idle(&self, checked: &Checked, tls: bool, rest: Duration, call: u64) -> Option<Connection> {
        self.pool.take_idle(checked, tls, rest, call)
    }

    /// Whether connecting can be deferred, because an idle connection is available.
    pub fn can_reuse(&self, checked: &Checked, call: u64) -> bool {
        self.pool.has_idle(checked, call)
    }

    pub fn give_back(&self, connection: Connection) {
        self.pool.give_back(connection);
    }
}

impl Checked {
    /// Whether a connection leads to the place and one of the addresses that were checked.
    pub fn covers_connection(&self, key: &Key) -> bool {
        key.place == self.place && key.proxied == self.proxied && self.addresses.contains(&key.address)
    }

    pub fn is_proxied(&self) -> bool {
        self.proxied
    }
}

fn connect_error(place: &Place, error: &io::Error, wait: Wait<'_>) -> HttpError {
    if is_timeout(error) {
        return wait.timeout_error("connecting");
    }
    let (place, reason) = (place.to_string(), error.kind().to_string());
    match error.kind() {
        ErrorKind::ConnectionRefused => HttpError::ConnectionRefused { place, reason },
        _ => HttpError::Unreachable { place, reason },
    }
}
