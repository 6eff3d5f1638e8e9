//! The door: the one host function that a cell can call besides WASI, and the frames that go through it.
//!
//! A frame is a type byte and a payload. All of it is untrusted: lengths are checked against a cap before a byte is
//! copied. docs/reference/door.md specifies the protocol.
//!
//! ```text
//!   cell                              host
//!   T ───────────────────────────────▶ the call: u32 length, params, then config and environment if there are any
//!   G <result as JSON> ──────────────▶ kept, once
//!   F <exception as JSON> ───────────▶ kept, once
//!   N <names of modules as JSON> ────▶ kept, the last
//!   R <test event as JSON>  (tests only) ─▶ kept, see `events`
//!   B <report as JSON>  (bake only) ─▶ kept
//!   P <u32 addresses>   (bake only) ─▶ done at once
//!   K <rounds of PBKDF2> ────────────▶ computed: see `digests`
//!   o s w r a c n ───────────────────▶ HTTP, as far as it is granted: see `web`
//! ```

#[deny(missing_docs)]
pub mod audit;
mod denials;
#[deny(missing_docs)]
pub mod digests;
mod events;
mod gate;
mod session;
mod stop;
#[deny(missing_docs)]
mod test_result;
pub mod web;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::value::RawValue;

pub use self::denials::Denials;
pub use self::events::Events;
pub use self::session::{HttpSession, refuse_open};
pub use self::stop::Stop;
pub use self::test_result::{Failure, FileError, TestOutcome, TestResult};
use skillcell_limits::LimitKind;
use skillcell_limits::outcome::{Outcome, Raised};
use skillcell_policy::{ConnectDenial, Denial, DenialKind, HostName};
use skillcell_quote::cut_ascii;

/// The longest description of an exception.
const MAX_RAISED_BYTES: usize = 1 << 20;
/// The longest list of modules.
const MAX_LOADED_BYTES: usize = 4 << 10;
/// The longest report of a bake; it holds the manifest.
const MAX_REPORT_BYTES: usize = 2 << 20;
/// The most addresses that a bake may name, in bytes.
const MAX_PINS_BYTES: usize = 64 << 20;

/// The host's end of one cell's door: what the cell may take, and what it gave.
#[derive(Default)]
pub struct Door {
    /// The answer to `T`.
    pub call: Vec<u8>,
    /// The longest result, as JSON.
    pub result_cap: u64,
    /// Whether frames that only exist during a bake are accepted.
    pub baking: bool,
    pub result: Option<Vec<u8>>,
    pub raised: Option<Raised>,
    /// Modules that the cell reports as loaded, out of those that callers are told about.
    pub loaded: Vec<String>,
    pub report: Option<serde_json::Value>,
    /// The test events of a cell that runs tests.
    pub tests: Option<Arc<Mutex<Events>>>,
    /// HTTP, where anything of it is granted.
    pub web: Option<Box<HttpSession>>,
    /// The denials; created with the first one, or with `web`.
    pub denials: Option<Arc<Denials>>,
}

/// How to respond to a frame.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// These bytes are the answer.
    Bytes(Vec<u8>),
    /// These are, and making them was work that costs this much fuel, where fuel is counted.
    Computed { answer: Vec<u8>, fuel: u64 },
    /// The objects at these addresses (packed little-endian u32) live as long as the image that is being baked.
    Pin(Vec<u8>),
}

/// Why a frame was not answered.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// The frame is malformed; the cell gets an error.
    Malformed,
    /// The call is over.
    Stop(Stop),
}

impl Door {
    /// What a cell gets when it asks for its call.
    pub fn pack(params: &[u8], extra: Option<&[u8]>) -> Vec<u8> {
        let extra = extra.unwrap_or_default();
        let mut frame = Vec::with_capacity(4 + params.len() + extra.len());
        frame.extend_from_slice(&u32::try_from(params.len()).unwrap_or(u32::MAX).to_le_bytes());
        frame.extend_from_slice(params);
        frame.extend_from_slice(extra);
        frame
    }

