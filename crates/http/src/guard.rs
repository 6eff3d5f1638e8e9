//! Extra checks for hosts that receive a secret, because their responses may echo it. Such a response must be complete,
//! uncompressed and in a searchable character set, so that the scrubber can find the secret. Others are refused.

use crate::gate::Refusal;
use crate::request::{Request, is_same};
use crate::response::Response;
use skillcell_quote::cut_ascii;

/// Headers that request a compressed, partial or delta-encoded response.
const UNWANTED: [&str; 6] = ["accept-encoding", "range", "if-range", "request-range", "a-im", "accept-ranges"];
/// Headers with media types, whose parameters can name a charset.
const MEDIA_TYPES: [&str; 2] = ["accept", "content-type"];
const CHARSET: &str = "charset";

/// Charsets that are supersets of ASCII. The search also handles UTF-16 and UTF-32, but a response that declares any
/// other charset is refused: Python has a hundred more decoders.
const SEARCHABLE: [&str; 11] =
    ["utf-8", "utf8", "us-ascii", "ascii", "latin1", "latin-1", "gb2312", "gbk", "gb18030", "big5", "shift_jis"];
/// Prefixes of further searchable charsets; one or two letters or digits follow.
const SEARCHABLE_FAMILIES: [&str; 7] = ["iso-8859-", "iso8859-", "iso_8859-", "windows-125", "cp125", "koi8-", "euc-"];

/// Rewrites the headers so that the server sends a complete, uncompressed response in its default charset.
pub fn ask_for_searchable(request: &mut Request) {
    request.headers.retain(|(name, _)| {
        let unwanted = UNWANTED.iter().any(|unwanted| is_same(name, unwanted));
        !unwanted && !name.to_ascii_lowercase().contains(CHARSET)
    });
    for (name, value) in &mut request.headers {
        if MEDIA_TYPES.iter().any(|known| is_same(name, known)) {
            let keeps = |charset: &str| !is_same(name, "accept") && is_searchable(charset);
            if let Some(plain) = without_charset(&String::from_utf8_lossy(value), keeps) {
                *value = plain.into_bytes().into();
            }
        }
    }
    request.headers.push(("Accept-Encoding".to_owned(), b"identity".to_vec().into()));
}

/// Refuses a response in which a secret might go unnoticed.
pub fn check_searchable(response: &Response) -> Result<(), Refusal> {
    if !response.has_body() {
        return Ok(());
    }
    if response.is_encoded() {
        return Err(refuse_answer("it is compressed, unasked"));
    }
    let types: Vec<String> = response.values("content-type").map(lowercase_text).collect();
    let is_part = matches!(response.status, 206 | 226)
        || response.values("content-range").next().is_some()
        || types.iter().any(|kind| kind.starts_with("multipart/byteranges"));
    if is_part {
        return Err(refuse_answer("it is only a part, unasked"));
    }
    match types.iter().flat_map(|kind| charset_names(kind)).find(|charset| !is_searchable(charset)) {
        Some(charset) => {
            let shown = cut_ascii(charset, 40);
            Err(refuse_answer(&format!("its characters are `{shown}`")))
        }
        None => Ok(()),
    }
}

/// The refusal for a body that turns out to be unsearchable.
pub fn unsearchable_body() -> Refusal {
    refuse_answer("a character's number in it has more leading zeros than any honest one")
}

fn refuse_answer(what: &str) -> Refusal {
    let message =
        format!("an answer of a host that a secret is for is refused: {what}, so that secrets in it can't be found");
    Refusal::by_builtin_check("secret-answer", message)
}

fn lowercase_text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).trim().to_ascii_lowercase()
}

