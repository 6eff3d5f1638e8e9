//! Why pip has no wheel for the target, from the file names in its verbose output. pip's wording differs between versions, so
//! only file names are parsed. The result is for messages.

use pep440_rs::Version;

use super::specifier::{Specifiers, parse_version};
use crate::provision::{PipEnd, normalize_name};

/// The most tags that are kept, and versions.
const MAX_TAGS: usize = 8;
const MAX_VERSIONS: usize = 8;
/// The most that is repeated of what pip says.
const MAX_COMPLAINT: usize = 200;

/// Why there is no wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// Wheels for other platforms only, such as `cp311-cp311-manylinux_2_28_x86_64`.
    Native { version: String, tags: Vec<String> },
    /// Only an archive of sources, which would have to be built.
    Source { version: String },
    /// A suitable wheel that pip rejects.
    Refused(String),
    /// Only versions that are not accepted.
    Unfit { versions: Vec<String> },
    /// No index knows it.
    NotFound,
    /// No index could be reached.
    Unreachable(String),
}

/// Why pip did not deliver `name`.
pub fn why_absent(end: &PipEnd, name: &str, specifiers: &Specifiers) -> Absent {
    let mut seen: Vec<File> = end.log.split_ascii_whitespace().filter_map(|word| File::parse(word, name)).collect();
    seen.sort_by(|one, other| one.sort_rank().cmp(&other.sort_rank()));
    let fitting = || seen.iter().filter(|file| specifiers.accept(&file.version));
    // Where there is a wheel, its platform is the reason, however new the sources are.
    if let Some(newest) = fitting().rfind(|file| file.tag.is_some()) {
        let mut tags: Vec<String> =
            fitting().filter(|file| file.version == newest.version).filter_map(|file| file.tag.clone()).collect();
        if tags.iter().any(|tag| is_pure(tag)) {
            return Absent::Refused(format!("pip does not take it: {}", pip_complaint(end)));
        }
        tags.sort_by_key(|tag| (!tag.contains("linux_") || !tag.contains("x86_64"), tag.clone()));
        tags.dedup();
        tags.truncate(MAX_TAGS);
        return Absent::Native { version: newest.version.to_string(), tags };
    }
    if let Some(newest) = fitting().next_back() {
        return Absent::Source { version: newest.version.to_string() };
    }
    if !seen.is_empty() {
        let mut versions: Vec<String> = seen.iter().rev().map(|file| file.version.to_string()).collect();
        versions.dedup();
        versions.truncate(MAX_VERSIONS);
        return Absent::Unfit { versions };
    }
    unreachable_reason(end).map_or(Absent::NotFound, Absent::Unreachable)
}

/// Whether a wheel with this tag runs in the guest.
fn is_pure(tag: &str) -> bool {
    tag.ends_with("-none-any") && tag.split('-').next().is_some_and(|python| python.split('.').any(|one| one == "py3"))
}

/// pip's last error line, without the paths and addresses in it.
fn pip_complaint(end: &PipEnd) -> String {
    let line = end.log.lines().rfind(|line| line.contains("ERROR:")).unwrap_or("it does not say why");
    let words = line.trim_start_matches("ERROR:").split_whitespace().filter(|word| !word.contains('/'));
    words.collect::<Vec<_>>().join(" ").chars().take(MAX_COMPLAINT).collect()
}

/// Why no index answered, if none did. That it has no such package is an answer.
fn unreachable_reason(end: &PipEnd) -> Option<String> {
    let refusals = ["404 Client Error", "410 Client Error"];
    let failed =
        |line: &&str| line.contains("Could not fetch URL") && !refusals.iter().any(|known| line.contains(known));
    if end.log.lines().any(|line| failed(&line)) {
        return Some("no index: it could not be reached".into());
    }
    let answered = end.status.success() || end.log.contains("No matching distribution found");
    (!answered).then(|| format!("no index: pip failed ({})", end.status))
}

/// A file of an index.
struct File {
    version: Version,
    /// The tag of a wheel; sources have none.
    tag: Option<String>,
}

impl File {
    /// Reads a word of pip's output: an address or a path that ends in a file of this distribution.
    fn parse(word: &str, name: &str) -> Option<File> {
        let plain = word.split('#').next().filter(|plain| plain.is_ascii())?;
        let plain = plain.trim_end_matches([')', ',', ';', '.']);
        let file = plain.rsplit('/').next().unwrap_or(plain);
        if let Some(stem) = file.strip_suffix(".whl") {
            let parts: Vec<&str> = stem.split('-').collect();
            let (distribution, rest) = parts.split_first().filter(|(_, rest)| matches!(rest.len(), 4 | 5))?;
            let version = parse_version(&rest[0].replace("%2B", "+"))?;
            let tag = rest[rest.len() - 3..].join("-");
            return (normalize_name(distribution) == name).then_some(File { version, tag: Some(tag) });
        }
        let stem = [".tar.gz", ".zip", ".tar.bz2", ".tgz"].iter().find_map(|ending| file.strip_suffix(ending))?;
        let (distribution, version) = stem.rsplit_once('-')?;
        let version = parse_version(version).filter(|_| normalize_name(distribution) == name)?;
        Some(File { version, tag: None })
    }

    /// Releases after everything else, then by version.
    fn sort_rank(&self) -> (bool, &Version) {
        (!self.version.any_prerelease(), &self.version)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn after(log: &str, name: &str, specifiers: &str) -> Absent {
        let end = PipEnd { status: ExitStatus::from_raw(256), log: log.to_owned() };
        why_absent(&end, name, &Specifiers::parse(specifiers).unwrap())
    }

    #[test]
    fn native_wheels_are_told_with_the_tags_of_the_newest_release_that_fits() {
        let log = "Skipping link: none of the wheel's tags (cp311-cp311-win_amd64) are compatible: \
                   https://x/py_native-1.2-cp311-cp311-win_amd64.whl#sha256=0 (from https://x/simple/)\n\
                   https://x/py_native-1.2-cp311-cp311-manylinux_2_28_x86_64.whl\n\
                   https://x/py_native-1.3.dev1-cp311-cp311-win32.whl https://x/py-native-1.4.tar.gz#sha256=1\n\
                   https://x/py_native-2.0-cp315-cp315-win32.whl https://x/py_native_more-9-cp1-cp1-any.whl";
        let tags = vec!["cp311-cp311-manylinux_2_28_x86_64".to_owned(), "cp311-cp311-win_amd64".to_owned()];
        assert_eq!(after(log, "py-native", "<2"), Absent::Native { version: "1.2".into(), tags });
        assert_eq!(after(log, "py-native", ">=1.4,<2"), Absent::Source { version: "1.4".into() });
        assert!(matches!(after(log, "py-native", ">2"), Absent::Unfit { versions } if versions[0] == "2.0"));
    }

    #[test]
    fn an_index_that_says_no_is_told_from_one_that_says_nothing() {
        let end = "ERROR: No matching distribution found for x";
        let gone = format!("Could not fetch URL https://x/: 404 Client Error: Not Found for url - skipping\n{end}");
        assert_eq!(after(&gone, "x", ""), Absent::NotFound);
        let mute = format!("Could not fetch URL https://x/: connection error: refused - skipping\n{end}");
        assert!(matches!(after(&mute, "x", ""), Absent::Unreachable(_)));
        assert!(matches!(after("Traceback", "x", ""), Absent::Unreachable(_)));
    }
}
