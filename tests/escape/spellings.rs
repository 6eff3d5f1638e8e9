//! How the server sends a value back in other characters, spelled otherwise, or in part.

use std::io::{self, Write};

use crate::answers::{base64, plain};
use crate::common::server::Request;

/// What `/echo/<how>` answers, where `answers.rs` has no answer of its own.
pub fn answer(request: &Request, how: &str, key: &str, wire: &mut dyn Write) -> io::Result<bool> {
    let (way, charset) = how.split_once('_').unwrap_or((how, ""));
    let kind = |charset: &str| format!("Content-Type: text/plain; charset={charset}\r\n");
    match way {
        "asked" => {
            let charset = asked_charset(request).unwrap_or_else(|| "utf-8".to_owned());
            plain(wire, "200 OK", &kind(&charset), &encoded(key, &charset))
        }
        "declared" => plain(wire, "200 OK", &kind(charset), &encoded(key, charset)),
        "silent" => plain(wire, "200 OK", "", &encoded(&format!("<{key}>"), charset)),
        "shifted" => plain(wire, "200 OK", "", &[b"x", &encoded(key, charset)[..]].concat()),
        "ranged" => {
            let names = ["range", "request-range", "request_range"];
            match names.iter().any(|name| request.header(name).is_some()) {
                true => part(key, "206 Partial Content", wire),
                false => plain(wire, "200 OK", "", key.as_bytes()),
            }
        }
        "part" if charset == "many" => {
            let half = &key[..key.len() / 2];
            let body = format!("--x\r\nContent-Range: bytes 0-21/44\r\n\r\n{half}\r\n--x--\r\n");
            plain(wire, "200 OK", "Content-Type: multipart/byteranges; boundary=x\r\n", body.as_bytes())
        }
        "part" => part(key, &format!("{charset} Some"), wire),
        "line" => {
            wire.write_all(format!("{}{key}\r\n\r\n", "x".repeat(230)).as_bytes())?;
            Ok(false)
        }
        _ => plain(wire, "200 OK", "", spelled(key, how).as_bytes()),
    }
}

/// The first half.
fn part(key: &str, status: &str, wire: &mut dyn Write) -> io::Result<bool> {
    let half = &key.as_bytes()[..key.len() / 2];
    let range = format!("Content-Range: bytes 0-{}/{}\r\n", half.len() - 1, key.len());
    let more = if status.starts_with("226") || status.starts_with("206 S") { "" } else { &range };
    plain(wire, status, more, half)
}

/// In whatever header a careless server would look.
fn asked_charset(request: &Request) -> Option<String> {
    let direct = ["accept-charset", "accept_charset"].iter().find_map(|name| request.header(name));
    let parameter =
        |name| request.header(name).and_then(|value| value.split_once("charset=").map(|(_, charset)| charset));
    direct.or_else(|| parameter("accept")).or_else(|| parameter("content-type")).map(str::to_owned)
}

fn encoded(text: &str, charset: &str) -> Vec<u8> {
    let order = |mut bytes: Vec<u8>| {
        if charset.ends_with("be") {
            bytes.reverse();
        }
        bytes
    };
    match charset {
        "cp037" => text.bytes().map(ebcdic).collect(),
        _ if charset.starts_with("utf-16") => {
            text.encode_utf16().flat_map(|unit| order(unit.to_le_bytes().to_vec())).collect()
        }
        _ if charset.starts_with("utf-32") => {
            text.chars().flat_map(|c| order(u32::from(c).to_le_bytes().to_vec())).collect()
        }
        _ => text.as_bytes().to_vec(),
    }
}

/// Letters, digits and `-`, which is what a marker is made of.
fn ebcdic(byte: u8) -> u8 {
    match byte {
        b'a'..=b'i' => byte - b'a' + 0x81,
        b'j'..=b'r' => byte - b'j' + 0x91,
        b's'..=b'z' => byte - b's' + 0xa2,
        b'0'..=b'9' => byte - b'0' + 0xf0,
        _ => 0x60,
    }
}

fn spelled(key: &str, how: &str) -> String {
    let each = |spell: &dyn Fn(u8) -> String| key.bytes().map(spell).collect();
    let zeros = "0".repeat(500);
    match how {
        "html" => each(&|byte| format!("&#x{byte:x};")),
        "html_open" => each(&|byte| format!("&#{byte}")),
        "html_zeros" => each(&|byte| format!("&#{byte:07};")),
        "html_endless" => each(&|byte| format!("&#{zeros}{byte};")),
        "upper" => key.to_ascii_uppercase(),
        "source" => each(&|byte| format!("\\x{byte:02x}")),
        "mail" => each(&|byte| format!("={byte:02X}")),
        "base64_percent" => base64(format!("??>{key}").as_bytes()).replace('/', "%2F").replace('+', "%2B"),
        _ => key.to_owned(),
    }
}
