//! Promise: what the cache gives out is what was put in, or nothing.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use super::{Bench, content, flip, read};
use crate::progress::Silent;
use crate::{Artefact, Bucket, Error};
use serde_json::{Value, json};

#[test]
fn an_artefact_comes_back_with_its_description_and_is_made_once() {
    let bench = Bench::new();
    let made = bench.put("x", b"hello");
    assert_eq!((made.bytes, made.digest), (5, blake3::hash(b"hello")));
    assert_eq!(made.meta, json!({"len": 5}));
    let again = bench.put("x", b"other");
    assert_eq!(read(again), b"hello");
    assert_eq!(bench.cache.meta(Bucket::Code, "x").unwrap(), Some(json!({"len": 5})));
    assert!(bench.cache.open(Bucket::Image, "x", &Silent).unwrap().is_none());
    for path in [bench.data("x"), bench.seal("x")] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o7777, 0o600);
    }
    assert_eq!(bench.leftovers(), 0);
}

#[test]
fn replacing_gives_the_new_content_and_leaves_open_files_as_they_were() {
    let bench = Bench::new();
    let old = bench.put("x", b"old");
    let new = bench.cache.replace(Bucket::Code, "x", "testing", &Silent, |w| {
        w.write_all(b"new").unwrap();
        Ok::<_, Error>(Value::Null)
    });
    assert_eq!((read(old), read(new.unwrap())), (b"old".to_vec(), b"new".to_vec()));
}

#[test]
fn a_flipped_byte_anywhere_never_opens() {
    let bench = Bench::new();
    let len = content().len();
    for at in [0, 1, 4095, 4096, len / 2, len - 1] {
        bench.spoilt(&format!("data byte {at}"), || flip(bench.data("x"), at));
    }
    bench.put("x", &content());
    let len = fs::metadata(bench.seal("x")).unwrap().len() as usize;
    for at in [0, 63, 64, 65, len / 2, len - 1] {
        bench.spoilt(&format!("seal byte {at}"), || flip(bench.seal("x"), at));
    }
}

#[test]
fn truncated_grown_missing_and_unsealed_files_never_open() {
    let bench = Bench::new();
    let cut = |path: PathBuf, len| fs::File::options().write(true).open(path).unwrap().set_len(len).unwrap();
    let len = content().len() as u64;
    for (what, data_len) in [("emptied", 0), ("truncated", len - 1), ("grown", len + 1)] {
        bench.spoilt(what, || cut(bench.data("x"), data_len));
    }
    bench.spoilt("seal emptied", || cut(bench.seal("x"), 0));
    bench.spoilt("seal truncated", || cut(bench.seal("x"), 100));
    bench.spoilt("seal of many megabytes", || cut(bench.seal("x"), 64 << 20));
    bench.spoilt("data missing", || fs::remove_file(bench.data("x")).unwrap());
    bench.spoilt("seal missing", || fs::remove_file(bench.seal("x")).unwrap());
}

#[test]
fn links_folders_pipes_and_wrong_modes_in_place_of_a_file_never_open() {
    let bench = Bench::new();
    let aside = bench.cache.root().join("aside");
    for path in [bench.data("x"), bench.seal("x")] {
        bench.spoilt("link to the same bytes", || {
            fs::rename(&path, &aside).unwrap();
            symlink(&aside, &path).unwrap();
        });
        bench.spoilt("folder", || {
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
        });
        bench.spoilt("pipe", || {
            fs::remove_file(&path).unwrap();
            assert!(
                std::process::Command::new("mkfifo")
                    .args(["-m600".as_ref(), path.as_os_str()])
                    .status()
                    .unwrap()
                    .success()
            );
        });
        for mode in [0o660, 0o602, 0o666] {
            bench.spoilt("mode", || fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap());
        }
    }
    assert!(aside.exists(), "the link's target is not ours to remove");
}

#[test]
fn a_file_that_others_may_read_is_still_ours() {
    let bench = Bench::new();
    bench.put("x", &content());
    for mode in [0o644, 0o400, 0o755, 0o600] {
        for path in [bench.data("x"), bench.seal("x")] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        assert_eq!(bench.open("x").map(read), Some(content()), "{mode:o}");
    }
}

#[test]
fn swapped_or_renamed_artefacts_never_open() {
    let bench = Bench::new();
    let swap = |a: PathBuf, b: PathBuf| {
        let aside = bench.cache.root().join("aside");
        for (from, to) in [(&a, &aside), (&b, &a), (&aside, &b)] {
            fs::rename(from, to).unwrap();
        }
    };
    bench.put("y", &content().iter().rev().copied().collect::<Vec<u8>>());
    bench.spoilt("data swapped", || swap(bench.data("x"), bench.data("y")));
    bench.put("y", b"other");
    bench.spoilt("both swapped", || {
        swap(bench.data("x"), bench.data("y"));
        swap(bench.seal("x"), bench.seal("y"));
    });
}

#[test]
fn what_a_killed_process_left_behind_is_swept_and_made_again() {
    let bench = Bench::new();
    let tmp = bench.cache.root().join("v1/tmp");
    fs::write(tmp.join("1-dead"), "half").unwrap();
    fs::create_dir(tmp.join("2-dead")).unwrap();
    fs::write(tmp.join("2-dead/wheel"), "half").unwrap();
    symlink("/nonexistent", tmp.join("3-odd")).unwrap();
    fs::write(bench.data("x"), "unsealed").unwrap();
    let alive = bench.cache.scratch().unwrap();
    assert_eq!(read(bench.put("x", b"whole")), b"whole");
    assert_eq!(bench.leftovers(), 1, "only the living process's folder is left");
    assert!(alive.path().is_dir());
    drop(alive);
    assert_eq!(bench.leftovers(), 0);
}

#[test]
fn a_failed_producer_leaves_nothing() {
    let bench = Bench::new();
    let made: Result<Artefact, Error> = bench.cache.make(Bucket::Code, "x", "testing", &Silent, |w| {
        w.write_all(b"half").unwrap();
        Err(Error::Name { name: "the producer's own error".into() })
    });
    assert!(matches!(made, Err(Error::Name { .. })));
    assert!(bench.open("x").is_none() && !bench.data("x").exists());
    assert_eq!(bench.leftovers(), 0);
}
