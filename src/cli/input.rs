//! Values given on the command line: JSON in place, `@file`, or `-` for standard input. Sizes and times are parsed as
//! in settings.

use std::io::Read;

use anyhow::{Context, bail};
use serde_json::Value;

pub use crate::settings::{parse_size as size, parse_time as time};

/// The most bytes that are read; a call could not take more anyway.
const MAX_BYTES: u64 = 64 << 20;

/// The text of a JSON value; `what` is the flag, for messages.
pub fn json_text(given: &str, what: &str) -> anyhow::Result<String> {
    let (text, place) = match given.strip_prefix('@') {
        Some(path) => {
            let file = std::fs::File::open(path).with_context(|| format!("{what}: `{path}` can't be opened"))?;
            (read_limited(file, what)?, format!("`{path}`"))
        }
        None if given == "-" => (read_limited(std::io::stdin().lock(), what)?, "standard input".to_owned()),
        None => (given.to_owned(), "the value".to_owned()),
    };
    serde_json::from_str::<serde::de::IgnoredAny>(&text).with_context(|| format!("{what}: {place} is not JSON"))?;
    Ok(text)
}

fn json_value(given: &str, what: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&json_text(given, what)?)?)
}

/// JSON that has to be an object.
pub fn json_object(given: &str, what: &str) -> anyhow::Result<Value> {
    let value = json_value(given, what)?;
    if !value.is_object() {
        bail!("{what} must be a JSON object, such as '{{\"key\": \"value\"}}'");
    }
    Ok(value)
}

fn read_limited(source: impl Read, what: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    source.take(MAX_BYTES + 1).read_to_string(&mut text).with_context(|| format!("{what} can't be read"))?;
    if text.len() as u64 > MAX_BYTES {
        bail!("{what} is longer than {} MiB", MAX_BYTES >> 20);
    }
    Ok(text)
}
