//! Finds a set of secret values in bytes, in every spelling, in time that doesn't depend on the values.
//!
//! All patterns are matched in parallel with the Shift-And algorithm, one bit per position of each pattern. Every byte of
//! the text costs the same few word operations whether bits are set or not, so a text that shares a prefix with a value
//! takes no longer than any other. A full match does take longer, but it is visible anyway by its placeholder.
//!
//! ```text
//!   bits of `open`   0 1 2 3 4 5 6 | 0 1 2 …      bit i: the first i characters of the pattern end here
//!   a character c    open[at + length of c] |= (open[at] & places of c) << 1
//! ```

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use zeroize::Zeroizing;

use crate::spelling::{LONGEST, MAX_HTML_DIGITS, each_spelling};

/// How many positions ahead a spelling can reach; a power of two.
const AHEAD: usize = 16;
const _: () = assert!(AHEAD > LONGEST);
/// The fewest words of state, so that all values of up to 70 bytes take the same time.
const MIN_WORDS: usize = 8;
/// How far before the latest possible start of a match an earlier one is searched: `\"` also ends in a `"`.
const START_SLACK: usize = LONGEST;

/// One form of one value.
struct Pattern {
    /// Its first bit; it has one bit more than characters.
    bit: usize,
    length: usize,
    /// The index of the value.
    value: usize,
    /// For base64: the edges around the characters that depend on the value alone. A character that mixes bits of the
    /// value with others is removed too, and so is the padding, which reveals the value's length.
    base64: Option<Base64Edges>,
}

struct Base64Edges {
    lead: bool,
    trail: bool,
}

/// A value that was found in a text. `start` is 0 where it began before the text did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    pub start: usize,
    pub end: usize,
    pub value: usize,
}

/// What is searched for: each value as it is or in other case, in hexadecimal, and in base64 of either alphabet at each of
/// three alignments; all of these in any [spelling](each_spelling).
pub struct Patterns {
    list: Vec<Pattern>,
    words: usize,
    /// The bits that are set at every place of a text, and those that are set where a match ends.
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// For each byte, the places at which it stands in patterns.
    places: Zeroizing<Vec<u64>>,
    pub longest: usize,
}

/// The state of a search.
pub struct Search {
    /// The next position in the text.
    pub at: usize,
    open: Zeroizing<Vec<u64>>,
    /// States for spellings longer than the ring `open` can hold, by the position where they end.
    far: Vec<(usize, Zeroizing<Vec<u64>>)>,
    /// Scratch space for one state.
    next: Zeroizing<Vec<u64>>,
}

