//! How text is quoted: in messages, for a shell, and in TOML.
//!
//! What is quoted comes from strangers and is shown to the operator, who may paste it: it is cut to a length, and nothing
//! in it reaches a terminal, a shell or a policy file as anything but text.

/// The longest text that a message quotes, in characters.
const MAX_QUOTED: usize = 200;

/// Cut, with whatever could steer a terminal or reorder a line escaped.
pub fn brief(text: &str) -> String {
    let mut made = String::new();
    for (at, c) in text.chars().enumerate() {
        match c {
            _ if at == MAX_QUOTED => return made + "…",
            _ if is_plain(c) => made.push(c),
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

/// As it is where that is plainly a word, else in single quotes.
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
