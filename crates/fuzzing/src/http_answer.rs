//! A server's bytes as an answer: the first line of an input is `GET|HEAD PIECE keep|close plain|scrub` (the third word
//! is ignored; older inputs have it), the rest what the server sends, in pieces of that length, until it closes the
//! connection.
//!
//! However it is cut, the guest gets the same; what it gets is one answer with the body that the server sent; and no
//! secret's value is in it.

use std::sync::Arc;

use super::planted_secret::{BASE64, PlantedSecret, VALUE};
use super::{contains_bytes, first_line};
use skillcell_http::framing::{BodyReader, Framing};
use skillcell_http::inflate::Inflation;
use skillcell_http::outgoing::Outgoing;
use skillcell_http::response::Response;
use skillcell_http::{HttpError, Scrubber};

const MAX_INTERIM: usize = 8;
/// What a compressed answer may become.
const INFLATED_CAP: u64 = 64 << 10;

struct Case {
    head_only: bool,
    scrubber: Option<Arc<Scrubber>>,
}

/// What the guest gets, the body as the server sent it, and whether it came to its proper end.
#[derive(Debug, PartialEq)]
struct PassedAnswer {
    out: Vec<u8>,
    body: Vec<u8>,
    proper: bool,
    /// The server ends the body with the connection.
    until_close: bool,
    taken: usize,
}

pub fn run(data: &[u8]) {
    let Some((line, bytes)) = first_line(data) else { return };
    let [method, piece, _, scrub] = line.split(' ').collect::<Vec<_>>()[..] else { return };
    let Ok(piece) = piece.parse() else { return };
    let planted = PlantedSecret::new("a.test");
    let scrubber = (scrub == "scrub").then(|| Arc::new(planted.scrubber()));
    let case = Case { head_only: method == "HEAD", scrubber };
    let bytes = planted.fill_forms(bytes);
    let whole = case.pass_through(&bytes, bytes.len().max(1));
    let pieces = case.pass_through(&bytes, piece);
    match (&whole, &pieces) {
        (Ok(whole), Ok(pieces)) => {
            assert_eq!((&whole.body, whole.proper, whole.taken), (&pieces.body, pieces.proper, pieces.taken));
            case.check_guest_side(whole);
            case.check_guest_side(pieces);
        }
        // A head that is cut may be found too long before it is found malformed.
        (whole, pieces) => assert_eq!(whole.is_err(), pieces.is_err(), "it depends on how the bytes are cut"),
    }
}

impl Case {
    /// What `Answer` does with a connection, done with bytes in memory.
    fn pass_through(&self, bytes: &[u8], piece: usize) -> Result<PassedAnswer, String> {
        let (mut end, mut start, mut scanned, mut interim) = (0, 0, 0, 0);
        let response = loop {
            match Response::parse_received(&bytes[start..end], &mut scanned, self.head_only)
                .map_err(|error| error.to_string())?
            {
                Some((response, length)) => {
                    assert_one_head(&bytes[start..start + length]);
                    // Interim answers (1xx) are skipped, up to a limit.
                    (start, scanned, interim) = (start + length, 0, interim + 1);
                    match response.status {
                        101 => return Err("switched".into()),
                        100..200 if interim > MAX_INTERIM => return Err("too many interim answers".into()),
                        100..200 => {}
                        _ => break response,
                    }
                }
                None if end == bytes.len() => return Err("closed in the head".into()),
                None => end = (end + piece.max(1)).min(bytes.len()),
            }
        };
        let (mut out, mut body) = (Vec::new(), Vec::new());
        let codings = response.content_codings().map_err(|error| error.to_string())?;
        let mut inflation = Inflation::new(&codings, INFLATED_CAP);
        let until_close = response.framing == Framing::UntilClose;
        let mut reader = BodyReader::new(response.framing, false);
        let mut outgoing = Outgoing::start(response, self.scrubber.clone(), &mut out);
        while !reader.is_done() && start < bytes.len() {
            let upto = (start + piece.max(1)).min(bytes.len());
            let before = body.len();
            start += reader.take_piece(&bytes[start..upto], &mut body)?;
            let piece = &body[before..];
            inflation.as_mut().map_or(Ok(()), |inflation| inflation.push(piece)).map_err(|error| error.to_string())?;
            outgoing.write_piece(piece, &mut out);
        }
        let proper = reader.is_done() || reader.close();
        outgoing.finish(proper, &mut out);
        Ok(PassedAnswer { out, body, proper, until_close, taken: start })
    }

    /// The guest's side: a strict reader of what came out.
    fn check_guest_side(&self, passed: &PassedAnswer) {
        let (response, length) = match Response::parse_received(&passed.out, &mut 0, self.head_only) {
            Ok(Some(found)) => found,
            // With the framing's own header it may be one more than are taken from a server.
            Err(HttpError::TooLarge { .. }) if passed.out.iter().filter(|byte| **byte == b'\n').count() > 200 => return,
            other => panic!("the guest gets no head but {other:?}: {}", String::from_utf8_lossy(&passed.out)),
        };
        assert_one_head(&passed.out[..length]);
        let until_close = response.framing == Framing::UntilClose;
        assert!(!until_close || passed.until_close, "the guest could not tell an early end");
        let (head, rest) = passed.out.split_at(length);
        assert!(!head.windows(2).any(|pair| pair[1] == b'\n' && pair[0] != b'\r'), "lines end in CRLF");
        let mut body = Vec::new();
        let mut reader = BodyReader::new(response.framing, true);
        assert_eq!(reader.take_all(rest, &mut body), Ok(rest.len()), "nothing comes after the body");
        assert_eq!(reader.is_done() || reader.close(), passed.proper, "an early end is seen as one, and only that");
        match &self.scrubber {
            None => assert_eq!(body, passed.body),
            Some(scrubber) => {
                assert_eq!(body, *scrubber.scrub_bytes(&passed.body), "in a stream it is found as in a text");
                for hidden in [VALUE.as_bytes(), BASE64.as_bytes()] {
                    assert!(
                        !contains_bytes(&body, hidden) && !contains_bytes(head, hidden),
                        "a secret goes to the guest"
                    );
                }
            }
        }
    }
}

/// Another parser ends the head where it was cut.
fn assert_one_head(head: &[u8]) {
    let mut space = [httparse::EMPTY_HEADER; 256];
    let parsed = httparse::Response::new(&mut space).parse(head);
    assert_eq!(parsed, Ok(httparse::Status::Complete(head.len())), "{}", String::from_utf8_lossy(head));
}
