//! Promise: every decision and every request is told, without what the query carried.

use std::io::Write;
use std::net::{TcpListener, TcpStream};

use super::addresses::{LOOPBACK, OTHER, fickle};
use super::support::{Guest, Rules, Server, Setup, code, get, ok, soon};
use crate::common::server;
use skillcell_http::{Event, HttpLimits, Secret, Secrets};

#[test]
fn a_request_is_told_when_decided_and_when_over() {
    let server = Server::saying(ok("12345"));
    let mut guest = Guest::new();
    guest.once(&server, get(&server, "/a?token=x", "")).unwrap();
    let events = guest.audit.0.lock().unwrap();
    let place = format!("http://127.0.0.1:{}/a", server.port());
    let [Event::Decided { method: Some(method), url, allowed: true, rule, reason: None, .. }, finished] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(
        (method.as_str(), url, rule.as_str()),
        ("GET", &place, &*format!("* http://127.0.0.1:{}/*", server.port()))
    );
    let Event::Finished { url, address, status: Some(200), error: None, bytes_up, bytes_down: 5, .. } = finished else {
        panic!("{finished:?}")
    };
    assert_eq!((url, *address, *bytes_up > 40), (&place, Some(server.address), true));
    assert!(serde_json::to_string(finished).unwrap().starts_with(r#"{"event":"finished","method":"GET""#));
}

#[test]
fn refusals_are_told_with_their_rule() {
    let server = Server::saying(ok(""));
    let rules = Rules { refuse_path: Some("/no"), ..Rules::default() };
    let mut guest = Setup { rules, ..Setup::default() }.guest();
    let _ = guest.once(&server, get(&server, "/no", ""));
    let _ = guest.once(&server, "GET / HTTP/1.1\r\nHost: other\r\n\r\n");
    let _ = guest.once(&server, "GET http://x/ HTTP/1.1\r\nHost: other\r\n\r\n");
    let rules: Vec<String> = guest
        .audit
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|event| match event {
            Event::Decided { allowed: false, rule, .. } => rule.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(rules, ["path", "host-header", "malformed"]);
}

#[test]
fn a_request_that_the_guest_gave_up_is_told_when_its_cell_ends() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart");
    let mut guest = Guest::new();
    let id = guest.open(&server);
    guest.write(id, get(&server, "/", "")).unwrap();
    let audit = guest.audit.clone();
    drop(guest);
    let events = audit.0.lock().unwrap();
    assert!(matches!(&events[1], Event::Finished { error: Some("abandoned"), .. }), "{events:?}");
}

#[test]
fn what_can_not_be_recorded_is_not_sent() {
    let server = Server::saying(ok(""));
    let mut guest = Guest::new();
    guest.audit.1.set(|event| matches!(event, Event::Decided { allowed: true, .. })).unwrap();
    assert_eq!(code(guest.once(&server, get(&server, "/", ""))), "refused");
    assert_eq!(server.count(), 0);
}

#[test]
fn a_secret_is_told_before_it_is_sent_or_it_is_not_sent() {
    for refuses in [false, true] {
        let server = Server::saying(ok(""));
        let secret = Secret::new("KEY@http://127.0.0.1".parse().unwrap(), "value-12345".to_owned());
        let secrets = Secrets::new(vec![secret]).unwrap();
        let key = secrets.placeholder("KEY").unwrap().to_owned();
        let mut guest = Setup { secrets, ..Setup::default() }.guest();
        if refuses {
            guest.audit.1.set(|event| matches!(event, Event::Secret { .. })).unwrap();
        }
        let whole = guest.once(&server, get(&server, "/", &format!("X-Key: {key}\r\n")));
        let chunk = format!("{:x}\r\n{key}\r\n0\r\n\r\n", key.len());
        let chunked = guest.once(&server, get(&server, "/", "Transfer-Encoding: chunked\r\n") + &chunk);
        let expected = if refuses { "refused" } else { "ok" };
        assert_eq!((code(whole), code(chunked)), (expected, expected));
        let sent = server.requests().concat();
        assert_eq!(sent.matches("value-12345").count(), if refuses { 0 } else { 2 }, "{sent}");
        let events = guest.audit.0.lock().unwrap();
        let told = events.iter().filter(|event| {
            matches!(event, Event::Secret { name, host, tls: false, address }
                if name == "KEY" && host.starts_with("127.0.0.1:") && *address == server.address)
        });
        assert_eq!(told.count(), if refuses { 0 } else { 2 }, "{events:?}");
    }
}

#[test]
fn a_request_over_the_limit_is_told_as_denied() {
    let server = Server::saying(ok(""));
    let mut limits = HttpLimits::default();
    limits.requests = 1;
    let mut guest = Setup { limits, ..Setup::default() }.guest();
    guest.once(&server, get(&server, "/", "")).unwrap();
    assert_eq!(code(guest.once(&server, get(&server, "/", ""))), "too_large");
    let events = guest.audit.0.lock().unwrap();
    assert!(matches!(&events[2], Event::Decided { allowed: false, rule, .. } if rule == "limit"), "{events:?}");
}

#[test]
fn a_connection_over_the_limit_is_told_as_denied() {
    let server = Server::saying(ok(""));
    let mut limits = HttpLimits::default();
    (limits.connections, limits.requests) = (1, 1);
    let mut guest = Setup { limits, ..Setup::default() }.guest();
    let id = guest.open(&server);
    guest.exchanges.connect(id, soon()).unwrap();
    assert_eq!(code(guest.exchanges.open(false, "127.0.0.1", server.port())), "too_large");
    guest.exchanges.close(id);
    let id = guest.open(&server);
    assert_eq!(code(guest.exchanges.connect(id, soon())), "too_large");
    let events = guest.audit.0.lock().unwrap();
    let place = format!("//127.0.0.1:{}", server.port());
    for event in &events[1..3] {
        let Event::Decided { method: None, url, allowed: false, rule, .. } = event else { panic!("{events:?}") };
        assert_eq!((url, rule.as_str()), (&place, "limit"));
    }
}

#[test]
fn a_secret_that_is_sent_again_is_told_with_where_it_goes_then() {
    let (first, port) = server::listener();
    let receive = |wire: &mut TcpStream| server::receive(wire, "http", &mut Vec::new());
    let second = TcpListener::bind(("127.0.0.2", port)).unwrap();
    // The first address answers once, takes one more request, and is gone.
    std::thread::spawn(move || {
        let (mut wire, _) = first.accept().unwrap();
        drop(first);
        receive(&mut wire).unwrap();
        wire.write_all(ok("").as_bytes()).unwrap();
        receive(&mut wire).unwrap();
    });
    std::thread::spawn(move || {
        let (mut wire, _) = second.accept().unwrap();
        receive(&mut wire).unwrap();
        wire.write_all(ok("").as_bytes()).unwrap();
        let _ = receive(&mut wire);
    });
    let secret = Secret::new("KEY@http://api.example.org".parse().unwrap(), "value-12345".to_owned());
    let secrets = Secrets::new(vec![secret]).unwrap();
    let key = secrets.placeholder("KEY").unwrap().to_owned();
    let (_, setup) = fickle(&[&[LOOPBACK, OTHER]]);
    let mut guest = Setup { secrets, rules: Rules::default(), ..setup }.guest();
    let id = guest.exchanges.open(false, "api.example.org", port).unwrap();
    for more in [String::new(), format!("X-Key: {key}\r\n")] {
        guest.ask(id, format!("GET / HTTP/1.1\r\nHost: api.example.org:{port}\r\n{more}\r\n")).unwrap();
    }
    drop(guest.exchanges);
    let events = guest.audit.0.lock().unwrap();
    let told = events.iter().filter_map(|event| match event {
        Event::Secret { address, .. } => Some(address.ip()),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [LOOPBACK, OTHER], "{events:?}");
    let Some(Event::Finished { address: Some(address), secrets, .. }) = events.last() else { panic!("{events:?}") };
    assert_eq!((address.ip(), secrets.len()), (OTHER, 1));
}
