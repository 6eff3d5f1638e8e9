//! Splits a command into words without a shell; nothing is expanded.
//!
//! - Blanks and tabs separate words.
//! - `'…'` is taken as it is. In `"…"`, `\"` and `\\` are a quote and a backslash.
//! - Outside of quotes, a backslash takes the next character as it is.
//! - Pieces that touch are one word. `''` is an empty word.
//!
//! Variables, `~`, `*`, `|`, `;` and `$(…)` mean nothing.

/// The words of a command. None where a quote is not closed, nothing follows a backslash, or it names no program.
pub fn split_words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\') => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words.first().is_some_and(|program: &String| !program.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::split_words;

    #[test]
    fn words_are_split_as_the_rules_say() {
        for (text, expected) in [
            ("pass show api", &["pass", "show", "api"][..]),
            ("  a \t b  ", &["a", "b"]),
            ("a 'b c' \"d e\"", &["a", "b c", "d e"]),
            (r#"a "q\"q" "b\\b" "n\n" 'x\'"#, &["a", "q\"q", "b\\b", "n\\n", "x\\"]),
            (r"a b\ c \'d \\", &["a", "b c", "'d", "\\"]),
            ("a '' \"\"", &["a", "", ""]),
            ("a=b'c'\"d\"e", &["a=bcde"]),
            ("a $HOME ~ * | ; && $(b) `c` > d", &["a", "$HOME", "~", "*", "|", ";", "&&", "$(b)", "`c`", ">", "d"]),
        ] {
            assert_eq!(
                split_words(text).as_deref(),
                Some(&expected.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>()[..])
            );
        }
        for text in ["", "  ", "'a", "a \"b", "a \\", "'' a", "\"a\\"] {
            assert_eq!(split_words(text), None, "{text}");
        }
    }
}
