//! A guest's bytes as requests: the first line of an input is `http|https HOST PORT PIECE`, the rest what the guest writes,
//! in pieces of that length.
//!
//! However it is cut, it is the same requests; and what is sent for one is read by another parser (`httparse`) as that
//! one request, to the place that was connected to.

use super::planted_secret::{PlantedSecret, VALUE};
use super::{contains_bytes, first_line};
use skillcell_http::Place;
use skillcell_http::framing::{BodyReader, Framing, LAST_CHUNK, write_chunk};
use skillcell_http::head::HeadBuffer;
use skillcell_http::replace::Replacer;
use skillcell_http::request::Request;
use skillcell_policy::{Scheme, Target};

const MAX_REQUESTS: usize = 16;
const SECRET_HOST: &str = "a.test";

pub fn run(data: &[u8]) {
    let Some((line, bytes)) = first_line(data) else { return };
    let Some((tls, place, piece)) = parse_connection(line) else { return };
    let planted = PlantedSecret::new(SECRET_HOST);
    let bytes = planted.fill_forms(bytes);
    let whole = read_requests(&bytes, bytes.len(), &place, tls);
    assert_eq!(whole, read_requests(&bytes, piece, &place, tls), "it depends on how the bytes are cut");
    for (request, body) in &whole.0 {
        assert_one_request(&request.write_head(false), request, body);
        assert_asked_as_sent(request);
        assert_keeps_secrets(&planted, request);
    }
}

fn parse_connection(line: &str) -> Option<(bool, Place, usize)> {
    let mut words = line.split(' ');
    let tls = match words.next()? {
        "http" => false,
        "https" => true,
        _ => return None,
    };
    let place = Place::parse(words.next()?, words.next()?.parse().ok()?).ok()?;
    Some((tls, place, words.next()?.parse().ok()?))
}

type Requests = (Vec<(Request, Vec<u8>)>, Result<bool, String>);

/// The requests that were complete, and how it ended: in the middle of one, or with an error.
fn read_requests(bytes: &[u8], piece: usize, place: &Place, tls: bool) -> Requests {
    let mut requests = Vec::new();
    let end = read_pieces(bytes, piece, place, tls, &mut requests);
    (requests, end)
}

fn read_pieces(
    bytes: &[u8],
    piece: usize,
    place: &Place,
    tls: bool,
    requests: &mut Vec<(Request, Vec<u8>)>,
) -> Result<bool, String> {
    let mut head = HeadBuffer::default();
    let mut open: Option<(Request, BodyReader, Vec<u8>)> = None;
    for mut piece in bytes.chunks(piece.max(1)) {
        while !piece.is_empty() && requests.len() < MAX_REQUESTS {
            let taken = match &mut open {
                None => {
                    let (taken, head) = head.push(piece).map_err(|error| error.to_string())?;
                    if let Some(head) = head {
                        let request = Request::parse(&head, place, tls).map_err(|error| error.to_string())?;
                        let reader = BodyReader::new(request.framing, true);
                        open = Some((request, reader, Vec::new()));
                    }
                    taken
                }
                Some((_, reader, body)) => reader.take_all(piece, body)?,
            };
            piece = &piece[taken..];
            if let Some((request, _, body)) = open.take_if(|(_, reader, _)| reader.is_done()) {
                requests.push((request, body));
            }
        }
    }
    Ok(open.is_none() && head.is_empty())
}

