//! The frames of HTTP: connections by number. The answer is a status byte, then a payload or a message.
//!
//! ```text
//!   o <u8 tls> <u16 port> <u32 ms> <host> ────▶ 0 <u32 connection>, which is connected
//!   s <u32 connection> <u32 ms> ──────────────▶ 0, and from here on it is TLS
//!   w <u32 connection> <bytes> ───────────────▶ 0
//!   r <u32 connection> <u32 max> <u32 ms> ────▶ 0 <bytes>, none at the end
//!   a <u32 ms> <u32 connection>… ─────────────▶ 0 <u8>…: 0 an answer is under way, 1 can be read, 2 nothing was asked
//!   c <u32 connection> ───────────────────────▶ 0
//!   n <name>[:port] ──────────────────────────▶ 0 <addresses, separated by spaces>; no name: 0 "1"
//! ```
//!
//! Times: ffffffff ms is no time-out of its own.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::Fault;
use super::denials::Denials;
use super::session::{self, HttpSession};
use crate::Stop;
use skillcell_http::{HttpError, Readiness};
use skillcell_limits::LimitKind;

/// The longest name of a host.
const MAX_HOST_BYTES: usize = 256;
/// The most bytes of one read or write.
const MAX_PIECE_BYTES: usize = 1 << 20;
const NO_TIMEOUT: u32 = u32::MAX;
/// The minimum wait: even a non-blocking read needs a moment to return what is already there.
const AT_ONCE: Duration = Duration::from_millis(1);
/// The most connections in one readiness query.
const MAX_ASKED: usize = 100;

/// Takes a frame; the call's deadline and its cancellation end every wait, and the call. Without a session, nothing of the
/// network is granted: what is asked for is kept as a denial.
pub fn receive(
    session: Option<&mut HttpSession>,
    denials: &Denials,
    kind: u8,
    payload: &[u8],
    deadline: Instant,
) -> Result<Vec<u8>, Fault> {
    let Some(session) = session else { return Ok(encode_answer(Err(refuse_frame(kind, payload, denials)?))) };
    let answer = match kind {
        b'o' => {
            let OpenFrame { tls, host, port, wait_ms } = OpenFrame::read(payload)?;
            let opened = session.open(tls, host, port, wait_deadline(wait_ms, deadline));
            opened.map(|id| id.to_le_bytes().to_vec())
        }
        b's' => {
            let [id, wait_ms] = parse_u32s(payload)?;
            session.start_tls(id, wait_deadline(wait_ms, deadline)).map(|()| Vec::new())
        }
        b'a' => Ok(wait_for_any(session, payload, deadline)?),
        b'w' => {
            let (id, bytes) = payload.split_at_checked(4).ok_or(Fault::Malformed)?;
            if bytes.len() > MAX_PIECE_BYTES {
                return Err(Fault::Malformed);
            }
            session.write(parse_u32(id)?, bytes, deadline).map(|()| Vec::new())
        }
        b'r' => {
            let [id, max, wait_ms] = parse_u32s(payload)?;
            session.read(id, (max as usize).min(MAX_PIECE_BYTES), wait_deadline(wait_ms, deadline))
        }
        b'c' => {
            session.close(parse_u32(payload)?);
            Ok(Vec::new())
        }
        // An empty name asks whether any network access is granted.
        _ if payload.is_empty() => Ok(b"1".to_vec()),
        _ => {
            let (name, port) = parse_name(payload)?;
            session.look_up(name, port, deadline).map(|found| join_addresses(&found))
        }
    };
    match answer {
        // A cancelled or expired call ends here: the cell doesn't get to handle the error.
        _ if session.is_cancelled() => Err(Fault::Stop(Stop::Cancelled)),
        Err(HttpError::TimedOut { .. }) if Instant::now() >= deadline => {
            Err(Fault::Stop(Stop::Exceeded(LimitKind::Deadline)))
        }
        answer => Ok(encode_answer(answer)),
    }
}

fn wait_for_any(session: &mut HttpSession, payload: &[u8], deadline: Instant) -> Result<Vec<u8>, Fault> {
    let (wait_ms, ids) = match payload.as_chunks() {
        ([wait, ids @ ..], []) if ids.len() <= MAX_ASKED => (u32::from_le_bytes(*wait), ids),
        _ => return Err(Fault::Malformed),
    };
    let ids: Vec<u32> = ids.iter().map(|id| u32::from_le_bytes(*id)).collect();
    let states = session.wait(&ids, wait_deadline(wait_ms, deadline));
    if Instant::now() >= deadline && !session.is_cancelled() {
        return Err(Fault::Stop(Stop::Exceeded(LimitKind::Deadline)));
    }
    let byte = |state: &Readiness| match state {
        Readiness::Waiting => 0,
        Readiness::Ready => 1,
        Readiness::Idle => 2,
    };
    Ok(states.iter().map(byte).collect())
}

