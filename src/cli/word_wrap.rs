//! Wraps lines to the width of a terminal, between words, with a hanging indent.

/// Wraps at `width` columns, between words only; lines after the first begin with `indent` blanks. Escape sequences
/// have no width.
pub fn wrap_words(text: &str, indent: usize, width: usize) -> String {
    let (mut whole, mut room) = (String::with_capacity(text.len()), width);
    for (at, word) in text.split(' ').enumerate() {
        let long = visible_width(word);
        if at > 0 && long + 1 > room && !word.is_empty() {
            whole.push('\n');
            whole.push_str(&" ".repeat(indent));
            room = width.saturating_sub(indent);
        } else if at > 0 {
            whole.push(' ');
            room = room.saturating_sub(1);
        }
        whole.push_str(word);
        room = room.saturating_sub(long);
    }
    whole
}

/// The number of characters outside of escape sequences, which are taken for columns.
fn visible_width(text: &str) -> usize {
    let mut count = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_goes_on_below_where_it_began() {
        assert_eq!(wrap_words("verdict  it is what it is", 9, 16), "verdict  it is\n         what it\n         is");
        assert_eq!(wrap_words("a b", 2, 80), "a b");
        assert_eq!(wrap_words("a/path/that/is/long b", 2, 8), "a/path/that/is/long\n  b");
    }

    #[test]
    fn colours_take_no_room() {
        assert_eq!(wrap_words("\x1b[1mruns\x1b[0m so", 0, 7), "\x1b[1mruns\x1b[0m so");
        assert_eq!(visible_width("\x1b[1mruns\x1b[0m"), 4);
    }
}
