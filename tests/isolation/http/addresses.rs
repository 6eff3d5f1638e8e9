//! Promise: a connection goes only to an address that the gate allowed for that name.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use super::support::{Guest, Rules, Server, Setup, body, code, get, ok, soon};
use skillcell_http::{ClientSettings, HttpClient, Lookup};

pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn named(server: &Server, more: Rules) -> Setup {
    let resolve = HashMap::from([("api.example.org".to_owned(), server.address)]);
    Setup { rules: Rules { resolve, ..more }, ..Setup::default() }
}

#[test]
fn a_name_leads_where_the_operator_says() {
    let server = Server::echo();
    let mut guest = named(&server, Rules::default()).guest();
    let id = guest.exchanges.open(false, "API.example.org", 80).unwrap();
    let answer = guest.ask(id, "GET / HTTP/1.1\r\nHost: api.Example.org\r\n\r\n").unwrap();
    assert!(body(&answer).contains("Host: api.example.org\r\n"), "{answer}");
}

#[test]
fn a_refused_address_is_refused_however_it_was_found() {
    let server = Server::saying(ok(""));
    let rules = || Rules { refuse_address: Some(LOOPBACK), ..Rules::default() };
    for host in ["127.0.0.1", "api.example.org", "localhost", "::ffff:127.0.0.1", "[::ffff:7f00:1]"] {
        let mut guest = named(&server, rules()).guest();
        let id = guest.exchanges.open(false, host, server.port()).unwrap();
        let shown = if host.contains(':') { "127.0.0.1" } else { host };
        let text = format!("GET / HTTP/1.1\r\nHost: {shown}:{}\r\n\r\n", server.port());
        assert_eq!(code(guest.write(id, text)), "refused", "{host}");
        let id = guest.exchanges.open(false, host, server.port()).unwrap();
        assert_eq!(code(guest.exchanges.connect(id, soon())), "refused", "{host}");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_resting_connection_is_checked_again() {
    let server = Server::saying(ok(""));
    let setup = Setup::default();
    let client = setup.client.clone();
    setup.guest().once(&server, get(&server, "/", "")).unwrap();
    let rules = Rules { refuse_address: Some(LOOPBACK), ..Rules::default() };
    let mut other = Setup { client, rules, ..Setup::default() }.guest();
    assert_eq!(code(other.once(&server, get(&server, "/", ""))), "refused");
    assert_eq!(server.count(), 1);
}

#[test]
fn a_name_without_an_address_is_not_found() {
    let mut guest = Guest::new();
    let id = guest.exchanges.open(false, "nowhere.invalid", 80).unwrap();
    let end = guest.exchanges.connect(id, soon());
    assert_eq!(code(end), "name_not_found");
}

#[test]
fn a_refused_request_reaches_nobody() {
    let server = Server::saying(ok(""));
    let rules = || Rules { refuse_path: Some("/admin"), ..Rules::default() };
    let guest = || Setup { rules: rules(), ..Setup::default() }.guest();
    assert_eq!(code(guest().once(&server, get(&server, "/admin", ""))), "refused");
    assert_eq!(code(guest().once(&server, get(&server, "/admin?x", ""))), "refused");
    assert_eq!(server.connections(), 0);
    assert_eq!(code(guest().once(&server, get(&server, "/other", ""))), "ok");
}

#[test]
fn connecting_ahead_is_checked_and_used() {
    let server = Server::saying(ok("x"));
    let mut guest = Guest::new();
    let id = guest.open(&server);
    guest.exchanges.connect(id, soon()).unwrap();
    assert_eq!(code(guest.ask(id, get(&server, "/", ""))), "ok");
    assert_eq!(server.connections(), 1);
    let rules = Rules { refuse_host: Some("127.0.0.1"), ..Rules::default() };
    let mut guest = Setup { rules, ..Setup::default() }.guest();
    let id = guest.open(&server);
    assert_eq!(code(guest.exchanges.connect(id, soon())), "refused");
    assert_eq!(server.connections(), 1);
}

#[test]
fn deceptive_hosts_are_not_even_opened() {
    let mut guest = Guest::new();
    for host in ["2130706433", "0x7f.1", "example.org.", "a@b", "ex\u{e4}mple.org", "127.1"] {
        assert_eq!(code(guest.exchanges.open(false, host, 80)), "refused", "{host}");
    }
}

/// Says something else each time that it is asked, the last of it for ever.
#[derive(Debug)]
pub struct Fickle(Mutex<Vec<Vec<IpAddr>>>);

impl Lookup for Fickle {
    fn addresses(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
        let mut sayings = self.0.lock().unwrap();
        Ok(if sayings.len() > 1 { sayings.remove(0) } else { sayings[0].clone() })
    }
}

/// What is left to say shows how often it was asked.
pub fn fickle(sayings: &[&[IpAddr]]) -> (Arc<Fickle>, Setup) {
    let lookup = Arc::new(Fickle(Mutex::new(sayings.iter().map(|saying| saying.to_vec()).collect())));
    let mut settings = ClientSettings::default();
    settings.lookup = Some(lookup.clone());
    let client = Arc::new(HttpClient::new(&settings).unwrap());
    (lookup, Setup { client, rules: Rules { refuse_address: Some(OTHER), ..Rules::default() }, ..Setup::default() })
}

pub const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

#[test]
fn the_address_that_was_checked_is_the_one_that_is_connected_to() {
    let server = Server::saying(ok("here"));
    let (lookup, setup) = fickle(&[&[LOOPBACK], &[OTHER]]);
    let mut guest = setup.guest();
    let id = guest.exchanges.open(false, "api.example.org", server.port()).unwrap();
    let text = format!("GET / HTTP/1.1\r\nHost: api.example.org:{}\r\n\r\n", server.port());
    assert_eq!(body(&guest.ask(id, text).unwrap()), "here");
    assert_eq!(lookup.0.lock().unwrap().len(), 1, "asked once");
}

#[test]
fn one_refused_address_among_others_refuses_the_name() {
    let server = Server::saying(ok("here"));
    for saying in [[LOOPBACK, OTHER], [OTHER, LOOPBACK]] {
        let (_, setup) = fickle(&[&saying]);
        let mut guest = setup.guest();
        let id = guest.exchanges.open(false, "api.example.org", server.port()).unwrap();
        let text = format!("GET / HTTP/1.1\r\nHost: api.example.org:{}\r\n\r\n", server.port());
        assert_eq!(code(guest.write(id, text)), "refused");
    }
    assert_eq!(server.connections(), 0);
}
