//! Promise: no wait is longer than what was allowed for it, whatever the server does.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::support::{Guest, Rules, Server, Setup, code, get, ok, soon};
use super::tls::{Authority, REQUEST};
use crate::common::server;
use skillcell_http::HttpLimits;

const SHORT: Duration = Duration::from_millis(80);

/// Sends `first`, then nothing until the test is over.
fn stuck(first: &'static str) -> (Server, mpsc::Sender<()>) {
    let (send, receive) = mpsc::channel::<()>();
    let receive = Mutex::new(receive);
    let server = Server::start(move |_, wire| {
        wire.write_all(first.as_bytes()).unwrap();
        wire.flush().unwrap();
        let _ = receive.lock().unwrap().recv();
        false
    });
    (server, send)
}

fn limits(change: impl Fn(&mut HttpLimits)) -> Setup {
    let mut setup = Setup::default();
    change(&mut setup.limits);
    setup
}

#[test]
fn waits_for_a_server_end_when_their_time_is_up() {
    let half = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
    for (first, setup) in [
        ("", limits(|limits| limits.first_byte = SHORT)),
        ("HTTP/1.1 200", limits(|limits| limits.first_byte = SHORT)),
        (half, limits(|limits| limits.idle = SHORT)),
    ] {
        let (server, _hold) = stuck(first);
        let started = Instant::now();
        assert_eq!(code(setup.guest().once(&server, get(&server, "/", ""))), "timed_out", "{first}");
        assert!(started.elapsed() >= SHORT && started.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn the_deadline_cuts_every_wait_short_and_reading_can_go_on() {
    let (send, receive) = mpsc::channel::<()>();
    let receive = Mutex::new(receive);
    let server = Server::start(move |_, wire| {
        receive.lock().unwrap().recv().unwrap();
        wire.write_all(ok("late").as_bytes()).is_ok()
    });
    let mut guest = Guest::new();
    let id = guest.open(&server);
    guest.write(id, get(&server, "/", "")).unwrap();
    assert_eq!(code(guest.exchanges.read(id, 10, Instant::now() + SHORT)), "timed_out");
    assert_eq!(code(guest.exchanges.read(id, 10, Instant::now())), "timed_out");
    send.send(()).unwrap();
    assert!(guest.read(id).unwrap().ends_with("late"));
}

const DEADLINE: Duration = Duration::from_millis(600);

/// Sends a byte now and then, more often than the deadline, for longer than a test may take.
fn drip(bytes: &[u8], wire: &mut dyn Write) {
    for byte in bytes.iter().take(40) {
        if wire.write_all(&[*byte]).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A guest for whom `api.example.org` is a server that serves one connection.
fn guest_of(authority: &Authority, serve: impl FnOnce(TcpStream) + Send + 'static) -> Guest {
    let (listener, port) = server::listener();
    let resolve = [("api.example.org".to_owned(), ([127, 0, 0, 1], port).into())].into();
    std::thread::spawn(move || serve(listener.accept().unwrap().0));
    Setup { client: authority.client(), rules: Rules { resolve, ..Rules::default() }, ..Setup::default() }.guest()
}

fn assert_in_time(started: Instant) {
    let took = started.elapsed();
    assert!(took >= DEADLINE && took < DEADLINE + Duration::from_secs(1), "{took:?}");
}

#[test]
fn a_server_that_drips_its_handshake_gains_no_time() {
    let mut guest = guest_of(&Authority::new(), |mut stream| {
        let _hello = stream.read(&mut [0; 4096]).unwrap();
        let mut record = vec![0; 5 + 0x4000];
        record[..5].copy_from_slice(&[22, 3, 3, 0x40, 0]);
        drip(&record, &mut stream);
    });
    let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
    let started = Instant::now();
    assert_eq!(code(guest.exchanges.connect(id, started + DEADLINE)), "timed_out");
    assert_in_time(started);
}

#[test]
fn a_server_that_drips_a_record_gains_no_time() {
    let authority = Authority::new();
    let config = Arc::new(authority.config("api.example.org"));
    let mut guest = guest_of(&authority, |mut stream| {
        let mut session = rustls::ServerConnection::new(config).unwrap();
        let _request = rustls::Stream::new(&mut session, &mut stream).read(&mut [0; 4096]).unwrap();
        session.writer().write_all(ok("dripping").as_bytes()).unwrap();
        let mut record = Vec::new();
        session.write_tls(&mut record).unwrap();
        drip(&record, &mut stream);
    });
    let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
    guest.write(id, REQUEST).unwrap();
    let started = Instant::now();
    assert_eq!(code(guest.exchanges.read(id, 10, started + DEADLINE)), "timed_out");
    assert_in_time(started);
}

#[test]
fn a_server_that_drips_without_tls_gains_no_time() {
    let server = Server::start(|_, wire| {
        drip(ok("dripping").as_bytes(), wire);
        false
    });
    let mut guest = Guest::new();
    let id = guest.open(&server);
    guest.write(id, get(&server, "/", "")).unwrap();
    let started = Instant::now();
    assert_eq!(code(guest.exchanges.read(id, 10, started + DEADLINE)), "timed_out");
    assert_in_time(started);
}

#[test]
fn a_server_that_takes_nothing_ends_the_upload() {
    let (_listener, port) = server::listener();
    let mut setup = limits(|limits| limits.idle = SHORT);
    setup.limits.request_bytes = 1 << 30;
    setup.limits.total_request_bytes = 1 << 30;
    let mut guest = setup.guest();
    let id = guest.exchanges.open(false, "127.0.0.1", port).unwrap();
    let head = format!("PUT / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 1000000000\r\n\r\n");
    guest.write(id, head).unwrap();
    let piece = vec![0; 1 << 20];
    let end = (0..1000).find_map(|_| guest.write(id, &piece).err()).unwrap();
    assert_eq!(end.code(), "timed_out");
    assert_eq!(code(guest.write(id, "more")), "timed_out");
}

#[test]
fn a_port_where_nobody_listens_refuses() {
    let port = server::nobody();
    let mut guest = Guest::new();
    let id = guest.exchanges.open(false, "127.0.0.1", port).unwrap();
    assert_eq!(code(guest.exchanges.connect(id, soon())), "connection_refused");
    let id = guest.exchanges.open(false, "127.0.0.1", port).unwrap();
    let text = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    assert_eq!(code(guest.write(id, text)), "connection_refused");
}
