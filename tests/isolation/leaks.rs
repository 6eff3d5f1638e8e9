//! Promise: a secret never appears in anything that leaves the host, but for its granted host. A server that was sent
//! the secret echoes it in every part of an answer; the skill tells all that it can get, in every encoding, in every way.
//!
//! Encodings that are searched for: as it is, base64 of both alphabets at three alignments, hexadecimal in both cases,
//! percent-encoded whole and in part, in JSON. Not covered, and documented so: reversed, encrypted, cut up by other
//! text, or compressed by the skill itself.

use std::io::{self, Write};

use crate::common::server::{Request, Server, Wire, answer};
use crate::common::{call, fixture};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use serde_json::json;
use skillcell::{Call, Outcome, Report};
use skillcell_policy::{GrantKind, Grants};

const VALUE: &str = "s3cr3t \"Q\"/k+y=\u{e9}42&<x>";
const HOST: &str = "api.example.test";
const PATHS: [&str; 10] =
    ["/body", "/header", "/reason", "/moved", "/chunked", "/gzip", "/deflate", "/forms", "/cut", "/cookie"];

/// Echoes the header `X-Key` of each request in another part of the answer.
fn handle(request: &Request, wire: &mut dyn Wire) -> io::Result<bool> {
    let key = request.header("x-key").unwrap_or_default();
    let echo = request.text();
    let answer = match request.target.as_str() {
        "/header" => answer("200 OK", &[("X-Echo", key), ("X-Hex", &hex(key))], ""),
        "/reason" => answer(&format!("200 {key}"), &[], ""),
        "/moved" => answer("302 Found", &[("Location", &format!("/next?key={}", percent(key)))], ""),
        "/cookie" => answer("200 OK", &[("Set-Cookie", &format!("k={}", base64(key.as_bytes())))], ""),
        "/chunked" => {
            let chunks: String = echo.chars().map(|c| format!("{:x}\r\n{c}\r\n", c.len_utf8())).collect();
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n").into_bytes()
        }
        "/gzip" => answer("200 OK", &[("Content-Encoding", "gzip")], gzip(echo.as_bytes())),
        "/deflate" => answer("200 OK", &[("Content-Encoding", "Deflate")], zlib(echo.as_bytes())),
        "/forms" => answer("200 OK", &[], echoes(key).join(" , ")),
        // Stops in the middle of it.
        "/cut" => {
            let start = key.char_indices().nth(12).map_or(0, |(at, _)| at);
            format!("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{key} {}", &key[..start]).into_bytes()
        }
        _ => answer("200 OK", &[], echo),
    };
    wire.write_all(&answer)?;
    Ok(request.target != "/cut")
}

fn start() -> Server {
    Server::with(None, handle)
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).and_then(|()| encoder.finish()).expect("compressed")
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).and_then(|()| encoder.finish()).expect("compressed")
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn base64(data: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in data.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            out.push(char::from(ALPHABET[(bits >> (18 - 6 * place) & 63) as usize]));
        }
    }
    out
}

/// What of base64 depends on the value alone, at one of three alignments.
fn base64_core(value: &str, lead: usize) -> String {
    let text = base64(&[&vec![b'+'; lead][..], value.as_bytes()].concat());
    text[lead * 2..text.len() - 2].to_owned()
}

/// Every form of a value but base64.
fn plain_forms(value: &str) -> Vec<String> {
    let quoted = |safe: &dyn Fn(u8) -> bool, plus: bool| -> String {
        value
            .bytes()
            .map(|byte| match byte {
                b' ' if plus => "+".to_owned(),
                byte if safe(byte) => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            })
            .collect()
    };
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let json = serde_json::to_string(value).expect("JSON");
    let json = json.trim_matches('"').to_owned();
    let ascii: String =
        json.chars().map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) }).collect();
    let mut forms = vec![
        value.to_owned(),
        hex(value),
        hex(value).to_uppercase(),
        percent(value),
        percent(value).to_lowercase(),
        quoted(&usual, false),
        quoted(&usual, true),
        json.clone(),
        ascii.clone(),
    ];
    forms.sort();
    forms.dedup();
    forms
}

/// What the server sends back.
fn echoes(value: &str) -> Vec<String> {
    let mut forms = plain_forms(value);
    for lead in ["", "a", "ab"] {
        let text = base64(format!("{lead}{value}").as_bytes());
        forms.push(text.replace('+', "-").replace('/', "_"));
        forms.push(text);
    }
    forms
}

/// Every form that must not be found, without the parts that depend on what is around it.
fn once_encoded(value: &str) -> Vec<String> {
    let mut forms = plain_forms(value);
    for lead in 0..3 {
        let core = base64_core(value, lead);
        forms.push(core.replace('+', "-").replace('/', "_"));
        forms.push(core);
    }
    forms
}

