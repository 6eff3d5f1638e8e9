//! Pillow in a cell reads and writes JPEG files as a Pillow with libjpeg-turbo does, bit by bit.
//!
//! What that one gives is recorded by `tests/jpeg/record.py`, for pictures that the fixture makes by arithmetic.

use crate::common::{call, fixture, returned};
use serde_json::{Value, json};
use skillcell::Call;

fn expected() -> Value {
    serde_json::from_str(include_str!("../jpeg/expected.json")).expect("what was recorded is JSON")
}

fn got() -> Value {
    let mut wanted = Call::new(json!({}));
    wanted.limits.deadline = std::time::Duration::from_secs(600);
    returned(call(&fixture("jpeg/codec"), &wanted)).unwrap_or_else(|what| panic!("{what}"))
}

#[test]
fn files_and_pixels_are_those_of_libjpeg() {
    let (expected, mut got) = (expected(), got());
    assert_eq!(got["features"], json!([true, "6.2", false]));
    got.as_object_mut().expect("an object").remove("features");
    let cases = expected["cases"].as_object().expect("cases");
    assert!(cases.len() > 600, "only {} cases", cases.len());
    let wrong: Vec<_> = cases.iter().filter(|(name, digests)| got["cases"][name.as_str()] != **digests).collect();
    assert!(wrong.is_empty(), "{} of {} differ: {wrong:#?}", wrong.len(), cases.len());
    for (name, said) in expected["failures"].as_object().expect("failures") {
        assert_eq!(&got["failures"][name], said, "{name}");
    }
    assert_eq!(got, expected);
}

#[test]
fn a_skill_without_pillow_does_not_pay_for_it() {
    let result =
        returned(call(&fixture("jpeg/without"), &Call::new(json!({})))).unwrap_or_else(|what| panic!("{what}"));
    assert_eq!(result, json!([]));
}
