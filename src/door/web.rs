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

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::denials::Denials;
use super::gate::PolicyGate;
use super::{Fault, not_granted};
use crate::http::{Exchanges, HttpClient, HttpError, HttpLimits, Readiness, Secrets, Terms};
use crate::limits::LimitKind;
use crate::policy::{Grants, Scheme, Target};
use crate::wasi::Stop;

/// The longest name of a host.
const MAX_HOST_BYTES: usize = 256;
/// What is read, or written, at once.
const MAX_PIECE_BYTES: usize = 1 << 20;
const NO_TIMEOUT: u32 = u32::MAX;
/// Who reads without waiting gets what is there, and that takes a moment too.
const AT_ONCE: Duration = Duration::from_millis(1);
/// The most connections that are asked about at once.
const MAX_ASKED: usize = 100;
const RESOLVE: Duration = Duration::from_secs(10);

/// A status byte that says no.
pub const REFUSED: u8 = 1;

/// One call's HTTP.
pub struct Web {
    exchanges: Exchanges,
    gate: Arc<PolicyGate>,
    client: Arc<HttpClient>,
}

/// Why a frame gets no answer: the cell is told of a request that failed, and not of a fault of its own.
enum NotAnswered {
    Http(HttpError),
    Fault(Fault),
}

impl From<HttpError> for NotAnswered {
    fn from(error: HttpError) -> NotAnswered {
        NotAnswered::Http(error)
    }
}

impl From<Fault> for NotAnswered {
    fn from(fault: Fault) -> NotAnswered {
        NotAnswered::Fault(fault)
    }
}

impl Web {
    pub fn new(
        client: Arc<HttpClient>,
        grants: &Grants,
        secrets: Arc<Secrets>,
        denials: &Arc<Denials>,
        limits: HttpLimits,
    ) -> Web {
        let gate = Arc::new(PolicyGate::new(grants, denials.clone()));
        let terms = Terms::new(client.clone(), gate.clone(), denials.clone(), secrets, limits);
        Web { exchanges: Exchanges::new(terms), gate, client }
    }

    /// Another set of connections on the same terms: what may be asked, and what there is to spend, is shared.
    pub fn sibling(&self) -> Web {
        Web { exchanges: self.exchanges.sibling(), gate: self.gate.clone(), client: self.client.clone() }
    }

    /// Takes a frame; the cell's deadline ends every wait, and the call.
    pub fn receive(&mut self, kind: u8, payload: &[u8], deadline: Instant) -> Result<Vec<u8>, Fault> {
        let answer = match kind {
            b'o' => self.open(payload, deadline),
            b's' => self.start_tls(payload, deadline),
            b'a' => self.wait(payload, deadline),
            b'w' => self.write(payload, deadline),
            b'r' => self.read(payload, deadline),
            b'c' => {
                self.exchanges.close(number(payload)?);
                Ok(Vec::new())
            }
            _ => self.addresses(payload, deadline),
        };
        match answer {
            Err(NotAnswered::Fault(fault)) => Err(fault),
            Err(NotAnswered::Http(HttpError::TimedOut { .. })) if Instant::now() >= deadline => {
                Err(Fault::Stop(Stop::Exceeded(LimitKind::Deadline)))
            }
            Err(NotAnswered::Http(error)) => Ok(packed(status(&error), error.to_string().as_bytes())),
            Ok(payload) => Ok(packed(0, &payload)),
        }
    }

    /// Connects at once, so that a library learns of failures where it looks for them.
    fn open(&mut self, payload: &[u8], deadline: Instant) -> Result<Vec<u8>, NotAnswered> {
        let (tls, port, wait_ms, host) = place(payload)?;
        let id = self.exchanges.open(tls, host, port)?;
        let connected = self.exchanges.connect(id, until(wait_ms, deadline));
        connected.inspect_err(|_| self.exchanges.close(id))?;
        Ok(id.to_le_bytes().to_vec())
    }

    fn start_tls(&mut self, payload: &[u8], deadline: Instant) -> Result<Vec<u8>, NotAnswered> {
        let [id, wait_ms] = numbers(payload)?;
        self.exchanges.start_tls(id, until(wait_ms, deadline))?;
        Ok(Vec::new())
    }

    fn wait(&mut self, payload: &[u8], deadline: Instant) -> Result<Vec<u8>, NotAnswered> {
        let (wait_ms, ids) = match payload.as_chunks() {
            ([wait, ids @ ..], []) if ids.len() <= MAX_ASKED => (u32::from_le_bytes(*wait), ids),
            _ => return Err(Fault::Malformed.into()),
        };
        let ids: Vec<u32> = ids.iter().map(|id| u32::from_le_bytes(*id)).collect();
        let states = self.exchanges.wait(&ids, until(wait_ms, deadline));
        if Instant::now() >= deadline {
            return Err(Fault::Stop(Stop::Exceeded(LimitKind::Deadline)).into());
        }
        let byte = |state: &Readiness| match state {
            Readiness::Waiting => 0,
            Readiness::Ready => 1,
            Readiness::Idle => 2,
        };
        Ok(states.iter().map(byte).collect())
    }

    fn write(&mut self, payload: &[u8], deadline: Instant) -> Result<Vec<u8>, NotAnswered> {
        let (id, bytes) = payload.split_at_checked(4).ok_or(Fault::Malformed)?;
        if bytes.len() > MAX_PIECE_BYTES {
            return Err(Fault::Malformed.into());
        }
        self.exchanges.write(number(id)?, bytes, deadline)?;
        Ok(Vec::new())
    }

