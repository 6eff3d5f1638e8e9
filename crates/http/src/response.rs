//! Parses a response's head, and serializes it for the guest.

use crate::error::HttpError;
use crate::framing::Framing;
use crate::inflate::Coding;
use crate::request::write_header;
use crate::scrub::Scrubber;

/// The largest head of an answer, and the most headers in it.
const MAX_HEAD_BYTES: usize = 64 << 10;
const MAX_HEADERS: usize = 200;
/// The error for a response that doesn't begin with a status line.
pub const NOT_HTTP: &str = "it does not begin with a status line of HTTP/1";
/// Headers that determine where a body ends. They are regenerated.
const FRAMING: [&str; 2] = ["Content-Length", "Transfer-Encoding"];

/// A parsed response head.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    /// The minor version of HTTP/1: 0 or 1.
    version: u8,
    reason: Vec<u8>,
    headers: Vec<(String, Vec<u8>)>,
    pub framing: Framing,
    /// The `Content-Length`, even if no body follows.
    length: Option<u64>,
    /// Whether the server will take another request on this connection.
    pub reusable: bool,
}

impl Response {
    /// Reads the head at the start of what was received, once it is complete; gives it and its length. `scanned` is how
    /// much was looked at before. `head_only` when the request was a HEAD.
    pub fn parse_received(
        received: &[u8],
        scanned: &mut usize,
        head_only: bool,
    ) -> Result<Option<(Response, usize)>, HttpError> {
        let end = head_end(received, *scanned);
        *scanned = received.len();
        if end.unwrap_or(*scanned) > MAX_HEAD_BYTES {
            return Err(HttpError::TooLarge { what: "the answer's head", cap: MAX_HEAD_BYTES as u64 });
        }
        end.map(|end| Ok((Response::parse(&received[..end], head_only)?, end))).transpose()
    }

    /// Whether these bytes begin with a status line.
    pub fn is_begun(received: &[u8]) -> bool {
        parse_reason(received).is_some()
    }

    fn parse(head: &[u8], head_only: bool) -> Result<Response, HttpError> {
        let reason = parse_reason(head).ok_or(HttpError::BadAnswer(NOT_HTTP))?;
        let mut space = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Response::new(&mut space);
        match parsed.parse(head) {
            Ok(httparse::Status::Complete(_)) => {}
            Err(httparse::Error::TooManyHeaders) => {
                return Err(HttpError::TooLarge {
                    what: "the number of the answer's headers",
                    cap: MAX_HEADERS as u64,
                });
            }
            _ => return Err(HttpError::BadAnswer("the head is not HTTP/1")),
        }
        let status =
            parsed.code.filter(|code| (100..=999).contains(code)).ok_or(HttpError::BadAnswer("a bad status"))?;
        let headers: Vec<_> =
            parsed.headers.iter().map(|header| (header.name.to_owned(), header.value.to_vec())).collect();
        let (framing, length, clear) = body_framing(&headers, status, head_only)?;
        let keeps = parsed.version == Some(1) && !header_lists(&headers, "connection", "close");
        // NTLM and Negotiate authenticate the connection, so it must not be shared.
        let bound = ["www-authenticate", "authentication-info"].iter().any(|name| {
            header_starts_with(&headers, name, b"ntlm") || header_starts_with(&headers, name, b"negotiate")
        });
        let reusable = keeps && clear && !bound && framing != Framing::UntilClose;
        Ok(Response { status, version: parsed.version.unwrap_or(1), reason, headers, framing, length, reusable })
    }

    pub fn has_body(&self) -> bool {
        self.framing != Framing::None
    }

