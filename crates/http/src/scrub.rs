//! Replaces secrets' values with their placeholders in everything that leaves the host, in every known encoding.
//!
//! In a stream, bytes are held back until no value can start in them. How many depends on line ends only, never on what
//! the bytes are: otherwise a server that stops in mid-answer could tell a skill, one character after another, how a value
//! starts. Nor does it tell how long a value is: it is a power of two, and the same one for all values of usual length.
//! Nor does the time that it takes: see `pattern.rs`.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::pattern::{Match, Patterns, Search};
use crate::secrets::Secrets;
use crate::spelling;

/// The minimum that is held back: enough for a value of 370 bytes in its longest encoding.
const MIN_HELD_BYTES: usize = 8 << 10;
/// How many bytes beyond a position the search needs to look at.
const AHEAD: usize = 16;

/// Finds the values of a set of secrets.
///
/// Found: the value as it is or in other case, in hexadecimal, in base64 of either alphabet at any alignment; also without
/// the blanks at its ends; and any character of these percent-encoded, escaped for JSON, HTML, mail or a program's source,
/// in UTF-16, UTF-32 or Latin-1. Not found: what was compressed, encrypted, reversed, encoded twice, or cut up by other
/// text.
pub struct Scrubber {
    patterns: Patterns,
    placeholders: Vec<String>,
    /// How much of a stream is held back; no match is longer.
    held: usize,
    /// No encoding of a value contains a line end, so a match never spans lines.
    within_lines: bool,
}

impl Scrubber {
    pub fn new(secrets: &Secrets) -> Scrubber {
        let values = || {
            let entries = secrets.entries().iter();
            entries.flat_map(|entry| entry.scrubbed_values().map(move |value| (value, &entry.placeholder)))
        };
        let patterns = Patterns::new(values().map(|(value, _)| value));
        let held = (patterns.longest + AHEAD).next_power_of_two().max(MIN_HELD_BYTES);
        let within_lines = values().all(|(value, _)| !value.chars().any(has_line_end));
        Scrubber { patterns, placeholders: values().map(|(_, name)| name.clone()).collect(), held, within_lines }
    }

    /// Replaces the values in a text; borrowed if there were none.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.scrub_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    pub fn scrub_bytes<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let (mut search, mut found) = (self.patterns.new_search(), Vec::new());
        self.patterns.advance(&mut search, text, 0, text.len(), &mut found);
        self.patterns.finish(&mut search, text, 0, &mut found);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut cleaning, mut out) = (Cleaning::default(), Vec::with_capacity(text.len()));
        cleaning.add_matches(found.into_iter());
        cleaning.write_cleaned(&self.placeholders, text, 0, text.len(), &mut out);
        Cow::Owned(out)
    }
}

/// Whether a character's UTF-8, UTF-16 or UTF-32 encoding contains the byte of a line end.
fn has_line_end(c: char) -> bool {
    let has = |bytes: &[u8]| bytes.contains(&b'\n');
    has(&u32::from(c).to_le_bytes()) || c.encode_utf16(&mut [0; 2]).iter().any(|unit| has(&unit.to_le_bytes()))
}

/// Writes a text without the values that were found in it.
#[derive(Default)]
struct Cleaning {
    /// Ordered by start, not overlapping.
    found: VecDeque<Match>,
    /// The position up to which everything was written, and the end of the last replaced match.
    written: usize,
    replaced: usize,
}

impl Cleaning {
    /// Takes matches in the order of their ends, and merges overlapping ones.
    fn add_matches(&mut self, found: impl Iterator<Item = Match>) {
        for mut new in found {
            while let Some(last) = self.found.back().copied().filter(|last| new.start < last.end) {
                let extends_last = last.start < new.start || (last.start == new.start && last.end >= new.end);
                if extends_last {
                    (new.start, new.value) = (last.start, last.value);
                }
                new.end = new.end.max(last.end);
                self.found.pop_back();
            }
            if new.start < self.replaced {
                // Its beginning was already replaced; skip the rest of it.
                self.replaced = self.replaced.max(new.end);
                self.written = self.written.max(new.end);
            } else {
                self.found.push_back(Match { start: new.start.max(self.written), ..new });
            }
        }
    }

    /// Writes everything before position `until`, with matches replaced; `text` starts at `base`.
    fn write_cleaned(&mut self, placeholders: &[String], text: &[u8], base: usize, until: usize, out: &mut Vec<u8>) {
        while let Some(next) = self.found.pop_front_if(|next| next.start < until) {
            out.extend_from_slice(&text[self.written - base..next.start - base]);
            out.extend_from_slice(placeholders[next.value].as_bytes());
            (self.written, self.replaced) = (next.end, next.end);
        }
        if self.written < until {
            out.extend_from_slice(&text[self.written - base..until - base]);
            self.written = until;
        }
    }
}

/// Scrubs a stream: [`push`](Scrubbing::push) each piece, then [`finish`](Scrubbing::finish).
pub struct Scrubbing {
    scrubber: Arc<Scrubber>,
    search: Search,
    cleaning: Cleaning,
    /// What was not written yet, and its position.
    held: Zeroizing<Vec<u8>>,
    base: usize,
    unsearchable: bool,
}

impl Scrubbing {
    pub fn new(scrubber: Arc<Scrubber>) -> Scrubbing {
        let search = scrubber.patterns.new_search();
        let (cleaning, held) = (Cleaning::default(), Zeroizing::new(Vec::new()));
        Scrubbing { scrubber, search, cleaning, held, base: 0, unsearchable: false }
    }

    /// Takes a piece, and appends to `out` what is safe to release.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(piece);
        let length = self.held.len();
        let line = self.held.iter().rposition(|&byte| byte == b'\n').filter(|_| self.scrubber.within_lines);
        let line = line.map_or(0, |line| line + 1);
        self.search_until(length.saturating_sub(AHEAD).max(line));
        self.write_until(length.saturating_sub(self.scrubber.held).max(line), out);
    }

    /// Appends the rest.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.search_until(self.held.len());
        let mut found = Vec::new();
        self.scrubber.patterns.finish(&mut self.search, &self.held, self.base, &mut found);
        self.cleaning.add_matches(found.into_iter());
        self.write_until(self.held.len(), out);
    }

    /// Whether the text contained an HTML character reference with more digits than the search handles, which could hide
    /// a value. What was written is clean even then.
    pub fn is_unsearchable(&self) -> bool {
        self.unsearchable
    }

    fn search_until(&mut self, to: usize) {
        let from = (self.search.at - self.base).min(to);
        let overlong = |at: usize| self.held[at] == b'&' && spelling::is_overlong(&self.held[at..]);
        self.unsearchable |= (from..to).any(overlong);
        let mut found = Vec::new();
        self.scrubber.patterns.advance(&mut self.search, &self.held, self.base, self.base + to, &mut found);
        self.cleaning.add_matches(found.into_iter());
    }

    fn write_until(&mut self, until: usize, out: &mut Vec<u8>) {
        self.cleaning.write_cleaned(&self.scrubber.placeholders, &self.held, self.base, self.base + until, out);
        let written = self.cleaning.written - self.base;
        self.held.drain(..written);
        self.base += written;
    }
}

#[cfg(test)]
mod tests;
