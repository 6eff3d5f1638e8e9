//! Text with colours for a terminal: sequences that set colours stay, every other control character is escaped.

use skillcell_quote::escape_unprintable;

/// Like [`escape_unprintable`], but keeps SGR sequences (`ESC [ digits and semicolons m`), except those that conceal
/// text, and appends a reset if any was kept.
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

/// SGR code 8 conceals text, so it is not passed on.
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