fn is_searchable(charset: &str) -> bool {
    let charset = charset.trim_matches(|c: char| c.is_ascii_whitespace() || c == '"' || c == '\'').to_ascii_lowercase();
    let is_of = |family: &str| {
        let rest = charset.strip_prefix(family).unwrap_or_default();
        (1..=2).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    SEARCHABLE.contains(&charset.as_str()) || SEARCHABLE_FAMILIES.iter().any(|family| is_of(family))
}

/// The charsets named in the parameters of a media type.
fn charset_names(kind: &str) -> impl Iterator<Item = &str> {
    kind.split([';', ',']).filter_map(charset_parameter)
}

/// The value of a parameter whose name starts with `charset`.
fn charset_parameter(text: &str) -> Option<&str> {
    let (name, value) = text.split_once('=')?;
    name.trim_ascii().to_ascii_lowercase().starts_with(CHARSET).then_some(value.trim_ascii())
}

/// A list of media types without the charset parameters that `keeps` rejects; `None` if nothing had to be removed.
fn without_charset(value: &str, keeps: impl Fn(&str) -> bool) -> Option<String> {
    let unwanted = |part: &str| charset_parameter(part).is_some_and(|charset| !keeps(charset));
    let mut changed = false;
    let kinds = value.split(',').map(|kind| {
        let parts: Vec<&str> = kind.split(';').collect();
        let kept: Vec<&str> = parts.iter().copied().filter(|part| !unwanted(part)).collect();
        changed |= kept.len() < parts.len();
        kept.join(";")
    });
    let plain = kinds.collect::<Vec<String>>().join(",");
    changed.then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Place;

    fn neutralised(headers: &str) -> String {
        let head = format!("GET / HTTP/1.1\r\nHost: a.example\r\n{headers}\r\n");
        let mut request = Request::parse(head.as_bytes(), &Place::parse("a.example", 80).unwrap(), false).unwrap();
        ask_for_searchable(&mut request);
        let text = String::from_utf8_lossy(&request.write_head(false)).into_owned();
        let rest = text.strip_prefix("GET / HTTP/1.1\r\nHost: a.example\r\n").unwrap();
        rest.strip_suffix("Accept-Encoding: identity\r\n\r\n").unwrap().to_owned()
    }

    #[test]
    fn nothing_is_asked_for_in_part_compressed_or_in_other_characters() {
        for header in [
            "Accept-Charset: utf-16",
            "accept_charset: utf-16",
            "X-Accept-Charset: utf-16",
            "Range: bytes=0-3",
            "Request-Range: bytes=0-3",
            "REQUEST_RANGE: bytes=0-3",
            "If-Range: x",
            "Accept-Encoding: gzip",
            "A-IM: vcdiff",
        ] {
            assert_eq!(neutralised(&format!("{header}\r\n")), "", "{header}");
        }
        for (sent, becomes) in [
            ("Accept: text/html;charset=utf-16;q=0.5, */*; Charset=\"UTF-32\"", "Accept: text/html;q=0.5, */*"),
            ("Accept: text/html;charset=utf-8", "Accept: text/html"),
            ("Accept: text/html; q=0.5", "Accept: text/html; q=0.5"),
            ("Content-Type: text/plain; charset=UTF-16LE", "Content-Type: text/plain"),
            ("Content-Type: text/plain; charset*=utf-16", "Content-Type: text/plain"),
            ("Content-Type: text/plain; charset=\"utf-8\"", "Content-Type: text/plain; charset=\"utf-8\""),
        ] {
            assert_eq!(neutralised(&format!("{sent}\r\n")), format!("{becomes}\r\n"));
        }
    }

    fn refuses(status: &str, headers: &str) -> bool {
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: 9\r\n{headers}\r\n");
        check_searchable(&Response::parse_received(head.as_bytes(), &mut 0, false).unwrap().unwrap().0).is_err()
    }

    #[test]
    fn an_answer_in_which_nothing_can_be_found_is_refused() {
        for charset in [
            "utf-16",
            "UTF-16LE",
            "\"utf-16\"",
            "'utf-32'",
            "utf_16_be",
            "ucs-2",
            "utf-7",
            "unicode-1-1-utf-7",
            "cp037",
            "ibm500",
            "iso-2022-jp",
            "hz-gb-2312",
            "rot13",
            "punycode",
            "unicode_escape",
            "",
            "utf-8\";charset=utf-16",
            "iso-8859-1x2",
            "cp1250x9",
        ] {
            assert!(refuses("200 OK", &format!("Content-Type: text/plain; charset={charset}\r\n")), "{charset}");
            assert!(refuses(
                "200 OK",
                &format!("content-type: text/plain\r\nContent-Type: a/b;CHARSET = {charset}\r\n")
            ));
        }
        for charset in
            ["utf-8", "UTF8", "\"utf-8\"", "us-ascii", "ISO-8859-15", "windows-1252", "euc-jp", "big5", "koi8-r"]
        {
            assert!(!refuses("200 OK", &format!("Content-Type: text/plain; charset={charset}\r\n")), "{charset}");
        }
        assert!(
            refuses("206 Partial Content", "")
                && refuses("226 IM Used", "")
                && refuses("200 OK", "Content-Range: bytes 0-8/99\r\n")
        );
        assert!(refuses("200 OK", "Content-Type: multipart/byteranges; boundary=x\r\n"));
        assert!(refuses("200 OK", "Content-Encoding: gzip\r\n"));
        assert!(!refuses("200 OK", "Content-Type: text/plain\r\n") && !refuses("404 Not Found", ""));
    }
}