    /// The params, and what else there is: what [`pack`](Door::pack) made.
    pub fn unpack(frame: &[u8]) -> (&[u8], Option<&[u8]>) {
        let Some((length, rest)) = frame.split_first_chunk::<4>() else { return (frame, None) };
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX).min(rest.len());
        let (params, extra) = rest.split_at(length);
        (params, (!extra.is_empty()).then_some(extra))
    }

    /// How a call ended that ran to its end, by what `who` handed over: a result, or an exception and the limit that it
    /// shows, if any. Nothing if it handed over neither.
    pub fn take_outcome(
        &mut self,
        who: &str,
        limit_behind: impl FnOnce(&Raised) -> Option<LimitKind>,
    ) -> Option<Outcome> {
        if let Some(result) = self.result.take() {
            return Some(match String::from_utf8(result).map(replace_line_ends).map(RawValue::from_string) {
                Ok(Ok(json)) => Outcome::Returned(json),
                _ => Outcome::crash(format!("the {who} handed over a result that is not JSON")),
            });
        }
        self.raised.take().map(|raised| match limit_behind(&raised) {
            Some(limit) => Outcome::Exceeded(limit, Some(raised)),
            None => Outcome::Raised(raised),
        })
    }

    /// Takes a frame and gives the answer.
    pub fn receive(&mut self, frame: &[u8], deadline: Instant) -> Result<Answer, Fault> {
        let (kind, payload) = frame.split_first().ok_or(Fault::Malformed)?;
        match kind {
            // Handed out once, except in a bake, which runs rehearsal calls.
            b'T' if self.baking => return Ok(Answer::Bytes(self.call.clone())),
            b'T' => return Ok(Answer::Bytes(std::mem::take(&mut self.call))),
            b'G' => self.keep_result(payload)?,
            b'F' => self.keep_raised(payload)?,
            b'N' => self.loaded = parse_json(payload, MAX_LOADED_BYTES)?,
            b'R' => return self.keep_event(payload),
            b'B' if self.baking => self.report = Some(parse_json(payload, MAX_REPORT_BYTES)?),
            b'P' if self.baking => return Ok(Answer::Pin(within_cap(payload, MAX_PINS_BYTES)?.to_vec())),
            b'K' => {
                let (answer, fuel) = digests::answer_rounds(payload).ok_or(Fault::Malformed)?;
                return Ok(Answer::Computed { answer, fuel });
            }
            b'o' | b's' | b'w' | b'r' | b'a' | b'c' | b'n' => {
                return self.receive_http(*kind, payload, deadline).map(Answer::Bytes);
            }
            _ => return Err(Fault::Malformed),
        }
        Ok(Answer::Bytes(Vec::new()))
    }

    fn receive_http(&mut self, kind: u8, payload: &[u8], deadline: Instant) -> Result<Vec<u8>, Fault> {
        let denials = self.denials.get_or_insert_default();
        web::receive(self.web.as_deref_mut(), denials, kind, payload, deadline)
    }

    fn keep_event(&mut self, payload: &[u8]) -> Result<Answer, Fault> {
        let mut tests = self.tests.as_ref().ok_or(Fault::Malformed)?.lock().unwrap_or_else(PoisonError::into_inner);
        if tests.bytes.saturating_add(payload.len() as u64) > self.result_cap {
            return Err(Fault::Stop(Stop::Exceeded(LimitKind::ResultBytes)));
        }
        tests.take_frame(payload).ok_or(Fault::Malformed)?;
        Ok(Answer::Bytes(Vec::new()))
    }

    fn keep_result(&mut self, payload: &[u8]) -> Result<(), Fault> {
        if payload.len() as u64 > self.result_cap {
            return Err(Fault::Stop(Stop::Exceeded(LimitKind::ResultBytes)));
        }
        if self.result.is_none() && self.raised.is_none() {
            self.result = Some(payload.to_vec());
        }
        Ok(())
    }

    fn keep_raised(&mut self, payload: &[u8]) -> Result<(), Fault> {
        let raised = parse_json(payload, MAX_RAISED_BYTES)?;
        if self.baking {
            self.result = None; // it was a rehearsal's
        }
        if self.result.is_none() && self.raised.is_none() {
            self.raised = Some(raised);
        }
        Ok(())
    }
}

/// Replaces line ends, which in JSON are only whitespace between values, so that a result is always one line of output.
fn replace_line_ends(json: String) -> String {
    if json.contains(['\n', '\r']) { json.replace(['\n', '\r'], " ") } else { json }
}

/// The denial of a connection to a host and port.
fn no_connection(host: &str, port: u16, why: ConnectDenial<'_>) -> Denial {
    let denial = not_granted(host, Some(port));
    match why {
        ConnectDenial::NotAllowed(None) => denial,
        ConnectDenial::NotAllowed(Some(rule)) => {
            let message = format!("{} at port {port}: `{rule}` is for port {}", denial.message, rule.port());
            Denial { message, ..denial }
        }
        ConnectDenial::Denied(_, rule) => {
            let message = format!("all of `{}` at port {port} is denied by the rule `{rule}`", denial.asked);
            let hint = Some("no flag overrides a rule in `deny_http`".to_owned());
            Denial { rule: Some(rule.to_string()), message, hint, flag: None, ..denial }
        }
    }
}

