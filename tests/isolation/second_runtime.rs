//! The promises of a cell on the second runtime, and of both side by side. All other files here run on it too, with
//! `SKILLCELL_RUNTIME=pyodide`; this one is in every run. Where Pyodide's package can't be had (no npm, nothing in the cache), each test
//! says so and ends.

use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::common::{HOST, host_builder, returned, tests};
use serde_json::{Value, json};
use skillcell::{Call, CancelToken, Host, LimitKind, Outcome, Report, RuntimeKind, Skill};

static SECOND: LazyLock<Option<Host>> = LazyLock::new(|| {
    let host = host_builder().runtime(RuntimeKind::Pyodide).build().expect("the cache folder can be used");
    match host.runtime_unavailable(RuntimeKind::Pyodide) {
        None => Some(host),
        Some((why, hint)) => {
            println!("skipped: {why} ({hint})");
            None
        }
    }
});

fn fixture(host: &Host, path: &str) -> Skill {
    let folder = tests().join("skills").join(path);
    host.skill(folder.to_str().expect("a plain path")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn call(host: &Host, path: &str, call: &Call) -> Report {
    host.call(&fixture(host, path), call).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn quick(host: &Host, path: &str, params: Value) -> Report {
    call(host, path, &Call::new(params))
}

/// Another call on the same host works, on a cell that was never used or is as its image again.
fn still_works(host: &Host, after: &str) {
    assert_eq!(returned(quick(host, "limits/polite", json!({}))), Ok(json!(499_500)), "after {after}");
}

#[test]
fn a_call_runs_on_it_and_waiting_is_no_loop() {
    let Some(host) = &*SECOND else { return };
    let result = returned(quick(host, "second/waits", json!({}))).expect("it works");
    assert!(result["slept"].as_f64().expect("a number") >= 0.05, "{result}");
    let shown = json!([result["platform"], result["gathered"], result["folder"]]);
    assert_eq!(shown, json!(["emscripten", [0, 1, 2], "/"]));
    // Waiting is the host's, and not a loop over its clock.
    let long = quick(host, "second/waits", json!({"seconds": 0.5}));
    assert!(long.usage.host_calls < 1000, "{:?}", long.usage);
}

#[test]
fn what_pyodide_leaves_to_javascript_and_its_packages_is_there() {
    let Some(host) = &*SECOND else { return };
    let zone = json!(["UTC", 7200.0]);
    let document = "Python Library Documentation: class Library in module skills.second.library.skill";
    let expected = json!({"zone": zone, "document": document, "database": [["kept"]], "browser": false});
    assert_eq!(returned(quick(host, "second/library", json!({}))), Ok(expected));
}

#[test]
fn nothing_that_a_call_leaves_is_seen_by_the_next_however_it_ended() {
    let Some(host) = &*SECOND else { return };
    for end in ["return", "raise", "abort", "exit", "deadline", "memory", "output"] {
        let mut planting = Call::new(json!({"mark": "earlier", "end": end}));
        planting.limits.memory_bytes = 96 << 20;
        if end == "deadline" {
            planting.limits.deadline = Duration::from_millis(200);
        }
        call(host, "freshness/traces", &planting);
        let later = returned(quick(host, "freshness/traces", json!({"mark": "later", "end": "return"})));
        assert_eq!(later, Ok(Value::Null), "after {end}");
    }
}

#[test]
fn every_call_draws_its_own_random_values() {
    let Some(host) = &*SECOND else { return };
    let mut seen = HashSet::new();
    for _ in 0..50 {
        let draws = returned(quick(host, "second/draws", json!({}))).expect("it draws");
        for (source, value) in draws.as_object().expect("an object") {
            assert!(seen.insert(format!("{source} {value}")), "{source} gave {value} twice");
        }
    }
}

#[test]
fn time_memory_output_files_and_host_calls_are_limited() {
    let Some(host) = &*SECOND else { return };
    let cases = [
        ("limits/time", json!({"way": "loop"}), LimitKind::Deadline),
        ("limits/time", json!({"way": "sleep"}), LimitKind::Deadline),
        ("limits/time", json!({"way": "regex"}), LimitKind::Deadline),
        ("limits/memory", json!({"way": "many small"}), LimitKind::Memory),
        ("limits/memory", json!({"way": "one large"}), LimitKind::Memory),
        ("limits/output", json!({"way": "print", "stream": "stdout", "count": 20_000}), LimitKind::StdoutBytes),
        ("limits/files", json!({"way": "open_many", "catch": false}), LimitKind::OpenFiles),
        ("limits/files", json!({"way": "write_much", "catch": false}), LimitKind::ScratchBytes),
        ("limits/host_calls", json!({"way": "stat"}), LimitKind::HostCalls),
        ("limits/host_calls", json!({"way": "no frame"}), LimitKind::HostCalls),
    ];
    for (path, params, expected) in cases {
        let told = format!("{path} {params}");
        let mut limited = Call::new(params);
        let limits = &mut limited.limits;
        (limits.memory_bytes, limits.stdout_bytes, limits.open_files) = (96 << 20, 1000, 8);
        (limits.scratch_bytes, limits.host_calls) = (1_000_000, 20_000);
        if expected == LimitKind::Deadline {
            limits.deadline = Duration::from_millis(300);
        }
        let report = call(host, path, &limited);
        assert!(
            matches!(&report.outcome, Outcome::Exceeded(limit, _) if *limit == expected),
            "{told}: {:?}",
            report.outcome
        );
        assert!(report.usage.memory_peak_bytes <= 96 << 20, "{told}");
        still_works(host, &told);
    }
}

#[test]
fn a_cancelled_call_ends_while_it_computes_or_waits() {
    let Some(host) = &*SECOND else { return };
    for way in ["loop", "sleep"] {
        let mut cancelled = Call::new(json!({"way": way}));
        (cancelled.cancel, cancelled.limits.deadline) = (CancelToken::new(), Duration::from_secs(600));
        let token = cancelled.cancel.clone();
        let started = Instant::now();
        let report = std::thread::scope(|scope| {
            let running = scope.spawn(|| call(host, "limits/time", &cancelled));
            std::thread::sleep(Duration::from_millis(300));
            token.cancel();
            running.join().expect("it ends")
        });
        assert!(matches!(report.outcome, Outcome::Cancelled), "{way}: {:?}", report.outcome);
        assert!(started.elapsed() < Duration::from_secs(120), "{way}");
        still_works(host, way);
    }
}

#[test]
fn deep_recursion_is_an_exception_or_a_limit_and_never_a_crash() {
    let Some(host) = &*SECOND else { return };
    let ways = returned(quick(host, "limits/recursion", json!({}))).expect("the list of ways");
    for way in ways.as_array().expect("a list").iter().filter_map(Value::as_str) {
        let mut deep = Call::new(json!({"way": way}));
        // Some only end with their memory, which takes long on a busy machine.
        (deep.limits.memory_bytes, deep.limits.deadline) = (96 << 20, Duration::from_secs(300));
        match call(host, "limits/recursion", &deep).outcome {
            Outcome::Returned(_) | Outcome::Exceeded(LimitKind::Recursion | LimitKind::Memory, _) => {}
            Outcome::Raised(raised) => {
                let kinds = ["RecursionError", "MemoryError", "SyntaxError", "ValueError", "ResultNotJSON"];
                assert!(kinds.contains(&raised.kind.as_str()), "{way}: {raised:?}");
            }
            other => panic!("{way}: {other:?}"),
        }
        still_works(host, way);
    }
}

/// Where Python and C take turns, CPython's own guard comes before the end of the native stack, so that a skill can handle it. C
/// alone takes so little of the stack that CPython measures that the native one may end first; that is a limit of the call.
#[test]
fn deep_recursion_through_python_is_a_recursion_error() {
    let Some(host) = &*SECOND else { return };
    for way in ["repr", "equality", "attribute"] {
        match quick(host, "limits/recursion", json!({"way": way})).outcome {
            Outcome::Raised(raised) => assert_eq!(raised.kind, "RecursionError", "{way}"),
            other => panic!("{way}: {other:?}"),
        }
    }
}

#[test]
fn both_runtimes_run_side_by_side_in_one_process() {
    let Some(second) = &*SECOND else { return };
    std::thread::scope(|scope| {
        for host in [&*HOST, second] {
            scope.spawn(move || {
                for round in 0..20 {
                    still_works(host, "the other runtime's call");
                    let drawn = returned(quick(host, "second/draws", json!({})));
                    assert!(drawn.is_ok(), "{round}: {drawn:?}");
                }
            });
        }
    });
}

#[test]
fn every_fixture_is_used() {
    for folder in std::fs::read_dir(tests().join("skills/second")).expect("there are fixtures") {
        let name = folder.expect("readable").file_name().into_string().expect("plain names");
        let tests = [include_str!("second_runtime.rs"), include_str!("../tiers/second_runtime.rs")];
        assert!(tests.iter().any(|test| test.contains(&format!("{name}\""))), "no test runs `{name}`");
    }
}
