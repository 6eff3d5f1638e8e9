//! What the server answers, by the path of a request. Most of it is what no honest server would say.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::common::server::Request;
use crate::spellings;

/// How long a slow answer is kept up.
const SLOW: Duration = Duration::from_secs(8);

/// Writes an answer, and says whether to stay for another request.
pub fn answer(request: &Request, wire: &mut dyn Write) -> io::Result<bool> {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let mut parts = path.split('/').skip(1);
    match (parts.next().unwrap_or_default(), parts.next().unwrap_or_default()) {
        ("to", _) => plain(wire, "302 Found", &format!("Location: {}\r\n", decoded(query)), b""),
        ("round", _) => plain(wire, "302 Found", "Location: /round\r\n", b""),
        ("down", left) => {
            let left: u32 = left.parse().unwrap_or(0);
            let next = if left == 0 { "/end".to_owned() } else { format!("/down/{}", left - 1) };
            plain(wire, "302 Found", &format!("Location: {next}\r\n"), b"")
        }
        ("echo", how) => echo(request, how, wire),
        ("raw", what) => raw(what, wire),
        ("slow", what) => slow(what, wire),
        ("big", bytes) => big(bytes.parse().unwrap_or(0), wire),
        ("bomb", bytes) => {
            let packed = gzip(bytes.parse().unwrap_or(0));
            plain(wire, "200 OK", "Content-Encoding: gzip\r\n", &packed)
        }
        ("length", _) => plain(wire, "200 OK", "", request.raw.len().to_string().as_bytes()),
        _ => plain(wire, "200 OK", "", format!("{} {}", request.method, request.target).as_bytes()),
    }
}

pub fn plain(wire: &mut dyn Write, status: &str, more: &str, body: &[u8]) -> io::Result<bool> {
    wire.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{more}\r\n", body.len()).as_bytes())?;
    wire.write_all(body)?;
    Ok(true)
}

fn chunk(wire: &mut dyn Write, extension: &str, data: &[u8]) -> io::Result<()> {
    wire.write_all(format!("{:x}{extension}\r\n", data.len()).as_bytes())?;
    wire.write_all(data)?;
    wire.write_all(b"\r\n")
}

/// Sends back what came as `X-Key`, one way or another.
fn echo(request: &Request, how: &str, wire: &mut dyn Write) -> io::Result<bool> {
    let key = request.header("x-key").unwrap_or("none");
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    match how {
        "reason" => plain(wire, &format!("200 {key}"), "", b"here"),
        "header" => plain(wire, "200 OK", &format!("X-Echo: {key}\r\n"), b"here"),
        "name" => plain(wire, "200 OK", &format!("{key}: x\r\n"), b"here"),
        "cookie" => plain(wire, "200 OK", &format!("Set-Cookie: key={key}\r\n"), b"here"),
        "location" => plain(wire, "302 Found", &format!("Location: http://other.example.test/{key}\r\n"), b""),
        "hint" => {
            wire.write_all(format!("HTTP/1.1 103 Early Hints\r\nLink: <{key}>\r\n\r\n").as_bytes())?;
            plain(wire, "200 OK", "", b"here")
        }
        "trailer" => {
            wire.write_all(chunked.as_bytes())?;
            chunk(wire, "", b"here")?;
            wire.write_all(format!("0\r\nX-Echo: {key}\r\n\r\n").as_bytes())?;
            Ok(true)
        }
        "extension" => {
            wire.write_all(chunked.as_bytes())?;
            chunk(wire, &format!(";key={key}"), b"here")?;
            wire.write_all(b"0\r\n\r\n")?;
            Ok(true)
        }
        "bytes" => {
            wire.write_all(chunked.as_bytes())?;
            for byte in format!("<{key}>").as_bytes() {
                chunk(wire, "", &[*byte])?;
                wire.flush()?;
            }
            wire.write_all(b"0\r\n\r\n")?;
            Ok(true)
        }
        "stalls" => {
            // So much, and then nothing for a while.
            wire.write_all(chunked.as_bytes())?;
            chunk(wire, "", &[b'a'; 9096])?;
            wire.flush()?;
            std::thread::sleep(Duration::from_secs(3));
            Ok(false)
        }
        "packed" => plain(wire, "200 OK", "Content-Encoding: gzip\r\n", &stored(key.as_bytes())),
        "hex" => plain(wire, "200 OK", "", hex(key.as_bytes()).as_bytes()),
        "base64" => plain(wire, "200 OK", "", base64(key.as_bytes()).as_bytes()),
        "shifted" => plain(wire, "200 OK", "", base64(format!("x{key}").as_bytes()).as_bytes()),
        "percent" => {
            let escaped: String = key.bytes().map(|byte| format!("%{byte:02x}")).collect();
            plain(wire, "200 OK", "", escaped.as_bytes())
        }
        "json" => plain(wire, "200 OK", "", serde_json::json!({ "key": key }).to_string().as_bytes()),
        "length" => plain(wire, "200 OK", "", key.len().to_string().as_bytes()),
        "whole" => {
            let mut all = request.head.clone().into_bytes();
            all.extend_from_slice(b"\r\n");
            all.extend_from_slice(&request.raw);
            plain(wire, "200 OK", "", &all)
        }
        _ => spellings::answer(request, how, key, wire),
    }
}

