//! The promise of freshness: every call starts from the image and nothing else, and is random in its own way.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, SystemTime};

use crate::common::{HOST, call, fixture, returned, tests};
use serde_json::{Value, json};
use skillcell::{Call, Host, Limits, Outcome, Roots, WarmUp};

const CALLS: usize = 1000;
const THREADS: usize = 2;

#[test]
fn a_thousand_calls_draw_a_thousand_different_values() {
    let skill = fixture("freshness/draws");
    let drawn: Vec<Value> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| -> Vec<Value> {
                    let draw = |_| returned(call(&skill, &Call::new(json!({})))).expect("draws");
                    (0..CALLS / THREADS).map(draw).collect()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("draws")).collect()
    });
    let mut seen: BTreeMap<&str, HashSet<String>> = BTreeMap::new();
    for (source, value) in drawn.iter().flat_map(|draws| draws.as_object().expect("an object")) {
        assert!(seen.entry(source).or_default().insert(value.to_string()), "{source} gave {value} twice");
    }
    let counts: Vec<usize> = seen.values().map(HashSet::len).collect();
    assert_eq!(counts, [CALLS; 10]);
}

#[test]
fn without_an_image_calls_draw_differently_too() {
    let skill = fixture("freshness/frozen");
    let mut call_alone = Call::new(json!({}));
    call_alone.use_image = false;
    let draw = || returned(call(&skill, &call_alone)).expect("draws");
    assert_ne!(draw(), draw());
}

#[test]
fn what_is_drawn_at_import_is_the_same_in_every_call_and_told_by_the_bake() {
    let skill = fixture("freshness/frozen");
    let (_, report) = HOST.build(&skill, &WarmUp::Manifest, &Limits::default()).expect("bakes");
    assert!(report.entropy_bytes > 0, "{report:?}");
    let draw = || returned(call(&skill, &Call::new(json!({})))).expect("draws");
    assert_eq!(draw(), draw());
    let (_, report) = HOST.build(&fixture("freshness/clocks"), &WarmUp::Manifest, &Limits::default()).expect("bakes");
    assert_eq!(report.entropy_bytes, 0, "nothing to tell");
}

/// Calls `traces`, which plants a mark wherever it can, and ends as told.
fn plant(host: &Host, mark: &str, end: &str) -> Outcome {
    let mut planting = Call::new(json!({"mark": mark, "end": end}));
    if end == "deadline" {
        planting.limits.deadline = Duration::from_millis(50);
    }
    planting.limits.memory_bytes = 96 << 20;
    host.call(&fixture("freshness/traces"), &planting).expect("the host works").outcome
}

/// `null` means that the skill saw nothing of calls before it.
fn sees_nothing(host: &Host) {
    match plant(host, "later", "return") {
        Outcome::Returned(seen) => assert_eq!(seen.get(), "null"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_that_a_call_leaves_is_seen_by_the_next_however_it_ended() {
    let ends = [
        ("return", "returned"),
        ("raise", "raised ValueError"),
        ("abort", "raised CellCrash"),
        ("exit", "raised SystemExit"),
        ("deadline", "exceeded deadline"),
        ("memory", "exceeded memory"),
        ("output", "exceeded stdout bytes"),
    ];
    for _ in 0..10 {
        for (end, expected) in ends {
            let ended = match plant(&HOST, "earlier", end) {
                Outcome::Raised(raised) => format!("raised {}", raised.kind),
                Outcome::Exceeded(limit, _) => format!("exceeded {limit}"),
                other => other.name().to_owned(),
            };
            assert_eq!(ended, expected, "{end}");
            sees_nothing(&HOST);
        }
    }
}

#[test]
fn calls_side_by_side_see_nothing_of_each_other() {
    let other = Host::builder().roots(Roots::new([])).build().expect("a second host");
    std::thread::scope(|scope| {
        for host in [&*HOST, &*HOST, &other, &other] {
            scope.spawn(move || {
                for _ in 0..50 {
                    sees_nothing(host);
                    plant(host, "beside", "raise");
                }
            });
        }
    });
}

#[test]
fn clocks_go_on_from_what_was_kept_at_import() {
    let skill = fixture("freshness/clocks");
    let mut last = 0.0;
    for _ in 0..20 {
        let before = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs_f64();
        let told = returned(call(&skill, &Call::new(json!({})))).expect("tells the time");
        let since = |clock: &str| told["since_import"][clock].as_f64().expect("a number");
        assert!(since("time") > 0.0 && since("monotonic") >= 0.0 && since("perf_counter") >= 0.0, "{told}");
        let now = told["now"].as_f64().expect("a number");
        assert!(now > last && now >= before - 0.001 && now < before + 30.0, "{now} after {last}, host {before}");
        last = now;
    }
}

#[test]
fn every_fixture_is_used() {
    let source = include_str!("freshness.rs");
    for folder in std::fs::read_dir(tests().join("skills/freshness")).expect("there are fixtures") {
        let name = folder.expect("readable").file_name().into_string().expect("plain names");
        assert!(source.contains(&format!("freshness/{name}\"")), "no test runs `{name}`");
    }
}
