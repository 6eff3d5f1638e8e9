//! The target of a request line: origin-form only, and a path that means the same to every server.

use crate::error::HttpError;
use crate::gate::Refusal;

/// The longest target.
const MAX_TARGET_BYTES: usize = 16 << 10;

/// Splits a target into path and query, or says why it is refused.
pub fn parse(target: &str) -> Result<(String, Option<String>), HttpError> {
    if !target.starts_with('/') {
        return Err(HttpError::BadRequest("the target must start with `/`: other forms name another host"));
    }
    if target.len() > MAX_TARGET_BYTES {
        return Err(HttpError::TooLarge { what: "the request's target", cap: MAX_TARGET_BYTES as u64 });
    }
    if !target.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'\\')) {
        return Err(HttpError::BadRequest("the target has characters that must be percent-encoded"));
    }
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query.to_owned())),
        None => (target, None),
    };
    if has_dot_segment(path) {
        return Err(Refusal::by_builtin_check("path", "a path with `.` or `..` in it could mean another path").into());
    }
    Ok((path.to_owned(), query))
}

/// Whether any server could read a segment as `.` or `..`: after decoding, with either slash, before a `;`.
fn has_dot_segment(path: &str) -> bool {
    let decoded = percent_decode(path.as_bytes());
    decoded.split(|byte| matches!(byte, b'/' | b'\\')).any(|segment| {
        let name = segment.split(|byte| matches!(byte, b';' | 0)).next().unwrap_or_default();
        matches!(name, b"." | b"..")
    })
}

fn percent_decode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        match (byte, after) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.push(hex_digit(*high) << 4 | hex_digit(*low));
                rest = after;
            }
            _ => {
                out.push(byte);
                rest = after;
            }
        }
    }
    out
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_targets_are_split_and_kept() {
        assert_eq!(parse("/v1/a%2Fb;x=1?q=a/../b").unwrap(), ("/v1/a%2Fb;x=1".into(), Some("q=a/../b".into())));
        assert_eq!(parse("//a//b/...").unwrap(), ("//a//b/...".into(), None));
        assert_eq!(parse("/?").unwrap(), ("/".into(), Some(String::new())));
    }

    #[test]
    fn targets_that_lead_elsewhere_are_refused() {
        for target in ["", "*", "http://other/", "other:443", "a/b", "?q"] {
            assert!(matches!(parse(target), Err(HttpError::BadRequest(_))), "{target}");
        }
        for target in
            ["/..", "/a/../b", "/a/%2e%2E/b", "/a/.%2e", "/a%2f..%2fb", "/a/..;/b", "/a%5c..", "/./a", "/a/..%00"]
        {
            assert!(matches!(parse(target), Err(HttpError::Refused(_))), "{target}");
        }
        for target in ["/a b", "/a\r\nb", "/a#b", "/\u{e4}", "/a\\..\\b", "/\0"] {
            assert!(matches!(parse(target), Err(HttpError::BadRequest(_))), "{target}");
        }
    }
}
