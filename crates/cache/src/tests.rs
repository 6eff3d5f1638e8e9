//! What the cache promises, each promise in its file, and a cache in a folder of its own to show it with.

mod integrity;
mod inventory;
mod packs;
mod processes;
mod trim;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use super::{Artefact, Bucket, Cache, Error, Writer, check_name};
use crate::progress::{Progress, Silent};
use serde_json::{Value, json};

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Progress for Notes {
    fn step(&self, _: &str) {}
    fn fraction(&self, _: u64, _: u64) {}
    fn note(&self, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}

struct Bench {
    _dir: tempfile::TempDir,
    cache: Cache,
}

impl Bench {
    fn new() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(&dir.path().join("cache")).unwrap();
        Bench { _dir: dir, cache }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Artefact {
        let write = |w: &mut Writer| -> Result<Value, Error> {
            w.write_all(bytes).unwrap();
            Ok(json!({"len": bytes.len()}))
        };
        self.cache.make(Bucket::Code, name, "testing", &Silent, write).unwrap()
    }

    fn open(&self, name: &str) -> Option<Artefact> {
        self.cache.open(Bucket::Code, name, &Silent).unwrap()
    }

    fn data(&self, name: &str) -> PathBuf {
        self.cache.root().join("v1/code").join(name)
    }

    fn seal(&self, name: &str) -> PathBuf {
        self.data(&format!("{name}.seal"))
    }

    fn leftovers(&self) -> usize {
        fs::read_dir(self.cache.root().join("v1/tmp")).unwrap().count()
    }

    /// Makes `x`, spoils it, and shows that it is gone, was noted, and can be made again.
    fn spoilt(&self, what: &str, spoil: impl FnOnce()) {
        self.put("x", &content());
        spoil();
        let notes = Notes::default();
        assert!(self.cache.open(Bucket::Code, "x", &notes).unwrap().is_none(), "{what}");
        assert!(notes.0.lock().unwrap()[0].contains("discarded the damaged cache file"), "{what}");
        assert!(!self.data("x").exists() && !self.seal("x").exists(), "{what}");
        assert_eq!(read(self.put("x", &content())), content(), "{what}");
    }
}

fn content() -> Vec<u8> {
    (0..100_000u32).flat_map(u32::to_le_bytes).collect()
}

fn read(artefact: Artefact) -> Vec<u8> {
    let mut file = artefact.file;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes).unwrap();
    bytes
}

fn flip(path: PathBuf, at: usize) {
    let mut bytes = fs::read(&path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn names_that_are_paths_or_seals_are_refused() {
    for bad in ["", ".", "..", "a/b", ".hidden", "x.seal", "a b", "a\0b", "é"] {
        assert!(check_name(bad).is_err(), "{bad:?}");
    }
    for good in ["a", "python-3.15+1", "stdlib-0123.zip"] {
        assert!(check_name(good).is_ok(), "{good:?}");
    }
}
