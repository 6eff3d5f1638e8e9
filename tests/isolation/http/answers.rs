//! Promise: an answer reaches the guest as the server meant it, in one clean form, as it arrives, and within its caps.

use std::sync::Mutex;
use std::sync::mpsc;

use super::support::{Guest, Server, Setup, body, code, get, ok, soon};
use skillcell_http::HttpLimits;

fn answer(raw: impl Into<Vec<u8>>) -> Result<String, skillcell_http::HttpError> {
    let server = Server::saying(raw);
    Guest::new().once(&server, get(&server, "/", ""))
}

#[test]
fn a_chunked_answer_is_framed_anew() {
    let raw =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n5;ext=1\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n";
    let expected = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    assert_eq!(answer(raw).unwrap(), expected);
    let several = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n3\r\nand\r\n0\r\n\r\n";
    assert_eq!(answer(several).unwrap(), several, "who reads by chunks gets the server's");
}

#[test]
fn pieces_arrive_before_the_answer_is_complete() {
    let (send, receive) = mpsc::channel::<()>();
    let receive = Mutex::new(receive);
    let server = Server::start(move |_, wire| {
        wire.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst").unwrap();
        wire.flush().unwrap();
        receive.lock().unwrap().recv().unwrap();
        wire.write_all(b"later").is_ok()
    });
    let mut guest = Guest::new();
    let id = guest.open(&server);
    guest.write(id, get(&server, "/", "")).unwrap();
    let mut first = String::new();
    while !first.ends_with("first") {
        first += std::str::from_utf8(&guest.exchanges.read(id, 7, soon()).unwrap()).unwrap();
    }
    send.send(()).unwrap();
    assert_eq!(guest.read(id).unwrap(), "later");
}

#[test]
fn a_body_that_ends_with_the_connection_ends_the_guests_too() {
    let server = Server::start(|_, wire| {
        wire.write_all(b"HTTP/1.0 200 OK\r\n\r\nold style").unwrap();
        false
    });
    let mut guest = Guest::new();
    let id = guest.open(&server);
    let text = guest.ask(id, get(&server, "/", "")).unwrap();
    assert_eq!(text, "HTTP/1.0 200 OK\r\n\r\nold style");
    assert_eq!(guest.exchanges.read(id, 10, soon()), Ok(Vec::new()));
    assert_eq!(code(guest.ask(id, get(&server, "/again", ""))), "not_open");
}

