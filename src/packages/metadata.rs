//! What a distribution says of itself: the headers of its `METADATA`. A stranger's text.

use super::requirement::Requirement;

/// The most requirements of one distribution that are looked at.
const MAX_REQUIRES: usize = 1000;

/// What it requires, markers and all. What can't be read is left out: one odd line for another platform is no reason to do
/// without a package.
pub fn requires(metadata: &str) -> Vec<Requirement> {
    let all = headers(metadata, "requires-dist").take(MAX_REQUIRES);
    all.filter_map(|text| Requirement::parse(text).ok()).collect()
}

/// The values of a header. They end at the first empty line; one of blanks continues the header above it, a licence often.
fn headers<'a>(metadata: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let head = metadata.lines().take_while(|line| !line.is_empty());
    let pairs = head.filter(|line| !line.starts_with([' ', '\t'])).filter_map(|line| line.split_once(':'));
    pairs.filter(move |(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_read_from_the_headers_only() {
        let text = "Metadata-Version: 2.1\nName: x\nRequires-Dist: a>=1\nRequires-Dist: b ; extra == 'c'\n\
                    Requires-Dist: evil @ https://x/y\n\nRequires-Dist: not-this\n";
        let names: Vec<String> = requires(text).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a>=1", "b"]);
    }

    #[test]
    fn a_licence_of_many_lines_does_not_end_the_headers() {
        let text =
            "Name: x\nLicense: Mine\n        \n        Requires-Dist: not-this\n\t\nRequires-Dist: a\r\n\r\nText\n";
        let names: Vec<String> = requires(text).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a"]);
    }
}
