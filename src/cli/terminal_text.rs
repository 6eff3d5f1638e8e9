//! Lines with colours on their way to a terminal. What else in them it would obey is spelled out, as everywhere.

use skillcell_quote::escape_unprintable;

/// The same as [`escape_unprintable`], with the sequences that set colours and weights left in: `ESC [ digits and semicolons m`, but
/// for those that hide text. They are set back at the end.
pub fn escape_all_but_colours(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        safe.push_str(&escape_unprintable(before));
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(after.len());
        if after[end..].starts_with('m') && is_colour(&after[..end]) {
            safe.push_str(&format!("\x1b[{}m", &after[..end]));
            rest = &after[end + 1..];
        } else {
            safe.push_str(&escape_unprintable("\x1b["));
            rest = after;
        }
    }
    safe.push_str(&escape_unprintable(rest));
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
    fn colours_stay_and_what_hides_text_does_not() {
        assert_eq!(escape_all_but_colours("\x1b[31mred"), "\x1b[31mred\x1b[0m");
        assert_eq!(escape_all_but_colours("\x1b[1;08mgone"), "\\u{1b}[1;08mgone");
        assert_eq!(escape_all_but_colours("\x1b[2J\u{202e}"), "\\u{1b}[2J\\u{202e}");
    }
}
