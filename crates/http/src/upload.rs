//! Sends a request: checked once its head is complete, then sent whole or streamed.
//!
//! A body of a known length up to 1 MiB is buffered, so that secrets can change its length, and so that it can be resent
//! if a reused connection turns out to be dead. Longer and chunked bodies are streamed.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::answer::{Answer, RequestTraits, Resend};
use crate::call_context::{AllowedHead, CallContext};
use crate::client::Checked;
use crate::connection::Connection;
use crate::error::HttpError;
use crate::event::Record;
use crate::framing::{BodyReader, Framing, LAST_CHUNK, write_chunk};
use crate::guard;
use crate::inflate;
use crate::pool::{MAX_REST, MAX_REST_UNREPEATABLE};
use crate::replace::{Form, Replacer, Replacing};
use crate::request::Request;
use crate::wait::{Wait, is_timeout};
use skillcell_policy::Allowed;

/// The longest body that is buffered before it is sent.
const GATHERED_BYTES: u64 = 1 << 20;

/// An allowed request that is being sent.
pub struct Upload {
    context: Arc<CallContext>,
    request: Request,
    checked: Checked,
    replacer: Replacer,
    reader: BodyReader,
    received: u64,
    sending: Sending,
    record: Record,
}

enum Sending {
    Gathered(Vec<u8>, Option<Connection>),
    /// If the server stops reading, the rest of the body is dropped, because its response may say why.
    Streamed(Option<Connection>, Replacing),
}

impl Upload {
    /// Checks where an allowed request goes, and starts to send it. `ready` is a connection that was made when the guest connected.
    pub fn start(
        context: &Arc<CallContext>,
        allowed: AllowedHead,
        ready: Option<Connection>,
        wait: Wait<'_>,
    ) -> Result<Upload, HttpError> {
        let (mut request, by) = allowed.into_parts();
        let mut record = Record::new(context.audit.clone(), &request.asked);
        let mut replacer = Replacer::new(context.secrets.decide_each(&request.asked));
        let prepared = prepare_request(context, &mut request, &by, &mut replacer, wait);
        let checked = prepared.inspect_err(|error| record.set_error(error))?;
        let reader = BodyReader::new(request.framing, true);
        let gathers = match request.framing {
            Framing::Length(length) => length <= GATHERED_BYTES,
            framing => framing == Framing::None,
        };
        let sending = if gathers {
            Sending::Gathered(Vec::new(), ready)
        } else {
            Sending::Streamed(ready, Replacing::new(Form::of_body(&request), request.framing != Framing::Chunked))
        };
        let mut upload =
            Upload { context: context.clone(), request, checked, replacer, reader, received: 0, sending, record };
        if !gathers {
            upload.send_head(wait).inspect_err(|error| upload.record.set_error(error))?;
        }
        Ok(upload)
    }

    pub fn is_complete(&self) -> bool {
        self.reader.is_done()
    }

    /// Takes bytes of the body until it is complete. Returns how many were taken.
    pub fn push(&mut self, input: &[u8], wait: Wait<'_>) -> Result<usize, HttpError> {
        self.take_body(input, wait).inspect_err(|error| self.record.set_error(error))
    }

    fn take_body(&mut self, input: &[u8], wait: Wait<'_>) -> Result<usize, HttpError> {
        let mut piece = Vec::new();
        let taken = self.reader.take_all(input, &mut piece).map_err(HttpError::BadRequest)?;
        self.received += piece.len() as u64;
        let cap = self.context.limits.request_bytes;
        if self.received > cap {
            return Err(HttpError::TooLarge { what: "the request's body", cap });
        }
        self.context.count_sent(piece.len())?;
        match &mut self.sending {
            Sending::Gathered(body, _) => body.append(&mut piece),
            Sending::Streamed(..) => self.stream_piece(&piece, wait)?,
        }
        Ok(taken)
    }

