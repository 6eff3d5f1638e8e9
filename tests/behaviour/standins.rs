//! Promise: a stand-in for a native package gives what the native one gives, and says so where it can't.
//!
//! What the native ones give is in `expected.json` beside a skill, written by `tests/skills/standins/oracle.py`. The
//! Python of those that are completed is fetched with pip the first time.

use std::fs;
use std::sync::LazyLock;

use crate::common::{host_builder, notes, returned, tests};
use serde_json::{Value, json};
use skillcell::{Call, Host, NoteKind, Report, RuntimeKind, Skill};
use skillcell_packages::PackageStatus;

/// On the first runtime. What is for the second one only is in `tests/tiers/second_runtime.rs`.
static HOST: LazyLock<Host> =
    LazyLock::new(|| host_builder().runtime(RuntimeKind::WasiPython).build().expect("the cache folder can be used"));

fn skill(name: &str) -> Skill {
    let folder = tests().join("skills/standins").join(name);
    HOST.skill(folder.to_str().expect("a plain path")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn call(skill: &Skill, call: &Call) -> Report {
    HOST.call(skill, call).unwrap_or_else(|error| panic!("{}: {error}", skill.id()))
}

fn gives_what_the_native_one_gives(name: &str) {
    let file = tests().join("skills/standins").join(name).join("expected.json");
    let expected: Value = serde_json::from_slice(&fs::read(file).expect("the oracle wrote it")).expect("JSON");
    let result = returned(call(&skill(name), &Call::new(json!({})))).unwrap_or_else(|what| panic!("{name} {what}"));
    let expected = expected.as_object().expect("an object");
    assert_eq!(expected.keys().collect::<Vec<_>>(), result.as_object().expect("one").keys().collect::<Vec<_>>());
    for (part, expected) in expected {
        assert_eq!(&result[part], expected, "{name}: {part}");
    }
}

#[test]
fn biopython_aligns_and_translates_as_the_native_one() {
    gives_what_the_native_one_gives("alignments");
}

#[test]
fn hashes_ciphers_and_persistent_collections_are_those_of_the_native_ones() {
    gives_what_the_native_one_gives("primitives");
}

#[test]
fn a_stand_in_says_what_it_lacks() {
    let packages = HOST.packages(&skill("alignments")).unwrap_or_else(|error| panic!("{error}"));
    let biopython = packages.packages.iter().find(|package| package.name == "biopython").expect("it is required");
    let PackageStatus::StandIn { version, limits } = &biopython.standing else { panic!("{:?}", biopython.standing) };
    assert_eq!(version, "1.88");
    assert!(limits.iter().any(|limit| limit.contains("NotImplementedError")), "{limits:?}");
}

#[test]
fn a_stand_in_that_is_not_used_is_not_told_of() {
    let told = |params: Value| notes(&call(&skill("seldom"), &Call::new(params)));
    assert_eq!(told(json!({})), []);
    assert_eq!(told(json!({"use": true})), [(NoteKind::StandIn, "rpds-py".to_owned())]);
}
