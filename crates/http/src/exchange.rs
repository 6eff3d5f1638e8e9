//! One connection of a guest: request bytes in, response bytes out, strictly one after the other.
//!
//! ```text
//!            head complete, allowed          body complete, sent
//!   ─▶ Head ───────────────────────▶ Upload ────────────────────▶ Answer ─┬─ read to its end ─▶ Head (keep-alive)
//!                                                                         └─ `close`, or the server stopped ─▶ Closed
//!   any error but a time-out while reading ─▶ Failed, for good
//! ```

use std::sync::Arc;

use crate::answer::Answer;
use crate::call_context::CallContext;
use crate::connection::Connection;
use crate::error::HttpError;
use crate::gate::Refusal;
use crate::head::HeadBuffer;
use crate::place::Place;
use crate::ready::{Awaited, Readiness};
use crate::request::Request;
use crate::upload::Upload;
use crate::wait::Wait;
use skillcell_quote::cut_ascii;

/// A guest's connection to one place.
pub struct Exchange {
    context: Arc<CallContext>,
    place: Place,
    tls: bool,
    state: State,
    /// A connection made when the guest connected; the first request uses it.
    ready: Option<Connection>,
    /// What the guest has not read yet of an interim `100 Continue`.
    unread_continue: Vec<u8>,
}

enum State {
    Head(HeadBuffer),
    Upload(Box<Upload>),
    Answer(Box<Answer>),
    Closed,
    Failed(HttpError),
}

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

impl Exchange {
    /// Opens without connecting; [`Exchange::connect`] or the first request connects.
    pub fn open(context: Arc<CallContext>, tls: bool, host: &str, port: u16) -> Result<Exchange, HttpError> {
        let place = Place::parse(host, port).inspect_err(|refusal| {
            context.record_refusal(None, audit_url(host, port), refusal);
        })?;
        let state = State::Head(HeadBuffer::default());
        Ok(Exchange { context, place, tls, state, ready: None, unread_continue: Vec::new() })
    }

    /// Connects now, so that the guest sees failures at the same point as with a socket.
    pub fn connect(&mut self, wait: Wait<'_>) -> Result<(), HttpError> {
        let result = self.try_connect(wait);
        self.record_failure(result)
    }

    /// Switches to TLS, performing the handshake if already connected. Only before the first byte.
    pub fn start_tls(&mut self, wait: Wait<'_>) -> Result<(), HttpError> {
        let result = self.try_start_tls(wait);
        self.record_failure(result)
    }

    /// Takes bytes of a request. Either all are taken, or the exchange fails.
    pub fn write(&mut self, bytes: &[u8], wait: Wait<'_>) -> Result<(), HttpError> {
        let result = self.accept_bytes(bytes, wait);
        self.record_failure(result)
    }

    /// Returns up to `max` bytes of the response; none when the connection is closed.
    pub fn read(&mut self, max: usize, wait: Wait<'_>) -> Result<Vec<u8>, HttpError> {
        match self.next_bytes(max, wait) {
            Err(error) if !error.is_transient() => self.record_failure(Err(error)),
            result => result,
        }
    }

    /// Whether a read would eventually return a response, the end or an error.
    pub fn is_readable(&self) -> bool {
        !self.unread_continue.is_empty() || !matches!(self.state, State::Head(_) | State::Upload(_))
    }

    /// What a read would do now.
    pub fn readiness(&mut self) -> Readiness {
        match &mut self.state {
            _ if !self.unread_continue.is_empty() => Readiness::Ready,
            State::Head(_) | State::Upload(_) => Readiness::Idle,
            State::Answer(answer) => {
                if answer.is_ready() {
                    Readiness::Ready
                } else {
                    Readiness::Waiting
                }
            }
            State::Closed | State::Failed(_) => Readiness::Ready,
        }
    }

