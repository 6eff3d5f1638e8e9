//! Replaces placeholders with secrets' values in requests to places that the secrets are granted for.
//!
//! A value is written as the skill's library would have written it: as it is in headers, percent-encoded in a query or a
//! form, escaped in JSON. `Authorization: Basic` is decoded and encoded again.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD};
use zeroize::Zeroizing;

use crate::error::HttpError;
use crate::gate::{Asked, Refusal};
use crate::request::Request;
use crate::secrets::{Decided, PREFIX};
use skillcell_policy::SecretDenial;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Plain,
    Percent,
    Json,
}

impl Form {
    /// The form for a body, by its content type.
    pub fn of_body(request: &Request) -> Form {
        let kind = String::from_utf8_lossy(request.header("content-type").unwrap_or_default()).to_ascii_lowercase();
        match kind.split(';').next().unwrap_or_default().trim() {
            "application/x-www-form-urlencoded" => Form::Percent,
            kind if kind.ends_with("/json") || kind.ends_with("+json") => Form::Json,
            _ => Form::Plain,
        }
    }

    /// Appends a value.
    fn write(self, value: &str, out: &mut Vec<u8>) {
        match self {
            Form::Plain => out.extend_from_slice(value.as_bytes()),
            Form::Json => value.chars().for_each(|c| write_json(c, out)),
            Form::Percent => value.bytes().for_each(|byte| match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte),
                _ => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            }),
        }
    }
}

/// The most bytes that one byte of a value expands to, in any form.
const MAX_WRITTEN: usize = "\\u0000".len();

fn write_json(c: char, out: &mut Vec<u8>) {
    let escaped = match c {
        '"' | '\\' => c,
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        c if c < ' ' => return out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes()),
        c => return out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    };
    out.extend([b'\\', escaped as u8]);
}

/// The secrets of a call, and which of them one request uses or is denied.
pub struct Replacer {
    secrets: Vec<Decided>,
    used: BTreeSet<String>,
    /// By name.
    withheld: BTreeMap<String, SecretDenial>,
}

impl Replacer {
    pub fn new(secrets: Vec<Decided>) -> Replacer {
        Replacer { secrets, used: BTreeSet::new(), withheld: BTreeMap::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Whether any value may go into this request.
    fn may_replace(&self) -> bool {
        self.secrets.iter().any(|secret| secret.decision.is_ok())
    }

    /// The names of the secrets whose values were put in.
    pub fn used_names(&self) -> Vec<String> {
        self.used.iter().cloned().collect()
    }

    /// Why values were withheld although the skill used their placeholders; each is returned once.
    pub fn take_withheld(&mut self) -> Vec<SecretDenial> {
        std::mem::take(&mut self.withheld).into_values().collect()
    }

    /// The longest placeholder.
    pub fn longest_placeholder(&self) -> usize {
        self.secrets.iter().map(|secret| secret.entry.placeholder.len()).max().unwrap_or(0)
    }

    /// Replaces placeholders in header values and the query, but not in the path, which policy decided about as it is.
    pub fn fill_head(&mut self, request: &mut Request) -> Result<(), HttpError> {
        self.note_in_path(&request.asked);
        if let Some(query) = &request.query
            && let (Some(filled), _) = self.fill_placeholders(query.as_bytes(), Form::Percent)
        {
            request.query = String::from_utf8(filled.to_vec()).ok().map(Zeroizing::new);
        }
        for (name, value) in request.headers.iter_mut().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
            let filled = match decode_basic_auth(name, value) {
                Some(plain) => self.fill_placeholders(&plain, Form::Plain).0.map(|filled| {
                    let encoded = Zeroizing::new(STANDARD.encode(&*filled));
                    Zeroizing::new([b"Basic ", encoded.as_bytes()].concat())
                }),
                None => self.fill_placeholders(value, Form::Plain).0,
            };
            // Without a placeholder, the value is sent exactly as the guest wrote it.
            let Some(filled) = filled else { continue };
            if filled.iter().any(|&byte| byte != b'\t' && byte.is_ascii_control()) {
                let message = format!("the secret in the header `{name}` has line ends or control characters");
                return Err(Refusal::by_builtin_check("secret", message).into());
            }
            *value = filled;
        }
        Ok(())
    }

    fn note_in_path(&mut self, asked: &Asked) {
        let is_in = |secret: &&Decided| asked.path.contains(&secret.entry.placeholder);
        for secret in self.secrets.iter().filter(is_in) {
            let name = secret.entry.name();
            let denial = secret.decision.as_ref().err().cloned();
            let denial = denial.unwrap_or_else(|| SecretDenial::in_path(name, &asked.url()));
            self.withheld.insert(name.to_owned(), denial);
        }
    }

    /// The text with placeholders replaced, `None` if there were none; and where the last replaced one ended.
    pub fn fill_placeholders(&mut self, text: &[u8], form: Form) -> (Option<Zeroizing<Vec<u8>>>, usize) {
        let found = self.find_all(text);
        let Some((_, end, _)) = found.last().copied() else { return (None, 0) };
        let values = found.iter().map(|(.., value)| value.len() * MAX_WRITTEN);
        // Allocate once: reallocation would leave copies of secrets in freed memory.
        let mut out = Zeroizing::new(Vec::with_capacity(text.len() + values.sum::<usize>()));
        let mut clean = 0;
        for (start, end, value) in found {
            out.extend_from_slice(&text[clean..start]);
            form.write(value, &mut out);
            clean = end;
        }
        out.extend_from_slice(&text[clean..]);
        (Some(out), end)
    }

    /// The placeholders to replace, as start, end and value. Withheld ones are recorded.
    fn find_all<'s>(&'s mut self, text: &[u8]) -> Vec<(usize, usize, &'s str)> {
        let Replacer { secrets, used, withheld } = self;
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(next) = find_bytes(&text[at..], PREFIX.as_bytes()) {
            at += next;
            let secret = secrets.iter().find(|secret| text[at..].starts_with(secret.entry.placeholder.as_bytes()));
            let Some(Decided { entry, decision }) = secret else {
                at += PREFIX.len();
                continue;
            };
            let end = at + entry.placeholder.len();
            match decision {
                Ok(allowed) => {
                    used.insert(entry.name().to_owned());
                    found.extend(entry.value_for(allowed).map(|value| (at, end, value)));
                }
                Err(denial) => drop(withheld.insert(entry.name().to_owned(), denial.clone())),
            }
            at = end;
        }
        found
    }
}