    /// Sends what was buffered, and returns the pending response.
    pub fn finish(mut self, wait: Wait<'_>) -> Result<Answer, HttpError> {
        let sent = self.send_rest(wait);
        let (mut connection, resend) = sent.inspect_err(|error| self.record.set_error(error))?;
        if let Some(connection) = connection.as_mut().filter(|_| self.request.has_body()) {
            connection.only_for = Some(self.context.id);
        }
        let traits = RequestTraits {
            head_only: self.request.asked.method == "HEAD",
            guarded: self.context.secrets.any_for_host(&self.request.asked.place),
            close: self.request.close,
            last: self.request.has_stray_body() || self.request.close,
        };
        Ok(Answer::new(self.context, connection, resend, self.record, traits))
    }

    fn send_rest(&mut self, wait: Wait<'_>) -> Result<(Option<Connection>, Option<Resend>), HttpError> {
        match &mut self.sending {
            Sending::Gathered(body, ready) => {
                let (body, ready) = (std::mem::take(body), ready.take());
                self.send_gathered(&body, ready, wait)
            }
            Sending::Streamed(connection, _) => Ok((connection.take(), None)),
        }
    }

    fn send_gathered(
        &mut self,
        body: &[u8],
        ready: Option<Connection>,
        wait: Wait<'_>,
    ) -> Result<(Option<Connection>, Option<Resend>), HttpError> {
        let (filled, _) = self.replacer.fill_placeholders(body, Form::of_body(&self.request));
        let body = filled.as_ref().map_or(body, |filled| filled.as_slice());
        if matches!(self.request.framing, Framing::Length(_)) {
            self.request.framing = Framing::Length(body.len() as u64);
        }
        let head = self.request.write_head(self.is_absolute());
        let bytes = Zeroizing::new([head.as_slice(), body].concat());
        let mut connection = self.choose_connection(ready, wait)?;
        self.record_secrets(connection.key.address)?;
        let mut sent = connection.send_all(&bytes, self.context.limits.idle, wait);
        // A server may close an idle connection just before it is reused: an idempotent request is tried once more.
        let repeats = connection.reused && self.request.is_idempotent();
        if sent.as_ref().is_err_and(|error| repeats && !is_timeout(error)) {
            connection = self.context.client.connect(&self.checked, self.request.asked.tls, self.connect_wait(wait))?;
            self.record_secrets(connection.key.address)?;
            sent = connection.send_all(&bytes, self.context.limits.idle, wait);
        }
        self.record.address = Some(connection.key.address);
        self.record.bytes_up = bytes.len() as u64;
        sent_or_muted(sent, &mut connection, wait)?;
        let resend = (repeats && connection.reused).then(|| Resend {
            checked: self.checked.clone(),
            bytes,
            tls: self.request.asked.tls,
        });
        Ok((Some(connection), resend))
    }

    /// A connection for this request: the one made when the guest connected, an idle one, or a new one.
    fn choose_connection(&self, ready: Option<Connection>, wait: Wait<'_>) -> Result<Connection, HttpError> {
        let (client, tls, wait) = (&self.context.client, self.request.asked.tls, self.connect_wait(wait));
        if let Some(mut ready) =
            ready.filter(|ready| self.checked.covers_connection(&ready.key) && (tls || !ready.key.tls))
            && ready.is_quiet()
        {
            return if tls { client.start_tls(ready, wait) } else { Ok(ready) };
        }
        let rest = if self.request.is_idempotent() { MAX_REST } else { MAX_REST_UNREPEATABLE };
        let gathered = matches!(self.sending, Sending::Gathered(..));
        match gathered.then(|| client.take_idle(&self.checked, tls, rest, self.context.id)).flatten() {
            Some(connection) => Ok(connection),
            None => client.connect(&self.checked, tls, wait),
        }
    }

    fn send_head(&mut self, wait: Wait<'_>) -> Result<(), HttpError> {
        let Sending::Streamed(ready, _) = &mut self.sending else { return Ok(()) };
        let ready = ready.take();
        let mut connection = self.choose_connection(ready, wait)?;
        self.record.address = Some(connection.key.address);
        self.record_secrets(connection.key.address)?;
        let head = self.request.write_head(self.is_absolute());
        let sent = connection.send_all(&head, self.context.limits.idle, wait);
        sent_or_muted(sent, &mut connection, wait)?;
        self.record.bytes_up = head.len() as u64;
        if let Sending::Streamed(open, _) = &mut self.sending {
            *open = Some(connection);
        }
        Ok(())
    }

