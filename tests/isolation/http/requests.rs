//! Promise: what the guest asks is sent as it was understood, and what could be understood in two ways is not sent.

use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use super::support::{Guest, Rules, Server, Setup, body, code, get, ok, post, soon};
use crate::common::server;
use skillcell_http::{HttpError, HttpLimits};

#[test]
fn a_get_is_sent_and_answered() {
    let server = Server::saying(ok("hello"));
    let answer = Guest::new().once(&server, get(&server, "/a?b=c", "X-One: 1\r\n")).unwrap();
    assert_eq!(answer, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!(server.last(), get(&server, "/a?b=c", "X-One: 1\r\n"));
}

#[test]
fn a_request_may_arrive_byte_by_byte() {
    let server = Server::echo();
    let (mut guest, text) = (Guest::new(), post(&server, "", "some body"));
    let id = guest.open(&server);
    for byte in text.as_bytes() {
        guest.write(id, [*byte]).unwrap();
    }
    assert!(guest.read(id).unwrap().ends_with("\r\n\r\nsome body"));
}

#[test]
fn a_chunked_body_goes_on_in_chunks_before_it_is_complete() {
    let (listener, port) = server::listener();
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut seen, mut piece) = (String::new(), [0; 1000]);
        for end in ["3\r\nhel\r\n", "2\r\nlo\r\n0\r\n\r\n"] {
            while !seen.ends_with(end) {
                let count = stream.read(&mut piece).unwrap();
                seen += std::str::from_utf8(&piece[..count]).unwrap();
            }
            send.send(()).unwrap();
        }
        stream.write_all(ok("done").as_bytes()).unwrap();
    });
    let mut guest = Guest::new();
    let id = guest.exchanges.open(false, "127.0.0.1", port).unwrap();
    let head = format!("POST /up HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nTransfer-Encoding: chunked\r\n\r\n");
    guest.write(id, head).unwrap();
    guest.write(id, "5\r\nhel").unwrap();
    receive.recv_timeout(Duration::from_secs(10)).unwrap();
    guest.write(id, "lo\r\n0\r\n\r\n").unwrap();
    assert_eq!(body(&guest.read(id).unwrap()), "done");
}

#[test]
fn a_long_body_of_known_length_is_streamed() {
    let server = Server::start(|request, wire| wire.write_all(ok(&request.len().to_string()).as_bytes()).is_ok());
    let mut guest = Guest::new();
    let text = post(&server, "", &"x".repeat(3 << 20));
    let answer = guest.once(&server, &text).unwrap();
    assert_eq!(body(&answer), text.len().to_string());
}

#[test]
fn one_connection_serves_request_after_request() {
    let server = Server::echo();
    let mut guest = Guest::new();
    let id = guest.open(&server);
    for path in ["/1", "/2", "/3"] {
        assert!(body(&guest.ask(id, get(&server, path, "")).unwrap()).starts_with(&format!("GET {path} ")));
    }
    assert_eq!(server.connections(), 1);
}

