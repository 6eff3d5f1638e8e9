//! The frames of HTTP: connections by number. The answer is a status byte, then a payload or a message.
//!
//! ```text
//!   o <u8 tls> <u16 port> <host> ─────────────▶ 0 <u32 connection>
//!   w <u32 connection> <bytes> ───────────────▶ 0
//!   r <u32 connection> <u32 max> <u32 ms> ────▶ 0 <bytes>, none at the end; ffffffff ms: no time-out of its own
//!   c <u32 connection> ───────────────────────▶ 0
//!   n <name>[:port] ──────────────────────────▶ 0 <addresses, separated by spaces>; no name: 0 "1"
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::denials::Denials;
use super::gate::PolicyGate;
use super::{Fault, not_granted};
use crate::http::{Exchanges, HttpClient, HttpError, HttpLimits, Secrets, Terms};
use crate::limits::LimitKind;
use crate::policy::{Grants, Scheme, Target};
use crate::wasi::Stop;

/// The longest name of a host.
const MAX_HOST_BYTES: usize = 256;
/// What is read, or written, at once.
const MAX_PIECE_BYTES: usize = 1 << 20;
const NO_TIMEOUT: u32 = u32::MAX;
const RESOLVE: Duration = Duration::from_secs(10);

/// A status byte that says no.
pub const REFUSED: u8 = 1;

/// One call's HTTP.
pub struct Web {
    exchanges: Exchanges,
    gate: Arc<PolicyGate>,
    client: Arc<HttpClient>,
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

    /// Takes a frame; the cell's deadline ends every wait, and the call.
    pub fn receive(&mut self, kind: u8, payload: &[u8], deadline: Instant) -> Result<Vec<u8>, Fault> {
        let answer = match kind {
            b'o' => self.open(payload)?,
            b'w' => self.write(payload, deadline)?,
            b'r' => self.read(payload, deadline)?,
            b'c' => {
                self.exchanges.close(number(payload)?);
                Ok(Vec::new())
            }
            _ => self.addresses(payload, deadline)?,
        };
        match answer {
            Err(HttpError::TimedOut { .. }) if Instant::now() >= deadline => {
                Err(Fault::Stop(Stop::Exceeded(LimitKind::Deadline)))
            }
            Err(error) => Ok(packed(status(&error), error.to_string().as_bytes())),
            Ok(payload) => Ok(packed(0, &payload)),
        }
    }

    fn open(&mut self, payload: &[u8]) -> Result<Result<Vec<u8>, HttpError>, Fault> {
        let (tls, port, host) = place(payload)?;
        Ok(self.exchanges.open(tls, host, port).map(|id| id.to_le_bytes().to_vec()))
    }

    fn write(&mut self, payload: &[u8], deadline: Instant) -> Result<Result<Vec<u8>, HttpError>, Fault> {
        let (id, bytes) = payload.split_at_checked(4).ok_or(Fault::Malformed)?;
        if bytes.len() > MAX_PIECE_BYTES {
            return Err(Fault::Malformed);
        }
        Ok(self.exchanges.write(number(id)?, bytes, deadline).map(|()| Vec::new()))
    }

    fn read(&mut self, payload: &[u8], deadline: Instant) -> Result<Result<Vec<u8>, HttpError>, Fault> {
        let [id, max, wait_ms] = match payload.as_chunks() {
            ([id, max, wait], []) => [*id, *max, *wait].map(u32::from_le_bytes),
            _ => return Err(Fault::Malformed),
        };
        let max = (max as usize).min(MAX_PIECE_BYTES);
        let by = match wait_ms {
            NO_TIMEOUT => deadline,
            wait => deadline.min(Instant::now() + Duration::from_millis(wait.into())),
        };
        Ok(self.exchanges.read(id, max, by))
    }

    /// Names are looked up only where some rule is for that host: a look-up tells the world what is asked.
    fn addresses(&self, payload: &[u8], deadline: Instant) -> Result<Result<Vec<u8>, HttpError>, Fault> {
        if payload.is_empty() {
            return Ok(Ok(b"1".to_vec()));
        }
        let (name, port) = named(payload)?;
        Ok(self.find_addresses(name, port, deadline))
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
            let (_, port, host) = place(payload)?;
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

fn place(payload: &[u8]) -> Result<(bool, u16, &str), Fault> {
    match payload {
        [tls @ 0..=1, low, high, name @ ..] => Ok((*tls == 1, u16::from_le_bytes([*low, *high]), host(name)?)),
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