fn raw(what: &str, wire: &mut dyn Write) -> io::Result<bool> {
    let many = |line: &str, times: usize| line.repeat(times);
    let text = match what {
        "greeting" => "220 mail.example.test ESMTP\r\n\r\n".to_owned(),
        "status" => "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n".into(),
        "beyond" => "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n".into(),
        "newer" => "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n".into(),
        "negative" => "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx".into(),
        "overlong" => "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx".into(),
        "lengths" => "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy".into(),
        "both" => {
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n".into()
        }
        "coding" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n".into(),
        "nul" => "HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 0\r\n\r\n".into(),
        "return" => "HTTP/1.1 200 OK\r\nX-A: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n".into(),
        "fold" => "HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 0\r\n\r\n".into(),
        "feeds" => "HTTP/1.1 200 OK\nContent-Length: 2\n\nok".into(),
        "many" => format!("HTTP/1.1 200 OK\r\n{}\r\n", many("X-A: a\r\n", 300)),
        "huge" => format!("HTTP/1.1 200 OK\r\nX-A: {}\r\n\r\n", many("a", 100_000)),
        "switch" => "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".into(),
        "interim" => many("HTTP/1.1 100 Continue\r\n\r\n", 50),
        "chunk" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx".into(),
        "long_chunk" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n".into(),
        "size_line" => format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;{}\r\n", many("a", 10_000)),
        "trailers" => {
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{}\r\n", many("X-A: a\r\n", 5000))
        }
        "short" => "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this".into(),
        // Two answers to one request: the second is for whoever asks next.
        "two" => {
            let one = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst";
            format!("{one}{}", one.replace("first", "sneak"))
        }
        "endless" => {
            let started = Instant::now();
            wire.write_all(b"HTTP/1.1 200 OK\r\n")?;
            while started.elapsed() < SLOW {
                wire.write_all(many("X-A: a\r\n", 1000).as_bytes())?;
            }
            String::new()
        }
        _ => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".into(),
    };
    wire.write_all(text.as_bytes())?;
    Ok(matches!(what, "two" | "both" | "feeds" | "plain"))
}

fn slow(what: &str, wire: &mut dyn Write) -> io::Result<bool> {
    let (start, byte): (&str, &[u8]) = match what {
        "head" => ("HTTP/1.1 200 OK\r\nX-A: ", b"a"),
        "body" => ("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"a"),
        "chunk" => ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n", b"a"),
        _ => ("", b""),
    };
    let started = Instant::now();
    wire.write_all(start.as_bytes())?;
    while started.elapsed() < SLOW {
        wire.write_all(byte)?;
        wire.flush()?;
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(false)
}

/// So many bytes, without saying how many.
fn big(bytes: usize, wire: &mut dyn Write) -> io::Result<bool> {
    wire.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
    let piece = vec![b'a'; 64 << 10];
    let mut left = bytes;
    while left > 0 {
        let count = left.min(piece.len());
        wire.write_all(&piece[..count])?;
        left -= count;
    }
    Ok(false)
}

/// So many zeros, packed about 160 to 1: one block of fixed codes, a zero, then copies of it, 258 at a time.
fn gzip(zeros: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.put(0b011, 3); // the last block; fixed codes; from here on Huffman's codes, their first bit first
    let mut left = zeros;
    if left > 0 {
        bits.code(0x30, 8);
        left -= 1;
    }
    while left >= 258 {
        bits.code(0b1100_0101, 8);
        bits.code(0, 5);
        left -= 258;
    }
    (0..left).for_each(|_| bits.code(0x30, 8));
    bits.code(0, 7);
    wrapped(&bits.bytes, std::iter::repeat_n(0, zeros), zeros)
}

/// As it is, in the clothes of gzip.
fn stored(data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).expect("a short text");
    let block = [&[1][..], &length.to_le_bytes(), &(!length).to_le_bytes(), data].concat();
    wrapped(&block, data.iter().copied(), data.len())
}

fn wrapped(deflated: &[u8], plain: impl Iterator<Item = u8>, length: usize) -> Vec<u8> {
    // Nobody gets to the end of a long one.
    let crc = !plain.take(1 << 20).fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    });
    let length = u32::try_from(length & 0xffff_ffff).unwrap_or_default();
    [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255][..], deflated, &crc.to_le_bytes(), &length.to_le_bytes()].concat()
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: usize,
}

impl Bits {
    /// The lowest bit first.
    fn put(&mut self, value: u32, count: u32) {
        for at in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= u8::from(value >> at & 1 == 1) << (self.used % 8);
            }
            self.used += 1;
        }
    }

    /// The highest bit first.
    fn code(&mut self, value: u32, count: u32) {
        (0..count).rev().for_each(|at| self.put(value >> at & 1, 1));
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn base64(bytes: &[u8]) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let value = (0..3).fold(0, |value, at| value << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = usize::try_from(value >> (18 - 6 * at) & 63).unwrap_or_default();
            text.push(if at <= three.len() { char::from(alphabet[digit]) } else { '=' });
        }
    }
    text
}

fn decoded(text: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &after[2..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
