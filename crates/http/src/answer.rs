//! A response on its way to the guest: read as it arrives, capped, scrubbed and reframed. Only small ones are buffered whole.
//!
//! ```text
//!   Head ─▶ Body ─▶ Over(Complete)      the connection goes back to the pool
//!     └───────┴───▶ Over(Closed)        the server stopped early: the guest reads an end, as it would from a socket
//! ```

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use zeroize::Zeroizing;

use crate::call_context::CallContext;
use crate::client::Checked;
use crate::connection::Connection;
use crate::error::HttpError;
use crate::event::Record;
use crate::framing::{BodyReader, Framing};
use crate::guard;
use crate::inflate::Inflation;
use crate::limits::from_now;
use crate::outgoing::Outgoing;
use crate::ready::Awaited;
use crate::response::{NOT_HTTP, Response};
use crate::wait::{Wait, is_timeout};

/// The most bytes that one read returns to the guest.
const MAX_PIECE_BYTES: usize = 256 << 10;
/// The most interim responses (`100`, `103`) before the final one.
const MAX_INTERIM: u8 = 8;
/// The most bytes that are passed on of a first line that is not HTTP.
const MAX_STRANGE_BYTES: usize = 256;

/// A request that can be sent again if a reused connection turns out to be dead.
pub struct Resend {
    pub checked: Checked,
    pub bytes: Zeroizing<Vec<u8>>,
    pub tls: bool,
}

/// Properties of the request that affect how its response is handled.
pub struct RequestTraits {
    pub head_only: bool,
    /// A secret may go to the host that the request went to: see `guard`.
    pub guarded: bool,
    /// The guest asked to close its connection after this response.
    pub close: bool,
    /// The connection to the server must not be reused.
    pub last: bool,
}

pub struct Answer {
    context: Arc<CallContext>,
    connection: Option<Connection>,
    resend: Option<Resend>,
    record: Record,
    traits: RequestTraits,
    phase: Phase,
    first_byte_by: Instant,
    out: Vec<u8>,
    given: usize,
}

enum Phase {
    Head { scanned: usize, interim: u8 },
    Body(Box<Body>),
    Over { complete: bool },
}

struct Body {
    reader: BodyReader,
    inflation: Option<Inflation>,
    outgoing: Outgoing,
}

impl Answer {
    pub fn new(
        context: Arc<CallContext>,
        connection: Option<Connection>,
        resend: Option<Resend>,
        record: Record,
        traits: RequestTraits,
    ) -> Answer {
        let first_byte_by = from_now(context.limits.first_byte);
        let phase = Phase::Head { scanned: 0, interim: 0 };
        let (out, given) = (Vec::new(), 0);
        Answer { context, connection, resend, record, traits, phase, first_byte_by, out, given }
    }

    /// Reads the next piece; empty at the end.
    pub fn read(&mut self, max: usize, wait: Wait<'_>) -> Result<Vec<u8>, HttpError> {
        while self.given == self.out.len() && !matches!(self.phase, Phase::Over { .. }) {
            self.out.clear();
            self.given = 0;
            self.advance_phase(wait).inspect_err(|error| self.record.set_error(error))?;
        }
        let count = max.min(MAX_PIECE_BYTES).min(self.out.len() - self.given);
        let piece = self.out[self.given..self.given + count].to_vec();
        self.given += count;
        Ok(piece)
    }

    /// `None` until the guest has read everything; then whether its connection stays open for another request.
    pub fn is_over(&self) -> Option<bool> {
        match self.phase {
            Phase::Over { complete } if self.given == self.out.len() => Some(complete && !self.traits.close),
            _ => None,
        }
    }

    /// Whether a read would return at once with bytes, the end or an error.
    pub fn is_ready(&mut self) -> bool {
        let Some(connection) = &mut self.connection else { return true };
        let received = connection.received().len();
        let unread = match self.phase {
            Phase::Head { scanned, .. } => received > scanned || Instant::now() >= self.first_byte_by,
            Phase::Body(_) => received > 0,
            Phase::Over { .. } => true,
        };
        unread || self.given < self.out.len() || connection.has_more()
    }

