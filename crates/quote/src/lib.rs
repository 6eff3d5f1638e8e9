//! Quotes text for a terminal, messages, a shell, TOML and JSON.
//!
//! The text is untrusted and is shown to the operator, who may paste it: nothing in it reaches a terminal, a shell or a
//! policy file as anything but text. Everything that shows untrusted text goes through one of these functions, and
//! [`is_plain`] alone defines which characters need no escape.

/// The longest text that a message quotes, in characters.
const MAX_QUOTED: usize = 200;

/// One line of text: line ends, and control, bidirectional and invisible characters, are escaped.
pub fn one_line(text: &str) -> String {
    spell_out(text, is_plain)
}

/// Like [`one_line`], but keeps line ends and tabs.
pub fn escape_unprintable(text: &str) -> String {
    spell_out(text, |c| is_plain(c) || matches!(c, '\n' | '\t'))
}

/// The start of a text, in one line.
pub fn brief(text: &str) -> String {
    cut(text, MAX_QUOTED)
}

/// The first characters of a text, in one line.
pub fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => one_line(&text[..end]) + "…",
        None => one_line(text),
    }
}

/// The first characters of a name that is compared as ASCII; others, which may only look like ASCII letters, are
/// escaped.
pub fn cut_ascii(text: &str, chars: usize) -> String {
    text.chars().take(chars).flat_map(char::escape_default).collect()
}

/// JSON in ASCII: other characters occur only inside strings, where they can be escaped.
pub fn ascii_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() && c != '\u{7f}' {
            out.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

/// An error with its causes, as they are: not quoted yet.
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

fn spell_out(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut made = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if stays(c) => made.push(c),
            // `\n` says more than `\u{a}`.
            _ if c.is_control() => made.extend(c.escape_default()),
            _ => made.extend(c.escape_unicode()),
        }
    }
    made
}

/// Whether a character is only what it looks like: no control, no change of direction, nothing invisible.
pub fn is_plain(c: char) -> bool {
    !(c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
        || matches!(c, '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'))
}

/// In single quotes, for a POSIX shell.
pub fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A word for a POSIX shell: unchanged if it needs no quotes, else in single quotes.
pub fn shell_word(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_./-".contains(&b);
    let is_word = !text.is_empty() && !text.starts_with('-') && text.bytes().all(plain);
    match () {
        () if is_word => text.to_owned(),
        () if text.chars().all(is_plain) => shell(text),
        () => shell(&brief(text)),
    }
}

/// A basic string of TOML.
pub fn toml(text: &str) -> String {
    let mut made = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => made.extend(['\\', c]),
            _ if is_plain(c) => made.push(c),
            _ => made.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    made + "\""
}

/// `a, b and c`.
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_breaks_or_hides_is_spelled_out() {
        let hostile =
            "\u{1b}[2J\u{9b}2J\r\u{61c}\u{202e}\u{2066}\u{2028}\u{2029}\u{200b}\u{feff}\u{e0041}\u{e0100}\u{3164}";
        let shown = escape_unprintable(&format!("a\n\tb{hostile}ü⚠\u{fe0f}"));
        assert!(shown.starts_with("a\n\tb") && shown.ends_with("ü⚠\u{fe0f}"), "{shown}");
        assert!(shown[4..].chars().all(is_plain), "{shown:?}");
        assert!(shown.contains("\\u{61c}") && shown.contains("\\u{2028}") && shown.contains("\\r"), "{shown}");
        assert_eq!(one_line("a\nerror: b\u{2028}"), "a\\nerror: b\\u{2028}");
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!((cut("äöü", 3).as_str(), cut("äöü", 2).as_str()), ("äöü", "äö…"));
        assert_eq!(cut("\u{7}\u{7}", 1), "\\u{7}…");
        assert_eq!(cut_ascii("ex\u{430}mple", 3), "ex\\u{430}");
        assert_eq!(ascii_json("\"é😀\u{7f}\""), r#""\u00e9\ud83d\ude00\u007f""#);
    }
}