    /// The values of a header.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        header_values(&self.headers, name)
    }

    /// Whether it has a body with a `Content-Encoding` other than `identity`.
    pub fn is_encoded(&self) -> bool {
        let mut names = self.values("content-encoding").flat_map(|value| value.split(|&byte| byte == b','));
        self.has_body()
            && names.any(|name| !name.trim_ascii().is_empty() && !name.trim_ascii().eq_ignore_ascii_case(b"identity"))
    }

    /// How the body is compressed; an error if its decompressed size can't be measured.
    pub fn content_codings(&self) -> Result<Vec<Coding>, HttpError> {
        if self.framing == Framing::None {
            return Ok(Vec::new());
        }
        Coding::from_header_values(header_values(&self.headers, "content-encoding"))
    }

    /// The head that the guest gets: the server's headers in their order, and those about the framing where they stood.
    pub fn write_head(&self, framing: Framing, scrubber: Option<&Scrubber>) -> Vec<u8> {
        let scrub =
            |text: &[u8]| scrubber.map_or_else(|| text.to_vec(), |scrubber| scrubber.scrub_bytes(text).into_owned());
        let mut out = Vec::with_capacity(1024);
        out.extend_from_slice(format!("HTTP/1.{} {} ", self.version, self.status).as_bytes());
        out.extend_from_slice(&scrub(&self.reason));
        out.extend_from_slice(b"\r\n");
        let mut framed = self.framing_line(framing);
        for (name, value) in &self.headers {
            if FRAMING.iter().any(|about| name.eq_ignore_ascii_case(about)) {
                out.extend(framed.take().unwrap_or_default());
            } else {
                write_header(&mut out, &String::from_utf8_lossy(&scrub(name.as_bytes())), &scrub(value));
            }
        }
        out.extend(framed.unwrap_or_default());
        out.extend_from_slice(b"\r\n");
        out
    }

    /// The framing header, with the server's spelling of its name if the server sent it too.
    fn framing_line(&self, framing: Framing) -> Option<Vec<u8>> {
        let (name, value) = match (framing, self.length) {
            (Framing::Length(length), _) | (Framing::None, Some(length)) => (FRAMING[0], length.to_string()),
            (Framing::Chunked, _) => (FRAMING[1], "chunked".to_owned()),
            (Framing::None, None) | (Framing::UntilClose, _) => return None,
        };
        let theirs = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut out = Vec::new();
        write_header(&mut out, theirs.map_or(name, |(known, _)| known), value.as_bytes());
        Some(out)
    }
}

/// The reason phrase of the status line, as raw bytes; `None` if the head doesn't begin with a status line.
fn parse_reason(head: &[u8]) -> Option<Vec<u8>> {
    let line = head.split(|&byte| byte == b'\n').next()?.trim_ascii_end();
    let (b'0' | b'1', rest) = line.strip_prefix(b"HTTP/1.")?.split_first()? else { return None };
    let (code, reason) = rest.strip_prefix(b" ")?.split_at_checked(3)?;
    let is_fine =
        code.iter().all(u8::is_ascii_digit) && !reason.iter().any(|&byte| byte != b'\t' && byte.is_ascii_control());
    (is_fine && matches!(reason.first(), None | Some(b' '))).then(|| reason.trim_ascii_start().to_vec())
}

/// Where the head ends, if it does. Servers may end lines in LF alone.
fn head_end(received: &[u8], scanned: usize) -> Option<usize> {
    let from = scanned.saturating_sub(2);
    let line_ends = received.iter().enumerate().skip(from).filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    line_ends.into_iter().find_map(|at| match received.get(at + 1..)? {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// How the body is delimited, the `Content-Length`, and whether the end of the body is unambiguous.
fn body_framing(
    headers: &[(String, Vec<u8>)],
    status: u16,
    head_only: bool,
) -> Result<(Framing, Option<u64>, bool), HttpError> {
    let mut length = None;
    for value in header_values(headers, "content-length") {
        let Some(Framing::Length(found)) = Framing::parse_length(value) else {
            return Err(HttpError::BadAnswer("a bad `Content-Length`"));
        };
        if length.is_some_and(|known| known != found) {
            return Err(HttpError::BadAnswer("two different `Content-Length`"));
        }
        length = Some(found);
    }
    let mut codings = header_values(headers, "transfer-encoding");
    let (coding, more) = (codings.next(), codings.next());
    if more.is_some() || coding.is_some_and(|coding| !coding.eq_ignore_ascii_case(b"chunked")) {
        return Err(HttpError::BadAnswer("a `Transfer-Encoding` other than `chunked`"));
    }
    let bodiless = head_only || matches!(status, 100..=199 | 204 | 304);
    Ok(match (bodiless, coding, length) {
        (true, ..) => {
            (Framing::None, length.filter(|_| head_only || matches!(status, 204 | 304)), coding.is_none() || head_only)
        }
        (_, Some(_), length) => (Framing::Chunked, None, length.is_none()),
        (_, None, Some(length)) => (Framing::Length(length), Some(length), true),
        (_, None, None) => (Framing::UntilClose, None, true),
    })
}

fn header_values<'a>(headers: &'a [(String, Vec<u8>)], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    headers.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim_ascii())
}

fn header_lists(headers: &[(String, Vec<u8>)], name: &str, word: &str) -> bool {
    header_values(headers, name)
        .flat_map(|value| value.split(|&byte| byte == b','))
        .any(|part| part.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}

fn header_starts_with(headers: &[(String, Vec<u8>)], name: &str, word: &[u8]) -> bool {
    header_values(headers, name)
        .any(|value| value.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))
}
