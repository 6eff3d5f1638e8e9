//! The promise of warm images: they are warm without being asked, and no call can tell.

use std::collections::BTreeMap;

use crate::common::{HOST, fixture};
use serde_json::{Value, json};
use skillcell::{Call, GrantKind, Limits, Outcome, Skill, WarmUp};
use skillcell_cell::image::{BakeReport, Warmth};

/// Skills whose calls leave something that could matter, and what the report says of it.
const COLD: [(&str, &str); 16] = [
    ("closure", "`skill._count`"),
    ("counts", "`skill._calls`"),
    ("default_argument", "`skill._seen`"),
    ("generator", "`skill._numbers`"),
    ("keeps_first", "`skill._first`"),
    ("keeps_seen", "`skill._seen`"),
    ("lazy_config", "its config"),
    ("lazy_entropy_import", "`drawing.SALT`"),
    ("lazy_file", "files that a call may be granted"),
    ("lazy_random", "`skill._salt`"),
    ("lazy_time", "`skill._began`"),
    ("lazy_variable", "`REGION`"),
    ("library_state", "the decimal context"),
    ("prints_once", "output"),
    ("second_call", "`skill._first`"),
    ("writes_scratch", "scratch space"),
];
/// Skills that are warm, since nothing of it can be told.
const WARM: [&str; 4] = ["cached_variable", "lazy_data", "mutates_library", "warns_once"];
/// Skills that say something else each time, in whatever cell.
const RANDOM: [&str; 2] = ["lazy_entropy_import", "lazy_random"];

fn built(skill: &Skill) -> BakeReport {
    HOST.build(skill, &WarmUp::Manifest, &Limits::default()).expect("bakes").1
}

#[test]
fn what_calls_leave_is_not_in_an_image_if_it_could_matter_and_the_report_says_why() {
    for (name, why) in COLD {
        let report = built(&fixture(&format!("warm/{name}")));
        let reason = report.cold_reason.clone().unwrap_or_default();
        assert!(report.warmth != Warmth::Calls && reason.contains(why), "{name}: {:?}, {reason}", report.warmth);
        assert!(report.warm_up_calls > 0, "{name}");
    }
}

#[test]
fn what_depends_on_no_call_is_in_the_image_without_being_asked_for() {
    for name in WARM {
        let report = built(&fixture(&format!("warm/{name}")));
        assert_eq!((&report.warmth, &report.cold_reason), (&Warmth::Calls, &None), "{name}");
    }
}

#[test]
fn no_call_can_tell_how_warm_its_image_is() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("table.txt"), "a b").unwrap();
    for name in COLD.iter().map(|(name, _)| *name).chain(WARM).filter(|name| !RANDOM.contains(name)) {
        let skill = fixture(&format!("warm/{name}"));
        built(&skill);
        for call in calls(folder.path()) {
            let mut alone = call.clone();
            alone.use_image = false;
            assert_eq!(seen(&skill, &call), seen(&skill, &alone), "{name}, {}", call.params_json());
        }
    }
}

fn calls(folder: &std::path::Path) -> Vec<Call> {
    let plain = |text: &str| Call::new(json!({"text": text}));
    let [mut with_variable, mut with_config, mut with_file] = [plain("one two"), plain("one"), plain("two")];
    with_variable.env = BTreeMap::from([("REGION".to_owned(), "eu".to_owned())]);
    with_config.config = Some(json!({"mode": "fast"}));
    with_file.grants.add(GrantKind::Mount, &format!("{}:/data", folder.display())).unwrap();
    vec![plain("tell"), plain("Please help me with this example text."), with_variable, with_config, with_file]
}

fn seen(skill: &Skill, call: &Call) -> (Value, Vec<u8>, bool) {
    let report = HOST.call(skill, call).expect("the host works");
    let outcome = match &report.outcome {
        Outcome::Returned(result) => serde_json::from_str(result.get()).unwrap(),
        other => json!(other.describe()),
    };
    (outcome, report.stdout, report.stderr.is_empty())
}

#[test]
fn what_functions_import_is_there_before_a_call_reaches_them_unless_it_would_be_missed_there() {
    let deep = Call::new(json!({"text": "deep in it"}));
    let skill = fixture("warm/late_import");
    built(&skill);
    assert_eq!(seen(&skill, &deep).0, json!({"was_there": true, "name": "wsgiref.handlers"}));
    // None of the calls that are compared imports it: it is its random number that tells.
    let skill = fixture("warm/late_entropy");
    built(&skill);
    let [one, other] = [(); 2].map(|()| seen(&skill, &deep).0["salt"].clone());
    assert!(one.is_string() && one != other, "{one} {other}");
}

#[test]
fn calls_of_the_bundles_own_tests_warm_its_image() {
    let skill = fixture("warm/tested");
    let tested = HOST.test(&skill, &skillcell::TestCall::default()).expect("its tests run");
    assert!(tested.ok, "{tested:?}");
    let report = built(&skill);
    assert_eq!(report.warmth, Warmth::Calls, "{:?}", report.cold_reason);
    // Two of its tests, beside those of its schema, which knows nothing of the text without which it does nothing.
    assert_eq!(report.warm_up_calls, 1 + 2);
}

#[test]
fn a_skill_that_never_returns_is_baked_soon_and_cold() {
    let started = std::time::Instant::now();
    let report = built(&fixture("warm/endless"));
    assert_eq!(report.warmth, Warmth::Cold);
    assert!(report.warm_up_ms < 20_000.0 && started.elapsed().as_secs() < 60, "{} ms", report.warm_up_ms);
}
