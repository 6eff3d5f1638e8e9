//! Promise: every decision and every request is told, without what the query carried.

use crate::support::{Guest, Rules, Server, Setup, get, ok};
use skillcell::http::Event;

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