fn join_addresses(found: &[IpAddr]) -> Vec<u8> {
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ").into_bytes()
}

/// Why a frame is refused when no network access is granted; kept as a denial if it names a host.
fn refuse_frame(kind: u8, payload: &[u8], denials: &Denials) -> Result<HttpError, Fault> {
    Ok(match kind {
        b'o' => {
            let OpenFrame { host, port, .. } = OpenFrame::read(payload)?;
            session::refuse_open(host, port, denials)
        }
        b'n' if !payload.is_empty() => {
            let (host, port) = parse_name(payload)?;
            session::refuse_name(host, port, denials)
        }
        _ => session::nothing_granted(),
    })
}

/// The payload of an `o` frame.
pub struct OpenFrame<'a> {
    pub tls: bool,
    pub host: &'a str,
    pub port: u16,
    wait_ms: u32,
}

impl OpenFrame<'_> {
    pub fn read(payload: &[u8]) -> Result<OpenFrame<'_>, Fault> {
        let (tls, rest) = payload.split_first().ok_or(Fault::Malformed)?;
        let (port, rest) = rest.split_first_chunk().ok_or(Fault::Malformed)?;
        let (wait_ms, name) = rest.split_first_chunk().ok_or(Fault::Malformed)?;
        if *tls > 1 || name.is_empty() {
            return Err(Fault::Malformed);
        }
        let (port, wait_ms) = (u16::from_le_bytes(*port), u32::from_le_bytes(*wait_ms));
        Ok(OpenFrame { tls: *tls == 1, host: parse_host(name)?, port, wait_ms })
    }

    /// When connecting is over.
    pub fn connect_deadline(&self, deadline: Instant) -> Instant {
        wait_deadline(self.wait_ms, deadline)
    }
}

/// The end of a wait of so many milliseconds, at most the call's deadline.
fn wait_deadline(wait_ms: u32, deadline: Instant) -> Instant {
    match wait_ms {
        NO_TIMEOUT => deadline,
        wait => deadline.min(Instant::now() + Duration::from_millis(wait.into()).max(AT_ONCE)),
    }
}

fn parse_u32s<const N: usize>(payload: &[u8]) -> Result<[u32; N], Fault> {
    match payload.as_chunks() {
        (numbers, []) => Ok(<[[u8; 4]; N]>::try_from(numbers).map_err(|_| Fault::Malformed)?.map(u32::from_le_bytes)),
        _ => Err(Fault::Malformed),
    }
}

/// Parses `name[:port]`.
fn parse_name(payload: &[u8]) -> Result<(&str, Option<u16>), Fault> {
    let text = parse_host(payload)?;
    match text.rsplit_once(':') {
        Some((name, port)) => Ok((name, Some(port.parse().map_err(|_| Fault::Malformed)?))),
        None => Ok((text, None)),
    }
}

fn parse_host(name: &[u8]) -> Result<&str, Fault> {
    if name.len() > MAX_HOST_BYTES {
        return Err(Fault::Malformed);
    }
    std::str::from_utf8(name).map_err(|_| Fault::Malformed)
}

fn parse_u32(bytes: &[u8]) -> Result<u32, Fault> {
    bytes.try_into().map(u32::from_le_bytes).map_err(|_| Fault::Malformed)
}

/// An answer as it goes through the door: a status byte, then what was asked for or a message.
pub fn encode_answer(answer: Result<Vec<u8>, HttpError>) -> Vec<u8> {
    let (status, payload) = match answer {
        Ok(payload) => (0, payload),
        Err(error) => (status_byte(&error), error.to_string().into_bytes()),
    };
    let mut answer = Vec::with_capacity(1 + payload.len());
    answer.push(status);
    answer.extend_from_slice(&payload);
    answer
}

fn status_byte(error: &HttpError) -> u8 {
    match error {
        HttpError::Refused(_) => 1,
        HttpError::NameNotFound { .. } => 2,
        HttpError::ConnectionRefused { .. } => 3,
        // The call is about to end anyway.
        HttpError::TimedOut { .. } | HttpError::Cancelled => 4,
        HttpError::Tls { .. } => 5,
        HttpError::TooLarge { .. } => 6,
        HttpError::BadRequest(_) | HttpError::BadAnswer(_) | HttpError::NotOpen => 7,
        HttpError::NotReady => 8,
        HttpError::Reset { .. } => 9,
        HttpError::Certificate { .. } => 10,
        HttpError::Unreachable { .. } => 11,
    }
}
