//! Secrets: a value that stays on the host, the placeholder that a skill sees instead, and where the value may go.
//!
//! Placeholders are `skillcell_secret_NAME_` and 24 random hexadecimal digits: letters, digits and `_` only, so that they
//! pass through URLs, JSON and most checks of a key's form as they are. They are no secret to the skill, but nobody
//! without one can make the host send a value.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::gate::Asked;
use crate::place::Place;
use skillcell_policy::{HostName, SecretDenial, SecretGrant, SecretUse};

/// How every placeholder starts.
pub const PREFIX: &str = "skillcell_secret_";
/// Shorter values would be found in ordinary text, so they can't be scrubbed.
const MIN_VALUE_BYTES: usize = 6;
const MAX_VALUE_BYTES: usize = 16 << 10;
const MAX_NAME_CHARS: usize = 64;

/// A granted secret: its value, which is zeroed on drop, and the hosts that policy allows for it.
pub struct Secret {
    grant: SecretGrant,
    value: Zeroizing<String>,
}

impl Secret {
    pub fn new(grant: SecretGrant, value: impl Into<Zeroizing<String>>) -> Secret {
        Secret { grant, value: value.into() }
    }

    pub fn name(&self) -> &str {
        &self.grant.name
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("grant", &self.grant).finish_non_exhaustive()
    }
}

/// Why a set of secrets can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
    #[error("the system gave no random numbers")]
    NoRandomness,
}

/// A secret with its placeholder.
pub struct Entry {
    secret: Secret,
    pub placeholder: String,
}

impl Entry {
    pub fn name(&self) -> &str {
        self.secret.name()
    }

    /// The texts to scrub: the value, and its trimmed form (as a server may echo it), unless that is too short.
    pub fn scrubbed_values(&self) -> impl Iterator<Item = &str> + Clone {
        let (value, trimmed) = (self.secret.value.as_str(), self.secret.value.trim());
        let differs = trimmed.len() < value.len() && trimmed.len() >= MIN_VALUE_BYTES;
        [value].into_iter().chain(differs.then_some(trimmed))
    }

    /// The value, for a request that policy allowed it for.
    pub fn value_for(&self, allowed: &SecretUse) -> Option<&str> {
        (allowed.name() == self.name()).then_some(self.secret.value.as_str())
    }
}

/// A secret, and whether it may go into one request.
pub struct Decided {
    pub entry: Arc<Entry>,
    pub decision: Result<SecretUse, SecretDenial>,
}

/// All secrets of a call, each with a random placeholder.
#[derive(Default)]
pub struct Secrets {
    entries: Vec<Arc<Entry>>,
}

impl Secrets {
    pub fn new(secrets: Vec<Secret>) -> Result<Secrets, SecretError> {
        let mut entries: Vec<Arc<Entry>> = Vec::with_capacity(secrets.len());
        for secret in secrets {
            check_secret(&secret)?;
            let name = secret.name().to_owned();
            if entries.iter().any(|entry| entry.name() == name) {
                return Err(SecretError::Twice { name });
            }
            let placeholder = format!("{PREFIX}{name}_{}", random_hex()?);
            entries.push(Arc::new(Entry { secret, placeholder }));
        }
        let secrets = Secrets { entries };
        // A placeholder that contains a value would itself be scrubbed.
        let within = |value: &str| {
            let value = Zeroizing::new(value.to_ascii_lowercase());
            secrets.entries.iter().any(|entry| entry.placeholder.to_ascii_lowercase().contains(value.as_str()))
        };
        match secrets.entries.iter().find(|entry| entry.scrubbed_values().any(within)) {
            Some(entry) => Err(SecretError::InPlaceholder { name: entry.name().to_owned() }),
            None => Ok(secrets),
        }
    }

