//! The forms in which a secret's value can come back, and how each is found in bytes.

use crate::http::base64::{self, STANDARD, URL_SAFE};

/// One form of one value.
#[derive(Debug)]
pub struct Pattern {
    form: Form,
    /// The longest text that it can match.
    pub longest: usize,
}

#[derive(Debug)]
enum Form {
    /// These bytes: the value itself, or as written in JSON or HTML.
    Exact(Vec<u8>),
    /// Hexadecimal digits in either case.
    Hex(Vec<u8>),
    /// The characters that depend on the value only. Where the value doesn't start or end with a character's bits, that
    /// character (`lead`, `trail`) can be any, and goes too. So does the padding, which tells of the value's length.
    Base64 { stable: Vec<u8>, lead: bool, trail: bool },
    /// The value, any byte of it percent-encoded, a blank perhaps as `+`.
    Percent(Vec<u8>),
}

impl Pattern {
    /// All forms of one value.
    pub fn all(value: &str) -> Vec<Pattern> {
        let bytes = value.as_bytes();
        let mut exact = vec![bytes.to_vec(), json(value).into_bytes(), ascii_json(value), html(value)];
        exact.sort();
        exact.dedup();
        let mut forms: Vec<Form> = exact.into_iter().filter(|text| text.len() >= 2).map(Form::Exact).collect();
        forms.push(Form::Hex(bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()));
        forms.push(Form::Percent(bytes.to_vec()));
        for before in 0..3 {
            forms.push(aligned(bytes, before, STANDARD));
            forms.push(aligned(bytes, before, URL_SAFE));
        }
        forms.into_iter().map(Pattern::new).collect()
    }

    fn new(form: Form) -> Pattern {
        let longest = match &form {
            Form::Exact(text) | Form::Hex(text) => text.len(),
            Form::Base64 { stable, .. } => stable.len() + 4,
            Form::Percent(value) => value.len() * 3,
        };
        Pattern { form, longest }
    }

    /// How many bytes before the ones given by [`Pattern::starts`] belong to a match.
    pub fn lead(&self) -> usize {
        usize::from(matches!(self.form, Form::Base64 { lead: true, .. }))
    }

    /// The pairs of bytes that a match can start with, after its lead.
    pub fn starts(&self) -> Vec<[u8; 2]> {
        match &self.form {
            Form::Exact(text) | Form::Base64 { stable: text, .. } => vec![[text[0], text[1]]],
            Form::Hex(text) => pairs(&cases(text[0]), &cases(text[1])),
            Form::Percent(value) => {
                let escape = format!("{:x}", value[0]);
                let first = if value[0] < 16 { b'0' } else { escape.as_bytes()[0] };
                let blank = |byte| if byte == b' ' { b'+' } else { byte };
                let mut found = pairs(&[value[0], blank(value[0])], &[value[1], blank(value[1]), b'%']);
                found.extend(pairs(b"%", &cases(first)));
                found
            }
        }
    }

    /// The length of the match that starts at the beginning of `text`, lead included.
    pub fn match_length(&self, text: &[u8]) -> Option<usize> {
        match &self.form {
            Form::Exact(exact) => text.starts_with(exact).then_some(exact.len()),
            Form::Hex(digits) => text.get(..digits.len())?.eq_ignore_ascii_case(digits).then_some(digits.len()),
            Form::Percent(value) => percent_length(value, text),
            Form::Base64 { stable, lead, trail } => {
                let lead = usize::from(*lead);
                let around = text.first().is_some_and(|&byte| lead == 0 || base64::is_base64(byte));
                if !around || !text.get(lead..)?.starts_with(stable) {
                    return None;
                }
                let end = lead + stable.len();
                let trails = *trail && text.get(end).is_some_and(|&byte| base64::is_base64(byte));
                let end = end + usize::from(trails);
                let padding = text[end..].iter().take(2).take_while(|&&byte| byte == b'=').count();
                Some(end + padding)
            }
        }
    }
}

/// The value in base64 after `before` other bytes.
fn aligned(value: &[u8], before: usize, alphabet: &[u8; 64]) -> Form {
    let data: Vec<u8> = std::iter::repeat_n(0, before).chain(value.iter().copied()).collect();
    let text = base64::encode_bare(&data, alphabet);
    let first = (before * 8).div_ceil(6);
    let last = data.len() * 8 / 6;
    let stable = text[first..last].to_vec();
    Form::Base64 { stable, lead: before > 0, trail: !(data.len() * 8).is_multiple_of(6) }
}

fn percent_length(value: &[u8], text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for &byte in value {
        let escape = text.get(at..at + 3).filter(|escape| {
            let digits = std::str::from_utf8(&escape[1..]).ok();
            escape[0] == b'%' && digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) == Some(byte)
        });
        at += match (escape, text.get(at)) {
            (Some(_), _) => 3,
            (None, Some(&found)) if found == byte || (byte == b' ' && found == b'+') => 1,
            _ => return None,
        };
    }
    Some(at)
}

/// As JSON writes it, without the quotes.
pub fn json(value: &str) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// As Python's `json` writes it: ASCII only.
fn ascii_json(value: &str) -> Vec<u8> {
    let mut out = String::new();
    for unit in json(value).encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\u{unit:04x}")),
        }
    }
    out.into_bytes()
}

fn html(value: &str) -> Vec<u8> {
    let escaped = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    escaped.replace('\'', "&#x27;").into_bytes()
}

fn cases(byte: u8) -> [u8; 2] {
    [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]
}

fn pairs(first: &[u8], second: &[u8]) -> Vec<[u8; 2]> {
    first.iter().flat_map(|&first| second.iter().map(move |&second| [first, second])).collect()
}
