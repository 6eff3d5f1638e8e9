//! Whether a script did the same in two places: its exit code, its streams and its files, but for what two runs can't share (the time,
//! the folder) and what two versions of Python say differently (how argparse lays its usage out, what a traceback underlines). Pure.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use skillcell_host::call::{Outcome, Report};

/// The most of a text that is told of a difference, and the largest part of an archive that is looked at.
const MAX_TOLD: usize = 120;
const MAX_PART: u64 = 16 << 20;

static FOLDER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"/(tmp|dev/shm)/[\w./-]*tmp[\w-]+/[\w.-]+|/skills/[\w.-]+|/usr/local/lib/requirements|/[\w./-]*/site-packages"#,
    )
});
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\d{4}-\d\d-\d\d[T _]\d\d[:-]?\d\d([:-]?\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?|\b\d{8}[_T]\d{6}\b")
});
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b0x[0-9a-f]{6,16}\b"));
/// `-o X, --out X`: since Python 3.13 it is `-o, --out X`.
static TWICE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(--?[\w-]+) (\{[^}]*\}|[^\s,]+), (--?[\w-]+) (\{[^}]*\}|[^\s,]+)"));
static PDF_TIME: LazyLock<Regex> = LazyLock::new(|| pattern(r"\(D:\d{14}[^)]*\)|/ID\s*\[[^\]]*\]"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is right")
}

/// How a run ended, in a few words.
pub fn ended(run: &Result<Report, String>) -> String {
    match run {
        Ok(report) => end_of(report),
        Err(why) => format!("not started: {why}"),
    }
}

fn end_of(report: &Report) -> String {
    match (report.exit_code, &report.outcome) {
        (Some(code), _) => format!("exit {code}"),
        (None, Outcome::Exceeded(limit, _)) => limit.to_string(),
        (None, outcome) => outcome.name().to_owned(),
    }
}

/// What differs; nothing if they are alike. A run that met a limit is like no other.
pub fn difference(one: &Report, other: &Report) -> Option<String> {
    let ends = [one, other].map(end_of);
    if ends[0] != ends[1] || one.exit_code.is_none() {
        let told = [one, other].map(|report| last_line(&report.stderr));
        return Some(format!("{} here, {} there: {:?}, {:?}", ends[0], ends[1], told[0], told[1]));
    }
    let streams = [("stdout", &one.stdout, &other.stdout), ("stderr", &one.stderr, &other.stderr)];
    for (name, here, there) in streams {
        let (here, there) = (plain_text(here), plain_text(there));
        if here != there {
            return Some(format!("{name}: {}", first_difference(&here, &there)));
        }
    }
    different_file(one, other)
}

fn different_file(one: &Report, other: &Report) -> Option<String> {
    let by_path = |report: &'_ Report| -> BTreeMap<String, Vec<u8>> {
        report.files.iter().map(|file| (file.path.clone(), file.bytes.clone())).collect()
    };
    let (here, there) = (by_path(one), by_path(other));
    let one_sided = here.keys().find(|path| !there.contains_key(*path)).map(|path| (path, "only in the cell"));
    let one_sided =
        one_sided.or_else(|| there.keys().find(|path| !here.contains_key(*path)).map(|it| (it, "not in the cell")));
    if let Some((path, where_)) = one_sided {
        return Some(format!("the file `{path}` is {where_}"));
    }
    let differs = |(path, bytes): &(&String, &Vec<u8>)| !same_file(bytes, &there[*path]);
    here.iter().find(differs).map(|(path, _)| format!("the file `{path}` has other content"))
}

/// The same bytes; the same text but for times; archives with the same parts.
fn same_file(one: &[u8], other: &[u8]) -> bool {
    if one == other {
        return true;
    }
    if one.starts_with(b"PK\x03\x04") && other.starts_with(b"PK\x03\x04") {
        let parts = [parts_of(one), parts_of(other)];
        return parts[0].is_some() && parts[0] == parts[1];
    }
    if one.starts_with(b"%PDF") && other.starts_with(b"%PDF") {
        let timeless = |bytes: &[u8]| PDF_TIME.replace_all(&latin(bytes), "").into_owned();
        return timeless(one) == timeless(other);
    }
    match (std::str::from_utf8(one), std::str::from_utf8(other)) {
        (Ok(one), Ok(other)) => timeless(one) == timeless(other),
        _ => false,
    }
}

