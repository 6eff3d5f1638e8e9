//! Values given on the command line: JSON in place, `@file`, or `-` for standard input; sizes and times.

use std::io::Read;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

/// More than this is not read: it could not be passed on anyway.
const MAX_BYTES: u64 = 64 << 20;

/// The text of a JSON value; `what` is the flag, for messages.
pub fn text(given: &str, what: &str) -> anyhow::Result<String> {
    let (text, place) = match given.strip_prefix('@') {
        Some(path) => {
            let file = std::fs::File::open(path).with_context(|| format!("{what}: `{path}` can't be opened"))?;
            (read(file, what)?, format!("`{path}`"))
        }
        None if given == "-" => (read(std::io::stdin().lock(), what)?, "standard input".to_owned()),
        None => (given.to_owned(), "the value".to_owned()),
    };
    serde_json::from_str::<serde::de::IgnoredAny>(&text).with_context(|| format!("{what}: {place} is not JSON"))?;
    Ok(text)
}

fn json(given: &str, what: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&text(given, what)?)?)
}

/// JSON that has to be an object.
pub fn object(given: &str, what: &str) -> anyhow::Result<Value> {
    let value = json(given, what)?;
    if !value.is_object() {
        bail!("{what} must be a JSON object, such as '{{\"key\": \"value\"}}'");
    }
    Ok(value)
}

fn read(source: impl Read, what: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    source.take(MAX_BYTES + 1).read_to_string(&mut text).with_context(|| format!("{what} can't be read"))?;
    if text.len() as u64 > MAX_BYTES {
        bail!("{what} is longer than {} MiB", MAX_BYTES >> 20);
    }
    Ok(text)
}

/// `1048576`, `64K`, `256M`, `1.5GiB`.
pub fn size(given: &str) -> Result<u64, String> {
    let digits = given.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match given[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1u64,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err("expected a size such as 64K, 256M or 1G".to_owned()),
    };
    match digits.parse::<f64>() {
        Ok(count) if count >= 0.0 && count.is_finite() => Ok((count * factor as f64) as u64),
        _ => Err("expected a size such as 64K, 256M or 1G".to_owned()),
    }
}

/// `30`, `1.5`, `500ms`, `2m`: seconds unless a unit says otherwise.
pub fn time(given: &str) -> Result<Duration, String> {
    let digits = given.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &given[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        _ => return Err("expected a time such as 30, 1.5s or 500ms".to_owned()),
    };
    let seconds = digits.parse::<f64>().map(|count| count * factor);
    match seconds {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected a time between 0 and a day, such as 30, 1.5s or 500ms".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_units() {
        assert_eq!(size("64K"), Ok(64 << 10));
        assert_eq!(size("1.5GiB"), Ok(3 << 29));
        assert_eq!(size("7"), Ok(7));
        assert!(size("-1").is_err() && size("x").is_err() && size("1T").is_err() && size("").is_err());
    }

    #[test]
    fn times_are_seconds_unless_said_otherwise() {
        assert_eq!(time("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert!(time("0").is_err() && time("-3").is_err() && time("NaN").is_err() && time("inf").is_err());
    }
}