    /// The socket that more data will arrive on.
    pub fn awaited_socket(&self) -> Option<Awaited<'_>> {
        let by = matches!(self.phase, Phase::Head { .. }).then_some(self.first_byte_by);
        Some(Awaited { socket: self.connection.as_ref()?.descriptor(), by })
    }

    fn advance_phase(&mut self, wait: Wait<'_>) -> Result<(), HttpError> {
        match self.phase {
            Phase::Head { .. } => self.advance_head(wait),
            Phase::Body(_) => self.advance_body(wait),
            Phase::Over { .. } => Ok(()),
        }
    }

    fn advance_head(&mut self, wait: Wait<'_>) -> Result<(), HttpError> {
        let (Some(connection), Phase::Head { scanned, interim }) = (&mut self.connection, &mut self.phase) else {
            return self.stop_early();
        };
        let found = match Response::parse_received(connection.received(), scanned, self.traits.head_only) {
            Err(HttpError::BadAnswer(NOT_HTTP)) => return self.pass_on_first_line(),
            found => found?,
        };
        if let Some((response, end)) = found {
            connection.consume(end);
            (*scanned, *interim) = (0, *interim + 1);
            return match response.status {
                101 => Err(HttpError::BadAnswer("the protocol was switched unasked")),
                100..200 if *interim > MAX_INTERIM => Err(HttpError::BadAnswer("too many interim answers")),
                100..200 => Ok(()),
                _ => self.start_body(response),
            };
        }
        // The guest may read again after a timeout, or poll without waiting: report that no response will come.
        if Instant::now() >= self.first_byte_by {
            return Err(HttpError::Reset { doing: "waiting for an answer" });
        }
        // Resending is safe only if the server sent nothing at all.
        let silent = *scanned == 0;
        match connection.fill_buffer(wait.no_later_than(self.first_byte_by)) {
            Ok(1..) => Ok(()),
            Err(error) if is_timeout(&error) => Err(wait.timeout_error("waiting for an answer")),
            result => match self.resend.take().filter(|_| silent) {
                Some(resend) => self.send_again(&resend, wait),
                None if !silent && !Response::is_begun(connection.received()) => self.pass_on_first_line(),
                None => result.map_or(Err(HttpError::Reset { doing: "waiting for an answer" }), |_| self.stop_early()),
            },
        }
    }

    /// If the server doesn't speak HTTP, passes on only its first line, which makes the guest's HTTP library raise its usual
    /// error.
    fn pass_on_first_line(&mut self) -> Result<(), HttpError> {
        let received = self.connection.as_ref().map_or(&[][..], Connection::received);
        // Scrub before truncating, because a truncated value would not be found.
        let clean = self.context.scrubber.as_ref().map_or(Cow::Borrowed(received), |it| it.scrub_bytes(received));
        let line = clean.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
        self.out = line[..line.len().min(MAX_STRANGE_BYTES)].to_vec();
        self.out.extend_from_slice(b"\r\n\r\n");
        self.stop_early()?;
        self.record.set_error(&HttpError::BadAnswer(NOT_HTTP));
        self.connection = None;
        Ok(())
    }

    fn send_again(&mut self, resend: &Resend, wait: Wait<'_>) -> Result<(), HttpError> {
        let limits = &self.context.limits;
        let mut connection = self.context.client.connect(&resend.checked, resend.tls, wait.at_most(limits.connect))?;
        connection.only_for = self.connection.take().and_then(|dead| dead.only_for);
        self.record.record_secrets(self.record.secrets.clone(), connection.key.address)?;
        let sent: io::Result<()> = connection.send_all(&resend.bytes, limits.idle, wait);
        sent.map_err(|_| HttpError::Reset { doing: "sending the request" })?;
        self.record.address = Some(connection.key.address);
        self.first_byte_by = from_now(limits.first_byte);
        self.connection = Some(connection);
        Ok(())
    }

    fn start_body(&mut self, response: Response) -> Result<(), HttpError> {
        self.resend = None;
        self.record.status = Some(response.status);
        let cap = self.context.limits.answer_bytes;
        if matches!(response.framing, Framing::Length(length) if length > cap) {
            return Err(HttpError::TooLarge { what: "the answer's body", cap });
        }
        if self.traits.guarded {
            guard::check_searchable(&response).inspect_err(|refusal| self.record.record_refusal(refusal))?;
        }
        let codings = response.content_codings()?;
        let reader = BodyReader::new(response.framing, false);
        let done = reader.is_done();
        let outgoing = Outgoing::start(response, self.context.scrubber.clone(), &mut self.out);
        let inflation = Inflation::new(&codings, self.context.limits.inflated_bytes);
        self.phase = Phase::Body(Box::new(Body { reader, inflation, outgoing }));
        if done {
            self.finish_body(true);
        }
        Ok(())
    }

    fn advance_body(&mut self, wait: Wait<'_>) -> Result<(), HttpError> {
        let (Some(connection), Phase::Body(body)) = (&mut self.connection, &mut self.phase) else {
            return self.stop_early();
        };
        if connection.received().is_empty() {
            match connection.fill_buffer(wait.at_most(self.context.limits.idle)) {
                Ok(1..) => {}
                Ok(0) => {
                    let proper = body.reader.close();
                    self.finish_body(proper);
                    return Ok(());
                }
                Err(error) if is_timeout(&error) => return Err(wait.timeout_error("reading an answer")),
                Err(_) => return Err(HttpError::Reset { doing: "reading an answer" }),
            }
        }
        while self.take_piece()? {}
        Ok(())
    }

    /// Passes on what was received, one chunk at a time if the server sends chunks, because some clients rely on chunk
    /// boundaries. Returns whether there is more.
    fn take_piece(&mut self) -> Result<bool, HttpError> {
        let (Some(connection), Phase::Body(body)) = (&mut self.connection, &mut self.phase) else { return Ok(false) };
        let mut piece = Vec::new();
        let taken = body.reader.take_piece(connection.received(), &mut piece);
        connection.consume(taken.unwrap_or_default());
        let (done, more) = (body.reader.is_done(), !connection.received().is_empty());
        self.count_body_bytes(piece.len())?;
        if let Phase::Body(body) = &mut self.phase {
            body.inflation.as_mut().map_or(Ok(()), |inflation| inflation.push(&piece))?;
            body.outgoing.write_piece(&piece, &mut self.out);
            if self.traits.guarded && body.outgoing.is_unsearchable() {
                let refusal = guard::unsearchable_body();
                self.record.record_refusal(&refusal);
                return Err(refusal.into());
            }
        }
        if done {
            self.finish_body(true);
        } else if let Err(malformed) = taken {
            // Pass on what came before and end early; the guest's library reports the truncated body.
            self.finish_body(false);
            self.record.set_error(&HttpError::BadAnswer(malformed));
        }
        Ok(more && !done && taken.is_ok())
    }

    fn count_body_bytes(&mut self, bytes: usize) -> Result<(), HttpError> {
        self.record.bytes_down += bytes as u64;
        let cap = self.context.limits.answer_bytes;
        if self.record.bytes_down > cap {
            return Err(HttpError::TooLarge { what: "the answer's body", cap });
        }
        self.context.count_received(bytes)
    }

    /// Ends the body; `proper` unless the server stopped before its end.
    fn finish_body(&mut self, proper: bool) {
        let phase = std::mem::replace(&mut self.phase, Phase::Over { complete: proper });
        let Phase::Body(mut body) = phase else { return };
        body.outgoing.finish(proper, &mut self.out);
        self.traits.close |= body.outgoing.ends_with_connection();
        self.record.error = (!proper).then_some("closed");
        if let Some(connection) = self.connection.take()
            && proper
            && !self.traits.last
            && body.outgoing.is_reusable()
            && connection.received().is_empty()
            && !connection.is_muted()
        {
            self.context.client.give_back(connection);
        }
    }

    fn stop_early(&mut self) -> Result<(), HttpError> {
        self.record.error = Some("closed");
        self.phase = Phase::Over { complete: false };
        Ok(())
    }
}
