//! Puts secrets' values where a skill wrote their placeholders, in a request to a place that they are granted for.
//!
//! A value is written as the skill's library would have written it: as it is in headers, percent-encoded in a query or a
//! form, escaped in JSON. `Authorization: Basic` is decoded and encoded again.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::http::base64;
use crate::http::error::HttpError;
use crate::http::gate::Refusal;
use crate::http::pattern::json;
use crate::http::request::Request;
use crate::http::secrets::{Entry, PREFIX};

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Plain,
    Percent,
    Json,
}

impl Form {
    /// The form that suits a body.
    pub fn of_body(request: &Request) -> Form {
        let kind = String::from_utf8_lossy(request.header("content-type").unwrap_or_default()).to_ascii_lowercase();
        match kind.split(';').next().unwrap_or_default().trim() {
            "application/x-www-form-urlencoded" => Form::Percent,
            kind if kind.ends_with("/json") || kind.ends_with("+json") => Form::Json,
            _ => Form::Plain,
        }
    }

    fn write<'a>(self, value: &'a str) -> Cow<'a, str> {
        match self {
            Form::Plain => value.into(),
            Form::Json => json(value).into(),
            Form::Percent => value
                .bytes()
                .map(|byte| match byte {
                    b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
                    _ => format!("%{byte:02X}"),
                })
                .collect::<String>()
                .into(),
        }
    }
}

/// The secrets that may go where one request goes, and which of them did.
pub struct Replacer {
    entries: Vec<Arc<Entry>>,
    used: BTreeSet<String>,
}

impl Replacer {
    pub fn new(entries: Vec<Arc<Entry>>) -> Replacer {
        Replacer { entries, used: BTreeSet::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The names of the secrets whose values were put in.
    pub fn used(&self) -> Vec<String> {
        self.used.iter().cloned().collect()
    }

    /// The longest placeholder.
    pub fn longest(&self) -> usize {
        self.entries.iter().map(|entry| entry.placeholder.len()).max().unwrap_or(0)
    }

    /// Replaces in the headers' values and the query.
    pub fn fill_head(&mut self, request: &mut Request) -> Result<(), HttpError> {
        if let Some(query) = &request.query {
            let filled = self.fill(query.as_bytes(), Form::Percent).0;
            request.query = Some(String::from_utf8_lossy(&filled).into_owned());
        }
        for (name, value) in request.headers.iter_mut().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
            let filled = match basic(name, value) {
                Some(plain) => match self.fill(&plain, Form::Plain).0 {
                    // Nothing of ours in it: it is sent as the guest spelt it.
                    Cow::Borrowed(_) => continue,
                    Cow::Owned(filled) => [b"Basic ".as_slice(), &base64::encode(&filled)].concat(),
                },
                None => self.fill(value, Form::Plain).0.into_owned(),
            };
            if filled.iter().any(|&byte| byte != b'\t' && byte.is_ascii_control()) {
                let message = format!("the secret in the header `{name}` has line ends or control characters");
                return Err(Refusal::always("secret", message).into());
            }
            *value = filled;
        }
        Ok(())
    }

    /// Replaces what starts in `text`, and says where the last replaced placeholder ended.
    pub fn fill<'a>(&mut self, text: &'a [u8], form: Form) -> (Cow<'a, [u8]>, usize) {
        let (mut out, mut clean, mut at) = (Vec::new(), 0, 0);
        while let Some(found) = find(&text[at..], PREFIX.as_bytes()) {
            at += found;
            let entry = self.entries.iter().find(|entry| text[at..].starts_with(entry.placeholder.as_bytes()));
            let Some(entry) = entry else {
                at += PREFIX.len();
                continue;
            };
            self.used.insert(entry.secret.name.clone());
            out.extend_from_slice(&text[clean..at]);
            out.extend_from_slice(form.write(&entry.secret.value).as_bytes());
            at += entry.placeholder.len();
            clean = at;
        }
        if clean == 0 {
            return (Cow::Borrowed(text), 0);
        }
        out.extend_from_slice(&text[clean..]);
        (Cow::Owned(out), clean)
    }
}

/// Replaces in a body that passes through in pieces.
pub struct Replacing {
    form: Form,
    /// The body's length was announced, so it can't change: a placeholder ends the request.
    fixed_length: bool,
    held: Vec<u8>,
}

impl Replacing {
    pub fn new(form: Form, fixed_length: bool) -> Replacing {
        Replacing { form, fixed_length, held: Vec::new() }
    }

    /// Takes a piece and gives what can be sent; everything, when it was the `last`.
    pub fn push(&mut self, piece: &[u8], last: bool, replacer: &mut Replacer) -> Result<Vec<u8>, HttpError> {
        self.held.extend_from_slice(piece);
        let (filled, end) = replacer.fill(&self.held, self.form);
        if end > 0 && self.fixed_length {
            let message = "a secret is put into a body of at most 1 MiB, or one that is sent in chunks";
            return Err(Refusal::always("secret", message).into());
        }
        // A placeholder may start in what is held, but not before the end of the last one that was replaced.
        let kept = if last { 0 } else { replacer.longest().saturating_sub(1).min(self.held.len() - end) };
        let ready = filled[..filled.len() - kept].to_vec();
        self.held = self.held.split_off(self.held.len() - kept);
        Ok(ready)
    }
}

fn basic(name: &str, value: &[u8]) -> Option<Vec<u8>> {
    let (scheme, rest) = value.split_at_checked(6)?;
    let is_basic = name.eq_ignore_ascii_case("authorization") && scheme.eq_ignore_ascii_case(b"basic ");
    let plain = base64::decode(rest.trim_ascii()).filter(|_| is_basic)?;
    find(&plain, PREFIX.as_bytes()).map(|_| plain)
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
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