impl Patterns {
    pub fn new<'v>(values: impl Iterator<Item = &'v str> + Clone) -> Patterns {
        let lengths = values.clone().map(|value| 7 * value.len() + 16);
        let words = lengths.sum::<usize>().div_ceil(64).next_power_of_two().max(MIN_WORDS);
        let mut patterns = Patterns {
            list: Vec::new(),
            words,
            starts: vec![0; words],
            ends: vec![0; words],
            places: Zeroizing::new(vec![0; words * 256]),
            longest: 0,
        };
        for (index, value) in values.enumerate() {
            patterns.add_pattern(index, value.as_bytes(), Equivalence::EitherCase, None);
            let hex = Zeroizing::new(value.bytes().flat_map(hex_digits).collect::<Vec<u8>>());
            patterns.add_pattern(index, &hex, Equivalence::EitherCase, None);
            for before in 0..3 {
                let (stable, around) = base64_at_offset(value.as_bytes(), before);
                patterns.add_pattern(index, &stable, Equivalence::Base64, Some(around));
            }
        }
        patterns
    }

    fn add_pattern(&mut self, value: usize, text: &[u8], equivalence: Equivalence, base64: Option<Base64Edges>) {
        let bit = self.list.last().map_or(0, |last| last.bit + last.length + 1);
        let set = |words: &mut [u64], bit: usize| words[bit / 64] |= 1 << (bit % 64);
        set(&mut self.starts, bit);
        set(&mut self.ends, bit + text.len());
        for (at, &byte) in text.iter().enumerate() {
            for same in equivalence.equivalent_bytes(byte) {
                let from = usize::from(same) * self.words;
                set(&mut self.places[from..from + self.words], bit + at);
            }
        }
        self.longest = self.longest.max(text.len() * ("&#x;".len() + MAX_HTML_DIGITS) + 8);
        self.list.push(Pattern { bit, length: text.len(), value, base64 });
    }

    pub fn new_search(&self) -> Search {
        let state = |places: usize| Zeroizing::new(vec![0; places * self.words]);
        Search { at: 0, open: state(AHEAD), far: Vec::new(), next: state(1) }
    }

    /// Advances to position `to`. `text` starts at position `base`, and extends beyond `to` by the longest spelling.
    pub fn advance(&self, search: &mut Search, text: &[u8], base: usize, to: usize, found: &mut Vec<Match>) {
        let mut open = Zeroizing::new(vec![0; self.words]);
        while search.at < to {
            self.take_state(search, &mut open);
            self.note_ends(&open, text, base, search.at, found);
            for (open, start) in open.iter_mut().zip(&self.starts) {
                *open |= start;
            }
            self.extend_matches(search, &open, &text[search.at - base..]);
            search.at += 1;
        }
    }

    /// Call at the end of the text.
    pub fn finish(&self, search: &mut Search, text: &[u8], base: usize, found: &mut Vec<Match>) {
        let mut open = Zeroizing::new(vec![0; self.words]);
        self.take_state(search, &mut open);
        self.note_ends(&open, text, base, search.at, found);
    }

    /// Takes the state of the current position out of the search.
    fn take_state(&self, search: &mut Search, open: &mut [u64]) {
        let from = search.at % AHEAD * self.words;
        let here = &mut search.open[from..from + self.words];
        open.copy_from_slice(here);
        here.fill(0);
        let at = search.at;
        search.far.retain(|(end, state)| {
            if *end == at {
                open.iter_mut().zip(state.iter()).for_each(|(open, state)| *open |= state);
            }
            *end != at
        });
    }

    fn extend_matches(&self, search: &mut Search, open: &[u64], rest: &[u8]) {
        let Search { at, open: ahead, far, next } = search;
        each_spelling(rest, &mut |symbol, length| {
            next.copy_from_slice(open);
            symbol.iter().for_each(|&byte| self.shift_state(next, byte));
            if length < AHEAD {
                let to = (*at + length) % AHEAD * self.words;
                let ahead = &mut ahead[to..to + self.words];
                ahead.iter_mut().zip(next.iter()).for_each(|(ahead, next)| *ahead |= next);
            } else {
                far.push((*at + length, next.clone()));
            }
        });
    }

    /// Advances a state by one byte, without branches.
    fn shift_state(&self, state: &mut [u64], byte: u8) {
        #[cfg(test)]
        work::count(self.words);
        let start = usize::from(byte) * self.words;
        let mut carry = 0;
        for (state, places) in state.iter_mut().zip(&self.places[start..start + self.words]) {
            let hit = *state & places;
            *state = hit << 1 | carry;
            carry = hit >> 63;
        }
    }

    fn note_ends(&self, open: &[u64], text: &[u8], base: usize, end: usize, found: &mut Vec<Match>) {
        let ended = open.iter().zip(&self.ends).fold(0, |ended, (open, ends)| ended | open & ends);
        if ended == 0 {
            return;
        }
        for pattern in &self.list {
            let bit = pattern.bit + pattern.length;
            if open[bit / 64] >> (bit % 64) & 1 == 1 {
                let (start, end) = self.match_extent(pattern, text, end - base);
                let start = start.map_or(0, |start| start + base);
                found.push(Match { start, end: end + base, value: pattern.value });
            }
        }
    }

    /// The extent of a match of which only the end is known. The start is `None` if it lies before this text.
    fn match_extent(&self, pattern: &Pattern, text: &[u8], end: usize) -> (Option<usize>, usize) {
        let begins = |&start: &usize| self.is_match_between(pattern, text, start, end);
        let start = (0..end)
            .rev()
            .find(begins)
            .map(|latest| (latest.saturating_sub(START_SLACK)..latest).find(begins).unwrap_or(latest));
        let Some(Base64Edges { lead, trail }) = &pattern.base64 else { return (start, end) };
        let is_base64 = |at: usize| text.get(at).is_some_and(|&byte| is_of_base64(byte));
        let start = start.map(|start| start - usize::from(*lead && start > 0 && is_base64(start - 1)));
        let mut end = end + usize::from(*trail && is_base64(end));
        for _ in 0..2 {
            let rest = &text[end..];
            let escaped = rest.get(..3).is_some_and(|three| three.eq_ignore_ascii_case(b"%3d"));
            end += if escaped { 3 } else { usize::from(rest.first() == Some(&b'=')) };
        }
        (start, end)
    }

    /// Whether a match from `start` to `end` is possible. Called only for values that were found.
    fn is_match_between(&self, pattern: &Pattern, text: &[u8], start: usize, end: usize) -> bool {
        let mut search = Search { at: start, ..self.new_search() };
        let mut open = Zeroizing::new(vec![0; self.words]);
        open[pattern.bit / 64] |= 1 << (pattern.bit % 64);
        self.extend_matches(&mut search, &open, &text[start..]);
        while search.at < end {
            search.at += 1;
            self.take_state(&mut search, &mut open);
            if search.at < end {
                let rest = &text[search.at..];
                self.extend_matches(&mut search, &open, rest);
            }
            // Give up once no state can become a match any more.
            let alive = search.open.iter().chain(&*open).any(|&word| word != 0) || !search.far.is_empty();
            if !alive {
                return false;
            }
        }
        let bit = pattern.bit + pattern.length;
        open[bit / 64] >> (bit % 64) & 1 == 1
    }
}

