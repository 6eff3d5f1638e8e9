//! Calls as OpenTelemetry spans, in a program that was built with the feature `opentelemetry`:
//! `cargo test --release --features opentelemetry --test behaviour serve_spans::`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::serving::Serving;

const PATIENCE: Duration = Duration::from_secs(60);
const SAMPLED: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const NOT_SAMPLED: &str = "5cf92f3577b34da6a3ce929d0e0e4736";

/// A collector: the path and the body of each request.
fn collect() -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (mut reader, mut writer) = (BufReader::new(stream.try_clone().unwrap()), stream);
            let (mut first, mut length, mut line) = (String::new(), 0, String::new());
            reader.read_line(&mut first).unwrap();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                let lower = line.to_ascii_lowercase();
                if let Some(value) = lower.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
            let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            if sender.send((path, body)).is_err() {
                return;
            }
        }
    });
    (address, receiver)
}

fn has(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn a_call_is_a_span_below_its_clients_and_has_none_of_its_words() {
    let (address, told) = collect();
    let env = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*address), ("OTEL_BSP_SCHEDULE_DELAY", "50")];
    let mut server = Serving::with_env(&env, "", &["contract/echo", "contract/failing"], &[]);
    let call = |skill: &str, trace: &str, flags: &str| {
        let traceparent = format!("traceparent: 00-{trace}-00f067aa0ba902b7-{flags}");
        server.call_with(skill, &[&traceparent, "X-Request-Id: mine.1"], r#"{"params": {"a": "swordfish"}}"#)
    };
    assert_eq!(call("contract%2Fecho", NOT_SAMPLED, "00").status, 200);
    assert_eq!(call("contract%2Ffailing", SAMPLED, "01").status, 200);
    let (path, body) = told.recv_timeout(PATIENCE).expect("a batch arrives");
    assert_eq!(path, "/v1/traces");
    let (trace, parent) = (bytes_of(SAMPLED), bytes_of("00f067aa0ba902b7"));
    for part in
        [&b"skillcell.call"[..], b"contract/failing", b"raised", b"wasm", b"mine.1", b"service.name", &trace, &parent]
    {
        assert!(has(&body, part), "{}", String::from_utf8_lossy(part));
    }
    assert_eq!(call("contract%2Fecho", SAMPLED, "01").status, 200);
    server.terminate();
    assert!(server.child.wait().unwrap().success());
    // What was left is sent at the end.
    let rest: Vec<u8> = std::iter::from_fn(|| told.try_recv().ok()).flat_map(|(_, body)| body).collect();
    assert!(has(&rest, b"returned"));
    for body in [&body, &rest] {
        assert!(!has(body, b"swordfish") && !has(body, &bytes_of(NOT_SAMPLED)) && !has(body, b"ZeroDivision"));
    }
}

#[test]
fn a_collector_that_is_not_there_holds_nothing_up() {
    let env = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")];
    let mut server = Serving::with_env(&env, "", &["contract/echo"], &[]);
    for _ in 0..5 {
        assert_eq!(server.call("contract%2Fecho", "{}").status, 200);
    }
    server.terminate();
    assert!(server.child.wait().unwrap().success());
}
