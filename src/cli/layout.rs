//! Lays JSON out for a terminal without reading it into values: nothing is lost, whatever the numbers and keys.

const INDENT: &str = "  ";

/// The same JSON over several lines. Characters that would steer the terminal are spelled as JSON escapes: outside of
/// strings JSON has none.
pub fn indented(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            push_safely(&mut text, c);
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '{' | '[' => {
                text.push(c);
                while chars.next_if(|c| c.is_whitespace()).is_some() {}
                if chars.peek().is_some_and(|next| matches!(next, '}' | ']')) {
                    text.extend(chars.next());
                } else {
                    depth += 1;
                    new_line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut text, depth);
                text.push(c);
            }
            ',' => {
                text.push(c);
                new_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            c if c.is_whitespace() => {}
            c => {
                in_string = c == '"';
                text.push(c);
            }
        }
    }
    text
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    // Deeper than people read, the indentation alone would be longer than the result.
    text.push_str(&INDENT.repeat(depth.min(40)));
}

fn push_safely(text: &mut String, c: char) {
    match c {
        c if c.is_control() || super::printer::reorders(c) => text.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => text.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(indented("\"\u{9b}31m\u{202e}\""), r#""\u009b31m\u202e""#);
    }
}
