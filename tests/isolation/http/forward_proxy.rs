//! Promise: through an operator's proxy, what was allowed is asked for, by name, and nothing else.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::support::{Guest, Rules, Server, Setup, body, code, ok, soon};
use super::tls::{Authority, REQUEST, leads};
use crate::common::server::receive;
use skillcell_http::{ClientSettings, HttpClient};

fn client(proxy: SocketAddr, authority: Option<&Authority>) -> Arc<HttpClient> {
    let mut settings = ClientSettings::default();
    settings.ca_files.extend(authority.map(Authority::file));
    settings.forward_proxy = Some(format!("http://{proxy}").parse().unwrap());
    Arc::new(HttpClient::new(&settings).unwrap())
}

fn guest(proxy: SocketAddr, rules: Rules) -> Guest {
    Setup { client: client(proxy, None), rules, ..Setup::default() }.guest()
}

#[test]
fn a_plain_request_names_the_whole_url_and_its_connection_is_kept_for_its_host() {
    let proxy = Server::saying(ok("by proxy"));
    let mut guest = guest(proxy.address, Rules::default());
    let id = guest.exchanges.open(false, "api.example.org", 8080).unwrap();
    guest.exchanges.connect(id, soon()).unwrap();
    let request = "GET /v1/x?q=1 HTTP/1.1\r\nHost: api.example.org:8080\r\nProxy-Authorization: Basic eA==\r\n\r\n";
    for _ in 0..2 {
        assert_eq!(body(&guest.ask(id, request).unwrap()), "by proxy");
        let told = "GET http://api.example.org:8080/v1/x?q=1 HTTP/1.1\r\nHost: api.example.org:8080\r\n\r\n";
        assert_eq!(proxy.last(), told);
    }
    let id = guest.exchanges.open(false, "other.example.org", 8080).unwrap();
    guest.ask(id, request.replace("api.", "other.")).unwrap();
    assert_eq!(proxy.connections(), 2);
}

/// Takes one connection, answers what comes first with these bytes, and speaks TLS from then on if there is an answer.
fn tunnel(authority: &Authority, first: &'static str) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let (listener, config) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(authority.config("api.example.org")));
    let (address, seen) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
    let told = seen.clone();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut received = Vec::new();
        told.lock().unwrap().extend(receive(&mut stream, "http", &mut received).map(|request| request.text()));
        stream.write_all(first.as_bytes()).unwrap();
        let mut wire = rustls::StreamOwned::new(rustls::ServerConnection::new(config).unwrap(), stream);
        while let Some(request) = receive(&mut wire, "https", &mut received) {
            told.lock().unwrap().push(request.text());
            wire.write_all(ok("in the tunnel").as_bytes()).unwrap();
        }
    });
    (address, seen)
}

#[test]
fn https_goes_through_a_tunnel_and_its_certificate_is_the_servers() {
    let authority = Authority::new();
    let (proxy, seen) = tunnel(&authority, "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n");
    let mut guest = Setup { client: client(proxy, Some(&authority)), ..Setup::default() }.guest();
    let id = guest.exchanges.open(false, "api.example.org", 443).unwrap();
    guest.exchanges.connect(id, soon()).unwrap();
    guest.exchanges.start_tls(id, soon()).unwrap();
    for _ in 0..2 {
        assert_eq!(body(&guest.ask(id, REQUEST).unwrap()), "in the tunnel");
    }
    let connect = "CONNECT api.example.org:443 HTTP/1.1\r\nHost: api.example.org:443\r\n\r\n";
    assert_eq!(*seen.lock().unwrap(), [connect, REQUEST, REQUEST]);
}

#[test]
fn a_proxy_that_gives_no_tunnel_is_told_of_and_gets_no_request() {
    let authority = Authority::new();
    for (first, expected) in [
        ("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "connection_refused"),
        ("HTTP/1.1 200 OK\r\n\r\nunasked", "connection_refused"),
        ("SSH-2.0-x\r\n\r\n", "protocol"),
    ] {
        let (proxy, seen) = tunnel(&authority, first);
        let mut guest = Setup { client: client(proxy, Some(&authority)), ..Setup::default() }.guest();
        let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
        assert_eq!(code(guest.write(id, REQUEST)), expected, "{first}");
        assert_eq!(seen.lock().unwrap().len(), 1, "{first}");
    }
}

#[test]
fn a_proxy_that_says_nothing_is_not_waited_for_beyond_the_time() {
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut guest = guest(mute.local_addr().unwrap(), Rules::default());
    let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
    let started = Instant::now();
    assert_eq!(code(guest.exchanges.connect(id, started + Duration::from_millis(100))), "timed_out");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_policy_refuses_never_reaches_the_proxy_and_what_has_an_address_goes_there() {
    let (proxy, server) = (Server::saying(ok("proxy")), Server::saying(ok("direct")));
    let mut refused = guest(proxy.address, Rules { refuse_unresolved: true, ..Rules::default() });
    let id = refused.exchanges.open(false, "api.example.org", 80).unwrap();
    assert_eq!(code(refused.exchanges.connect(id, soon())), "refused");
    assert_eq!(code(refused.write(id, REQUEST)), "refused");
    let rules = Rules { refuse_unresolved: true, ..leads("api.example.org", &server) };
    let mut direct = guest(proxy.address, rules);
    let id = direct.exchanges.open(false, "api.example.org", 80).unwrap();
    assert_eq!(body(&direct.ask(id, REQUEST).unwrap()), "direct");
    assert_eq!((proxy.connections(), server.last()), (0, REQUEST.to_owned()));
}