#[test]
fn cells_share_resting_connections() {
    let server = Server::echo();
    let setup = Setup::default();
    let client = setup.client.clone();
    setup.guest().once(&server, get(&server, "/", "")).unwrap();
    Setup { client, ..Setup::default() }.guest().once(&server, get(&server, "/", "")).unwrap();
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_connection_on_which_a_body_was_sent_is_not_shared() {
    let server = Server::echo();
    let setup = Setup::default();
    let client = setup.client.clone();
    let mut guest = setup.guest();
    for _ in 0..2 {
        guest.once(&server, post(&server, "", "x")).unwrap();
    }
    assert_eq!(server.connections(), 1, "within a call it is");
    Setup { client, ..Setup::default() }.guest().once(&server, get(&server, "/", "")).unwrap();
    assert_eq!(server.connections(), 2);
}

#[test]
fn a_body_where_none_belongs_is_the_last_of_its_connection() {
    for method in ["GET", "HEAD", "DELETE", "OPTIONS", "QUERY"] {
        let server = Server::saying(ok(""));
        let mut guest = Guest::new();
        let request = |more: &str| format!("{method} / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{more}", server.port());
        guest.once(&server, request("Content-Length: 1\r\n\r\nx")).unwrap();
        assert!(server.last().contains("\r\nConnection: close\r\n"), "{}", server.last());
        for _ in 0..2 {
            guest.once(&server, request("Content-Length: 0\r\n\r\n")).unwrap();
            assert!(!server.last().contains("Connection: close"), "{}", server.last());
        }
        assert_eq!(server.connections(), 2, "{method}");
    }
}

#[test]
fn a_connection_that_the_server_gave_up_is_replaced() {
    let server =
        Server::start(|request, wire| wire.write_all(ok("once").as_bytes()).is_ok() && request.contains("/stay"));
    let mut guest = Guest::new();
    let id = guest.open(&server);
    for _ in 0..5 {
        assert_eq!(body(&guest.ask(id, get(&server, "/", "")).unwrap()), "once");
    }
    assert_eq!(server.connections(), 5);
}

#[test]
fn a_guest_that_asks_to_close_reads_an_end() {
    let server = Server::saying(ok("bye"));
    let mut guest = Guest::new();
    let id = guest.open(&server);
    let answer = guest.ask(id, get(&server, "/", "Connection: close\r\n")).unwrap();
    assert_eq!(answer, ok("bye"));
    assert_eq!(guest.exchanges.read(id, 10, soon()), Ok(Vec::new()));
    assert_eq!(code(guest.write(id, "GET")), "not_open");
    assert_eq!(server.last(), get(&server, "/", "Connection: close\r\n"));
}

#[test]
fn of_the_connection_a_server_is_told_only_whether_it_is_to_last() {
    let server = Server::saying(ok(""));
    let more = "Keep-Alive: 5\r\nTE: gzip\r\nProxy-Authorization: x\r\nConnection: X-Hop, keep-alive\r\nX-Hop: 1\r\nX-End: 2\r\n";
    Guest::new().once(&server, get(&server, "/", more)).unwrap();
    assert_eq!(server.last(), get(&server, "/", "Connection: keep-alive\r\nX-End: 2\r\n"));
}

#[test]
fn a_guest_that_waits_to_continue_is_told_to() {
    let server = Server::echo();
    let mut guest = Guest::new();
    let id = guest.open(&server);
    let text = post(&server, "Expect: 100-continue\r\n", "later");
    let (head, rest) = text.split_at(text.len() - 5);
    guest.write(id, head).unwrap();
    assert_eq!(guest.exchanges.read(id, 100, soon()).unwrap(), b"HTTP/1.1 100 Continue\r\n\r\n");
    let answer = guest.ask(id, rest).unwrap();
    assert!(answer.ends_with("later") && !answer.contains("Expect"), "{answer}");
}

#[test]
fn what_can_be_read_in_two_ways_is_refused_and_not_sent() {
    let server = Server::saying(ok(""));
    let host = format!("Host: 127.0.0.1:{}\r\n", server.port());
    let requests = [
        (
            "both lengths",
            format!("POST / HTTP/1.1\r\n{host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ),
        ("two lengths", format!("POST / HTTP/1.1\r\n{host}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc")),
        ("a list of lengths", format!("POST / HTTP/1.1\r\n{host}Content-Length: 3, 3\r\n\r\nabc")),
        ("a signed length", format!("POST / HTTP/1.1\r\n{host}Content-Length: +3\r\n\r\nabc")),
        ("another coding", format!("POST / HTTP/1.1\r\n{host}Transfer-Encoding: gzip, chunked\r\n\r\n")),
        ("two codings", format!("POST / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n")),
        ("a coding in disguise", format!("POST / HTTP/1.1\r\n{host}Transfer-Encoding: \x0bchunked\r\n\r\n")),
        ("blank before the colon", format!("POST / HTTP/1.1\r\n{host}Content-Length : 3\r\n\r\nabc")),
        ("a folded header", format!("GET / HTTP/1.1\r\n{host}X: a\r\n b\r\n\r\n")),
        ("bare LF", format!("GET / HTTP/1.1\n{host}\r\n")),
        ("bare LF in a value", format!("GET / HTTP/1.1\r\n{host}X: a\nY: b\r\n\r\n")),
        ("bare CR", format!("GET / HTTP/1.1\r\n{host}X: a\rY: b\r\n\r\n")),
        ("NUL", format!("GET / HTTP/1.1\r\n{host}X: a\0b\r\n\r\n")),
        ("absolute form", format!("GET http://127.0.0.1:{}/ HTTP/1.1\r\n{host}\r\n", server.port())),
        ("asterisk", format!("OPTIONS * HTTP/1.1\r\n{host}\r\n")),
        ("no host", "GET / HTTP/1.1\r\n\r\n".to_owned()),
        ("two hosts", format!("GET / HTTP/1.1\r\n{host}{host}\r\n")),
        ("HTTP/1.0", format!("GET / HTTP/1.0\r\n{host}\r\n")),
        ("no version", format!("GET /\r\n{host}\r\n")),
        ("two blanks", format!("GET  / HTTP/1.1\r\n{host}\r\n")),
        ("an empty line first", format!("\r\nGET / HTTP/1.1\r\n{host}\r\n")),
        ("a TLS hello", "\x16\x03\x01\x02".to_owned()),
        ("a bad chunk", format!("POST / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n")),
        ("another expectation", format!("POST / HTTP/1.1\r\n{host}Expect: cake\r\nContent-Length: 0\r\n\r\n")),
        ("a header without a name", format!("GET / HTTP/1.1\r\n{host}: a\r\n\r\n")),
    ];
    for (what, request) in requests {
        let mut guest = Guest::new();
        assert_eq!(code(guest.once(&server, &request)), "protocol", "{what}");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn what_leads_elsewhere_is_refused_whatever_the_policy() {
    let server = Server::saying(ok(""));
    let host = format!("Host: 127.0.0.1:{}\r\n", server.port());
    let requests = [
        ("another host", "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".to_owned()),
        ("another port", "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n".to_owned()),
        ("user information", format!("GET / HTTP/1.1\r\nHost: a@127.0.0.1:{}\r\n\r\n", server.port())),
        ("dot segments", format!("GET /v1/%2e%2e/admin HTTP/1.1\r\n{host}\r\n")),
        ("a rewritten path", format!("GET / HTTP/1.1\r\n{host}X-Original-URL: /admin\r\n\r\n")),
        ("upgrade", format!("GET / HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")),
        ("h2c", format!("GET / HTTP/1.1\r\n{host}HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")),
        ("trace", format!("TRACE / HTTP/1.1\r\n{host}\r\n")),
        ("connect", format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\n{host}\r\n", server.port())),
    ];
    for (what, request) in requests {
        assert_eq!(code(Guest::new().once(&server, &request)), "refused", "{what}");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn a_method_in_a_header_needs_its_own_grant() {
    let server = Server::saying(ok(""));
    let rules = || Rules { refuse_method: Some("DELETE"), ..Rules::default() };
    let text = |method: &str| get(&server, "/", &format!("X-HTTP-Method-Override: {method}\r\n"));
    assert_eq!(code(Setup { rules: rules(), ..Setup::default() }.guest().once(&server, text("delete"))), "refused");
    assert_eq!(code(Setup { rules: rules(), ..Setup::default() }.guest().once(&server, text("PATCH"))), "ok");
    assert_eq!(server.count(), 1);
}

#[test]
fn a_second_request_before_the_answer_was_read_is_refused() {
    let server = Server::saying(ok("first"));
    let mut guest = Guest::new();
    let id = guest.open(&server);
    let twice = get(&server, "/", "").repeat(2);
    assert_eq!(guest.write(id, twice), Err(HttpError::BadRequest("a second request before the first was answered")));
    assert_eq!(code(guest.read(id)), "protocol");
}

#[test]
fn reading_before_a_request_is_complete_does_not_wait() {
    let server = Server::saying(ok(""));
    let mut guest = Guest::new();
    let id = guest.open(&server);
    assert_eq!(guest.exchanges.read(id, 10, soon()), Err(HttpError::NotReady));
    guest.write(id, "GET / HT").unwrap();
    assert_eq!(guest.exchanges.read(id, 10, soon()), Err(HttpError::NotReady));
    assert_eq!(code(guest.ask(id, format!("TP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port()))), "ok");
}

#[test]
fn heads_and_bodies_over_their_caps_are_refused() {
    let server = Server::saying(ok(""));
    let once =
        |text: String, limits: HttpLimits| code(Setup { limits, ..Setup::default() }.guest().once(&server, text));
    let small = || {
        let mut limits = HttpLimits::default();
        limits.request_bytes = 10;
        limits
    };
    assert_eq!(once(get(&server, "/", &format!("X: {}\r\n", "a".repeat(70_000))), HttpLimits::default()), "too_large");
    assert_eq!(once(get(&server, "/", &"X: a\r\n".repeat(100)), HttpLimits::default()), "too_large");
    assert_eq!(once(get(&server, "/", &"X: a\r\n".repeat(99)), HttpLimits::default()), "ok");
    assert_eq!(once(post(&server, "", "12345678901"), small()), "too_large");
    assert_eq!(once(post(&server, "", "1234567890"), small()), "ok");
    let chunked = get(&server, "/", "Transfer-Encoding: chunked\r\n") + "b\r\n12345678901\r\n0\r\n\r\n";
    assert_eq!(once(chunked, small()), "too_large");
}

#[test]
fn requests_connections_and_bytes_of_a_call_are_counted() {
    let server = Server::saying(ok("12345"));
    let mut limits = HttpLimits::default();
    (limits.requests, limits.connections, limits.total_answer_bytes, limits.total_request_bytes) = (3, 2, 12, 8);
    let mut guest = Setup { limits: limits.clone(), ..Setup::default() }.guest();
    let id = guest.open(&server);
    assert_eq!(code(guest.ask(id, get(&server, "/", ""))), "ok");
    assert_eq!(code(guest.ask(id, get(&server, "/", ""))), "ok");
    assert_eq!(code(guest.ask(id, get(&server, "/", ""))), "too_large");
    let other = guest.open(&server);
    assert_eq!(code(guest.ask(other, get(&server, "/", ""))), "too_large");
    assert_eq!(code(guest.exchanges.open(false, "a", 1)), "too_large");
    let mut guest = Setup { limits, ..Setup::default() }.guest();
    assert_eq!(code(guest.once(&server, post(&server, "", "12345"))), "ok");
    assert_eq!(code(guest.once(&server, post(&server, "", "12345"))), "too_large");
}

#[test]
fn no_bytes_make_it_panic() {
    let server = Server::saying(ok("x"));
    let valid = get(&server, "/a?b", "Connection: close\r\nExpect: 100-continue\r\n");
    let mut seed = 1u32;
    let mut next = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) as usize
    };
    for _ in 0..2000 {
        let mut bytes = valid.clone().into_bytes();
        for _ in 0..next() % 4 + 1 {
            let at = next() % bytes.len();
            bytes[at] = (next() % 256) as u8;
        }
        let mut guest = Setup { rules: Rules { refuse_path: Some("/a"), ..Rules::default() }, ..setup() }.guest();
        let _ = guest.once(&server, &bytes);
    }
}

/// Without loading the authorities each time.
fn setup() -> Setup {
    static CLIENT: std::sync::OnceLock<std::sync::Arc<skillcell_http::HttpClient>> = std::sync::OnceLock::new();
    let client = CLIENT.get_or_init(|| Setup::default().client).clone();
    Setup { client, rules: Rules::default(), secrets: Default::default(), limits: HttpLimits::default() }
}
