//! A server that writes whatever a test tells it to, a gate with a few rules, and a guest that writes bytes.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::common::server::{self, Wire};
use skillcell::CancelToken;
use skillcell_http::{
    Asked, Audit, CallContext, ClientSettings, Event, Exchanges, Gate, HttpClient, HttpError, HttpLimits, Place,
    Refusal, Secrets,
};
use skillcell_policy::{Allowed, AllowedRequest, DecidedBy, HttpRule, HttpRules, Target};

/// A server that does whatever a handler does to the wire, which says whether to stay.
pub struct Server {
    pub address: SocketAddr,
    server: server::Server,
}

impl Server {
    pub fn start(handler: impl Fn(&str, &mut dyn Wire) -> bool + Send + Sync + 'static) -> Server {
        Server::start_with(None, handler)
    }

    pub fn start_with(
        tls: Option<Arc<rustls::ServerConfig>>,
        handler: impl Fn(&str, &mut dyn Wire) -> bool + Send + Sync + 'static,
    ) -> Server {
        let server = server::Server::with(tls, move |request, wire| Ok(handler(&request.text(), wire)));
        Server { address: SocketAddr::from(([127, 0, 0, 1], server.port)), server }
    }

    /// Answers everything with these bytes.
    pub fn saying(answer: impl Into<Vec<u8>>) -> Server {
        let answer = answer.into();
        Server::start(move |_, wire| wire.write_all(&answer).is_ok())
    }

    /// Answers with the request itself as the body.
    pub fn echo() -> Server {
        Server::start(|request, wire| wire.write_all(ok(request).as_bytes()).is_ok())
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn connections(&self) -> usize {
        self.server.connections()
    }

    pub fn requests(&self) -> Vec<String> {
        self.server.seen().iter().map(server::Request::text).collect()
    }

    pub fn last(&self) -> String {
        self.requests().pop().unwrap_or_default()
    }

    pub fn count(&self) -> usize {
        self.server.seen().len()
    }
}

pub fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Allows everything but what it is told to refuse.
#[derive(Default)]
pub struct Rules {
    pub refuse_path: Option<&'static str>,
    pub refuse_method: Option<&'static str>,
    pub refuse_address: Option<IpAddr>,
    pub refuse_unresolved: bool,
    pub refuse_host: Option<&'static str>,
    pub resolve: HashMap<String, SocketAddr>,
}

impl Gate for Rules {
    fn connect(&self, place: &Place) -> Result<Allowed, Refusal> {
        if self.refuse_host == Some(place.host()) { Err(no("host")) } else { Ok(connection_to(place)) }
    }

    fn request(&self, asked: &Asked) -> Result<AllowedRequest, Refusal> {
        self.connect(&asked.place)?;
        if self.refuse_path == Some(asked.path.as_str()) {
            return Err(no("path"));
        }
        if self.refuse_method == Some(asked.method.as_str()) { Err(no("method")) } else { Ok(allow(asked)) }
    }

    fn address(&self, _: &Place, _: &Allowed, address: IpAddr) -> Result<(), Refusal> {
        if self.refuse_address == Some(address) { Err(no("address")) } else { Ok(()) }
    }

    fn unresolved(&self, _: &Place, _: &Allowed) -> Result<(), Refusal> {
        if self.refuse_unresolved { Err(no("unresolved")) } else { Ok(()) }
    }

    fn resolve(&self, host: &str, _: u16) -> Option<SocketAddr> {
        self.resolve.get(host).copied()
    }
}

/// Everything of one place, by either scheme.
fn rules_for(place: &Place) -> HttpRules {
    let rule = |scheme| HttpRule::parse(&format!("* {scheme}://{place}/*")).unwrap();
    HttpRules::new(vec![rule("http"), rule("https")], Vec::new())
}

fn connection_to(place: &Place) -> Allowed {
    rules_for(place).decide_connect(&Target::parse(&format!("http://{place}/")).unwrap()).unwrap()
}

pub fn allow(asked: &Asked) -> AllowedRequest {
    rules_for(&asked.place).decide(&asked.method, &Target::parse(&asked.url()).unwrap()).unwrap()
}

fn no(rule: &str) -> Refusal {
    Refusal { rule: rule.into(), by: DecidedBy::Check, message: format!("refused by {rule}"), hint: None }
}

/// Keeps events, but for those that it is told to refuse.
#[derive(Default)]
pub struct Kept(pub Mutex<Vec<Event>>, pub OnceLock<fn(&Event) -> bool>);

impl Audit for Kept {
    fn record(&self, event: &Event) -> Result<(), Refusal> {
        if self.1.get().is_some_and(|refuses| refuses(event)) {
            return Err(no("audit"));
        }
        self.0.lock().unwrap().push(event.clone());
        Ok(())
    }
}

/// One cell.
pub struct Guest {
    pub exchanges: Exchanges,
    pub audit: Arc<Kept>,
}

pub struct Setup {
    pub client: Arc<HttpClient>,
    pub rules: Rules,
    pub secrets: Secrets,
    pub limits: HttpLimits,
}

impl Default for Setup {
    fn default() -> Setup {
        let client = Arc::new(HttpClient::new(&ClientSettings::default()).unwrap());
        Setup { client, rules: Rules::default(), secrets: Secrets::default(), limits: HttpLimits::default() }
    }
}

impl Setup {
    pub fn guest(self) -> Guest {
        let audit = Arc::new(Kept::default());
        let gate = Arc::new(self.rules);
        let terms = CallContext::new(self.client, gate, audit.clone(), Arc::new(self.secrets), self.limits);
        Guest { exchanges: Exchanges::new(terms, CancelToken::default()), audit }
    }
}

pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

impl Guest {
    pub fn new() -> Guest {
        Setup::default().guest()
    }

    pub fn open(&mut self, server: &Server) -> u32 {
        self.exchanges.open(false, "127.0.0.1", server.port()).unwrap()
    }

    pub fn write(&mut self, id: u32, text: impl AsRef<[u8]>) -> Result<(), HttpError> {
        self.exchanges.write(id, text.as_ref(), soon())
    }

    /// Reads until the connection closes or waits for another request.
    pub fn read(&mut self, id: u32) -> Result<String, HttpError> {
        let mut all = Vec::new();
        loop {
            match self.exchanges.read(id, 64 << 10, soon()) {
                Ok(piece) if piece.is_empty() => break,
                Ok(piece) => all.extend_from_slice(&piece),
                Err(HttpError::NotReady) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(String::from_utf8_lossy(&all).into_owned())
    }

    pub fn ask(&mut self, id: u32, text: impl AsRef<[u8]>) -> Result<String, HttpError> {
        self.write(id, text)?;
        self.read(id)
    }

    /// One request on a connection of its own.
    pub fn once(&mut self, server: &Server, text: impl AsRef<[u8]>) -> Result<String, HttpError> {
        let id = self.open(server);
        let result = self.ask(id, text);
        self.exchanges.close(id);
        result
    }
}

/// A request for `path` with more header lines, each ending in CRLF.
pub fn get(server: &Server, path: &str, more: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{more}\r\n", server.port())
}

pub fn post(server: &Server, more: &str, body: &str) -> String {
    let host = format!("127.0.0.1:{}", server.port());
    format!("POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n{more}\r\n{body}", body.len())
}

pub fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

pub fn code<T>(result: Result<T, HttpError>) -> &'static str {
    result.err().map_or("ok", |error| error.code())
}
