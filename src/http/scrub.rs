//! Takes secrets' values out of whatever leaves the host, in every form that is known, and puts the placeholder there.
//!
//! In a stream, bytes are held back until no value can start in them. How many depends on line ends only, never on what
//! the bytes are: otherwise a server that stops in mid-answer could tell a skill, one character after another, how a value
//! starts. Nor does it tell how long a value is: it is a power of two, and the same one for all values of usual length.

use std::borrow::Cow;
use std::sync::Arc;

use crate::http::pattern::Pattern;
use crate::http::secrets::Secrets;

/// The least that is held back: enough for a value of 372 bytes, in HTML's longest form.
const MIN_HELD_BYTES: usize = 4 << 10;

/// Finds the values of a set of secrets.
///
/// Found: the value as it is, escaped for JSON or HTML or percent-encoded in part or whole, in hexadecimal of either case,
/// in base64 of either alphabet at any alignment; each also without the blanks at its ends. Not found: what was
/// compressed, encrypted, reversed, or cut up by other text.
pub struct Scrubber {
    patterns: Vec<(Pattern, String)>,
    /// Which pairs of bytes a match starts with: without a lead, and with one byte of lead.
    starts: [Pairs; 2],
    /// How much of a stream is held back; no match is longer.
    held: usize,
    /// No value has a line end in it, so none goes past one.
    within_lines: bool,
}

/// A set of pairs of bytes.
struct Pairs(Box<[u64]>);

impl Pairs {
    fn new() -> Pairs {
        Pairs(vec![0; 1024].into_boxed_slice())
    }

    fn insert(&mut self, [first, second]: [u8; 2]) {
        self.0[usize::from(first) * 4 + usize::from(second >> 6)] |= 1 << (second & 63);
    }

    fn has(&self, first: u8, second: u8) -> bool {
        self.0[usize::from(first) * 4 + usize::from(second >> 6)] >> (second & 63) & 1 == 1
    }
}

impl Scrubber {
    pub fn new(secrets: &Secrets) -> Scrubber {
        let entries = secrets.entries();
        let values = entries.iter().flat_map(|entry| entry.secret.scrubbed().map(|value| (value, &entry.placeholder)));
        let patterns: Vec<_> = values
            .flat_map(|(value, name)| Pattern::all(value).into_iter().map(|pattern| (pattern, name.clone())))
            .collect();
        let mut starts = [Pairs::new(), Pairs::new()];
        for (pattern, _) in &patterns {
            pattern.starts().into_iter().for_each(|pair| starts[pattern.lead()].insert(pair));
        }
        let longest = patterns.iter().map(|(pattern, _)| pattern.longest).max().unwrap_or(0);
        let held = longest.next_power_of_two().max(MIN_HELD_BYTES);
        let within_lines = entries.iter().all(|entry| !entry.secret.value.contains('\n'));
        Scrubber { patterns, starts, held, within_lines }
    }

    /// The text without values. It is borrowed when there were none.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.scrub_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    pub fn scrub_bytes<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let mut out = Vec::new();
        let (_, found) = self.pass(text, text.len(), &mut out);
        if found { Cow::Owned(out) } else { Cow::Borrowed(text) }
    }

    /// Puts what starts before `until` into `out`, scrubbed. Gives where it stopped, and whether there was a value.
    fn pass(&self, text: &[u8], until: usize, out: &mut Vec<u8>) -> (usize, bool) {
        let (mut at, mut clean, mut found) = (0, 0, false);
        while at < until {
            match self.longest_match(&text[at..]) {
                Some((length, placeholder)) => {
                    out.extend_from_slice(&text[clean..at]);
                    out.extend_from_slice(placeholder.as_bytes());
                    at += length.max(1);
                    (clean, found) = (at, true);
                }
                None => at += 1,
            }
        }
        out.extend_from_slice(&text[clean..at]);
        (at, found)
    }

    fn longest_match(&self, text: &[u8]) -> Option<(usize, &str)> {
        let [first, second, ..] = *text else { return None };
        let led = text.get(2).is_some_and(|&third| self.starts[1].has(second, third));
        if !led && !self.starts[0].has(first, second) {
            return None;
        }
        let matches =
            self.patterns.iter().filter_map(|(pattern, name)| Some((pattern.match_length(text)?, name.as_str())));
        matches.max_by_key(|(length, _)| *length)
    }
}

/// Scrubs a stream: [`push`](Scrubbing::push) each piece, then [`finish`](Scrubbing::finish).
pub struct Scrubbing {
    scrubber: Arc<Scrubber>,
    held: Vec<u8>,
}

impl Scrubbing {
    pub fn new(scrubber: Arc<Scrubber>) -> Scrubbing {
        Scrubbing { scrubber, held: Vec::new() }
    }

    /// Takes a piece and appends to `out` what can go on.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(piece);
        let far = self.held.len().saturating_sub(self.scrubber.held);
        let line = self.held.iter().rposition(|&byte| byte == b'\n').filter(|_| self.scrubber.within_lines);
        let (stopped, _) = self.scrubber.pass(&self.held, line.map_or(far, |line| far.max(line + 1)), out);
        self.held.drain(..stopped);
    }

    /// Appends the rest.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        self.scrubber.pass(&held, held.len(), out);
    }
}
