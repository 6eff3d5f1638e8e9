//! Promise: a compressed answer reaches the guest as it was sent, unless it would become longer than its cap.

use std::io::Write;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use skillcell_http::{HttpError, HttpLimits};

use super::support::{Guest, Server, Setup, body, code, get, ok};

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).and_then(|()| encoder.finish()).unwrap()
}

/// An answer with this coding, by length or in chunks of 7 bytes.
fn coded(coding: &str, body: &[u8], chunked: bool) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n");
    if !chunked {
        return [format!("{head}Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat();
    }
    let mut out = format!("{head}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    for piece in body.chunks(7) {
        out.extend([format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat());
    }
    [out, b"0\r\n\r\n".to_vec()].concat()
}

fn ask(raw: Vec<u8>, cap: u64) -> Result<String, HttpError> {
    let server = Server::saying(raw);
    let mut limits = HttpLimits::default();
    limits.inflated_bytes = cap;
    Setup { limits, ..Setup::default() }.guest().once(&server, get(&server, "/", ""))
}

#[test]
fn a_bomb_is_ended_at_the_cap_and_an_equal_answer_passes() {
    let bomb = gzip(&vec![0; 10 << 20]);
    for chunked in [false, true] {
        assert_eq!(code(ask(coded("gzip", &bomb, chunked), 10 << 20)), "ok");
        let error = ask(coded("gzip", &bomb, chunked), (10 << 20) - 1).unwrap_err();
        assert_eq!(error.to_string(), "the answer's body, decompressed, exceeds 10485759");
        assert_eq!(code(ask(coded("gzip, gzip", &gzip(&bomb), chunked), 1 << 20)), "too_large");
    }
    // Uncompressed, it is for the cap on answers.
    assert_eq!(code(ask(ok(&"x".repeat(1000)).into_bytes(), 10)), "ok");
}

#[test]
fn the_default_ends_a_bomb_soon() {
    let started = Instant::now();
    let bomb = gzip(&vec![0; 200 << 20]);
    let made = started.elapsed();
    let server = Server::saying(coded("gzip", &bomb, false));
    let started = Instant::now();
    assert_eq!(code(Guest::new().once(&server, get(&server, "/", ""))), "too_large");
    assert!(started.elapsed() < made.max(std::time::Duration::from_secs(5)), "{:?}", started.elapsed());
}

#[test]
fn codings_that_cannot_be_counted_are_refused() {
    for coding in ["br", "zstd", "compress", "gzip, br", "gzip, gzip, gzip, gzip"] {
        assert_eq!(code(ask(coded(coding, b"anything", false), 1 << 20)), "protocol", "{coding}");
    }
    for none in ["identity", "utf-8", "unheard-of"] {
        assert_eq!(code(ask(coded(none, b"anything", false), 1)), "ok", "no library takes {none} for a compression");
    }
    let head = b"HTTP/1.1 304 Not Modified\r\nContent-Encoding: br\r\n\r\n".to_vec();
    assert_eq!(code(ask(head, 1)), "ok", "there is nothing to count");
}

#[test]
fn malformed_data_is_passed_on() {
    for raw in [&b"no gzip at all"[..], b"\x1f\x8b\x08\0\0\0\0\0\0\0\xff\xff\xff\xff"] {
        let text = ask(coded("gzip", raw, false), 100).unwrap();
        assert_eq!(body(&text), String::from_utf8_lossy(raw));
    }
}

#[test]
fn only_codings_that_can_be_counted_are_asked_for() {
    let server = Server::echo();
    let mut guest = Guest::new();
    for (asked, sent) in
        [("gzip, deflate, br, zstd", "gzip, deflate"), ("br", "identity"), ("gzip;q=0.5", "gzip;q=0.5")]
    {
        guest.once(&server, get(&server, "/", &format!("Accept-Encoding: {asked}\r\n"))).unwrap();
        assert!(server.last().contains(&format!("\r\nAccept-Encoding: {sent}\r\n")), "{}", server.last());
    }
    guest.once(&server, get(&server, "/", "")).unwrap();
    assert!(!server.last().contains("Accept-Encoding"), "{}", server.last());
}
