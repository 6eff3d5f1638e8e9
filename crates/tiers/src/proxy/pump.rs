//! Serves one stream of the proxy: a single question, or a connection whose bytes are pumped in both directions.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Shared, lock};
use skillcell_door::web::{self, OpenFrame};
use skillcell_door::{HttpSession, refuse_open};
use skillcell_http::{HttpError, Readiness};

/// The longest question: a host name and a few fixed fields.
const MAX_QUESTION_BYTES: usize = 512;
const PIECE: usize = 64 << 10;
/// How long to wait for more of a response before looking at the process's side again.
const READ_TURN: Duration = Duration::from_millis(10);
const HELLO: &[u8] = b"\x16skillcell ";
/// Results of a TLS handshake, as the guest's `handshake` reads them.
const SHAKEN: u8 = 0;
const FAILED: u8 = 1;
const NOT_TRUSTED: u8 = 2;
const TIMED_OUT: u8 = 3;

/// Serves a stream to its end. Returns why its connection was refused or failed, as the door's answer.
pub fn serve_stream(stream: &UnixStream, id: u32, shared: &Shared) -> Option<Vec<u8>> {
    let question = read_question(stream, shared.deadline).ok()?;
    let (kind, payload) = question.split_first()?;
    if !shared.open.load(Ordering::SeqCst) {
        let early = b"\x01a skill is imported without the network; make requests in `execute` or in the constructor";
        write_answer(stream, early, shared.deadline).ok()?;
        return None;
    }
    match kind {
        b'n' => {
            let mut session = shared.new_session();
            // Question and answer have the same format as through the door.
            let reply = web::receive(session.as_mut(), &shared.denials, b'n', payload, shared.deadline).ok()?;
            write_answer(stream, &reply, shared.deadline).ok()?;
            None
        }
        b'e' => {
            let asked = payload.try_into().map(u32::from_le_bytes).ok()?;
            // The connection's thread may be about to record it.
            let end = wait_for_end(shared, asked).unwrap_or_else(|| vec![0]);
            write_answer(stream, &end, shared.deadline).ok()?;
            None
        }
        b'o' => open_connection(stream, id, payload, shared),
        _ => None,
    }
}

fn wait_for_end(shared: &Shared, id: u32) -> Option<Vec<u8>> {
    for _ in 0..100 {
        if let Some(end) = lock(&shared.ends).get(&id) {
            return Some(end.clone());
        }
        if !lock(&shared.live).contains_key(&id) {
            // It may have ended between the two lookups.
            return lock(&shared.ends).get(&id).cloned();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

fn open_connection(stream: &UnixStream, id: u32, payload: &[u8], shared: &Shared) -> Option<Vec<u8>> {
    let place = OpenFrame::read(payload).ok()?;
    let mut session = shared.new_session();
    let opened = match &mut session {
        Some(session) => session.open(place.tls, place.host, place.port, place.connect_deadline(shared.deadline)),
        None => Err(refuse_open(place.host, place.port, &shared.denials)),
    };
    let reply = opened.clone().map(|_| id.to_le_bytes().to_vec());
    write_answer(stream, &web::encode_answer(reply), shared.deadline).ok()?;
    Pump { stream, session: session?, connection: opened.ok()?, deadline: shared.deadline }.run()
}

struct Pump<'a> {
    stream: &'a UnixStream,
    session: HttpSession,
    connection: u32,
    deadline: Instant,
}

/// What to do after a step.
enum Step {
    Continue,
    /// The stream is over; with the error that ended it, if one did.
    Done(Option<HttpError>),
}

impl Pump<'_> {
    /// Pumps until either side ends. Returns the error that ended it, unless the call itself is over.
    fn run(mut self) -> Option<Vec<u8>> {
        let mut first = true;
        loop {
            // Waits for both sides: the process may write or hang up while the server answers.
            let (state, written) =
                self.session.wait_beside(self.connection, self.stream.as_fd(), self.deadline).ok()?;
            let mut step = if written { self.forward_request(&mut first) } else { Step::Continue };
            if matches!(step, Step::Continue) && state == Readiness::Ready {
                step = self.forward_response();
            }
            if let Step::Done(end) = step {
                let lasts = !self.session.is_cancelled() && Instant::now() < self.deadline;
                return end.filter(|_| lasts).map(|error| web::encode_answer(Err(error)));
            }
        }
    }

    /// Forwards what the process wrote to the server.
    fn forward_request(&mut self, first: &mut bool) -> Step {
        let mut buffer = vec![0; PIECE];
        let size = match self.stream.take(PIECE as u64).read(&mut buffer) {
            Ok(0) => return Step::Done(None),
            Ok(size) => size,
            Err(error) if is_timeout(&error) || error.kind() == ErrorKind::Interrupted => return Step::Continue,
            Err(_) => return Step::Done(None),
        };
        buffer.truncate(size);
        if std::mem::take(first) && buffer.starts_with(HELLO) {
            return self.shake_hands(&buffer);
        }
        match self.session.write(self.connection, &buffer, self.deadline) {
            Ok(()) => Step::Continue,
            Err(error) => Step::Done(Some(error)),
        }
    }

    /// Starts TLS, with the host name that the connection was opened with. The name in the hello is not used: a guest that
    /// wants another one opens another connection.
    fn shake_hands(&mut self, hello: &[u8]) -> Step {
        if hello.last() != Some(&b'\n') {
            return Step::Done(None);
        }
        let shaken = self.session.start_tls(self.connection, self.deadline);
        let how = match &shaken {
            Ok(()) => SHAKEN,
            Err(HttpError::TimedOut { .. }) => TIMED_OUT,
            Err(HttpError::Certificate { .. }) => NOT_TRUSTED,
            Err(_) => FAILED,
        };
        let text = shaken.err().map(|error| error.to_string()).unwrap_or_default().into_bytes();
        let text = &text[..text.len().min(60_000)];
        let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
        let reply = [&[0x16, how][..], &length.to_le_bytes(), text].concat();
        match write(self.stream, &reply, self.deadline) {
            Ok(()) if how == SHAKEN => Step::Continue,
            _ => Step::Done(None),
        }
    }

    /// Forwards what has arrived from the server to the process.
    fn forward_response(&mut self) -> Step {
        match self.session.read(self.connection, PIECE, self.deadline.min(Instant::now() + READ_TURN)) {
            Ok(bytes) if bytes.is_empty() => Step::Done(None),
            Ok(bytes) => match write(self.stream, &bytes, self.deadline) {
                Ok(()) => Step::Continue,
                Err(_) => Step::Done(None),
            },
            // Nothing more has arrived yet.
            Err(HttpError::TimedOut { .. } | HttpError::NotReady) => Step::Continue,
            Err(error) => Step::Done(Some(error)),
        }
    }
}

fn read_question(mut stream: &UnixStream, deadline: Instant) -> io::Result<Vec<u8>> {
    stream.set_read_timeout(Some(time_left(deadline)))?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_QUESTION_BYTES {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut question = vec![0; length];
    stream.read_exact(&mut question)?;
    Ok(question)
}

fn write_answer(stream: &UnixStream, bytes: &[u8], deadline: Instant) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
    write(stream, &[&length[..], bytes].concat(), deadline)
}

fn write(mut stream: &UnixStream, bytes: &[u8], deadline: Instant) -> io::Result<()> {
    stream.set_write_timeout(Some(time_left(deadline)))?;
    stream.write_all(bytes)
}

fn time_left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}