    /// The placeholder that the skill sees instead of the value.
    pub fn placeholder(&self, name: &str) -> Option<&str> {
        self.entries.iter().find(|entry| entry.name() == name).map(|entry| entry.placeholder.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Whether any value may be sent to a place's host, by any scheme or port, so that its responses may contain one.
    pub fn any_for_host(&self, place: &Place) -> bool {
        // A host that policy can't name receives no secret; treat it as if it did, to be safe.
        let is_for = |host: &HostName| self.entries.iter().any(|entry| entry.secret.grant.is_for_host(host));
        place.policy_host().map_or(!self.is_empty(), |host| is_for(&host))
    }

    /// Policy's decision about each secret, for one request.
    pub fn decide_each(&self, asked: &Asked) -> Vec<Decided> {
        let Ok(target) = asked.target() else { return Vec::new() };
        let decide = |entry: &Arc<Entry>| {
            let decision = entry.secret.grant.decide(&target);
            Decided { entry: entry.clone(), decision }
        };
        self.entries.iter().map(decide).collect()
    }
}

fn check_secret(secret: &Secret) -> Result<(), SecretError> {
    let name = secret.name().to_owned();
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
        let grant = SecretGrant { name: name.to_owned(), ..SecretGrant::parse("A@a.test").unwrap() };
        Secret::new(grant, value.to_owned())
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

    /// How often a text is in this process's memory.
    fn occurrences(text: &[u8]) -> usize {
        use std::os::unix::fs::FileExt;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let memory = std::fs::File::open("/proc/self/mem").unwrap();
        let mut found = 0;
        for line in maps.lines().filter(|line| line.contains(" rw") && !line.contains("[v")) {
            let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
            let [start, end] = [start, end].map(|number| u64::from_str_radix(number, 16).unwrap());
            let mut piece = Zeroizing::new(vec![0; (1 << 20) + text.len()]);
            for at in (start..end).step_by(1 << 20) {
                let length = piece.len().min(usize::try_from(end - at).unwrap());
                let Ok(read) = memory.read_at(&mut piece[..length], at) else { continue };
                // Where it was read to, it is found again, and not counted.
                let copied = piece.as_ptr() as u64;
                let places = piece[..read.min((1 << 20) + text.len() - 1)].windows(text.len()).enumerate();
                let is_copy = |place: u64| (copied..copied + piece.len() as u64).contains(&place);
                found += places.filter(|(offset, window)| *window == text && !is_copy(at + *offset as u64)).count();
            }
        }
        found
    }

    /// Values go into everything that holds one, and nothing of them is left when that is dropped. It is looked for in the
    /// memory of this process; the end of the value only, since who frees memory writes to its beginning.
    #[test]
    fn values_are_wiped_from_memory() {
        use crate::replace::{Form, Replacer};
        use crate::request::Request;
        use crate::{Scrubber, Scrubbing};
        let mut random = [0; 96];
        getrandom::fill(&mut random).unwrap();
        let value = Zeroizing::new(random.iter().map(|byte| char::from(b'a' + byte % 26)).collect::<String>());
        // Never as it is.
        let needle: Vec<u8> = value.as_bytes()[48..].iter().map(|byte| byte ^ 0x80).collect();
        let count = || occurrences(&Zeroizing::new(needle.iter().map(|byte| byte ^ 0x80).collect::<Vec<u8>>()));
        {
            let grant = SecretGrant::parse("KEY@http://a.test").unwrap();
            let secrets = Secrets::new(vec![Secret::new(grant, value)]).unwrap();
            assert!(count() > 1, "it would be found");
            let key = secrets.placeholder("KEY").unwrap();
            let head = format!("GET /?k={key} HTTP/1.1\r\nHost: a.test\r\nX: {key}\r\nY: {key}\r\n\r\n");
            let mut request = Request::parse(head.as_bytes(), &Place::parse("a.test", 80).unwrap(), false).unwrap();
            let mut replacer = Replacer::new(secrets.decide_each(&request.asked));
            replacer.fill_head(&mut request).unwrap();
            let (sent, body) =
                (request.write_head(false), replacer.fill_placeholders(key.as_bytes(), Form::Json).0.unwrap());
            let scrubber = Arc::new(Scrubber::new(&secrets));
            let mut scrubbing = Scrubbing::new(scrubber.clone());
            scrubbing.push(&body, &mut Vec::new());
            assert!(sent.len() > 3 * 96 && scrubber.scrub_bytes(&body).starts_with(PREFIX.as_bytes()));
        }
        // The text that is looked for.
        assert_eq!(count(), 1);
    }
}