/// Replaces placeholders in a streamed body.
pub struct Replacing {
    form: Form,
    /// The body's length was already sent, so replacing a placeholder would be an error.
    fixed_length: bool,
    held: Vec<u8>,
}

impl Replacing {
    pub fn new(form: Form, fixed_length: bool) -> Replacing {
        Replacing { form, fixed_length, held: Vec::new() }
    }

    /// Takes a piece and returns what can be sent; all that is left if it was the `last`.
    pub fn push(&mut self, piece: &[u8], last: bool, replacer: &mut Replacer) -> Result<Zeroizing<Vec<u8>>, HttpError> {
        self.held.extend_from_slice(piece);
        let (filled, end) = replacer.fill_placeholders(&self.held, self.form);
        if !replacer.may_replace() {
            // Nothing is replaced, so pass the piece on unchanged; placeholders are only searched to report them.
            self.held.drain(..self.held.len().saturating_sub(replacer.longest_placeholder().saturating_sub(1)));
            return Ok(Zeroizing::new(piece.to_vec()));
        }
        if end > 0 && self.fixed_length {
            let message = "a secret is put into a body of at most 1 MiB, or one that is sent in chunks";
            return Err(Refusal::by_builtin_check("secret", message).into());
        }
        // Hold back what may be the start of a placeholder, but nothing before the end of the last replaced one.
        let kept = if last { 0 } else { replacer.longest_placeholder().saturating_sub(1).min(self.held.len() - end) };
        let filled = filled.unwrap_or_else(|| Zeroizing::new(self.held.clone()));
        let ready = Zeroizing::new(filled[..filled.len() - kept].to_vec());
        self.held = self.held.split_off(self.held.len() - kept);
        Ok(ready)
    }
}

/// Accepts credentials without padding and with nonzero trailing bits.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

fn decode_basic_auth(name: &str, value: &[u8]) -> Option<Vec<u8>> {
    let (scheme, rest) = value.split_at_checked(6)?;
    let is_basic = name.eq_ignore_ascii_case("authorization") && scheme.eq_ignore_ascii_case(b"basic ");
    let plain = is_basic.then(|| LENIENT.decode(rest.trim_ascii()).ok())??;
    find_bytes(&plain, PREFIX.as_bytes()).map(|_| plain)
}

fn find_bytes(text: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = 0;
    while let Some(found) = text[at..].iter().position(|&byte| byte == first) {
        at += found;
        if text[at..].starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_credentials_are_read_with_padding_and_without_and_nothing_else_is() {
        let plain = format!("u:{PREFIX}");
        let text = STANDARD.encode(&plain);
        let read = |name: &str, value: &str| decode_basic_auth(name, value.as_bytes());
        assert!(text.ends_with('='), "{text} has padding");
        for text in [text.as_str(), text.trim_end_matches('=')] {
            assert_eq!(read("AUTHORIZATION", &format!("basic  {text} ")).as_deref(), Some(plain.as_bytes()));
            assert_eq!(read("X-Other", &format!("Basic {text}")), None);
            assert_eq!(read("Authorization", &format!("Bearer {text}")), None);
        }
        for bad in ["", "Z", "Z===", "Zm9 v", "Zg==Zg==", "Zm9v"] {
            assert_eq!(read("Authorization", &format!("Basic {bad}")), None, "{bad}");
        }
    }
}