/// Which bytes are treated as equal.
#[derive(Clone, Copy)]
enum Equivalence {
    /// Letters in either case: some servers change it.
    EitherCase,
    /// The standard and the URL-safe alphabet differ in two characters.
    Base64,
}

impl Equivalence {
    fn equivalent_bytes(self, byte: u8) -> [u8; 2] {
        match (self, byte) {
            (Equivalence::EitherCase, byte) => [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()],
            (Equivalence::Base64, b'+') => [b'+', b'-'],
            (Equivalence::Base64, b'/') => [b'/', b'_'],
            (Equivalence::Base64, byte) => [byte, byte],
        }
    }
}

/// The value in base64 after `before` other bytes: the characters that depend on the value only.
fn base64_at_offset(value: &[u8], before: usize) -> (Zeroizing<Vec<u8>>, Base64Edges) {
    let data = Zeroizing::new(std::iter::repeat_n(0, before).chain(value.iter().copied()).collect::<Vec<u8>>());
    let mut text = Zeroizing::new(STANDARD_NO_PAD.encode(&data).into_bytes());
    text.truncate(data.len() * 8 / 6);
    text.drain(..(before * 8).div_ceil(6));
    (text, Base64Edges { lead: before > 0, trail: !(data.len() * 8).is_multiple_of(6) })
}

/// Whether this is a character of either alphabet.
fn is_of_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn hex_digits(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}

/// Counts the operations on words, so that a test can tell what time depends on without a clock.
#[cfg(test)]
pub mod work {
    use std::cell::Cell;

    thread_local! {
        static WORDS: Cell<usize> = const { Cell::new(0) };
    }

    pub fn count(words: usize) {
        WORDS.set(WORDS.get() + words);
    }

    /// How much a piece of work takes.
    pub fn of(work: impl FnOnce()) -> usize {
        let before = WORDS.get();
        work();
        WORDS.get() - before
    }
}
