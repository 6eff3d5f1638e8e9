//! The forms in which a secret's value can come back, and how each is found in bytes.

use crate::http::base64::{self, STANDARD, URL_SAFE};

/// The most digits of a character's number in HTML, leading zeros included: as many as the highest number has.
const MAX_HTML_DIGITS: usize = 7;

/// One form of one value.
#[derive(Debug)]
pub struct Pattern {
    form: Form,
    /// The longest text that it can match.
    pub longest: usize,
}

#[derive(Debug)]
enum Form {
    /// The value itself.
    Exact(Vec<u8>),
    /// Hexadecimal digits in either case.
    Hex(Vec<u8>),
    /// The characters that depend on the value only. Where the value doesn't start or end with a character's bits, that
    /// character (`lead`, `trail`) can be any, and goes too. So does the padding, which tells of the value's length.
    Base64 { stable: Vec<u8>, lead: bool, trail: bool },
    /// The value, any byte of it percent-encoded, a blank perhaps as `+`.
    Percent(Vec<u8>),
    /// The value, any character of it escaped as JSON allows.
    Json(String),
    /// The value, any character of it as an entity, named or by number.
    Html(String),
}

impl Pattern {
    /// All forms of one value.
    pub fn all(value: &str) -> Vec<Pattern> {
        let bytes = value.as_bytes();
        let mut forms = vec![Form::Exact(bytes.to_vec()), Form::Json(value.to_owned()), Form::Html(value.to_owned())];
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
            Form::Json(value) => value.encode_utf16().count() * "\\u0000".len(),
            Form::Html(value) => value.chars().count() * ("&#x;".len() + MAX_HTML_DIGITS),
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
            Form::Json(value) => {
                let letters = JSON_ESCAPES.iter().filter(|(_, escaped)| value.starts_with(*escaped));
                escaped_starts(value, b'\\', letters.map(|&(letter, _)| letter).chain([b'u']))
            }
            Form::Html(value) => {
                let names = HTML_NAMES.iter().filter(|(_, escaped)| value.starts_with(*escaped));
                escaped_starts(value, b'&', names.map(|(name, _)| name.as_bytes()[1]).chain([b'#']))
            }
        }
    }

    /// The length of the match that starts at the beginning of `text`, lead included.
    pub fn match_length(&self, text: &[u8]) -> Option<usize> {
        match &self.form {
            Form::Exact(exact) => text.starts_with(exact).then_some(exact.len()),
            Form::Hex(digits) => text.get(..digits.len())?.eq_ignore_ascii_case(digits).then_some(digits.len()),
            Form::Percent(value) => percent_length(value, text),
            Form::Json(value) => escaped_length(value, text, json_escape),
            Form::Html(value) => escaped_length(value, text, html_escape),
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

/// How a value starts of which any character can be escaped, with a `mark` and one of `after`.
fn escaped_starts(value: &str, mark: u8, after: impl Iterator<Item = u8>) -> Vec<[u8; 2]> {
    let bytes = value.as_bytes();
    let mut found = pairs(&bytes[..1], &[bytes[1], mark]);
    found.extend(after.map(|after| [mark, after]));
    found
}

/// Like [`percent_length`], for characters: `escape` gives the one that a text starts with, and how long it is there.
fn escaped_length(value: &str, text: &[u8], escape: fn(&[u8]) -> Option<(char, usize)>) -> Option<usize> {
    let mut at = 0;
    for wanted in value.chars() {
        let rest = text.get(at..)?;
        at += match escape(rest) {
            Some((found, length)) if found == wanted => length,
            _ if rest.starts_with(wanted.encode_utf8(&mut [0; 4]).as_bytes()) => wanted.len_utf8(),
            _ => return None,
        };
    }
    Some(at)
}

/// What JSON can write after a backslash, other than `u`.
const JSON_ESCAPES: [(u8, char); 8] = [
    (b'/', '/'),
    (b'b', '\u{8}'),
    (b'f', '\u{c}'),
    (b'n', '\n'),
    (b'r', '\r'),
    (b't', '\t'),
    (b'"', '"'),
    (b'\\', '\\'),
];

fn json_escape(text: &[u8]) -> Option<(char, usize)> {
    let letter = *text.strip_prefix(b"\\")?.first()?;
    if letter != b'u' {
        return JSON_ESCAPES.iter().find(|(known, _)| *known == letter).map(|&(_, escaped)| (escaped, 2));
    }
    let units = [0, 6].into_iter().map_while(|at| json_unit(text.get(at..)?));
    let found = char::decode_utf16(units).next()?.ok()?;
    Some((found, found.len_utf16() * 6))
}

/// The number in `\uXXXX`.
fn json_unit(text: &[u8]) -> Option<u16> {
    u16::try_from(number(text.strip_prefix(b"\\u")?.get(..4)?, 16)?).ok()
}

/// The entities that XML has too.
const HTML_NAMES: [(&str, char); 5] = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&apos;", '\'')];

fn html_escape(text: &[u8]) -> Option<(char, usize)> {
    let Some(reference) = text.strip_prefix(b"&#") else {
        let named = HTML_NAMES.iter().find(|(name, _)| text.starts_with(name.as_bytes()));
        return named.map(|&(name, escaped)| (escaped, name.len()));
    };
    let (digits, radix) = match reference {
        [b'x' | b'X', digits @ ..] => (digits, 16),
        digits => (digits, 10),
    };
    let length = digits.iter().take(MAX_HTML_DIGITS + 1).position(|&byte| byte == b';')?;
    let found = char::from_u32(number(&digits[..length], radix)?)?;
    Some((found, text.len() - digits.len() + length + 1))
}

/// The number that is written with these digits and nothing else.
fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.chars().all(|digit| digit.is_digit(radix)))?;
    u32::from_str_radix(digits, radix).ok()
}

/// As JSON writes it, without the quotes.
pub fn json(value: &str) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

fn cases(byte: u8) -> [u8; 2] {
    [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]
}

fn pairs(first: &[u8], second: &[u8]) -> Vec<[u8; 2]> {
    first.iter().flat_map(|&first| second.iter().map(move |&second| [first, second])).collect()
}
