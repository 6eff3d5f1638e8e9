//! One stream of the proxy: a question, or a connection whose bytes go back and forth.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Shared, lock};
use crate::door::{Answer, Door};

/// The longest question: a name, and what is beside it.
const MAX_QUESTION_BYTES: usize = 512;
const PIECE: usize = 64 << 10;
/// How long an answer is waited for before the stream is looked at again.
const TURN_MS: u32 = 10;
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
            let mut door = shared.door();
            answer(stream, &ask(&mut door, b'n', payload, shared.deadline)?, shared.deadline).ok()?;
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
    let mut door = shared.door();
    let opened = ask(&mut door, b'o', payload, shared.deadline)?;
    let Some((0, connection)) = opened.split_first() else {
        answer(stream, &opened, shared.deadline).ok()?;
        return None;
    };
    answer(stream, &[&[0], &id.to_le_bytes()[..]].concat(), shared.deadline).ok()?;
    let connection: [u8; 4] = connection.try_into().ok()?;
    Pump { stream, door, connection, deadline: shared.deadline }.run()
}

struct Pump<'a> {
    stream: &'a UnixStream,
    door: Door,
    connection: [u8; 4],
    deadline: Instant,
}

/// What to do after a step.
enum Step {
    On,
    /// The stream is over, for this reason if there is one.
    Over(Option<Vec<u8>>),
}

impl Pump<'_> {
    fn run(mut self) -> Option<Vec<u8>> {
        let mut first = true;
        loop {
            let under_way = self.is_under_way();
            match self.take(!under_way, &mut first) {
                Step::Over(end) => return end,
                Step::On => {}
            }
            if under_way && let Step::Over(end) = self.give() {
                return end;
            }
        }
    }

    fn ask(&mut self, kind: u8, payload: &[u8]) -> Option<Vec<u8>> {
        ask(&mut self.door, kind, payload, self.deadline)
    }

    /// Whether something was asked that is being answered.
    fn is_under_way(&mut self) -> bool {
        let frame = [&0u32.to_le_bytes()[..], &self.connection].concat();
        self.ask(b'a', &frame).is_some_and(|states| states.get(1).is_some_and(|state| *state < 2))
    }

    /// Takes what the process wrote; waits for it where nothing else can come.
    fn take(&mut self, wait: bool, first: &mut bool) -> Step {
        let mut buffer = vec![0; PIECE];
        let patience = if wait { self.deadline.saturating_duration_since(Instant::now()) } else { Duration::ZERO };
        // Zero would be no time-out at all.
        let _ = self.stream.set_read_timeout(Some(patience.max(Duration::from_millis(1))));
        let size = match self.stream.take(PIECE as u64).read(&mut buffer) {
            Ok(0) => return Step::Over(None),
            Ok(size) => size,
            Err(error) if is_timeout(&error) && !wait => return Step::On,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Step::On,
            Err(_) => return Step::Over(None),
        };
        buffer.truncate(size);
        if std::mem::take(first) && buffer.starts_with(HELLO) {
            return self.shake_hands(&buffer);
        }
        match self.ask(b'w', &[&self.connection[..], &buffer].concat()) {
            Some(answer) if answer.first() == Some(&0) => Step::On,
            other => Step::Over(other),
        }
    }

    /// The name was given when it connected; one that differs connects anew.
    fn shake_hands(&mut self, hello: &[u8]) -> Step {
        if hello.last() != Some(&b'\n') {
            return Step::Over(None);
        }
        let Some(answer) = self.ask(b's', &[&self.connection[..], &u32::MAX.to_le_bytes()].concat()) else {
            return Step::Over(None);
        };
        let text = &answer.get(1..).unwrap_or_default()[..answer.len().saturating_sub(1).min(60_000)];
        let how = match answer.first() {
            Some(0) => SHAKEN,
            Some(4) => TIMED_OUT,
            Some(10) => NOT_TRUSTED,
            _ => FAILED,
        };
        let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
        let reply = [&[0x16, how][..], &length.to_le_bytes(), text].concat();
        match write(self.stream, &reply, self.deadline) {
            Ok(()) if how == SHAKEN => Step::On,
            _ => Step::Over(None),
        }
    }

    /// Gives the process what came of the answer.
    fn give(&mut self) -> Step {
        let most = u32::try_from(PIECE).unwrap_or(u32::MAX).to_le_bytes();
        let frame = [&self.connection[..], &most, &TURN_MS.to_le_bytes()].concat();
        let Some(answer) = self.ask(b'r', &frame) else { return Step::Over(None) };
        match answer.split_first() {
            Some((0, [])) => Step::Over(None),
            Some((0, bytes)) => match write(self.stream, bytes, self.deadline) {
                Ok(()) => Step::On,
                Err(_) => Step::Over(None),
            },
            // It takes longer, or there is nothing more to come.
            Some((4 | 8, _)) => Step::On,
            _ => Step::Over(Some(answer)),
        }
    }
}

/// The door's answer; none when the call is over, or what was asked makes no sense.
fn ask(door: &mut Door, kind: u8, payload: &[u8], deadline: Instant) -> Option<Vec<u8>> {
    match door.receive(&[&[kind], payload].concat(), deadline) {
        Ok(Answer::Bytes(answer)) => Some(answer),
        Ok(Answer::Pin(_)) | Err(_) => None,
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