/// The head that is sent is one head, and another parser reads the same in it; so does this one.
fn assert_one_request(head: &[u8], request: &Request, body: &[u8]) {
    let mut space = [httparse::EMPTY_HEADER; 200];
    let mut other = httparse::Request::new(&mut space);
    assert_eq!(other.parse(head), Ok(httparse::Status::Complete(head.len())), "{}", String::from_utf8_lossy(head));
    assert_eq!((other.method, other.version), (Some(request.asked.method.as_str()), Some(1)));
    let target =
        request.query.as_ref().map_or(request.asked.path.clone(), |q| format!("{}?{}", request.asked.path, q.as_str()));
    assert_eq!(other.path, Some(target.as_str()));
    let values = |name: &str| -> Vec<&[u8]> {
        other
            .headers
            .iter()
            .filter(|header| header.name.eq_ignore_ascii_case(name))
            .map(|header| header.value)
            .collect()
    };
    assert_eq!(values("host"), [request.asked.place.authority(request.asked.tls).as_bytes()]);
    let (lengths, codings) = (values("content-length"), values("transfer-encoding"));
    match request.framing {
        Framing::Length(length) => {
            assert_eq!((lengths, codings.len()), (vec![length.to_string().as_bytes()], 0));
            assert_eq!(length, body.len() as u64);
        }
        Framing::Chunked => {
            assert_eq!((lengths.len(), codings), (0, vec![&b"chunked"[..]]));
            assert_survives_chunks(body);
        }
        framing => assert_eq!((lengths.len(), codings.len(), framing), (0, 0, Framing::None)),
    }
    assert!(matches!(values("connection")[..], [] | [b"close" | b"keep-alive"]), "more of the connection is sent");
    for name in ["upgrade", "expect", "te", "trailer", "proxy-authorization", "x-original-url"] {
        assert!(values(name).is_empty(), "{name} is sent");
    }
    // Parsing what is sent gives the same request: it is in normal form.
    let again = Request::parse(head, &request.asked.place, request.asked.tls).expect("what is sent is read again");
    let expected = Request { expects_continue: false, overrides: again.overrides.clone(), ..request.clone() };
    assert_eq!(again, expected);
    assert!(again.overrides.iter().all(|method| request.overrides.contains(method)), "an unasked method is sent");
}

fn assert_survives_chunks(body: &[u8]) {
    let (mut sent, mut read) = (Vec::new(), Vec::new());
    body.chunks(7).for_each(|piece| write_chunk(&mut sent, piece));
    sent.extend_from_slice(LAST_CHUNK);
    let mut reader = BodyReader::new(Framing::Chunked, true);
    assert_eq!(reader.take_all(&sent, &mut read), Ok(sent.len()));
    assert!(reader.is_done() && read == body);
}

/// Policy is asked about the host, the port and the path that are sent, or refuses to read them.
fn assert_asked_as_sent(request: &Request) {
    let asked = &request.asked;
    let scheme = if asked.tls { Scheme::Https } else { Scheme::Http };
    if let Ok(target) = Target::from_parts(scheme, &asked.place.authority(asked.tls), &asked.path) {
        assert_eq!((target.path(), target.query()), (asked.path.as_str(), None));
        assert_eq!((target.host().to_string(), target.port()), (host_text(&asked.place), asked.place.port()));
    }
}

fn host_text(place: &Place) -> String {
    if place.host().contains(':') { format!("[{}]", place.host()) } else { place.host().to_owned() }
}

/// A value goes only where it is granted, and only where its placeholder was.
fn assert_keeps_secrets(planted: &PlantedSecret, request: &Request) {
    let mut filled = request.clone();
    let decided = planted.secrets.decide_each(&request.asked);
    let bound = decided.iter().any(|secret| secret.decision.is_ok());
    assert_eq!(bound, request.asked.place.host() == SECRET_HOST && request.asked.target().is_ok());
    let mut replacer = Replacer::new(decided);
    if replacer.fill_head(&mut filled).is_err() {
        return;
    }
    assert_eq!((&filled.asked, filled.framing), (&request.asked, request.framing), "a secret changed where it goes");
    let (before, after) = (request.write_head(false), filled.write_head(false));
    if replacer.used_names().is_empty() {
        assert_eq!(before, after);
    }
    if contains_bytes(&after, VALUE.as_bytes()) && !contains_bytes(&before, VALUE.as_bytes()) {
        assert_eq!(request.asked.place.host(), SECRET_HOST);
    }
    // With the value in it, it is still one head, with as many headers.
    let count = |head: &[u8]| {
        let mut space = [httparse::EMPTY_HEADER; 200];
        let mut parsed = httparse::Request::new(&mut space);
        assert_eq!(parsed.parse(head), Ok(httparse::Status::Complete(head.len())), "{}", String::from_utf8_lossy(head));
        parsed.headers.len()
    };
    assert_eq!(count(&before), count(&after));
}