    /// The socket on which a pending response will arrive.
    pub fn awaited_socket(&self) -> Option<Awaited<'_>> {
        match &self.state {
            State::Answer(answer) => answer.awaited_socket(),
            _ => None,
        }
    }

    fn record_failure<T>(&mut self, result: Result<T, HttpError>) -> Result<T, HttpError> {
        result.inspect_err(|error| {
            self.state = State::Failed(error.clone());
            self.ready = None;
        })
    }

    fn try_connect(&mut self, wait: Wait<'_>) -> Result<(), HttpError> {
        if let State::Failed(error) = &self.state {
            return Err(error.clone());
        }
        let (context, url) = (self.context.clone(), format!("//{}", self.place));
        context.count_connect().inspect_err(|error| {
            context.record_refusal(None, url.clone(), &Refusal::by_builtin_check("limit", error.to_string()));
        })?;
        let allowed =
            context.gate.connect(&self.place).inspect_err(|no| context.record_refusal(None, url.clone(), no))?;
        context.record_decision(None, url.clone(), &Ok(allowed.clone()))?;
        let wait = wait.at_most(context.limits.connect);
        let checked = context.client.check_addresses(&self.place, &allowed, context.gate.as_ref(), wait);
        if let Err(HttpError::Refused(refusal)) = &checked {
            context.record_refusal(None, url, refusal);
        }
        let checked = checked?;
        if !context.client.can_reuse(&checked, context.id) {
            self.ready = Some(context.client.connect(&checked, self.tls, wait)?);
        }
        Ok(())
    }

    fn try_start_tls(&mut self, wait: Wait<'_>) -> Result<(), HttpError> {
        match &self.state {
            State::Head(buffer) if buffer.is_empty() => {}
            State::Failed(error) => return Err(error.clone()),
            _ => return Err(HttpError::BadRequest("TLS can't start in the middle of a connection")),
        }
        self.tls = true;
        let wait = wait.at_most(self.context.limits.connect);
        self.ready = match self.ready.take() {
            Some(ready) => Some(self.context.client.start_tls(ready, wait)?),
            None => None,
        };
        Ok(())
    }

    fn accept_bytes(&mut self, mut bytes: &[u8], wait: Wait<'_>) -> Result<(), HttpError> {
        while !bytes.is_empty() {
            let taken = match &mut self.state {
                State::Head(buffer) => {
                    let pushed = buffer.push(bytes);
                    let (taken, head) = pushed.inspect_err(|error| self.record_unreadable(error))?;
                    if let Some(head) = head {
                        self.begin_request(&head, wait)?;
                    }
                    taken
                }
                State::Upload(upload) => upload.push(bytes, wait)?,
                State::Answer(_) => {
                    return Err(HttpError::BadRequest("a second request before the first was answered"));
                }
                State::Closed => return Err(HttpError::NotOpen),
                State::Failed(error) => return Err(error.clone()),
            };
            bytes = &bytes[taken..];
            self.answer_if_complete(wait)?;
        }
        Ok(())
    }

    /// Parses a complete head, asks the gate, and starts to send.
    fn begin_request(&mut self, head: &[u8], wait: Wait<'_>) -> Result<(), HttpError> {
        self.context.count_request().inspect_err(|error| self.record_unreadable(error))?;
        let request = Request::parse(head, &self.place, self.tls).inspect_err(|error| self.record_unreadable(error))?;
        let expects_continue = request.expects_continue;
        let allowed = self.context.decide_request(request)?;
        if expects_continue {
            self.unread_continue = CONTINUE.to_vec();
        }
        let upload = Upload::start(&self.context, allowed, self.ready.take(), wait)?;
        self.state = State::Upload(Box::new(upload));
        Ok(())
    }

    fn record_unreadable(&self, error: &HttpError) {
        let refusal = match error {
            HttpError::Refused(refusal) => refusal.clone(),
            HttpError::TooLarge { .. } => Refusal::by_builtin_check("limit", error.to_string()),
            error => Refusal::by_builtin_check("malformed", error.to_string()),
        };
        let scheme = if self.tls { "https" } else { "http" };
        self.context.record_refusal(None, format!("{scheme}://{}", self.place.authority(self.tls)), &refusal);
    }

    fn answer_if_complete(&mut self, wait: Wait<'_>) -> Result<(), HttpError> {
        if !matches!(&self.state, State::Upload(upload) if upload.is_complete()) {
            return Ok(());
        }
        // The guest sent the body without waiting, so it doesn't need the `100 Continue`.
        if self.unread_continue.len() == CONTINUE.len() {
            self.unread_continue.clear();
        }
        if let State::Upload(upload) = std::mem::replace(&mut self.state, State::Closed) {
            self.state = State::Answer(Box::new(upload.finish(wait)?));
        }
        Ok(())
    }

    fn next_bytes(&mut self, max: usize, wait: Wait<'_>) -> Result<Vec<u8>, HttpError> {
        if !self.unread_continue.is_empty() {
            let count = max.min(self.unread_continue.len());
            return Ok(self.unread_continue.drain(..count).collect());
        }
        match &mut self.state {
            State::Answer(answer) => {
                let piece = answer.read(max, wait)?;
                match answer.is_over() {
                    Some(true) => self.state = State::Head(HeadBuffer::default()),
                    Some(false) => self.state = State::Closed,
                    None => {}
                }
                Ok(piece)
            }
            State::Head(_) | State::Upload(_) => Err(HttpError::NotReady),
            State::Closed => Ok(Vec::new()),
            State::Failed(error) => Err(error.clone()),
        }
    }
}

/// The destination of a connection, as an audit line shows it.
pub fn audit_url(host: &str, port: u16) -> String {
    let host = cut_ascii(host, 80);
    format!("//{host}:{port}")
}
