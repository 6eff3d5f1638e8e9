//! Wheels that no honest tool makes: each breaks one rule and must be refused for that reason.

use std::io::{Seek, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

type Zip = ZipWriter<File>;

fn build(fill: impl FnOnce(&mut Zip)) -> File {
    let mut zip = ZipWriter::new(tempfile::tempfile().unwrap());
    fill(&mut zip);
    zip.finish().unwrap()
}

fn add(zip: &mut Zip, name: &str, bytes: &[u8]) {
    zip.start_file(name, SimpleFileOptions::default()).unwrap();
    zip.write_all(bytes).unwrap();
}

fn open(mut file: File) -> Result<Wheel> {
    file.rewind().unwrap();
    Wheel::open(FetchedWheel { file, path: "test.whl".into() })
}

fn bytes_of(mut file: File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

fn from_bytes(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Replaces every occurrence, as a hex editor would.
fn patch(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let mut found = 0;
    for at in 0..=bytes.len() - from.len() {
        if &bytes[at..at + from.len()] == from {
            bytes[at..at + from.len()].copy_from_slice(to);
            found += 1;
        }
    }
    assert!(found > 0);
}

fn refusal(result: Result<Wheel>) -> String {
    match result {
        Err(Error::Wheel { what, .. }) => what,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_plain_wheel_is_read_and_its_folders_are_implied() {
    let file = build(|zip| {
        zip.add_directory("a/", SimpleFileOptions::default()).unwrap();
        add(zip, "a/x.py", b"x = 1\n");
        add(zip, "empty", b"");
    });
    let mut wheel = open(file).unwrap();
    let paths: Vec<&str> = wheel.members().iter().map(|m| m.path.as_str()).collect();
    assert_eq!(paths, ["a/x.py", "empty"]);
    assert_eq!(wheel.read_path("a/x.py").unwrap(), b"x = 1\n");
    assert!(matches!(wheel.read_path("b"), Err(Error::Member { .. })));
}

#[test]
fn names_that_lead_out_of_the_tree_are_refused() {
    for bad in ["/abs", "../up", "a/../../up", "a//b", "a\\b", "nul\0l", "./x"] {
        let mut plain = build(|zip| add(zip, &"N".repeat(bad.len()), b"x"));
        plain.rewind().unwrap();
        let mut bytes = bytes_of(plain);
        patch(&mut bytes, "N".repeat(bad.len()).as_bytes(), bad.as_bytes());
        refusal(open(from_bytes(&bytes)));
    }
}

#[test]
fn symbolic_links_are_refused() {
    let file = build(|zip| zip.add_symlink("l", "/etc/passwd", SimpleFileOptions::default()).unwrap());
    assert!(refusal(open(file)).contains("neither a file nor a folder"));
}

#[test]
fn a_name_that_is_there_twice_is_refused() {
    let mut bytes = bytes_of(build(|zip| {
        add(zip, "one", b"1");
        add(zip, "two", b"2");
    }));
    patch(&mut bytes, b"two", b"one");
    assert!(refusal(open(from_bytes(&bytes))).contains("twice"));
}

#[test]
fn a_file_below_a_file_is_refused() {
    let file = build(|zip| {
        add(zip, "a", b"1");
        add(zip, "a/b", b"2");
    });
    assert!(refusal(open(file)).contains("below a file"));
}

#[test]
fn more_entries_than_the_cap_are_refused() {
    let file = build(|zip| (0..=MAX_ENTRIES).for_each(|n| add(zip, &n.to_string(), b"")));
    assert!(refusal(open(file)).contains("entries"));
}

#[test]
fn a_bomb_that_declares_its_size_is_refused_before_it_is_unpacked() {
    let file = build(|zip| {
        let chunk = vec![0; 64 << 20];
        (0..17).for_each(|n| add(zip, &n.to_string(), &chunk));
    });
    assert!(refusal(open(file)).contains("unpacks to more"));
}

#[test]
fn a_bomb_that_lies_about_its_size_is_stopped_at_what_it_declares() {
    let big = 8u32 << 20;
    let mut bytes = bytes_of(build(|zip| add(zip, "x", &vec![0; big as usize])));
    patch(&mut bytes, &big.to_le_bytes(), &10u32.to_le_bytes());
    let mut wheel = open(from_bytes(&bytes)).unwrap();
    assert_eq!(wheel.members()[0].bytes, 10);
    assert!(matches!(wheel.read_path("x"), Err(Error::Wheel { .. })));
}

#[test]
fn entries_that_share_bytes_are_refused() {
    let mut bytes = bytes_of(build(|zip| {
        add(zip, "aaa", &[7; 4000]);
        add(zip, "bbb", &[7; 4000]);
    }));
    // The second row of the directory is made to point at the first entry's bytes.
    let row = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    bytes[row + 42..row + 46].copy_from_slice(&0u32.to_le_bytes());
    refusal(open(from_bytes(&bytes)));
}

#[test]
fn a_corrupt_wheel_never_gives_other_bytes() {
    let text = b"some text that deflates, some text that deflates".repeat(20);
    let whole = bytes_of(build(|zip| add(zip, "x", &text)));
    for at in 0..whole.len() {
        let mut bad = whole.clone();
        bad[at] ^= 0x10;
        if let Ok(bytes) = open(from_bytes(&bad)).and_then(|mut wheel| wheel.read_path("x")) {
            assert_eq!(bytes, text, "byte {at}");
        }
    }
    for len in [0, 1, whole.len() / 2, whole.len() - 1] {
        assert!(open(from_bytes(&whole[..len])).is_err());
    }
}
