//! The seal: a small text file that says what an artefact's data must be.
//!
//! ```text
//! <64 hex digits: blake3 of everything after this line>\n
//! {"format":1,"name":"code/x","digest":"<blake3 of the data>","bytes":N,"made":<unix s>,"meta":…}
//! ```
//!
//! It protects against damage and mix-ups, not against someone who can write in the folder: they
//! could write a seal as well. The folder's permissions do that.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Error, Result, files};

/// What a seal's file name ends with.
pub(super) const SUFFIX: &str = ".seal";
/// The largest seal that is read or written.
pub(super) const MAX_BYTES: u64 = 4 << 20;
const FORMAT: u32 = 1;
const LINE: usize = 65;

/// What a seal says. `name` is `<bucket>/<name>`, so that a renamed pair of files does not open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seal {
    format: u32,
    name: String,
    digest: String,
    pub(super) bytes: u64,
    pub(super) made: u64,
    pub(super) meta: Value,
}

impl Seal {
    pub(super) fn new(name: String, digest: blake3::Hash, bytes: u64, meta: Value) -> Seal {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Seal { format: FORMAT, name, digest: digest.to_hex().to_string(), bytes, made: now.as_secs(), meta }
    }

    /// blake3 of the data, as hex digits.
    pub(super) fn digest(&self) -> &str {
        &self.digest
    }

    pub(super) fn matches_digest(&self, digest: &blake3::Hash) -> bool {
        blake3::Hash::from_hex(&self.digest).is_ok_and(|sealed| sealed == *digest)
    }

    /// The text of the seal's file.
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        let body = serde_json::to_vec(self).expect("a seal has only string keys");
        let bytes = (body.len() + LINE) as u64;
        if bytes > MAX_BYTES {
            return Err(Error::SealSize { name: self.name.clone(), bytes, limit: MAX_BYTES });
        }
        let mut text = blake3::hash(&body).to_hex().to_string().into_bytes();
        text.push(b'\n');
        text.extend_from_slice(&body);
        Ok(text)
    }

    /// The seal in this text, if it is whole and is that of `name`.
    pub(super) fn decode(text: &[u8], name: &str) -> Option<Seal> {
        let (line, body) = text.split_at_checked(LINE)?;
        let (hex, newline) = line.split_at(LINE - 1);
        if newline != b"\n" || hex != blake3::hash(body).to_hex().as_bytes() {
            return None;
        }
        let seal: Seal = serde_json::from_slice(body).ok()?;
        (seal.format == FORMAT && seal.name == name).then_some(seal)
    }
}

/// Reads the seal at `path`; the inner `None` is a seal that is not whole or not this artefact's.
pub(super) fn read_seal(path: &Path, name: &str) -> io::Result<(File, Option<Seal>)> {
    let file = files::open_plain(path)?;
    let meta = file.metadata()?;
    if files::why_foreign(&meta).is_some() || meta.len() > MAX_BYTES {
        return Ok((file, None));
    }
    let mut text = Vec::with_capacity(meta.len() as usize);
    (&file).take(MAX_BYTES).read_to_end(&mut text)?;
    let seal = Seal::decode(&text, name);
    Ok((file, seal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seal() -> Seal {
        Seal::new("code/x".into(), blake3::hash(b"data"), 4, json!({"cpu": "any", "n": [1, 2.5]}))
    }

    #[test]
    fn a_seal_comes_back_as_it_went_in() {
        assert_eq!(Seal::decode(&seal().encode().unwrap(), "code/x"), Some(seal()));
    }

    #[test]
    fn a_seal_with_any_byte_altered_or_missing_is_no_seal() {
        let text = seal().encode().unwrap();
        for at in 0..text.len() {
            let mut bad = text.clone();
            bad[at] ^= 0x20; // swaps the case of letters, which a lenient hex parser would forgive
            assert_eq!(Seal::decode(&bad, "code/x"), None, "byte {at}");
            assert_eq!(Seal::decode(&text[..at], "code/x"), None, "first {at} bytes");
        }
    }

    #[test]
    fn a_seal_of_another_name_is_no_seal() {
        assert_eq!(Seal::decode(&seal().encode().unwrap(), "image/x"), None);
    }

    #[test]
    fn a_description_that_no_reader_would_accept_is_not_written() {
        let big = Seal { meta: "x".repeat(MAX_BYTES as usize).into(), ..seal() };
        assert!(matches!(big.encode(), Err(Error::SealSize { .. })));
    }
}
