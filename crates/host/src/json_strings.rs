//! Changes strings in JSON text, and leaves the rest of it as it was written: numbers of any length, order, nesting of
//! any depth.

/// The text would become longer than it may.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

/// Gives every string that is a value, not a key, to `change`, and writes what it gives back in its place. None if it
/// changes nothing. `json` must be valid JSON; for anything else the result is unspecified.
pub fn map_strings(json: &str, cap: u64, change: impl Fn(&str) -> Option<String>) -> Result<Option<String>, TooLong> {
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(start) = json[at..].find('"').map(|found| at + found) {
        let end = string_end(json, start);
        at = end;
        let Some(new) = changed_value(&json[start..end], &json[end..], &change) else { continue };
        out.push_str(&json[copied..start]);
        out.push_str(&new);
        copied = end;
        if (out.len() + json.len() - copied) as u64 > cap {
            return Err(TooLong);
        }
    }
    if copied == 0 {
        return Ok(None);
    }
    out.push_str(&json[copied..]);
    Ok(Some(out))
}

/// Behind the closing quote.
fn string_end(json: &str, start: usize) -> usize {
    let mut escaped = false;
    for (at, byte) in json.as_bytes()[start + 1..].iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return start + at + 2,
            _ => {}
        }
    }
    json.len()
}

fn changed_value(string: &str, after: &str, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    if after.trim_start_matches([' ', '\t', '\n', '\r']).starts_with(':') {
        return None;
    }
    let text: String = serde_json::from_str(string).ok()?;
    serde_json::to_string(&change(&text)?).ok()
}
