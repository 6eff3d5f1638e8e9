//! Parses a request's head strictly: anything but one unambiguous request to the place the guest connected to is refused.

use zeroize::Zeroizing;

use crate::error::HttpError;
use crate::framing::Framing;
use crate::gate::{Asked, Refusal};
use crate::head::is_token;
use crate::place::Place;
use crate::target;
use skillcell_quote::cut_ascii;

/// The most headers of a request.
const MAX_HEADERS: usize = 100;
/// Headers whose values are regenerated: the guest decides only whether and where they appear.
const OURS: [&str; 4] = ["host", "connection", "content-length", "transfer-encoding"];
/// Hop-by-hop headers, which are not forwarded.
const DROPPED: [&str; 7] =
    ["keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate", "te", "trailer", "expect"];
/// Headers that make some servers use another method than the request line's; policy is asked about that one too.
const OVERRIDES: [&str; 3] = ["x-http-method-override", "x-http-method", "x-method-override"];
/// Headers that make some servers use another path than the one that was checked.
const REFUSED: [&str; 3] = ["x-original-url", "x-rewrite-url", "http2-settings"];

/// A parsed request. Only what is serialized from it is sent; the guest's own bytes never are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub asked: Asked,
    pub query: Option<Zeroizing<String>>,
    /// The headers to send, in order, without control characters other than tabs. They include the regenerated `Host`
    /// and framing headers, and `Connection` reduced to `close` or `keep-alive`. They may contain secrets, so they are
    /// zeroed on drop.
    pub headers: Vec<(String, Zeroizing<Vec<u8>>)>,
    pub framing: Framing,
    /// The guest wants the connection closed after the answer.
    pub close: bool,
    /// The guest waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
    /// Other methods that an override header names.
    pub overrides: Vec<String>,
}

impl Request {
    /// Reads a head that ends in an empty line.
    pub fn parse(head: &[u8], place: &Place, tls: bool) -> Result<Request, HttpError> {
        let head = head.strip_suffix(b"\r\n\r\n").ok_or(HttpError::BadRequest("the head is incomplete"))?;
        let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let (method, path, query) = request_line(lines.next().unwrap_or_default())?;
        let all = lines.map(parse_header).collect::<Result<Vec<_>, _>>()?;
        if all.len() > MAX_HEADERS {
            return Err(HttpError::TooLarge { what: "the number of the request's headers", cap: MAX_HEADERS as u64 });
        }
        check_host(&all, place, tls)?;
        let framing = parse_framing(&all)?;
        let connection = connection_options(&all)?;
        let expects_continue = expects_continue(&all)?;
        let mut overrides = Vec::new();
        for (name, value) in &all {
            if REFUSED.iter().any(|refused| is_same(name, refused)) {
                return Err(Refusal::by_builtin_check("header", format!("the header `{name}` is not sent")).into());
            }
            if OVERRIDES.iter().any(|over| is_same(name, over)) {
                overrides.push(parse_method(value)?.to_ascii_uppercase());
            }
        }
        let lasting = ["close", "keep-alive"].into_iter().find(|word| connection.iter().any(|listed| listed == word));
        let mut request = Request {
            asked: Asked { tls, place: place.clone(), method, path },
            query: query.map(Zeroizing::new),
            headers: Vec::new(),
            framing,
            close: lasting == Some("close"),
            expects_continue,
            overrides,
        };
        // `Connection` is written once, however often the guest sent it.
        let mut lasting = lasting.map(|word| word.as_bytes().to_vec());
        for (name, value) in all {
            let value = match request.own_header(&name) {
                Some(own) => Some(own),
                None if name.eq_ignore_ascii_case("connection") => lasting.take(),
                None => Some(value).filter(|_| !is_dropped(&name, &connection)),
            };
            request.headers.extend(value.map(|value| (name, value.into())));
        }
        Ok(request)
    }

