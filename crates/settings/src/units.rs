//! Sizes, times and names, as flags, variables and files have them.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Unexpected, Visitor};
use skillcell_host::SandboxChoice;

const BAD_SIZE: &str = "expected a size such as 64K, 256M or 1G";
const BAD_TIME: &str = "expected a time between 0 and a day, such as 30, 1.5s or 500ms";

/// `1048576`, `64K`, `256M`, `1.5GiB`.
pub fn parse_size(given: &str) -> Result<u64, String> {
    let digits = given.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match given[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1u64,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err(BAD_SIZE.to_owned()),
    };
    match digits.parse::<f64>() {
        Ok(count) if count >= 0.0 && count.is_finite() => Ok((count * factor as f64) as u64),
        _ => Err(BAD_SIZE.to_owned()),
    }
}

/// `30`, `1.5`, `500ms`, `2m`: seconds unless a unit says otherwise.
pub fn parse_time(given: &str) -> Result<Duration, String> {
    let digits = given.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &given[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        _ => return Err(BAD_TIME.to_owned()),
    };
    match digits.parse::<f64>().map(|count| count * factor) {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(BAD_TIME.to_owned()),
    }
}

/// A size in a file: a number of bytes, or a text with a unit.
pub(super) fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    deserializer.deserialize_any(Amount { parse: parse_size, expected: BAD_SIZE }).map(Some)
}

/// A time in a file: a number of seconds, or a text with a unit.
pub(super) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    deserializer.deserialize_any(Amount { parse: parse_time, expected: BAD_TIME }).map(Some)
}

/// The name of a sandbox in a file.
pub(super) fn sandbox<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SandboxChoice>, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map(Some).map_err(D::Error::custom)
}

struct Amount<T> {
    parse: fn(&str) -> Result<T, String>,
    expected: &'static str,
}

impl<'de, T> Visitor<'de> for Amount<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected.trim_start_matches("expected "))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    /// A number with a point, as `serde_json` has it where it keeps numbers as they are written.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        match serde_json::Number::deserialize(MapAccessDeserializer::new(map)) {
            Ok(number) => self.visit_str(&number.to_string()),
            Err(_) => Err(A::Error::invalid_type(Unexpected::Map, &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_units() {
        assert_eq!(parse_size("64K"), Ok(64 << 10));
        assert_eq!(parse_size("1.5GiB"), Ok(3 << 29));
        assert_eq!(parse_size("7"), Ok(7));
        for bad in ["-1", "x", "1T", "", "1é"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_seconds_unless_said_otherwise() {
        assert_eq!(parse_time("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_time("500ms"), Ok(Duration::from_millis(500)));
        for bad in ["0", "-3", "NaN", "inf", "", "1e9", "2h"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }
}
