//! The channel of a process: frames, each with an answer, over a private Unix socket pair. See docs/reference/tiers.md.
//!
//! ```text
//!   host ──▶ process   u32 length, settings as JSON                  once, first
//!   process ──▶ host   u32 length, frame: as through the door
//!   host ──▶ process   u32 length, the answer; ffffffff and nothing where it was not accepted
//! ```
//!
//! Frames are untrusted: a length is checked against the limit of its kind of frame before the payload is read, and one over
//! the limit ends the call.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use skillcell_door::Stop;
use skillcell_door::{Answer, Door, Fault};
use skillcell_limits::LimitKind;

/// The longest description of an exception, with room for its kind.
const MAX_RAISED_BYTES: u64 = (1 << 20) + 1;
/// The longest frame of any other kind: part of a request, and its connection's id.
const MAX_FRAME_BYTES: u64 = (1 << 20) + 16;
/// Sent as the length where a frame was not accepted.
const NOT_ACCEPTED: u32 = u32::MAX;

/// How serving a channel went.
pub struct Served {
    pub end: End,
    pub frames: u64,
    /// When the process asked for its call, which it does once the skill is imported.
    pub taken_at: Option<Instant>,
}

/// Why serving ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// It sent a result or an exception.
    Done,
    /// It closed the channel, or has exited.
    Closed,
    Exceeded(LimitKind),
    /// It sent something that is not a frame.
    Garbage,
}

/// Sends the settings, then answers frames until there is a result or the channel ends.
pub fn serve_frames(
    stream: &UnixStream,
    settings: &[u8],
    door: &mut Door,
    most_frames: u64,
    deadline: Instant,
    on_take: impl FnOnce(&mut Door),
) -> Served {
    let mut served = Served { end: End::Closed, frames: 0, taken_at: None };
    let mut on_take = Some(on_take);
    let mut answer = Some(settings.to_vec());
    served.end = loop {
        match send_frame(stream, answer.as_deref(), deadline)
            .and_then(|()| receive_frame(stream, door.result_cap, deadline))
        {
            Ok(Some(frame)) => {
                served.frames += 1;
                if served.frames > most_frames {
                    break End::Exceeded(LimitKind::HostCalls);
                }
                // `T` asks for the call's parameters: the skill is imported, and may use the network from here on.
                if frame.first() == Some(&b'T') {
                    served.taken_at.get_or_insert_with(Instant::now);
                    on_take.take().into_iter().for_each(|on_take| on_take(door));
                }
                // A frame that makes no sense is answered as not accepted, and the call goes on.
                match door.receive(&frame, deadline) {
                    Ok(Answer::Bytes(bytes) | Answer::Computed { answer: bytes, .. }) => answer = Some(bytes),
                    Ok(Answer::Pin(_)) | Err(Fault::Malformed) => answer = None,
                    Err(Fault::Stop(Stop::Exceeded(limit))) => break End::Exceeded(limit),
                    Err(Fault::Stop(_)) => break End::Closed,
                }
                if door.result.is_some() || door.raised.is_some() {
                    break End::Done;
                }
            }
            Ok(None) => break End::Closed,
            // `G` carries the result.
            Err(ReceiveError::TooLong(b'G')) => break End::Exceeded(LimitKind::ResultBytes),
            Err(ReceiveError::TooLong(_)) => break End::Garbage,
            Err(ReceiveError::Io(error)) if is_timeout(&error) => break End::Exceeded(LimitKind::Deadline),
            Err(ReceiveError::Io(_)) => break End::Closed,
        }
    };
    served
}

enum ReceiveError {
    Io(io::Error),
    /// The announced length is over the limit for this kind of frame, or zero.
    TooLong(u8),
}

impl From<io::Error> for ReceiveError {
    fn from(error: io::Error) -> ReceiveError {
        ReceiveError::Io(error)
    }
}