#[test]
fn answers_without_a_body_end_with_their_head() {
    for status in ["204 No Content", "304 Not Modified"] {
        assert!(answer(format!("HTTP/1.1 {status}\r\nX: y\r\n\r\n")).unwrap().ends_with("X: y\r\n\r\n"));
    }
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    let mut guest = Guest::new();
    let id = guest.open(&server);
    for _ in 0..2 {
        let text = guest.ask(id, get(&server, "/", "").replace("GET", "HEAD")).unwrap();
        assert_eq!(text, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    }
    assert_eq!(server.connections(), 1);
}

#[test]
fn interim_answers_are_skipped() {
    let text =
        answer(format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n{}", ok("final")));
    assert_eq!(body(&text.unwrap()), "final");
    assert_eq!(code(answer("HTTP/1.1 100 Continue\r\n\r\n".repeat(20))), "protocol");
    assert_eq!(code(answer("HTTP/1.1 101 Switching Protocols\r\n\r\n")), "protocol");
}

#[test]
fn compressed_bytes_and_their_headers_pass_through() {
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x02\x00";
    let mut raw =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", gzip.len()).into_bytes();
    raw.extend_from_slice(gzip);
    let server = Server::saying(raw.clone());
    let mut guest = Guest::new();
    let id = guest.open(&server);
    guest.write(id, get(&server, "/", "Accept-Encoding: gzip\r\n")).unwrap();
    assert_eq!(guest.exchanges.read(id, 1 << 20, soon()).unwrap()[..], raw[..raw.len() - gzip.len()]);
    assert_eq!(guest.exchanges.read(id, 1 << 20, soon()).unwrap(), gzip);
    assert!(server.last().contains("Accept-Encoding: gzip"));
}

#[test]
fn a_redirect_is_given_back_and_not_followed() {
    let server = Server::saying("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n");
    let text = Guest::new().once(&server, get(&server, "/", "")).unwrap();
    assert!(text.starts_with("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n"));
    assert_eq!(server.count(), 1);
}

#[test]
fn an_answer_that_is_not_http_is_an_error() {
    for raw in [
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
        "HTTP/1.1 099 X\r\n\r\n",
    ] {
        assert_eq!(code(answer(raw)), "protocol", "{raw:?}");
    }
}

#[test]
fn of_what_is_no_http_the_guest_gets_the_first_line_and_an_end() {
    for line in ["nonsense", "HTTP/2 200 OK", "HTTP/1.1 1000 X"] {
        let raw = format!("{line}\r\nContent-Length: 2\r\n\r\nok");
        assert_eq!(answer(raw).unwrap(), format!("{line}\r\n\r\n"));
    }
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n";
    assert_eq!(answer(format!("{head}zz\r\n")).unwrap(), head, "a malformed chunk is an early end");
}

#[test]
fn an_answer_that_stops_early_is_an_early_end() {
    let server = Server::start(|request, wire| {
        if request.contains("/half") {
            wire.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf").unwrap();
        }
        false
    });
    let mut guest = Guest::new();
    assert_eq!(
        guest.once(&server, get(&server, "/half", "")).unwrap(),
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
    );
    assert_eq!(guest.once(&server, get(&server, "/none", "")).unwrap(), "");
}

#[test]
fn what_follows_an_answer_is_never_taken_for_the_next() {
    let server = Server::saying(ok("mine") + &ok("planted"));
    let mut guest = Guest::new();
    for _ in 0..3 {
        assert_eq!(body(&guest.once(&server, get(&server, "/", "")).unwrap()), "mine");
    }
    assert_eq!(server.connections(), 3);
}

#[test]
fn heads_of_answers_are_capped() {
    assert_eq!(code(answer(format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "a".repeat(70_000)))), "too_large");
    assert_eq!(code(answer(format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: a\r\n".repeat(201)))), "too_large");
    assert_eq!(code(answer(format!("HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n", "X: a\r\n".repeat(199)))), "ok");
}

#[test]
fn an_endless_body_is_cut_at_its_cap() {
    let server = Server::start(|request, wire| {
        let head = if request.contains("/chunks") { "Transfer-Encoding: chunked\r\n" } else { "" };
        wire.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes()).unwrap();
        let piece =
            if head.is_empty() { vec![b'x'; 4096] } else { [&b"1000\r\n"[..], &[b'x'; 4096], b"\r\n"].concat() };
        while wire.write_all(&piece).is_ok() {}
        false
    });
    for path in ["/chunks", "/close"] {
        let mut limits = HttpLimits::default();
        limits.answer_bytes = 1 << 20;
        let mut guest = Setup { limits, ..Setup::default() }.guest();
        let id = guest.open(&server);
        guest.write(id, get(&server, path, "")).unwrap();
        let mut bytes = 0;
        let end = loop {
            match guest.exchanges.read(id, 1 << 30, soon()) {
                Ok(piece) => bytes += piece.len(),
                Err(error) => break error,
            }
        };
        assert_eq!(end.code(), "too_large");
        assert!(bytes <= (1 << 20) + (1 << 16), "{bytes}");
    }
    assert_eq!(code(answer("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")), "too_large");
}

#[test]
fn no_answer_makes_it_panic() {
    let valid = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let seed = Mutex::new(7u32);
    let server = Server::start(move |_, wire| {
        let mut seed = seed.lock().unwrap();
        let mut next = || {
            *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (*seed >> 16) as usize
        };
        let mut bytes = valid.as_bytes().to_vec();
        for _ in 0..next() % 4 + 1 {
            let at = next() % bytes.len();
            bytes[at] = (next() % 256) as u8;
        }
        let _ = wire.write_all(&bytes[..next() % (bytes.len() + 1)]);
        false
    });
    let mut limits = HttpLimits::default();
    limits.requests = 1000;
    let mut guest = Setup { limits, ..Setup::default() }.guest();
    for _ in 0..500 {
        let _ = guest.once(&server, get(&server, "/", ""));
    }
    assert!(server.count() >= 500);
}
