//! Versions of Python packages and how they compare: PEP 440, as far as published packages use it.

use std::cmp::Ordering;
use std::fmt;

/// A version, read. Two that are written differently and mean the same are equal: `1.0` and `1.0.0`.
#[derive(Debug, Clone)]
pub struct Version {
    text: String,
    epoch: u64,
    release: Vec<u64>,
    /// `a`, `b` or `rc`, with its number.
    pre: Option<(u8, u64)>,
    post: Option<u64>,
    dev: Option<u64>,
    local: Option<String>,
}

/// The longest version that is read.
const MAX_CHARS: usize = 100;

impl Version {
    /// `None` if it is no version.
    pub fn parse(text: &str) -> Option<Version> {
        let text = text.trim();
        if text.len() > MAX_CHARS || !text.is_ascii() {
            return None;
        }
        let lower = text.to_ascii_lowercase();
        let plain = lower.strip_prefix('v').unwrap_or(&lower);
        let (plain, local) = plain.split_once('+').map_or((plain, None), |(plain, local)| (plain, Some(local)));
        if local.is_some_and(|local| local.is_empty() || !local.bytes().all(is_local)) {
            return None;
        }
        let (epoch, rest) =
            plain.split_once('!').map_or(Some((0, plain)), |(e, rest)| Some((e.parse().ok()?, rest)))?;
        let mut reader = Reader { rest };
        let mut release = vec![reader.number()?];
        while let Some(part) = reader.dotted_number() {
            release.push(part);
        }
        let (mut pre, mut post, mut dev) = (None, None, None);
        if let Some(kind) = reader.word(&["alpha", "a", "beta", "b", "preview", "pre", "c", "rc"]) {
            let kind = if kind.starts_with('a') {
                b'a'
            } else if kind.starts_with('b') {
                b'b'
            } else {
                b'r'
            };
            pre = Some((kind, reader.optional_number()));
        }
        if let Some(number) = reader.implicit_post() {
            post = Some(number);
        } else if reader.word(&["post", "rev", "r"]).is_some() {
            post = Some(reader.optional_number());
        }
        if reader.word(&["dev"]).is_some() {
            dev = Some(reader.optional_number());
        }
        let whole = reader.rest.is_empty();
        whole.then(|| Version {
            text: text.to_owned(),
            epoch,
            release,
            pre,
            post,
            dev,
            local: local.map(str::to_owned),
        })
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn is_prerelease(&self) -> bool {
        self.pre.is_some() || self.dev.is_some()
    }

    pub fn is_post(&self) -> bool {
        self.post.is_some()
    }

    /// The same without what follows a `+`.
    pub fn public(&self) -> Version {
        Version { local: None, ..self.clone() }
    }

    /// The numbers before any suffix, and the epoch.
    pub fn base(&self) -> (u64, &[u64]) {
        (self.epoch, &self.release)
    }

    /// Whether the release begins with these numbers; a missing one counts as zero.
    pub fn starts_with(&self, (epoch, prefix): (u64, &[u64])) -> bool {
        let part = |at: usize| self.release.get(at).copied().unwrap_or(0);
        self.epoch == epoch && prefix.iter().enumerate().all(|(at, &number)| part(at) == number)
    }

    fn trimmed(&self) -> &[u64] {
        let used = self.release.iter().rposition(|&part| part != 0).map_or(0, |at| at + 1);
        &self.release[..used]
    }

    /// What sorts after the release: `dev` alone before `a`, `b`, `rc`; no suffix after them; `post` last.
    fn suffix(&self) -> ((u8, u64), (u8, u64), (u8, u64)) {
        let pre = match (self.pre, self.post, self.dev) {
            (Some((kind, number)), _, _) => (kind, number),
            (None, None, Some(_)) => (0, 0),
            _ => (u8::MAX, 0),
        };
        let post = self.post.map_or((0, 0), |number| (1, number));
        let dev = self.dev.map_or((1, 0), |number| (0, number));
        (pre, post, dev)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        let local = |version: &Version| {
            let parts = version.local.as_deref().unwrap_or_default().split(['.', '-', '_']);
            // Numbers sort after words, and numerically.
            parts.map(|part| part.parse::<u64>().map_or((0, 0, part.to_owned()), |n| (1, n, String::new()))).collect()
        };
        let local_order = || match (&self.local, &other.local) {
            (None, None) => Ordering::Equal,
            (None, _) => Ordering::Less,
            (_, None) => Ordering::Greater,
            _ => Vec::cmp(&local(self), &local(other)),
        };
        let plain = (self.epoch, self.trimmed(), self.suffix()).cmp(&(other.epoch, other.trimmed(), other.suffix()));
        plain.then_with(local_order)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Version) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".-_".contains(&byte)
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        Some(number)
    }

    fn dotted_number(&mut self) -> Option<u64> {
        let after = self.rest.strip_prefix('.').filter(|after| after.starts_with(|c: char| c.is_ascii_digit()))?;
        self.rest = after;
        self.number()
    }

    /// One of these words, with the separator that may stand before it.
    fn word(&mut self, words: &[&'a str]) -> Option<&'a str> {
        let after = self.rest.strip_prefix(['.', '-', '_']).unwrap_or(self.rest);
        let word = words.iter().find(|word| after.starts_with(**word))?;
        self.rest = &after[word.len()..];
        Some(word)
    }

    /// The number after a word, with the separator that may stand before it; none is zero.
    fn optional_number(&mut self) -> u64 {
        let after = self.rest.strip_prefix(['.', '-', '_']).unwrap_or(self.rest);
        if !after.starts_with(|c: char| c.is_ascii_digit()) {
            return 0;
        }
        self.rest = after;
        self.number().unwrap_or(u64::MAX)
    }

    /// `1.0-1` is `1.0.post1`.
    fn implicit_post(&mut self) -> Option<u64> {
        let after = self.rest.strip_prefix('-').filter(|after| after.starts_with(|c: char| c.is_ascii_digit()))?;
        self.rest = after;
        self.number()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_as_the_standard_says() {
        let sorted = [
            "1.0.dev1",
            "1.0a1.dev2",
            "1.0a1",
            "1.0a2",
            "1.0b1",
            "1.0rc1",
            "1.0",
            "1.0+local",
            "1.0+local.2",
            "1.0+local.10",
            "1.0.post1.dev0",
            "1.0.post1",
            "1.0.1",
            "1.1.dev3",
            "1.10",
            "2026.9.29",
            "1!0.1",
        ];
        for pair in sorted.windows(2) {
            let (one, other) = (Version::parse(pair[0]).unwrap(), Version::parse(pair[1]).unwrap());
            assert!(one < other, "{one} < {other}");
        }
    }

    #[test]
    fn what_means_the_same_is_equal() {
        for (one, other) in
            [("1.0", "1"), ("v1.0", "1.0.0"), ("1.0-1", "1.0.post1"), ("1.0c1", "1.0rc1"), ("1.0A", "1a0")]
        {
            assert_eq!(Version::parse(one), Version::parse(other), "{one} {other}");
            assert!(Version::parse(one).is_some());
        }
    }

    #[test]
    fn what_is_no_version_is_none() {
        for odd in ["", "x", "1..2", "1.0+", "1.0 0", "1.x", "99999999999999999999999", "1!", "==1", "1.0-"] {
            assert!(Version::parse(odd).is_none(), "{odd}");
        }
    }
}