    fn stream_piece(&mut self, piece: &[u8], wait: Wait<'_>) -> Result<(), HttpError> {
        let (chunked, last) = (self.is_chunked(), self.reader.is_done());
        let Sending::Streamed(connection, replacing) = &mut self.sending else { return Ok(()) };
        let data = match self.replacer.is_empty() {
            true => Zeroizing::new(piece.to_vec()),
            false => replacing.push(piece, last, &mut self.replacer)?,
        };
        // Allocate once, with room for the framing: reallocation would leave copies of secrets in freed memory.
        let mut bytes = Zeroizing::new(Vec::with_capacity(data.len() + 32));
        match chunked {
            true => write_chunk(&mut bytes, &data),
            false => bytes = data,
        }
        if chunked && last {
            bytes.extend_from_slice(LAST_CHUNK);
        }
        let Some(address) = connection.as_ref().map(|open| open.key.address) else { return Ok(()) };
        self.record_secrets(address)?;
        let Sending::Streamed(Some(open), _) = &mut self.sending else { return Ok(()) };
        self.record.bytes_up += bytes.len() as u64;
        let sent = open.send_all(&bytes, self.context.limits.idle, wait);
        sent_or_muted(sent, open, wait)
    }

    /// Records the secrets in what is sent next, unless they were already recorded for this address.
    fn record_secrets(&mut self, address: SocketAddr) -> Result<(), HttpError> {
        self.record.record_withheld(self.replacer.take_withheld());
        Ok(self.record.record_secrets(self.replacer.used_names(), address)?)
    }

    /// Whether to send the absolute URL: only to a proxy, and only without TLS, which it can't read.
    fn is_absolute(&self) -> bool {
        self.checked.is_proxied() && !self.request.asked.tls
    }

    fn is_chunked(&self) -> bool {
        self.request.framing == Framing::Chunked
    }

    fn connect_wait<'c>(&self, wait: Wait<'c>) -> Wait<'c> {
        wait.at_most(self.context.limits.connect)
    }
}

/// Checks sizes and addresses of a request that the gate allowed, and puts secrets into its head.
fn prepare_request(
    context: &CallContext,
    request: &mut Request,
    allowed: &Allowed,
    replacer: &mut Replacer,
    wait: Wait<'_>,
) -> Result<Checked, HttpError> {
    let cap = context.limits.request_bytes;
    if matches!(request.framing, Framing::Length(length) if length > cap) {
        return Err(HttpError::TooLarge { what: "the request's body", cap });
    }
    let wait = wait.at_most(context.limits.connect);
    let checked = context.client.check_addresses(&request.asked.place, allowed, context.gate.as_ref(), wait);
    if let Err(HttpError::Refused(refusal)) = &checked {
        context.record_refusal(Some(&request.asked.method), request.asked.url(), refusal);
    }
    let checked = checked?;
    for (_, value) in request.headers.iter_mut().filter(|(name, _)| name.eq_ignore_ascii_case("accept-encoding")) {
        *value = inflate::countable_codings(value).into();
    }
    if context.secrets.any_for_host(&request.asked.place) {
        guard::ask_for_searchable(request);
    }
    if !replacer.is_empty() {
        replacer.fill_head(request)?;
    }
    if request.has_stray_body() {
        // After the answer the server listens no more, whatever it made of the body.
        request.ask_to_close();
    }
    Ok(checked)
}

/// A server that stops listening may still have answered, so only time that ran out is an error here.
fn sent_or_muted(sent: io::Result<()>, connection: &mut Connection, wait: Wait<'_>) -> Result<(), HttpError> {
    match sent {
        Err(error) if is_timeout(&error) => Err(wait.timeout_error("sending the request")),
        Err(_) => {
            connection.stop_sending();
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
