//! A virtual environment has what is required, locked; it is made once, and again when its tree is gone.

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;

use common::HOST;
use skillcell::VenvError;

fn requirements(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[test]
fn it_has_the_pinned_framework_and_native_packages_locked_by_hash_and_is_made_once() {
    let venv = HOST.venv(&requirements(&["markupsafe"]), &[]).expect("pip has an index");
    let locked = |name: &str| venv.lock().packages.iter().find(|p| p.name.eq_ignore_ascii_case(name));
    assert!(locked("skillware").is_some_and(|p| p.version == "0.6.0" && !p.is_native()));
    assert!(locked("markupsafe").is_some_and(|p| p.is_native() && p.sha256.len() == 64));
    // The versions that cells have.
    assert!(locked("jsonschema").is_some_and(|p| p.version == "4.17.3"));
    assert!(venv.python().exists() && venv.bytes() > 1 << 20);
    let made = |path: &std::path::Path| fs::metadata(path).map(|meta| meta.ino()).ok();
    let first = made(venv.root());
    let again = HOST.venv(&requirements(&["markupsafe", "markupsafe"]), &[]).unwrap();
    assert_eq!((again.root(), made(again.root())), (venv.root(), first));
    let other = HOST.venv(&[], &requirements(&["markupsafe<3"])).unwrap();
    assert_ne!(other.root(), venv.root());
    fs::remove_dir_all(other.root()).unwrap();
    assert!(HOST.venv(&[], &requirements(&["markupsafe<3"])).unwrap().python().exists());
}

#[test]
fn a_requirement_that_no_wheel_meets_says_what_pip_said() {
    let error = HOST.venv(&requirements(&["markupsafe==0.0.0.1"]), &[]).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("resolve the requirements") && text.contains("markupsafe==0.0.0.1"), "{text}");
    assert!(error.hint().is_some_and(|hint| hint.contains("only wheels")), "{:?}", error.hint());
}

#[test]
fn a_requirement_that_is_an_option_or_an_address_never_reaches_pip() {
    for line in ["--index-url=http://127.0.0.1:1/", "x @ file:///tmp/x", "-e ."] {
        let error = HOST.venv(&requirements(&[line]), &[]).unwrap_err();
        assert!(matches!(error, skillcell::HostError::Venv(VenvError::Requirement { .. })), "{error}");
    }
}