/// The denial for a host without any rule. The request is not known yet, so the hint allows reading everything there.
fn not_granted(host: &str, port: Option<u16>) -> Denial {
    let shown = cut_ascii(host, 80);
    // An IPv6 address is in brackets in a URL.
    let place = if host.contains(':') && !host.starts_with('[') { format!("[{shown}]") } else { shown.clone() };
    let url = match port {
        Some(80) => format!("http://{place}/*"),
        None | Some(443) => format!("https://{place}/*"),
        Some(port) => format!("http://{place}:{port}/*"),
    };
    // Suggest no flag for a host that no rule can name, or that needs a warning.
    let named = HostName::parse(&place);
    let warning = named.as_ref().ok().and_then(HostName::warning);
    let flag = (named.is_ok() && warning.is_none()).then(|| format!("--allow-http '{url}'"));
    let message = format!("no rule allows anything of the host `{shown}`");
    let hint = warning.or_else(|| flag.as_ref().map(|flag| format!("`{flag}` would allow it to be read")));
    Denial { kind: DenialKind::Http, asked: shown, rule: None, message, hint, flag }
}

fn parse_json<T: serde::de::DeserializeOwned>(payload: &[u8], cap: usize) -> Result<T, Fault> {
    serde_json::from_slice(within_cap(payload, cap)?).map_err(|_| Fault::Malformed)
}

fn within_cap(payload: &[u8], cap: usize) -> Result<&[u8], Fault> {
    if payload.len() <= cap { Ok(payload) } else { Err(Fault::Malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Instant {
        Instant::now()
    }

    fn door() -> Door {
        Door { call: Door::pack(b"{}", None), result_cap: 8, ..Door::default() }
    }

    #[test]
    fn a_call_is_handed_out_with_its_length() {
        let mut door = Door { call: Door::pack(b"[1]", Some(b"{}")), ..Door::default() };
        assert_eq!(door.receive(b"T", now()).unwrap(), Answer::Bytes(b"\x03\0\0\0[1]{}".to_vec()));
        assert_eq!(door.receive(b"T", now()).unwrap(), Answer::Bytes(Vec::new()), "once");
    }

    #[test]
    fn the_first_result_is_kept() {
        let mut door = door();
        door.receive(b"G1", now()).unwrap();
        door.receive(b"G2", now()).unwrap();
        door.receive(br#"F{"type":"E","message":"","traceback":""}"#, now()).unwrap();
        assert_eq!(door.result.as_deref(), Some(&b"1"[..]));
        assert!(door.raised.is_none());
    }

    #[test]
    fn a_result_over_its_cap_ends_the_call() {
        let end = door().receive(b"G123456789", now()).unwrap_err();
        assert_eq!(end, Fault::Stop(Stop::Exceeded(LimitKind::ResultBytes)));
    }

    #[test]
    fn frames_of_a_bake_are_refused_in_a_call() {
        for frame in [&b"B{}"[..], b"P\0\0\0\0", b"", b"Z", b"Fnot json"] {
            assert_eq!(door().receive(frame, now()).unwrap_err(), Fault::Malformed);
        }
        let mut baking = Door { baking: true, ..door() };
        baking.receive(b"B{}", now()).unwrap();
        assert!(baking.report.is_some());
    }

    #[test]
    fn without_a_grant_http_is_refused_and_told() {
        let mut door = door();
        let Ok(Answer::Bytes(answer)) = door.receive(b"napi.example.test", now()) else { panic!("answered") };
        assert_eq!(answer[0], 1);
        let denials = door.denials.unwrap().take();
        assert_eq!(denials[0].flag.as_deref(), Some("--allow-http 'https://api.example.test/*'"));
    }

    #[test]
    fn a_place_that_is_not_public_is_warned_of_and_no_line_to_paste_is_given() {
        for host in
            ["169.254.169.254", "127.0.0.1", "::1", "10.1.2.3", "localhost", "metadata.google.internal", "2130706433"]
        {
            let denial = not_granted(host, Some(80));
            assert_eq!(denial.flag, None, "{host}");
            assert!(!denial.hint.unwrap_or_default().contains("--"), "{host}");
        }
        assert!(not_granted("169.254.169.254", None).hint.unwrap().contains("metadata service"));
        assert_eq!(not_granted("a.example", Some(80)).flag.as_deref(), Some("--allow-http 'http://a.example/*'"));
    }

    #[test]
    fn malformed_frames_of_http_are_told_apart() {
        for frame in [&b"o"[..], b"o\x02\0\0\0\0\0\0h", b"o\0\0", b"o\0\x50\0\0\0\0", b"n\xff"] {
            assert_eq!(door().receive(frame, now()).unwrap_err(), Fault::Malformed);
        }
    }
}
