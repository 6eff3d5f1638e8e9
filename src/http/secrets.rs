//! Secrets: a value that stays on the host, the placeholder that a skill sees instead, and where the value may go.
//!
//! Placeholders are `skillcell_secret_NAME_` and 24 random hexadecimal digits: letters, digits and `_` only, so that they
//! pass through URLs, JSON and most checks of a key's form as they are. They are no secret to the skill, but nobody
//! without one can make the host send a value.

use std::fmt;
use std::sync::Arc;

use crate::http::place::Place;

/// How every placeholder starts.
pub const PREFIX: &str = "skillcell_secret_";
/// Shorter values would be found in ordinary text, so they can't be scrubbed.
const MIN_VALUE_BYTES: usize = 6;
const MAX_VALUE_BYTES: usize = 16 << 10;
const MAX_NAME_CHARS: usize = 64;

/// A secret that an operator grants.
#[derive(Clone)]
pub struct Secret {
    pub name: String,
    pub value: String,
    /// The hosts that the value may be sent to.
    pub hosts: Vec<HostPattern>,
    /// Also over `http`, where anyone on the way can read it.
    pub allow_plain_http: bool,
}

impl Secret {
    /// What is scrubbed: the value, and what a server that trims it makes of it unless that is too short.
    pub(crate) fn scrubbed(&self) -> impl Iterator<Item = &str> {
        let trimmed = self.value.trim();
        let differs = trimmed.len() < self.value.len() && trimmed.len() >= MIN_VALUE_BYTES;
        [self.value.as_str()].into_iter().chain(differs.then_some(trimmed))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("name", &self.name).field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// `host`, `*.host` (one level) or either with `:port`; without a port, any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    wildcard: bool,
    host: String,
    port: Option<u16>,
}

impl HostPattern {
    pub fn parse(text: &str) -> Result<HostPattern, SecretError> {
        let bad = || SecretError::BadHost { host: text.to_owned() };
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') && (!host.contains(':') || host.starts_with('[')) => {
                (host, Some(port.parse().map_err(|_| bad())?))
            }
            _ => (text, None),
        };
        let (wildcard, host) = host.strip_prefix("*.").map_or((false, host), |rest| (true, rest));
        let place = Place::parse(host, port.unwrap_or(443)).map_err(|_| bad())?;
        if wildcard && place.address().is_some() {
            return Err(bad());
        }
        Ok(HostPattern { wildcard, host: place.host().to_owned(), port })
    }

    fn covers(&self, place: &Place) -> bool {
        self.covers_host(place) && self.port.is_none_or(|port| port == place.port())
    }

    /// By whatever port.
    fn covers_host(&self, place: &Place) -> bool {
        let host = match (self.wildcard, place.host().split_once('.')) {
            (true, Some((_, rest))) if place.address().is_none() => rest,
            (true, _) => return false,
            (false, _) => place.host(),
        };
        host == self.host
    }
}

/// Why a set of secrets can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    #[error(
        "the value of `{name}` is shorter than {MIN_VALUE_BYTES} bytes, so it can't be told from ordinary text and scrubbed"
    )]
    TooShort { name: String },
    #[error("the value of `{name}` is longer than {MAX_VALUE_BYTES} bytes")]
    TooLong { name: String },
    #[error("the value of `{name}` is part of every placeholder")]
    InPlaceholder { name: String },
    #[error("`{name}` is given twice")]
    Twice { name: String },
    #[error("`{name}` is not a name of 1 to {MAX_NAME_CHARS} letters, digits and `_`")]
    BadName { name: String },
    #[error("`{host}` is not a host that a secret can be granted for")]
    BadHost { host: String },
    #[error("the system gave no random numbers")]
    NoRandomness,
}

/// A secret with its placeholder.
pub struct Entry {
    pub secret: Secret,
    pub placeholder: String,
}

/// All secrets of a call, each with a placeholder drawn when the set was made.
#[derive(Default)]
pub struct Secrets {
    entries: Vec<Arc<Entry>>,
}

impl Secrets {
    pub fn new(secrets: Vec<Secret>) -> Result<Secrets, SecretError> {
        let mut entries: Vec<Arc<Entry>> = Vec::with_capacity(secrets.len());
        for secret in secrets {
            check(&secret)?;
            if entries.iter().any(|entry| entry.secret.name == secret.name) {
                return Err(SecretError::Twice { name: secret.name });
            }
            let placeholder = format!("{PREFIX}{}_{}", secret.name, random_hex()?);
            entries.push(Arc::new(Entry { secret, placeholder }));
        }
        let within = |value: &str| entries.iter().any(|entry| entry.placeholder.contains(value));
        match entries.iter().find(|entry| entry.secret.scrubbed().any(within)) {
            Some(entry) => Err(SecretError::InPlaceholder { name: entry.secret.name.clone() }),
            None => Ok(Secrets { entries }),
        }
    }