/// The next frame, or `None` if the stream ends before or within it.
fn receive_frame(stream: &UnixStream, result_cap: u64, deadline: Instant) -> Result<Option<Vec<u8>>, ReceiveError> {
    let mut head = [0; 5];
    if read_until_full(stream, &mut head, deadline)? == 0 {
        return Ok(None);
    }
    let (length, kind) = (u32::from_le_bytes([head[0], head[1], head[2], head[3]]), head[4]);
    let cap = match kind {
        b'G' => result_cap.saturating_add(1),
        b'F' => MAX_RAISED_BYTES,
        _ => MAX_FRAME_BYTES,
    };
    if length == 0 || u64::from(length) > cap {
        return Err(ReceiveError::TooLong(kind));
    }
    let mut frame = vec![0; length as usize];
    frame[0] = kind;
    if read_until_full(stream, &mut frame[1..], deadline)? + 1 < length as usize {
        return Ok(None);
    }
    Ok(Some(frame))
}

/// Reads until the buffer is full or the stream ends, and returns how much was read. An incomplete header counts as nothing.
fn read_until_full(mut stream: &UnixStream, buffer: &mut [u8], deadline: Instant) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        stream.set_read_timeout(Some(time_left(deadline)?))?;
        match stream.read(&mut buffer[done..]) {
            Ok(0) if done < 5 => return Ok(0),
            Ok(0) => return Ok(done),
            Ok(some) => done += some,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

fn send_frame(mut stream: &UnixStream, bytes: Option<&[u8]>, deadline: Instant) -> Result<(), ReceiveError> {
    let length = bytes.map_or(Ok(NOT_ACCEPTED), |bytes| u32::try_from(bytes.len()));
    let length = length.map_err(|_| io::Error::other("too long for a frame"))?;
    let bytes = bytes.unwrap_or_default();
    let mut frame = Vec::with_capacity(4 + bytes.len());
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(bytes);
    let mut rest = &frame[..];
    while !rest.is_empty() {
        stream.set_write_timeout(Some(time_left(deadline)?))?;
        match stream.write(rest) {
            Ok(some) => rest = &rest[some..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The time until the deadline; an error once it has passed.
fn time_left(deadline: Instant) -> io::Result<Duration> {
    match deadline.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(ErrorKind::TimedOut.into()),
        left => Ok(left),
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve_bytes(sent: &[u8], cap: u64) -> (End, Door) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(sent).unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let mut door = Door { call: Door::pack(b"{}", None), result_cap: cap, ..Door::default() };
        let deadline = Instant::now() + Duration::from_secs(5);
        let served = serve_frames(&ours, b"{}", &mut door, 4, deadline, |_| ());
        (served.end, door)
    }

    fn frame_of(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
    }

    #[test]
    fn a_result_ends_it() {
        let (end, door) = serve_bytes(&[frame_of(b"T"), frame_of(b"G[1]"), frame_of(b"G2")].concat(), 8);
        assert_eq!((end, door.result.as_deref()), (End::Done, Some(&b"[1]"[..])));
    }

    #[test]
    fn whatever_else_comes_ends_the_call_without_being_read() {
        assert_eq!(serve_bytes(&frame_of(b"G123456789"), 8).0, End::Exceeded(LimitKind::ResultBytes));
        assert_eq!(serve_bytes(b"\xff\xff\xff\xffG", 8).0, End::Exceeded(LimitKind::ResultBytes));
        for garbage in [&b"hello"[..], b"\xff\xff\xff\xffF", b"\0\0\0\0T", b"\xff\xff\xff\xffw"] {
            assert_eq!(serve_bytes(garbage, 8).0, End::Garbage, "{garbage:?}");
        }
        // What is not accepted is answered, and the call goes on.
        for odd in [&b"\x05\0\0\0Fnot!"[..], b"\x02\0\0\0Zx", b"\x01\0\0\0o"] {
            assert_eq!(serve_bytes(&[odd, &frame_of(b"G1")].concat(), 8).0, End::Done, "{odd:?}");
        }
        for cut in [&b""[..], b"\x01", b"\x04\0\0\0", b"\x04\0\0\0G1"] {
            assert_eq!(serve_bytes(cut, 8).0, End::Closed, "{cut:?}");
        }
        assert_eq!(serve_bytes(&frame_of(b"T").repeat(5), 8).0, End::Exceeded(LimitKind::HostCalls));
    }

    #[test]
    fn a_process_that_says_nothing_ends_at_the_deadline() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let (mut door, deadline) = (Door::default(), Instant::now() + Duration::from_millis(50));
        assert_eq!(serve_frames(&ours, b"{}", &mut door, 4, deadline, |_| ()).end, End::Exceeded(LimitKind::Deadline));
    }
}
