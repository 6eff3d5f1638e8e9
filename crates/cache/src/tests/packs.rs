//! Promise: a pack is a tree of files, whole, or it does not open.

use std::io;

use super::Bench;
use crate::progress::Silent;
use crate::{Artefact, Bucket, Error, Pack};
use serde_json::Value;

fn pack(bench: &Bench, files: &[(&str, &[u8])]) -> Result<Artefact, Error> {
    bench.cache.replace(Bucket::Pack, "p", "packing", &Silent, |w| {
        let files = files.iter().map(|(path, bytes)| Ok((path.to_string(), bytes.to_vec())));
        match Pack::build::<io::Error>(w, files) {
            Ok(_) => Ok(Value::Null),
            Err(e) => Err(Error::Name { name: e.to_string() }),
        }
    })
}

#[test]
fn a_pack_gives_back_its_files_whole_and_in_part() {
    let bench = Bench::new();
    let pack = Pack::open(pack(&bench, &[("b/y", b"12345"), ("a", b""), ("b/x", b"xx")]).unwrap()).unwrap();
    assert_eq!(pack.files().collect::<Vec<_>>(), [("a", 0), ("b/x", 2), ("b/y", 5)]);
    assert_eq!(pack.read("b/y").unwrap(), b"12345");
    assert_eq!(pack.read("b").unwrap_err().kind(), io::ErrorKind::NotFound);
    let entry = pack.entry("b/y").unwrap();
    let mut buf = [0; 4];
    assert_eq!((pack.read_at(entry, &mut buf, 3).unwrap(), &buf[..2]), (2, &b"45"[..]));
    assert_eq!(pack.read_at(entry, &mut buf, 5).unwrap(), 0);
    assert_eq!(pack.read_at(entry, &mut buf, u64::MAX).unwrap(), 0);
    std::thread::scope(|s| (0..4).for_each(|_| drop(s.spawn(|| assert_eq!(pack.read("b/x").unwrap(), b"xx")))));
}

#[test]
fn a_pack_refuses_paths_that_are_no_tree() {
    let bench = Bench::new();
    for bad in [&["../x"][..], &["/x"], &["a", "a"], &["a", "a/b"], &[""], &["a\\b"]] {
        let files: Vec<(&str, &[u8])> = bad.iter().map(|path| (*path, &b"x"[..])).collect();
        assert!(pack(&bench, &files).is_err(), "{bad:?}");
    }
}

#[test]
fn a_sealed_artefact_with_a_senseless_index_is_not_a_pack() {
    let bench = Bench::new();
    let with_index = |index: &str, len: u64| {
        let mut bytes = b"data".to_vec();
        bytes.extend_from_slice(index.as_bytes());
        bytes.extend_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(b"skpack1\n");
        bytes
    };
    let indexes = ["", "{}", r#"[["x",0,5]]"#, r#"[["x",18446744073709551615,2]]"#, r#"[["../x",0,1]]"#];
    let mut bad: Vec<Vec<u8>> = indexes.iter().map(|i| with_index(i, i.len() as u64)).collect();
    bad.extend([vec![], b"short".to_vec(), with_index("[]", u64::MAX), with_index("[]", 7)]);
    for (n, bytes) in bad.iter().enumerate() {
        let artefact = bench.put(&format!("p{n}"), bytes);
        assert!(matches!(Pack::open(artefact), Err(Error::Pack { .. })), "case {n}");
    }
    assert!(Pack::open(bench.put("good", &with_index(r#"[["x",0,4]]"#, 11))).is_ok());
}