/// The same, and JSON in JSON: the envelope quotes what is in it once more.
fn forms(value: &str) -> Vec<String> {
    let quoted = |text: &str| serde_json::to_string(text).expect("JSON").trim_matches('"').to_owned();
    let once = once_encoded(value);
    once.iter().map(|form| quoted(form)).chain(once.iter().cloned()).collect()
}

fn grants(port: u16, folder: &std::path::Path, secret: bool) -> Grants {
    let (key, out) = (folder.join("key"), folder.join("out"));
    std::fs::write(&key, format!("{VALUE}\n")).expect("written");
    std::fs::create_dir_all(&out).expect("made");
    let mut grants = Grants::default();
    let mut add = |kind, text: String| grants.add(kind, &text).expect("a grant");
    add(GrantKind::AllowHttp, format!("* http://{HOST}/*"));
    add(GrantKind::Resolve, format!("{HOST}:80:127.0.0.1:{port}"));
    add(GrantKind::Mount, format!("{}:/out:rw", out.display()));
    if secret {
        add(GrantKind::Secret, format!("API_KEY=cmd:cat '{}'@http://{HOST}", key.display()));
    }
    grants
}

fn run(grants: Grants, env: Option<&str>, raise: bool, use_image: bool) -> Report {
    let mut wanted = Call::new(json!({"host": HOST, "other": "other.example.test", "paths": PATHS, "raise": raise}));
    wanted.grants = grants;
    wanted.use_image = use_image;
    wanted.env.extend(env.map(|value| ("API_KEY".to_owned(), value.to_owned())));
    call(&fixture("leaks/keyed"), &wanted)
}

/// All that left the host, each part by its name.
fn left(report: &Report, folder: &std::path::Path) -> Vec<(&'static str, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut left = vec![
        ("the envelope", serde_json::to_string(&report.envelope()).expect("JSON")),
        ("the report", format!("{report:?}")),
        ("stdout", text(&report.stdout)),
        ("stderr", text(&report.stderr)),
        ("denials", format!("{:?}", report.denials)),
        ("a file", text(&std::fs::read(folder.join("out/told.txt")).expect("the skill wrote it"))),
    ];
    match &report.outcome {
        Outcome::Returned(json) => left.push(("the result", json.get().to_owned())),
        Outcome::Raised(raised) => left.push(("the exception", format!("{}\n{}", raised.message, raised.traceback))),
        other => panic!("{other:?}"),
    }
    left
}

#[test]
fn a_secret_that_is_echoed_in_every_way_leaves_in_none() {
    let server = start();
    for (raise, use_image) in [(false, true), (true, true), (false, false)] {
        let folder = tempfile::tempdir().expect("a folder");
        let report = run(grants(server.port, folder.path(), true), None, raise, use_image);
        assert_eq!(matches!(report.outcome, Outcome::Raised(_)), raise, "{:?}", report.outcome);
        // The other host, and answers that are compressed.
        assert_eq!(report.denials.len(), 2, "{:?}", report.denials);
        for (part, text) in left(&report, folder.path()) {
            assert!(part == "denials" || text.contains("skillcell_secret_API_KEY_"), "nothing was told in {part}");
            for form in forms(VALUE) {
                assert!(!text.contains(&form), "`{form}` in {part}: {text}");
            }
        }
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 3 * PATHS.len());
    for request in seen.iter().map(Request::text) {
        assert!(
            request.contains(&format!("X-Key: {VALUE}")) && request.contains(&format!("body {VALUE}")),
            "{request}"
        );
        assert!(request.contains("Accept-Encoding: identity"), "{request}");
    }
}

/// An answer to a secret that is compressed all the same is not passed on.
#[test]
fn a_compressed_echo_is_refused() {
    let server = start();
    let folder = tempfile::tempdir().expect("a folder");
    let report = run(grants(server.port, folder.path(), true), None, false, true);
    let Outcome::Returned(result) = &report.outcome else { panic!("{:?}", report.outcome) };
    let result: serde_json::Value = serde_json::from_str(result.get()).expect("JSON");
    for (path, told) in PATHS.iter().zip(result["told"].as_array().expect("a list")) {
        let told = told.as_str().expect("text");
        let refused = told.contains("a host that a secret is for is refused");
        assert_eq!(refused, ["/gzip", "/deflate"].contains(path), "{told}");
    }
}

/// The same search finds the value where it is not a secret but a plain variable: the test could fail.
#[test]
fn the_search_finds_what_is_no_secret() {
    let server = start();
    let folder = tempfile::tempdir().expect("a folder");
    let value = "s3cr3t-Q-k-y-e-42-abcdef";
    let report = run(grants(server.port, folder.path(), false), Some(value), false, true);
    for (part, text) in left(&report, folder.path()).into_iter().filter(|(part, _)| *part != "denials") {
        for form in forms(value) {
            assert!(text.contains(&form) || form.contains('\\'), "`{form}` is not in {part}");
        }
    }
}