/// The parts of an archive by name, without times.
fn parts_of(bytes: &[u8]) -> Option<BTreeMap<String, String>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut parts = BTreeMap::new();
    for at in 0..archive.len().min(1000) {
        let mut part = archive.by_index(at).ok()?;
        let mut content = Vec::new();
        part.by_ref().take(MAX_PART).read_to_end(&mut content).ok()?;
        let name = part.name().ok()?.into_owned();
        parts.insert(name, timeless(&latin(&content)));
    }
    Some(parts)
}

/// Each byte as a character of its own, so that no two texts become one.
fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Without places and times that two runs can't share.
fn timeless(text: &str) -> String {
    let text = FOLDER.replace_all(text, "FOLDER");
    let text = TIME.replace_all(&text, "TIME");
    ADDRESS.replace_all(&text, "0x").into_owned()
}

/// A line of a traceback that only marks what stands above it. Versions of Python mark different things.
fn is_underline(line: &str) -> bool {
    let marks = line.trim();
    !marks.is_empty() && marks.chars().all(|c| matches!(c, '~' | '^' | ' '))
}

/// The same without a traceback's underlines, and without how argparse lays its usage out: blanks, brackets, and the name of a value
/// that is told twice.
fn plain_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = timeless(&text.lines().filter(|line| !is_underline(line)).collect::<Vec<_>>().join("\n"));
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for _ in 0..4 {
        let once = TWICE.replace_all(&text, |found: &Captures<'_>| match found[2] == found[4] {
            true => format!("{}, {} {}", &found[1], &found[3], &found[4]),
            false => found[0].to_owned(),
        });
        if once == text {
            break;
        }
        text = once.into_owned();
    }
    text.replace(|c: char| c.is_whitespace() || "[]()|".contains(c), "")
}

fn first_difference(one: &str, other: &str) -> String {
    let same = one.chars().zip(other.chars()).take_while(|(here, there)| here == there).count();
    let from = |text: &str| text.chars().skip(same.saturating_sub(20)).take(MAX_TOLD / 2).collect::<String>();
    format!("{:?}, {:?}", from(one), from(other))
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    timeless(line.trim()).chars().take(MAX_TOLD).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_pythons_say_differently_is_the_same() {
        let old = b"usage: x.py [-h] [-o X] file\n\noptions:\n  -o X, --out X   where to (default: a)\n";
        let new = b"usage: x.py [-h]\n            [-o X]\n            file\n\noptions:\n  -o, --out X  where to (default: a)\n";
        assert_eq!(plain_text(old), plain_text(new));
        assert_ne!(plain_text(b"-o X, --out Y"), plain_text(b"-o, --out Y"));
        assert_ne!(plain_text(b"1 of 2"), plain_text(b"1 of 3"));
        assert_eq!(plain_text(b"  f(x)\n  ~^^^\nValueError"), plain_text(b"  f(x)\nValueError"));
        assert_ne!(plain_text(b"a\nb ^ c"), plain_text(b"a"));
    }

    #[test]
    fn times_and_folders_are_no_difference_and_anything_else_is() {
        let here = "at 2026-11-18T20:15:01.5 in /skills/pdf/out.txt ";
        let there = "at 2026-11-18 20:17:44 in /tmp/tmpab_12x/pdf/out.txt ";
        assert!(same_file(here.as_bytes(), there.as_bytes()));
        assert!(!same_file(b"total 12", b"total 13") && !same_file(b"\xff\x00", b"\xff\x01"));
    }

    #[test]
    fn archives_are_compared_by_their_parts() {
        use std::io::Write;
        let archive = |year: u16, text: &str| {
            let mut made = zip::ZipWriter::new(Cursor::new(Vec::new()));
            let time = zip::DateTime::from_date_and_time(year, 1, 1, 0, 0, 0).unwrap();
            let options = zip::write::SimpleFileOptions::default().last_modified_time(time);
            made.start_file("a.xml", options).unwrap();
            made.write_all(text.as_bytes()).unwrap();
            made.finish().unwrap().into_inner()
        };
        assert!(same_file(&archive(2020, "<v>1</v>"), &archive(2026, "<v>1</v>")));
        assert!(!same_file(&archive(2020, "<v>1</v>"), &archive(2020, "<v>2</v>")));
    }
}
