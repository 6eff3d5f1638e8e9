//! Promise: every decision and every request is told, without what the query carried.

use crate::support::{Guest, Rules, Server, Setup, code, get, ok};
use skillcell::http::{Event, HostPattern, HttpLimits, Secret, Secrets};

#[test]
fn a_request_is_told_when_decided_and_when_over() {
    let server = Server::saying(ok("12345"));
    let mut guest = Guest::new();
    guest.once(&server, get(&server, "/a?token=x", "")).unwrap();
    let events = guest.audit.0.lock().unwrap();
    let place = format!("http://127.0.0.1:{}/a", server.port());
    let [Event::Decided { method: Some(method), url, allowed: true, rule, reason: None }, finished] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((method.as_str(), url, rule.as_str()), ("GET", &place, "everything"));
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
        let hosts = vec![HostPattern::parse("127.0.0.1").unwrap()];
        let secret = Secret { name: "KEY".into(), value: "value-12345".into(), hosts, allow_plain_http: true };
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
        let sent = server.requests.lock().unwrap().concat();
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
