//! What a skill requires, as pip may be told it. A requirement is a stranger's text, and pip's own language has options,
//! paths and addresses in it; only names with versions, extras and markers pass.

use super::{Result, VenvError};

/// A set of requirements: sorted, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted(Vec<String>);

/// More than any skill has, and few enough to read.
const MAX_REQUIREMENTS: usize = 256;
const MAX_LENGTH: usize = 512;

impl Wanted {
    pub fn new<'a>(requirements: impl Iterator<Item = &'a String>) -> Result<Wanted> {
        let mut lines = requirements.map(|line| checked(line)).collect::<Result<Vec<_>>>()?;
        lines.sort_unstable();
        lines.dedup();
        match lines.get(MAX_REQUIREMENTS) {
            Some(line) => Err(refuse(line, "there are more than 256")),
            None => Ok(Wanted(lines)),
        }
    }

    pub fn lines(&self) -> &[String] {
        &self.0
    }

    /// In a few words.
    pub fn describe(&self) -> String {
        match &self.0[..] {
            [] => "the framework".to_owned(),
            [one] => one.clone(),
            [one, rest @ ..] => format!("{one} and {} more", rest.len()),
        }
    }
}

fn refuse(requirement: &str, why: &'static str) -> VenvError {
    let shown: String = requirement.chars().filter(|c| !c.is_control()).take(80).collect();
    VenvError::Requirement { requirement: shown, why }
}

/// PEP 508 without `@ address`; pip decides about the versions and markers themselves.
fn checked(requirement: &str) -> Result<String> {
    let line = requirement.trim();
    let (head, marker) = line.split_once(';').unwrap_or((line, ""));
    if line.len() > MAX_LENGTH {
        return Err(refuse(line, "it is too long"));
    }
    if !line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(refuse(line, "it does not start with a package's name"));
    }
    if head.contains(['@', '/', '\\', ':']) {
        return Err(refuse(line, "addresses and paths are not taken"));
    }
    // What `-r` lines may hold besides: options after ` --`, comments, variables, continuations.
    let fine = |c: char| c.is_ascii_alphanumeric() || " ._-[],<>=!~*+();'\"".contains(c);
    if !head.chars().chain(marker.chars()).all(fine) || line.contains("--") {
        return Err(refuse(line, "it has characters that no name with versions has"));
    }
    Ok(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(lines: &[&str]) -> Result<Wanted> {
        let lines: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
        Wanted::new(lines.iter())
    }

    #[test]
    fn names_with_versions_extras_and_markers_pass_sorted_and_once() {
        let lines =
            ["web3>=6.0.0", "requests[socks] >=2,<3; python_version < '3.12'", "web3>=6.0.0 ", "bio.python~=1.8"];
        let expected = ["bio.python~=1.8", "requests[socks] >=2,<3; python_version < '3.12'", "web3>=6.0.0"];
        assert_eq!(wanted(&lines).unwrap().lines(), expected);
    }

    #[test]
    fn what_would_make_pip_do_something_else_is_refused() {
        let long = "a".repeat(600);
        let bad = [
            "-e .",
            "--index-url=http://x",
            "-r other.txt",
            "x @ file:///etc",
            "git+https://x/y",
            "./here",
            "/abs",
            "a/b",
            "",
            "x --hash=sha256:0",
            "x --global-option=y",
            "x\n--index-url=z",
            "x # y",
            "${HOME}",
            "x;\\\n-e .",
            "C:\\x",
            "http://x/y.whl",
            "x; '$HOME' == ''",
            &long,
        ];
        for line in bad {
            assert!(matches!(wanted(&[line]), Err(VenvError::Requirement { .. })), "{line:?}");
        }
    }
}