    /// The regenerated value of a header that the guest doesn't control.
    fn own_header(&self, name: &str) -> Option<Vec<u8>> {
        match (name.to_ascii_lowercase().as_str(), self.framing) {
            ("host", _) => Some(self.asked.place.authority(self.asked.tls).into_bytes()),
            ("content-length", Framing::Length(length)) => Some(length.to_string().into_bytes()),
            ("transfer-encoding", Framing::Chunked) => Some(b"chunked".to_vec()),
            _ => None,
        }
    }

    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
    }

    /// Whether it can safely be sent twice.
    pub fn is_idempotent(&self) -> bool {
        matches!(self.asked.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE") && self.overrides.is_empty()
    }

    /// Whether bytes follow the head.
    pub fn has_body(&self) -> bool {
        !matches!(self.framing, Framing::None | Framing::Length(0))
    }

    /// Whether it has a body that its method gives no meaning to, so that a server may leave it unread and parse it as
    /// another request.
    pub fn has_stray_body(&self) -> bool {
        self.has_body() && !matches!(self.asked.method.as_str(), "POST" | "PUT" | "PATCH")
    }

    /// Asks the server to close the connection after its response.
    pub fn ask_to_close(&mut self) {
        self.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("connection"));
        self.headers.push(("Connection".to_owned(), b"close".to_vec().into()));
    }

    /// Serializes the head; `absolute` uses the absolute form of the URL, as proxies require.
    pub fn write_head(&self, absolute: bool) -> Zeroizing<Vec<u8>> {
        let fixed = 512 + self.asked.method.len() + self.asked.path.len() + self.query.as_ref().map_or(0, |q| q.len());
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.len().max(300) + 4);
        // Room for all of it: what grows leaves copies behind.
        let mut out = Zeroizing::new(Vec::with_capacity(fixed + headers.sum::<usize>()));
        out.extend_from_slice(self.asked.method.as_bytes());
        out.push(b' ');
        match absolute {
            true => out.extend_from_slice(self.asked.url().as_bytes()),
            false => out.extend_from_slice(self.asked.path.as_bytes()),
        }
        if let Some(query) = &self.query {
            out.push(b'?');
            out.extend_from_slice(query.as_bytes());
        }
        out.extend_from_slice(b" HTTP/1.1\r\n");
        for (name, value) in &self.headers {
            match self.own_header(name) {
                Some(own) => write_header(&mut out, name, &own),
                None => write_header(&mut out, name, value),
            }
        }
        out.extend_from_slice(b"\r\n");
        out
    }
}

/// Appends one header.
pub fn write_header(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn request_line(line: &[u8]) -> Result<(String, String, Option<String>), HttpError> {
    let line = std::str::from_utf8(line).map_err(|_| HttpError::BadRequest("the request line is not ASCII"))?;
    let mut parts = line.split(' ');
    let (Some(method), Some(target), Some(version), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(HttpError::BadRequest("the request line is not `METHOD /target HTTP/1.1`"));
    };
    let method = parse_method(method.as_bytes())?;
    if version != "HTTP/1.1" {
        return Err(HttpError::BadRequest("only HTTP/1.1 is spoken here"));
    }
    if ["CONNECT", "TRACE", "TRACK"].iter().any(|refused| method.eq_ignore_ascii_case(refused)) {
        return Err(
            Refusal::by_builtin_check("method", format!("the method `{method}` is not sent for a skill")).into()
        );
    }
    let (path, query) = target::parse(target)?;
    Ok((method, path, query))
}

fn parse_method(text: &[u8]) -> Result<String, HttpError> {
    match std::str::from_utf8(text) {
        Ok(text) if (1..=32).contains(&text.len()) && text.bytes().all(is_token) => Ok(text.to_owned()),
        _ => Err(HttpError::BadRequest("a method is not a word of at most 32 characters")),
    }
}

fn parse_header(line: &[u8]) -> Result<(String, Vec<u8>), HttpError> {
    if line.first().is_some_and(|&byte| matches!(byte, b' ' | b'\t')) {
        return Err(HttpError::BadRequest("a header is folded over two lines"));
    }
    let colon = line.iter().position(|&byte| byte == b':').ok_or(HttpError::BadRequest("a header without `:`"))?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    if name.is_empty() || !name.iter().all(|&byte| is_token(byte)) {
        return Err(HttpError::BadRequest("a header's name has characters that don't belong there"));
    }
    if value.iter().any(|&byte| byte != b'\t' && byte.is_ascii_control()) {
        return Err(HttpError::BadRequest("a header's value has control characters"));
    }
    Ok((String::from_utf8_lossy(name).into_owned(), value.to_vec()))
}

/// Whether a header is not forwarded: it is hop-by-hop, listed in `Connection`, or could be taken for one of `OURS`.
fn is_dropped(name: &str, connection: &[String]) -> bool {
    let is_ours = |other: &&str| is_same(name, other);
    OURS.iter().chain(&DROPPED).any(is_ours) || connection.iter().any(|listed| is_same(name, listed))
}

/// Whether a server may treat two header names as the same: many treat `_` as `-`.
pub fn is_same(name: &str, other: &str) -> bool {
    let plain = |byte: u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    name.bytes().map(plain).eq(other.bytes().map(plain))
}

fn headers_named<'a>(all: &'a [(String, Vec<u8>)], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    all.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
}

fn check_host(all: &[(String, Vec<u8>)], place: &Place, tls: bool) -> Result<(), HttpError> {
    let mut hosts = headers_named(all, "host");
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(HttpError::BadRequest("a request has exactly one `Host`"));
    };
    if std::str::from_utf8(host).is_ok_and(|host| place.is_named_by(host, tls)) {
        return Ok(());
    }
    let shown = cut_ascii(&String::from_utf8_lossy(host), 80);
    Err(Refusal::by_builtin_check("host-header", format!("`Host: {shown}` on a connection to `{place}` is refused"))
        .into())
}

