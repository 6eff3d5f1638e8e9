//! How names of distributions compare.

/// A distribution's name as indexes compare it (PEP 503): lower case, words joined by `-`.
pub fn normalize_name(name: &str) -> String {
    let mut made = String::with_capacity(name.len());
    for c in name.trim().chars() {
        match c {
            '-' | '_' | '.' if made.ends_with('-') => {}
            '-' | '_' | '.' => made.push('-'),
            c => made.push(c.to_ascii_lowercase()),
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_are_the_same() {
        for name in ["Friendly-Bard", "friendly_bard", "FRIENDLY.BARD", "friendly.-_bard", " friendly--bard "] {
            assert_eq!(normalize_name(name), "friendly-bard", "{name}");
        }
    }
}
