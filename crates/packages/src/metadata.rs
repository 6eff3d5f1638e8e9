//! A distribution's own metadata: the headers of its `METADATA`. Untrusted text.

use super::requirement::{RefusedRequirement, Requirement};

/// The most requirements of one distribution that are looked at.
const MAX_REQUIRES: usize = 1000;

/// A requirement of a distribution, or why it is not taken.
pub type Required = Result<Requirement, RefusedRequirement>;

/// What it requires, markers and all.
pub fn parse_requirements(metadata: &str) -> Vec<Required> {
    header_values(metadata, "requires-dist").take(MAX_REQUIRES).map(Requirement::parse).collect()
}

/// The first value of a header.
pub fn first_header<'a>(metadata: &'a str, name: &'a str) -> Option<&'a str> {
    header_values(metadata, name).next()
}

/// The values of a header. Headers end at the first empty line; an indented line, even a blank one, continues the header
/// above it (usually a licence text).
fn header_values<'a>(metadata: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let head = metadata.lines().take_while(|line| !line.is_empty());
    let pairs = head.filter(|line| !line.starts_with([' ', '\t'])).filter_map(|line| line.split_once(':'));
    pairs.filter(move |(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        parse_requirements(text).iter().flatten().map(ToString::to_string).collect()
    }

    #[test]
    fn requirements_are_read_from_the_headers_only() {
        let text = "Metadata-Version: 2.1\nName: x\nRequires-Dist: a>=1\nRequires-Dist: b ; extra == 'c'\n\
                    Requires-Dist: evil @ https://x/y\n\nRequires-Dist: not-this\n";
        assert_eq!(names(text), ["a>=1", "b"]);
        assert_eq!(parse_requirements(text)[2].as_ref().unwrap_err().text, "evil @ https://x/y");
        assert_eq!(first_header(text, "name"), Some("x"));
    }

    #[test]
    fn a_licence_of_many_lines_does_not_end_the_headers() {
        let text =
            "Name: x\nLicense: Mine\n        \n        Requires-Dist: not-this\n\t\nRequires-Dist: a\r\n\r\nText\n";
        assert_eq!(names(text), ["a"]);
    }
}