fn parse_framing(all: &[(String, Vec<u8>)]) -> Result<Framing, HttpError> {
    let (mut lengths, mut codings) = (headers_named(all, "content-length"), headers_named(all, "transfer-encoding"));
    match (lengths.next(), lengths.next(), codings.next(), codings.next()) {
        (None, _, None, _) => Ok(Framing::None),
        (Some(length), None, None, _) => {
            Framing::parse_length(length).ok_or(HttpError::BadRequest("a bad `Content-Length`"))
        }
        (None, _, Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Framing::Chunked),
        (None, ..) => Err(HttpError::BadRequest("a `Transfer-Encoding` other than `chunked`")),
        (Some(_), Some(_), ..) => Err(HttpError::BadRequest("more than one `Content-Length`")),
        _ => Err(HttpError::BadRequest("both `Content-Length` and `Transfer-Encoding`")),
    }
}

/// The names listed in `Connection`, in lower case.
fn connection_options(all: &[(String, Vec<u8>)]) -> Result<Vec<String>, HttpError> {
    let listed: Vec<String> = headers_named(all, "connection")
        .flat_map(|value| value.split(|&byte| byte == b','))
        .map(|name| String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase())
        .collect();
    if headers_named(all, "upgrade").next().is_some() || listed.iter().any(|name| name == "upgrade") {
        return Err(Refusal::by_builtin_check("upgrade", "a connection can't be upgraded to another protocol").into());
    }
    Ok(listed)
}

fn expects_continue(all: &[(String, Vec<u8>)]) -> Result<bool, HttpError> {
    let mut found = false;
    for value in headers_named(all, "expect") {
        if !value.eq_ignore_ascii_case(b"100-continue") {
            return Err(HttpError::BadRequest("an expectation other than `100-continue`"));
        }
        found = true;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(more: &str) -> Result<Request, HttpError> {
        let head = format!("GET / HTTP/1.1\r\nHost: a.example\r\n{more}\r\n");
        Request::parse(head.as_bytes(), &Place::parse("a.example", 80).unwrap(), false)
    }

    #[test]
    fn an_underscore_in_a_headers_name_passes_no_check() {
        for name in ["X_Original_URL", "x-rewrite_url", "HTTP2_Settings"] {
            assert!(matches!(parse(&format!("{name}: /\r\n")), Err(HttpError::Refused(_))), "{name}");
        }
        for name in ["X_HTTP_Method_Override", "X_HTTP-Method", "x_method_override"] {
            assert_eq!(parse(&format!("{name}: delete\r\n")).unwrap().overrides, ["DELETE"], "{name}");
        }
        let dropped =
            "Content_Length: 5\r\nTransfer_Encoding: chunked\r\nKeep_Alive: 1\r\nConnection: X-Hop\r\nX_Hop: 1\r\n";
        let request = parse(&format!("{dropped}X_Own: 1\r\n")).unwrap();
        assert_eq!(request.headers[1..], [("X_Own".to_owned(), b"1".to_vec().into())]);
        assert_eq!(request.framing, Framing::None);
    }

    #[test]
    fn headers_are_sent_in_the_guests_order_and_host_and_length_in_our_words() {
        let head = b"POST /x HTTP/1.1\r\nAccept: */*\r\ncontent-length: 007\r\nHost: A.example:80\r\nX: y\r\n\r\n";
        let mut request = Request::parse(head, &Place::parse("a.example", 80).unwrap(), false).unwrap();
        let sent = |length: &str| {
            format!("POST /x HTTP/1.1\r\nAccept: */*\r\ncontent-length: {length}\r\nHost: a.example\r\nX: y\r\n\r\n")
        };
        assert_eq!(String::from_utf8_lossy(&request.write_head(false)), sent("7"));
        request.framing = Framing::Length(12);
        assert_eq!(String::from_utf8_lossy(&request.write_head(false)), sent("12"));
    }

    #[test]
    fn of_connection_only_whether_it_is_to_last_goes_on() {
        for (said, sent) in [
            ("Connection: keep-alive\r\n", Some("keep-alive")),
            ("Connection: Close, X-Hop\r\nX-Hop: 1\r\n", Some("close")),
            ("Connection: X-Hop\r\nConnection: keep-alive\r\nX-Hop: 1\r\n", Some("keep-alive")),
            ("Connection: X-Hop\r\nX-Hop: 1\r\n", None),
        ] {
            let sent: Vec<_> =
                sent.map(|word| ("Connection".to_owned(), word.as_bytes().to_vec().into())).into_iter().collect();
            assert_eq!(parse(said).unwrap().headers[1..], sent, "{said}");
        }
        let mut request = parse("Connection: keep-alive\r\n").unwrap();
        request.ask_to_close();
        assert_eq!(request.headers[1..], [("Connection".to_owned(), b"close".to_vec().into())]);
    }
}