    fn read(&mut self, payload: &[u8], deadline: Instant) -> Result<Vec<u8>, NotAnswered> {
        let [id, max, wait_ms] = numbers(payload)?;
        let max = (max as usize).min(MAX_PIECE_BYTES);
        Ok(self.exchanges.read(id, max, until(wait_ms, deadline))?)
    }

    /// Names are looked up only where some rule is for that host: a look-up tells the world what is asked.
    fn addresses(&self, payload: &[u8], deadline: Instant) -> Result<Vec<u8>, NotAnswered> {
        if payload.is_empty() {
            return Ok(b"1".to_vec());
        }
        let (name, port) = named(payload)?;
        Ok(self.find_addresses(name, port, deadline)?)
    }

    fn find_addresses(&self, name: &str, port: Option<u16>, deadline: Instant) -> Result<Vec<u8>, HttpError> {
        let refused = || HttpError::Refused(self.gate.refuse_name(name, not_granted(name, port)));
        let authority = format!("{name}:{}", port.unwrap_or(443));
        let target = Target::from_parts(Scheme::Https, &authority, "/").map_err(|_| refused())?;
        let rule = self.gate.rule_for(&target).ok_or_else(refused)?;
        if let Some(entry) = self.gate.any_resolve(&target) {
            return Ok(entry.addr().to_string().into_bytes());
        }
        self.gate.look_up(name, rule)?;
        let found = self.client.addresses(name, deadline.min(Instant::now() + RESOLVE))?;
        for addr in &found {
            let checked = self.gate.check_address(&target, rule, *addr);
            checked.map_err(|denial| self.gate.refuse_name(name, *denial))?;
        }
        let texts: Vec<String> = found.iter().take(16).map(ToString::to_string).collect();
        Ok(texts.join(" ").into_bytes())
    }
}

/// What a cell is told when nothing of the network is granted; kept, where it names a host.
pub fn refuse(kind: u8, payload: &[u8], denials: &Denials) -> Result<Vec<u8>, Fault> {
    match kind {
        b'o' => {
            let (_, port, _, host) = place(payload)?;
            denials.refuse_connection(host, port, not_granted(host, Some(port)));
        }
        b'n' if !payload.is_empty() => {
            let (host, port) = named(payload)?;
            let denial = not_granted(host, port);
            let _ = denials.tell_name(host, Err(&denial));
            denials.add(denial);
        }
        _ => {}
    }
    Ok(packed(REFUSED, b"nothing of the network is granted"))
}

/// Whether it is TLS, the port, the milliseconds, the host.
fn place(payload: &[u8]) -> Result<(bool, u16, u32, &str), Fault> {
    let (tls, rest) = payload.split_first().ok_or(Fault::Malformed)?;
    let (port, rest) = rest.split_first_chunk().ok_or(Fault::Malformed)?;
    let (wait_ms, name) = rest.split_first_chunk().ok_or(Fault::Malformed)?;
    if *tls > 1 || name.is_empty() {
        return Err(Fault::Malformed);
    }
    Ok((*tls == 1, u16::from_le_bytes(*port), u32::from_le_bytes(*wait_ms), host(name)?))
}

/// When a wait of so many milliseconds is over; the cell's deadline ends it in any case.
fn until(wait_ms: u32, deadline: Instant) -> Instant {
    match wait_ms {
        NO_TIMEOUT => deadline,
        wait => deadline.min(Instant::now() + Duration::from_millis(wait.into()).max(AT_ONCE)),
    }
}

fn numbers<const N: usize>(payload: &[u8]) -> Result<[u32; N], Fault> {
    match payload.as_chunks() {
        (numbers, []) => Ok(<[[u8; 4]; N]>::try_from(numbers).map_err(|_| Fault::Malformed)?.map(u32::from_le_bytes)),
        _ => Err(Fault::Malformed),
    }
}

/// A name, with the port that it is for where that is known.
fn named(payload: &[u8]) -> Result<(&str, Option<u16>), Fault> {
    let text = host(payload)?;
    match text.rsplit_once(':') {
        Some((name, port)) => Ok((name, Some(port.parse().map_err(|_| Fault::Malformed)?))),
        None => Ok((text, None)),
    }
}

fn host(name: &[u8]) -> Result<&str, Fault> {
    if name.len() > MAX_HOST_BYTES {
        return Err(Fault::Malformed);
    }
    std::str::from_utf8(name).map_err(|_| Fault::Malformed)
}

fn number(bytes: &[u8]) -> Result<u32, Fault> {
    bytes.try_into().map(u32::from_le_bytes).map_err(|_| Fault::Malformed)
}

fn packed(status: u8, payload: &[u8]) -> Vec<u8> {
    let mut answer = Vec::with_capacity(1 + payload.len());
    answer.push(status);
    answer.extend_from_slice(payload);
    answer
}

fn status(error: &HttpError) -> u8 {
    match error {
        HttpError::Refused(_) => REFUSED,
        HttpError::NameNotFound { .. } => 2,
        HttpError::ConnectionRefused { .. } => 3,
        HttpError::TimedOut { .. } => 4,
        HttpError::Tls { .. } => 5,
        HttpError::TooLarge { .. } => 6,
        HttpError::BadRequest(_) | HttpError::BadAnswer(_) | HttpError::NotOpen => 7,
        HttpError::NotReady => 8,
        HttpError::Reset { .. } => 9,
    }
}
