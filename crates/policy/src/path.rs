//! The path of a URL in a normal form for matching against rules. The path that is sent stays as it was written.
//!
//! The form is RFC 3986's normal one (`%7e` is `~`, hex digits in upper case), taken further: the marks that most servers
//! read alike raw and encoded (`!$&'()+,;=:@`) are raw, and a star is always `%2A`, so that a rule's own `*` stands alone.
//!
//! Dot segments, in any encoding, are refused. What servers read differently (see [`Ambiguity`]) is
//! left to rules that don't depend on the reading: a rule for *every* path of a host allows it, no other does, and any
//! deny rule for that host denies it.

use std::fmt;

use super::quote::brief;

const MAX_PATTERN_BYTES: usize = 1024;
/// The longest path that is suggested verbatim; a longer one is shortened to its first folders.
const MAX_SUGGESTED_BYTES: usize = 256;

/// Why servers may disagree about which resource a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Ambiguity {
    #[error("an encoded slash")]
    EncodedSlash,
    #[error("an encoded backslash")]
    EncodedBackslash,
    #[error("an encoded control character")]
    EncodedControl,
    #[error("a doubly encoded character")]
    DoubleEncoding,
    #[error("an empty segment (`//`)")]
    EmptySegment,
    #[error("bytes that are not UTF-8")]
    NotUtf8,
    #[error("a character that some servers turn into a dot or a slash")]
    Lookalike,
}

/// Why a text is not a valid path, or not valid in a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    #[error("the path `{0}` has a `.` or `..` segment")]
    DotSegment(String),
    #[error("a `%` is not followed by two hex digits in `{0}`")]
    Percent(String),
    #[error(
        "the path `{path}` has {ambiguity}, which a rule can't name; only a rule for every path (`/*`) covers such"
    )]
    Ambiguous { path: String, ambiguity: Ambiguity },
    #[error("a `*` may only stand at the end of a path, not as in `{0}`; a literal one is `%2A`")]
    Star(String),
    #[error("a rule's path is longer than {MAX_PATTERN_BYTES} bytes")]
    TooLong,
}

/// A path in normal form; begins with `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MatchPath {
    text: String,
    ambiguity: Option<Ambiguity>,
}

impl MatchPath {
    /// `raw` is visible ASCII and begins with `/`, or is empty, which is `/`.
    pub(super) fn from_raw(raw: &str) -> Result<MatchPath, BadPath> {
        let mut text = String::with_capacity(raw.len());
        let mut decoded = Vec::with_capacity(raw.len());
        let mut ambiguity = raw.contains("//").then_some(Ambiguity::EmptySegment);
        let mut rest = raw.as_bytes();
        while let [byte, tail @ ..] = rest {
            let encoded = *byte == b'%';
            let value = if encoded {
                let (value, tail) = hex_pair(tail).ok_or_else(|| BadPath::Percent(brief(raw)))?;
                (rest, ambiguity) = (tail, ambiguity.or(encoded_ambiguity(value, tail)));
                value
            } else {
                rest = tail;
                *byte
            };
            decoded.push(value);
            push_normalized(&mut text, value, encoded);
        }
        // Checked after decoding, so that `%2e` is found too.
        if text.split('/').any(is_dot_segment) {
            return Err(BadPath::DotSegment(brief(raw)));
        }
        if text.is_empty() {
            text.push('/');
        }
        let in_text = || match std::str::from_utf8(&decoded) {
            Ok(text) => text.contains(is_lookalike).then_some(Ambiguity::Lookalike),
            Err(_) => Some(Ambiguity::NotUtf8),
        };
        Ok(MatchPath { ambiguity: ambiguity.or_else(in_text), text })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn ambiguity(&self) -> Option<Ambiguity> {
        self.ambiguity
    }
}

/// The byte that two hex digits stand for, and what comes after them.
pub(super) fn hex_pair(text: &[u8]) -> Option<(u8, &[u8])> {
    let [high, low, rest @ ..] = text else { return None };
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some((digit(*high)? << 4 | digit(*low)?, rest))
}

/// Why servers may disagree about a percent-encoded byte, if they may.
fn encoded_ambiguity(value: u8, rest: &[u8]) -> Option<Ambiguity> {
    match value {
        b'/' => Some(Ambiguity::EncodedSlash),
        b'\\' => Some(Ambiguity::EncodedBackslash),
        0..0x20 | 0x7f => Some(Ambiguity::EncodedControl),
        b'%' if hex_pair(rest).is_some() => Some(Ambiguity::DoubleEncoding),
        _ => None,
    }
}

fn push_normalized(text: &mut String, byte: u8, encoded: bool) {
    let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if unreserved || b"!$&'()+,;=:@".contains(&byte) || (byte == b'/' && !encoded) {
        text.push(char::from(byte));
    } else {
        text.push_str(&format!("%{byte:02X}"));
    }
}

/// `.` and `..`, also with parameters (`..;x`) or trailing spaces, which some servers drop.
fn is_dot_segment(segment: &str) -> bool {
    let name = segment.split(';').next().unwrap_or(segment);
    matches!(name.trim_end_matches("%20"), "." | "..")
}

/// Characters that compatibility mappings turn into dots, slashes or backslashes.
fn is_lookalike(c: char) -> bool {
    matches!(c, '\u{2024}'..='\u{2026}' | '\u{fe52}' | '\u{fe68}' | '\u{ff0e}' | '\u{ff0f}' | '\u{ff3c}')
        || matches!(c, '\u{2044}' | '\u{2215}' | '\u{2216}' | '\u{29f8}' | '\u{3002}' | '\u{ff61}')
}

/// The paths that a rule applies to: a single one, or all with a common prefix.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathPattern {
    text: String,
    and_below: bool,
}

