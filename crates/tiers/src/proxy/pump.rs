//! One stream of the proxy: a question, or a connection whose bytes go back and forth.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Shared, lock};
use skillcell_door::web::{self, OpenFrame};
use skillcell_door::{HttpSession, refuse_open};
use skillcell_http::{HttpError, Readiness};

/// The longest question: a name, and what is beside it.
const MAX_QUESTION_BYTES: usize = 512;
const PIECE: usize = 64 << 10;
/// How long the rest of a piece is waited for before the stream is looked at again.
const TURN: Duration = Duration::from_millis(10);
const HELLO: &[u8] = b"\x16skillcell ";
/// How TLS went, in the guest's `handshake`.
const SHAKEN: u8 = 0;
const FAILED: u8 = 1;
const NOT_TRUSTED: u8 = 2;
const TIMED_OUT: u8 = 3;

/// Serves a stream to its end. Gives the answer that ended its connection, where that was a no.
pub fn serve(stream: &UnixStream, id: u32, shared: &Shared) -> Option<Vec<u8>> {
    let question = read_question(stream, shared.deadline).ok()?;
    let (kind, payload) = question.split_first()?;
    if !shared.open.load(Ordering::SeqCst) {
        let early = b"\x01a skill is imported without the network; make requests in `execute` or in the constructor";
        answer(stream, early, shared.deadline).ok()?;
        return None;
    }
    match kind {
        b'n' => {
            let mut session = shared.session();
            // The question and its answer are the door's own.
            let told = web::receive(session.as_mut(), &shared.denials, b'n', payload, shared.deadline).ok()?;
            answer(stream, &told, shared.deadline).ok()?;
            None
        }
        b'e' => {
            let asked = payload.try_into().map(u32::from_le_bytes).ok()?;
            // It may be just about to be told.
            let end = wait_for_end(shared, asked).unwrap_or_else(|| vec![0]);
            answer(stream, &end, shared.deadline).ok()?;
            None
        }
        b'o' => connect(stream, id, payload, shared),
        _ => None,
    }
}

fn wait_for_end(shared: &Shared, id: u32) -> Option<Vec<u8>> {
    for _ in 0..100 {
        if let Some(end) = lock(&shared.ends).get(&id) {
            return Some(end.clone());
        }
        if !lock(&shared.live).contains_key(&id) {
            // Between the two it may have ended.
            return lock(&shared.ends).get(&id).cloned();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

fn connect(stream: &UnixStream, id: u32, payload: &[u8], shared: &Shared) -> Option<Vec<u8>> {
    let place = OpenFrame::read(payload).ok()?;
    let mut session = shared.session();
    let opened = match &mut session {
        Some(session) => session.open(place.tls, place.host, place.port, place.connect_deadline(shared.deadline)),
        None => Err(refuse_open(place.host, place.port, &shared.denials)),
    };
    let told = opened.clone().map(|_| id.to_le_bytes().to_vec());
    answer(stream, &web::encode_answer(told), shared.deadline).ok()?;
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
    On,
    /// The stream is over, for this reason if there is one.
    Over(Option<HttpError>),
}

impl Pump<'_> {
    /// Gives why it ended, as the door would say it, unless the call is over or the process went away.
    fn run(mut self) -> Option<Vec<u8>> {
        let mut first = true;
        loop {
            // Both at once: the process may write, or go away, while the server answers.
            let (state, written) =
                self.session.wait_beside(self.connection, self.stream.as_fd(), self.deadline).ok()?;
            let mut step = if written { self.take(&mut first) } else { Step::On };
            if matches!(step, Step::On) && state == Readiness::Ready {
                step = self.give();
            }
            if let Step::Over(end) = step {
                let lasts = !self.session.is_cancelled() && Instant::now() < self.deadline;
                return end.filter(|_| lasts).map(|error| web::encode_answer(Err(error)));
            }
        }
    }

    /// Takes what the process wrote.
    fn take(&mut self, first: &mut bool) -> Step {
        let mut buffer = vec![0; PIECE];
        let size = match self.stream.take(PIECE as u64).read(&mut buffer) {
            Ok(0) => return Step::Over(None),
            Ok(size) => size,
            Err(error) if is_timeout(&error) || error.kind() == ErrorKind::Interrupted => return Step::On,
            Err(_) => return Step::Over(None),
        };
        buffer.truncate(size);
        if std::mem::take(first) && buffer.starts_with(HELLO) {
            return self.shake_hands(&buffer);
        }
        match self.session.write(self.connection, &buffer, self.deadline) {
            Ok(()) => Step::On,
            Err(error) => Step::Over(Some(error)),
        }
    }

    /// The name was given when it connected; one that differs connects anew.
    fn shake_hands(&mut self, hello: &[u8]) -> Step {
        if hello.last() != Some(&b'\n') {
            return Step::Over(None);
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
            Ok(()) if how == SHAKEN => Step::On,
            _ => Step::Over(None),
        }
    }

    /// Gives the process what came of the answer.
    fn give(&mut self) -> Step {
        match self.session.read(self.connection, PIECE, self.deadline.min(Instant::now() + TURN)) {
            Ok(bytes) if bytes.is_empty() => Step::Over(None),
            Ok(bytes) => match write(self.stream, &bytes, self.deadline) {
                Ok(()) => Step::On,
                Err(_) => Step::Over(None),
            },
            // The rest of it takes longer, or there is nothing more to come.
            Err(HttpError::TimedOut { .. } | HttpError::NotReady) => Step::On,
            Err(error) => Step::Over(Some(error)),
        }
    }
}

fn read_question(mut stream: &UnixStream, deadline: Instant) -> io::Result<Vec<u8>> {
    stream.set_read_timeout(Some(left(deadline)))?;
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

fn answer(stream: &UnixStream, bytes: &[u8], deadline: Instant) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
    write(stream, &[&length[..], bytes].concat(), deadline)
}

fn write(mut stream: &UnixStream, bytes: &[u8], deadline: Instant) -> io::Result<()> {
    stream.set_write_timeout(Some(left(deadline)))?;
    stream.write_all(bytes)
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}