    /// What the skill sees instead of the value.
    pub fn placeholder(&self, name: &str) -> Option<&str> {
        self.entries.iter().find(|entry| entry.secret.name == name).map(|entry| entry.placeholder.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Whether any value may be sent to the host of a place, be it by another scheme or port: an answer of it may hold one.
    pub(crate) fn any_for_host(&self, place: &Place) -> bool {
        self.entries.iter().flat_map(|entry| &entry.secret.hosts).any(|pattern| pattern.covers_host(place))
    }

    /// Those whose values may be sent to a place.
    pub(crate) fn bound_for(&self, place: &Place, tls: bool) -> Vec<Arc<Entry>> {
        let may = |secret: &Secret| {
            (tls || secret.allow_plain_http) && secret.hosts.iter().any(|pattern| pattern.covers(place))
        };
        self.entries.iter().filter(|entry| may(&entry.secret)).cloned().collect()
    }
}

fn check(secret: &Secret) -> Result<(), SecretError> {
    let name = secret.name.clone();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !(1..=MAX_NAME_CHARS).contains(&name.len()) || !name.bytes().all(word) {
        return Err(SecretError::BadName { name });
    }
    match secret.value.len() {
        ..MIN_VALUE_BYTES => Err(SecretError::TooShort { name }),
        length if length > MAX_VALUE_BYTES => Err(SecretError::TooLong { name }),
        _ => Ok(()),
    }
}

fn random_hex() -> Result<String, SecretError> {
    let mut bytes = [0; 12];
    let source = rustls::crypto::ring::default_provider().secure_random;
    source.fill(&mut bytes).map_err(|_| SecretError::NoRandomness)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(name: &str, value: &str) -> Secret {
        Secret { name: name.into(), value: value.into(), hosts: Vec::new(), allow_plain_http: false }
    }

    #[test]
    fn values_that_cannot_be_scrubbed_are_refused() {
        let error = |name: &str, value: &str| Secrets::new(vec![secret(name, value)]).err().unwrap();
        assert!(matches!(error("A", "12345"), SecretError::TooShort { .. }));
        assert!(matches!(error("A", "_secret_"), SecretError::InPlaceholder { .. }));
        assert!(matches!(error("A", " secret\n"), SecretError::InPlaceholder { .. }));
        assert!(matches!(error("A B", "1234567"), SecretError::BadName { .. }));
        let twice = Secrets::new(vec![secret("A", "1234567"), secret("A", "1234568")]);
        assert!(matches!(twice.err().unwrap(), SecretError::Twice { .. }));
    }

    #[test]
    fn placeholders_differ_each_time_and_are_plain_words() {
        let one = Secrets::new(vec![secret("API_KEY", "value-1234")]).unwrap();
        let two = Secrets::new(vec![secret("API_KEY", "value-1234")]).unwrap();
        let placeholder = one.placeholder("API_KEY").unwrap();
        assert_ne!(Some(placeholder), two.placeholder("API_KEY"));
        assert!(placeholder.starts_with("skillcell_secret_API_KEY_") && placeholder.len() == 49);
        assert!(!format!("{:?}", one.entries()[0].secret).contains("value-1234"));
    }

    #[test]
    fn a_host_pattern_covers_one_level_and_its_port() {
        let covers = |pattern: &str, host: &str, port| {
            HostPattern::parse(pattern).unwrap().covers(&Place::parse(host, port).unwrap())
        };
        assert!(covers("api.example.org", "API.example.org", 8443));
        assert!(covers("*.example.org", "a.example.org", 443));
        assert!(covers("[::1]:80", "::1", 80) && covers("::1", "::1", 81) && covers("127.0.0.1:80", "127.0.0.1", 80));
        for (pattern, host, port) in [
            ("api.example.org", "example.org", 443),
            ("api.example.org", "xapi.example.org", 443),
            ("*.example.org", "a.b.example.org", 443),
            ("*.example.org", "example.org", 443),
            ("a.b:80", "a.b", 81),
            ("api.example.org", "api.example.org.evil.net", 443),
            ("*.0.0.1", "127.0.0.1", 443),
        ] {
            let pattern = HostPattern::parse(pattern);
            assert!(pattern.is_err() || !pattern.unwrap().covers(&Place::parse(host, port).unwrap()), "{host}");
        }
        assert!(HostPattern::parse("*").is_err() && HostPattern::parse("*.*.org").is_err());
    }
}