impl PathPattern {
    /// Parses `/v1/items` or `/v1/*`; an empty path means `/*`.
    pub(super) fn parse(raw: &str) -> Result<PathPattern, BadPath> {
        if raw.len() > MAX_PATTERN_BYTES {
            return Err(BadPath::TooLong);
        }
        let (text, and_below) = match raw.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (raw, raw.is_empty()),
        };
        if text.contains('*') {
            return Err(BadPath::Star(brief(raw)));
        }
        let path = MatchPath::from_raw(text)?;
        match path.ambiguity {
            Some(ambiguity) => Err(BadPath::Ambiguous { path: brief(raw), ambiguity }),
            None if path.text.len() > MAX_PATTERN_BYTES => Err(BadPath::TooLong),
            None => Ok(PathPattern { text: path.text, and_below }),
        }
    }

    /// The narrowest pattern worth suggesting to someone who wants this path.
    pub(super) fn suggested_for(path: &MatchPath) -> PathPattern {
        if path.ambiguity.is_some() {
            return PathPattern { text: "/".into(), and_below: true };
        }
        if path.text.len() <= MAX_SUGGESTED_BYTES {
            return PathPattern { text: path.text.clone(), and_below: false };
        }
        let folder = path.text.bytes().take(MAX_SUGGESTED_BYTES).rposition(|b| b == b'/').unwrap_or(0);
        PathPattern { text: path.text.get(..=folder).unwrap_or("/").to_owned(), and_below: true }
    }

    fn is_every(&self) -> bool {
        self.and_below && self.text == "/"
    }

    pub fn matches(&self, path: &MatchPath) -> bool {
        self.is_every() || path.ambiguity.is_none() && self.matches_text(&path.text)
    }

    /// Like [`matches`](Self::matches), for a deny rule: an ambiguous path always matches, and case is ignored.
    pub fn denies(&self, path: &MatchPath) -> bool {
        let folded = PathPattern { text: self.text.to_ascii_lowercase(), and_below: self.and_below };
        path.ambiguity.is_some() || folded.matches_text(&path.text.to_ascii_lowercase())
    }

    fn matches_text(&self, text: &str) -> bool {
        if self.and_below { text.starts_with(&self.text) } else { text == self.text }
    }

    /// Whether every path that `other` matches is matched by this pattern.
    pub fn covers(&self, other: &PathPattern) -> bool {
        self.matches_text(&other.text) && (self.and_below || !other.and_below)
    }

    /// The paths that both match. One pattern always contains the other, or they are disjoint.
    pub fn intersect(&self, other: &PathPattern) -> Option<PathPattern> {
        if self.covers(other) { Some(other.clone()) } else { other.covers(self).then(|| self.clone()) }
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.text, if self.and_below { "*" } else { "" })
    }
}
