//! Normalizes paths that a cell passes, purely as text, before a mount is chosen.
//!
//! There are no symbolic links in the virtual tree, so `a/..` is always where it started and `..` stops at `/`.

use super::errno::Errno;

const LONGEST_PATH: usize = 4096;
const LONGEST_NAME: usize = 255;
const DEEPEST: usize = 256;

/// A path from the root: `usr/local`, never with `.`, `..`, empty names or a leading slash. The root is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellPath {
    pub text: String,
    /// It ended in `/`, `.` or `..`, so it can only name a directory.
    pub wants_directory: bool,
}

impl CellPath {
    /// Reads `raw` as seen from the directory `base` (itself a clean path). A leading slash starts at the root:
    /// there is one tree and one preopen, so that adds no power.
    pub fn parse(base: &str, raw: &[u8]) -> Result<CellPath, Errno> {
        if raw.len() > LONGEST_PATH {
            return Err(Errno::Nametoolong);
        }
        let raw = std::str::from_utf8(raw).map_err(|_| Errno::Ilseq)?;
        match raw {
            "" => return Err(Errno::Noent),
            _ if raw.contains('\0') => return Err(Errno::Inval),
            _ => {}
        }
        let base = if raw.starts_with('/') { "" } else { base };
        let mut text = String::with_capacity(base.len() + 1 + raw.len());
        text.push_str(base);
        raw.split('/').try_for_each(|name| push_name(&mut text, name))?;
        if text.len() > LONGEST_PATH || path_names(&text).count() > DEEPEST {
            return Err(Errno::Nametoolong);
        }
        let last = raw.rsplit('/').next().unwrap_or_default();
        Ok(CellPath { text, wants_directory: matches!(last, "" | "." | "..") })
    }
}

fn push_name(text: &mut String, name: &str) -> Result<(), Errno> {
    match name {
        "" | "." => {}
        ".." => text.truncate(text.rfind('/').unwrap_or(0)),
        _ if name.len() > LONGEST_NAME => return Err(Errno::Nametoolong),
        _ => {
            if !text.is_empty() {
                text.push('/');
            }
            text.push_str(name);
        }
    }
    Ok(())
}

/// The names along a clean path; none for the root.
pub fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// A clean path as directory and name: `a/b/c` is `a/b` and `c`. The root has no name.
pub fn split_parent(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The part of `path` below the directory `above`, or `None` if it is not below it. Both are normalized.
pub fn relative_to<'p>(above: &str, path: &'p str) -> Option<&'p str> {
    match path.strip_prefix(above)? {
        "" => Some(""),
        rest if above.is_empty() => Some(rest),
        rest => rest.strip_prefix('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(base: &str, raw: &str) -> Result<String, Errno> {
        CellPath::parse(base, raw.as_bytes()).map(|path| path.text)
    }

    #[test]
    fn dot_dot_stops_at_the_root() {
        assert_eq!(parse("tmp", "../../../../etc/passwd").unwrap(), "etc/passwd");
        assert_eq!(parse("", "..").unwrap(), "");
        assert_eq!(parse("a/b", "./../c//d/.").unwrap(), "a/c/d");
    }

    #[test]
    fn what_can_only_be_a_directory_says_so() {
        for (raw, wants) in [("a/", true), ("a/.", true), ("a/..", true), ("a", false), ("/", true), ("./a", false)] {
            assert_eq!(CellPath::parse("", raw.as_bytes()).unwrap().wants_directory, wants, "{raw}");
        }
    }

    #[test]
    fn malformed_paths_are_refused_by_reason() {
        assert_eq!(parse("", ""), Err(Errno::Noent));
        assert_eq!(parse("", "a\0b"), Err(Errno::Inval));
        assert_eq!(CellPath::parse("", &[b'a', 0xff]), Err(Errno::Ilseq));
        assert_eq!(parse("", &"x".repeat(256)), Err(Errno::Nametoolong));
        assert!(parse("", &"x".repeat(255)).is_ok());
        assert_eq!(parse("", &"/".repeat(4097)), Err(Errno::Nametoolong));
        assert_eq!(parse("", &"a/".repeat(257)), Err(Errno::Nametoolong));
        assert_eq!(parse(&"d/".repeat(200), &"a/".repeat(100)), Err(Errno::Nametoolong));
    }

    #[test]
    fn a_mount_point_covers_whole_names_only() {
        assert_eq!(relative_to("tmp", "tmp/x"), Some("x"));
        assert_eq!(relative_to("tmp", "tmp"), Some(""));
        assert_eq!(relative_to("tmp", "tmpfile"), None);
        assert_eq!(relative_to("", "a/b"), Some("a/b"));
    }
}
