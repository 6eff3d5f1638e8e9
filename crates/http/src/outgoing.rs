//! Writes a response for the guest: scrubbed, and framed by length, in chunks, or by closing the connection.

use std::sync::Arc;

use crate::framing::{Framing, LAST_CHUNK, write_chunk};
use crate::response::Response;
use crate::scrub::{Scrubber, Scrubbing};

/// A body of known length up to this is buffered and scrubbed as a whole, so that its new length is known.
const GATHERED_BYTES: u64 = 64 << 10;

/// Writes one answer.
pub struct Outgoing {
    response: Response,
    scrubber: Option<Arc<Scrubber>>,
    scrubbing: Option<Scrubbing>,
    form: BodyForm,
}

enum BodyForm {
    /// As the server framed it: nothing, by length, or until the connection's end.
    Plain,
    Chunked,
    Gathered(Vec<u8>),
}

impl Outgoing {
    /// Writes the head, unless the length of the scrubbed body must be known first.
    pub fn start(response: Response, scrubber: Option<Arc<Scrubber>>, out: &mut Vec<u8>) -> Outgoing {
        let (form, framing) = match (response.framing, &scrubber) {
            (Framing::Length(length), Some(_)) if length <= GATHERED_BYTES => (BodyForm::Gathered(Vec::new()), None),
            (framing @ (Framing::None | Framing::UntilClose), _) | (framing @ Framing::Length(_), None) => {
                (BodyForm::Plain, Some(framing))
            }
            _ => (BodyForm::Chunked, Some(Framing::Chunked)),
        };
        if let Some(framing) = framing {
            out.extend(response.write_head(framing, scrubber.as_deref()));
        }
        let scrubbing = scrubber.clone().map(Scrubbing::new);
        Outgoing { response, scrubber, scrubbing, form }
    }

    /// Whether the end of the body is marked only by closing the connection.
    pub fn ends_with_connection(&self) -> bool {
        self.response.framing == Framing::UntilClose
    }

    /// Whether the connection to the server can be reused.
    pub fn is_reusable(&self) -> bool {
        self.response.reusable
    }

    /// Whether the body contained something that can't be searched.
    pub fn is_unsearchable(&self) -> bool {
        self.scrubbing.as_ref().is_some_and(Scrubbing::is_unsearchable)
    }

    /// Takes a piece of the body.
    pub fn write_piece(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        match &mut self.scrubbing {
            Some(scrubbing) => {
                let mut clean = Vec::with_capacity(piece.len());
                scrubbing.push(piece, &mut clean);
                self.form.write_data(&clean, out);
            }
            None => self.form.write_data(piece, out),
        }
    }

    /// Ends the body. If the server stopped early, `proper` is false, and the guest must be able to tell.
    pub fn finish(&mut self, proper: bool, out: &mut Vec<u8>) {
        if let Some(scrubbing) = &mut self.scrubbing {
            let mut rest = Vec::new();
            scrubbing.finish(&mut rest);
            self.form.write_data(&rest, out);
        }
        match &self.form {
            BodyForm::Gathered(whole) => {
                let length = whole.len() as u64;
                let framing = match self.response.framing {
                    // A placeholder may be longer than the value, so a truncated body could reach the announced length:
                    // announce more, so that it still looks truncated.
                    Framing::Length(announced) if !proper => Framing::Length(announced.max(length + 1)),
                    _ => Framing::Length(length),
                };
                out.extend(self.response.write_head(framing, self.scrubber.as_deref()));
                out.extend_from_slice(whole);
            }
            BodyForm::Chunked if proper => out.extend_from_slice(LAST_CHUNK),
            BodyForm::Chunked | BodyForm::Plain => {}
        }
    }
}

impl BodyForm {
    fn write_data(&mut self, data: &[u8], out: &mut Vec<u8>) {
        match self {
            BodyForm::Plain => out.extend_from_slice(data),
            BodyForm::Chunked => write_chunk(out, data),
            BodyForm::Gathered(whole) => whole.extend_from_slice(data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::{Secret, Secrets};

    #[test]
    fn an_answer_that_stopped_early_does_not_seem_whole_because_a_placeholder_is_longer() {
        let secret = Secret::new("K@a.test".parse().unwrap(), "value-1234".to_owned());
        let scrubber = Some(Arc::new(Scrubber::new(&Secrets::new(vec![secret]).unwrap())));
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n";
        let (response, _) = Response::parse_received(head, &mut 0, false).unwrap().unwrap();
        let mut out = Vec::new();
        let mut outgoing = Outgoing::start(response, scrubber, &mut out);
        outgoing.write_piece(b"value-1234", &mut out);
        outgoing.finish(false, &mut out);
        let (seen, length) = Response::parse_received(&out, &mut 0, false).unwrap().unwrap();
        assert_eq!(seen.framing, Framing::Length((out.len() - length + 1) as u64));
    }
}
