//! Promise: TLS is verified, always, for the name that was asked for.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::support::{Guest, Rules, Server, Setup, body, code, ok, soon};
use crate::common::server::{self, Wire};
use skillcell_http::{ClientSettings, HttpClient, HttpError, Readiness};

/// The authority of the tests, for these.
pub struct Authority(server::Authority);

impl Authority {
    pub fn new() -> Authority {
        Authority(server::Authority::new())
    }

    pub fn server(&self, name: &str, handler: impl Fn(&str, &mut dyn Wire) -> bool + Send + Sync + 'static) -> Server {
        Server::start_with(Some(Arc::new(self.config(name))), handler)
    }

    pub fn config(&self, name: &str) -> rustls::ServerConfig {
        self.0.config(&[name], None)
    }

    pub fn file(&self) -> std::path::PathBuf {
        self.0.file.path().to_owned()
    }

    /// A client that trusts this authority, from a file.
    pub fn client(&self) -> Arc<HttpClient> {
        let mut settings = ClientSettings::default();
        settings.ca_files = vec![self.file()];
        Arc::new(HttpClient::new(&settings).unwrap())
    }
}

pub fn leads(name: &str, server: &Server) -> Rules {
    Rules { resolve: HashMap::from([(name.to_owned(), server.address)]), ..Rules::default() }
}

fn guest(client: Arc<HttpClient>, name: &str, server: &Server) -> Guest {
    Setup { client, rules: leads(name, server), ..Setup::default() }.guest()
}

pub const REQUEST: &str = "GET / HTTP/1.1\r\nHost: api.example.org\r\n\r\n";

#[test]
fn a_server_of_a_given_authority_is_trusted_and_its_connection_re_used() {
    let authority = Authority::new();
    let server = authority.server("api.example.org", |_, wire| wire.write_all(ok("private").as_bytes()).is_ok());
    let mut guest = guest(authority.client(), "api.example.org", &server);
    let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
    for _ in 0..3 {
        assert_eq!(body(&guest.ask(id, REQUEST).unwrap()), "private");
    }
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_connection_with_a_flood_of_session_tickets_is_replaced() {
    let authority = Authority::new();
    let mut config = authority.config("api.example.org");
    config.send_tls13_tickets = 600;
    let handler = |_: &str, wire: &mut dyn Wire| wire.write_all(ok("private").as_bytes()).is_ok();
    let server = Server::start_with(Some(Arc::new(config)), handler);
    let mut guest = guest(authority.client(), "api.example.org", &server);
    let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
    guest.exchanges.connect(id, soon()).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(body(&guest.ask(id, REQUEST).unwrap()), "private");
    assert_eq!(server.connections(), 2);
}

#[test]
fn a_session_ticket_is_no_answer_and_what_tls_has_taken_in_is() {
    let (authority, (go, wait)) = (Authority::new(), std::sync::mpsc::channel::<()>());
    let wait = std::sync::Mutex::new(wait);
    let server = authority.server("api.example.org", move |_, wire| {
        // The handshake is over by now, so its tickets are on their way.
        wait.lock().unwrap().recv().is_ok() && wire.write_all(ok("late").as_bytes()).is_ok()
    });
    let mut guest = guest(authority.client(), "api.example.org", &server);
    let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
    guest.write(id, REQUEST).unwrap();
    let started = Instant::now();
    let states = guest.exchanges.wait(&[id], started + Duration::from_millis(200));
    assert_eq!(states, [Readiness::Waiting]);
    assert!(started.elapsed() >= Duration::from_millis(200));
    go.send(()).unwrap();
    assert_eq!(guest.exchanges.wait(&[id], soon()), [Readiness::Ready]);
    // By now the answer is no longer in the socket.
    assert_eq!(guest.exchanges.wait(&[id], soon()), [Readiness::Ready]);
    assert_eq!(body(&guest.read(id).unwrap()), "late");
}

#[test]
fn a_connection_can_turn_to_tls_before_its_first_byte() {
    let authority = Authority::new();
    let server = authority.server("api.example.org", |_, wire| wire.write_all(ok("private").as_bytes()).is_ok());
    let mut guest = guest(authority.client(), "api.example.org", &server);
    let id = guest.exchanges.open(false, "api.example.org", 443).unwrap();
    guest.exchanges.connect(id, soon()).unwrap();
    guest.exchanges.start_tls(id, soon()).unwrap();
    assert_eq!(body(&guest.ask(id, REQUEST).unwrap()), "private");
    guest.write(id, "GET").unwrap();
    assert_eq!(code(guest.exchanges.start_tls(id, soon())), "protocol");
    assert_eq!(server.connections(), 1);
}

#[test]
fn an_unknown_authority_is_refused() {
    let authority = Authority::new();
    let server = authority.server("api.example.org", |_, wire| wire.write_all(ok("").as_bytes()).is_ok());
    for client in [Setup::default().client, Authority::new().client()] {
        let mut guest = guest(client, "api.example.org", &server);
        let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
        let end = guest.write(id, REQUEST).unwrap_err();
        assert!(matches!(&end, HttpError::Certificate { .. }), "{end}");
        let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
        assert_eq!(code(guest.exchanges.connect(id, soon())), "tls_failed");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let authority = Authority::new();
    let server = authority.server("other.example.org", |_, wire| wire.write_all(ok("").as_bytes()).is_ok());
    let mut guest = guest(authority.client(), "api.example.org", &server);
    let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
    let end = guest.write(id, REQUEST).unwrap_err();
    assert!(matches!(&end, HttpError::Certificate { reason, .. } if reason.contains("api.example.org")), "{end}");
    assert_eq!(server.count(), 0);
}

#[test]
fn a_server_that_speaks_no_tls_fails_the_handshake() {
    let server = Server::start(|_, _| false);
    let mut guest = guest(Setup::default().client, "api.example.org", &server);
    let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
    assert_eq!(code(guest.exchanges.connect(id, soon())), "tls_failed");
}

#[test]
fn a_file_without_certificates_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut settings = ClientSettings::default();
    settings.ca_files = vec![file.path().to_owned()];
    assert!(HttpClient::new(&settings).is_err());
    settings.ca_files = vec!["/nonexistent".into()];
    assert!(HttpClient::new(&settings).is_err());
}
