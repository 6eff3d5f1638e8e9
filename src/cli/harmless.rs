//! A stranger's text on its way to a terminal: names, manifests, messages, output. Characters that would steer it, reorder
//! or break a line, or not be seen are spelled out. Which ones these are is said once, by [`is_plain`].

use skillcell_door::audit::one_line;
use skillcell_policy::is_plain;

/// Line ends and tabs stay.
pub fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => safe.push(c),
            c if is_plain(c) => safe.push(c),
            c if c.is_control() => safe.extend(c.escape_default()),
            c => safe.extend(c.escape_unicode()),
        }
    }
    safe
}

/// For a name: what would end the line is spelled out as well.
pub fn harmless_name(text: &str) -> String {
    one_line(text)
}

/// The same as [`harmless`], with the sequences that set colours and weights left in: `ESC [ digits and semicolons m`, but
/// for those that hide text. They are set back at the end.
pub fn harmless_but_colours(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        safe.push_str(&harmless(before));
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(after.len());
        if after[end..].starts_with('m') && is_colour(&after[..end]) {
            safe.push_str(&format!("\x1b[{}m", &after[..end]));
            rest = &after[end + 1..];
        } else {
            safe.push_str(&harmless("\x1b["));
            rest = after;
        }
    }
    safe.push_str(&harmless(rest));
    if safe.contains('\x1b') && !safe.ends_with("\x1b[0m") {
        safe.push_str("\x1b[0m");
    }
    safe
}

/// 8 is for text that is not to be seen.
fn is_colour(codes: &str) -> bool {
    codes.len() <= 20 && codes.split(';').all(|code| code.trim_start_matches('0') != "8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_breaks_or_hides_is_spelled_out() {
        let hostile =
            "\u{1b}[2J\u{9b}2J\r\u{61c}\u{202e}\u{2066}\u{2028}\u{2029}\u{200b}\u{feff}\u{e0041}\u{e0100}\u{3164}";
        let shown = harmless(&format!("a\n\tb{hostile}ü⚠\u{fe0f}"));
        assert!(shown.starts_with("a\n\tb") && shown.ends_with("ü⚠\u{fe0f}"), "{shown}");
        assert!(shown[4..].chars().all(is_plain), "{shown:?}");
        assert!(shown.contains("\\u{61c}") && shown.contains("\\u{2028}") && shown.contains("\\r"), "{shown}");
        assert_eq!(harmless_name("a\nerror: b\u{2028}"), "a\\u{a}error: b\\u{2028}");
    }

    #[test]
    fn colours_stay_and_what_hides_text_does_not() {
        assert_eq!(harmless_but_colours("\x1b[31mred"), "\x1b[31mred\x1b[0m");
        assert_eq!(harmless_but_colours("\x1b[1;08mgone"), "\\u{1b}[1;08mgone");
        assert_eq!(harmless_but_colours("\x1b[2J\u{202e}"), "\\u{1b}[2J\\u{202e}");
    }
}
