//! Indents JSON for a terminal as a stream, without parsing it into values: numbers and repeated keys stay as they were
//! written, and memory use does not grow with the input.

use std::io::{Result, Write};

use skillcell_quote::is_plain;

const INDENT: &str = "  ";
/// Deeper levels stay on one line: nobody reads them, and their indentation would outgrow the data.
const MAX_INDENT_DEPTH: usize = 16;

/// Writes the same JSON over several lines. Control and invisible characters, which JSON has only inside strings,
/// become JSON escapes.
pub fn write_indented(json: &str, out: &mut dyn Write) -> Result<()> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            write_safely(out, c)?;
            // A quote ends the string unless a backslash escapes it.
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '{' | '[' => {
                write_char(out, c)?;
                while chars.next_if(|c| c.is_whitespace()).is_some() {}
                if let Some(end) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    write_char(out, end)?;
                } else {
                    depth += 1;
                    start_line(out, depth)?;
                }
            }
            '}' | ']' => {
                // Levels that did not start a line don't end on one of their own.
                if depth <= MAX_INDENT_DEPTH {
                    start_line(out, depth.saturating_sub(1))?;
                }
                depth = depth.saturating_sub(1);
                write_char(out, c)?;
            }
            ',' if depth > MAX_INDENT_DEPTH => out.write_all(b", ")?,
            ',' => {
                write_char(out, c)?;
                start_line(out, depth)?;
            }
            ':' => out.write_all(b": ")?,
            c if c.is_whitespace() => {}
            c => {
                in_string = c == '"';
                write_char(out, c)?;
            }
        }
    }
    Ok(())
}

fn start_line(out: &mut dyn Write, depth: usize) -> Result<()> {
    if depth > MAX_INDENT_DEPTH {
        return Ok(());
    }
    out.write_all(b"\n")?;
    (0..depth).try_for_each(|_| out.write_all(INDENT.as_bytes()))
}

fn write_safely(out: &mut dyn Write, c: char) -> Result<()> {
    if is_plain(c) {
        return write_char(out, c);
    }
    c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))
}

fn write_char(out: &mut dyn Write, c: char) -> Result<()> {
    out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indented(json: &str) -> String {
        let mut text = Vec::new();
        write_indented(json, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn values_stay_as_they_were_written() {
        let json = r#"{"n":123456789012345678901234567890,"f":1.0,"s":"a\"b{[,:","e":[],"o":{},"l":[1,[2]]}"#;
        let laid_out = indented(json);
        assert!(laid_out.contains("123456789012345678901234567890") && laid_out.contains("1.0"));
        assert!(laid_out.contains(r#""a\"b{[,:""#) && laid_out.contains("\"e\": []"), "{laid_out}");
        let squeezed: String = laid_out.lines().map(str::trim_start).collect::<String>().replace(": ", ":");
        assert_eq!(squeezed, json);
    }

    #[test]
    fn what_would_steer_a_terminal_is_spelled_out() {
        assert_eq!(indented("\"\u{9b}31m\u{202e}\u{61c}\""), r#""\u009b31m\u202e\u061c""#);
        let value = serde_json::json!({"text": "\u{1b}]0;x\u{7}\u{9b}2J\u{2028}\u{e0041}"});
        let laid_out = indented(&serde_json::to_string(&value).unwrap());
        assert!(laid_out.starts_with("{\n  \"text\": "), "{laid_out}");
        assert!(laid_out.chars().all(|c| c == '\n' || is_plain(c)), "{laid_out:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&laid_out).unwrap(), value);
    }

    #[test]
    fn what_is_deeply_nested_is_not_longer_than_a_few_times_itself() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(indented(&deep).len() < deep.len() + 1_000);
        let squeezed: String = indented(&deep).chars().filter(|c| !c.is_whitespace()).collect();
        assert_eq!(squeezed, deep);
        let flat = "[".repeat(MAX_INDENT_DEPTH + 2) + "1,2" + &"]".repeat(MAX_INDENT_DEPTH + 2);
        assert!(indented(&flat).contains("[[1, 2]]"), "{}", indented(&flat));
    }
}
