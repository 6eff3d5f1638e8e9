//! Python's `repr` of JSON values, which most of jsonschema's messages quote.

use super::number::Num;
use super::{Doubt, datum::Datum};
use regex::Regex;
use std::fmt::Write;
use std::sync::LazyLock;

/// What Python escapes, of the characters that its Unicode tables and ours both know.
static UNPRINTABLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{C}\p{Z}--\x20]").ok());
static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{Age:14.0}*$").ok());

/// Whether every character has been in Unicode since version 14, the oldest that a guest may have: of newer
/// ones, two Pythons may think differently.
pub fn is_well_known(text: &str) -> bool {
    text.is_ascii() || ASSIGNED.as_ref().is_some_and(|assigned| assigned.is_match(text))
}

/// `repr(datum)`.
pub fn repr<'a>(datum: impl Into<Datum<'a>>) -> Result<String, Doubt> {
    let mut out = String::new();
    write(datum.into(), &mut out)?;
    Ok(out)
}

/// `repr` of each, with commas between.
pub fn reprs<'a, D: Into<Datum<'a>>>(data: impl IntoIterator<Item = D>) -> Result<String, Doubt> {
    let mut out = String::new();
    for (count, datum) in data.into_iter().enumerate() {
        out.push_str(if count > 0 { ", " } else { "" });
        write(datum.into(), &mut out)?;
    }
    Ok(out)
}

fn write(datum: Datum, out: &mut String) -> Result<(), Doubt> {
    match datum {
        Datum::Null => out.push_str("None"),
        Datum::Bool(truth) => out.push_str(if truth { "True" } else { "False" }),
        Datum::Number(number) => out.push_str(&Num::of(number).to_string()),
        Datum::Text(text) => write_text(text, out)?,
        Datum::List(items) => {
            out.push('[');
            for (count, item) in items.iter().enumerate() {
                out.push_str(if count > 0 { ", " } else { "" });
                write(item.into(), out)?;
            }
            out.push(']');
        }
        Datum::Dict(members) => {
            out.push('{');
            for (count, (key, value)) in members.iter().enumerate() {
                out.push_str(if count > 0 { ", " } else { "" });
                write_text(key, out)?;
                out.push_str(": ");
                write(value.into(), out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn write_text(text: &str, out: &mut String) -> Result<(), Doubt> {
    if !is_well_known(text) {
        return Err(Doubt::Text);
    }
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for character in text.chars() {
        write_character(character, quote, out);
    }
    out.push(quote);
    Ok(())
}

fn write_character(character: char, quote: char, out: &mut String) {
    match character {
        '\\' => out.push_str(r"\\"),
        '\n' => out.push_str(r"\n"),
        '\r' => out.push_str(r"\r"),
        '\t' => out.push_str(r"\t"),
        ' '..='~' if character == quote => out.extend(['\\', quote]),
        ' '..='~' => out.push(character),
        _ if is_printable(character) => out.push(character),
        _ => escape(character, out),
    }
}

fn is_printable(character: char) -> bool {
    let unprintable = UNPRINTABLE.as_ref();
    unprintable.is_some_and(|class| !class.is_match(character.encode_utf8(&mut [0; 4])))
}

fn escape(character: char, out: &mut String) {
    // Writing to a string does not fail.
    let _ = match u32::from(character) {
        code @ 0..=0xff => write!(out, r"\x{code:02x}"),
        code @ 0x100..=0xffff => write!(out, r"\u{code:04x}"),
        code => write!(out, r"\U{code:08x}"),
    };
}
