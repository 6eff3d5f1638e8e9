//! The promise of limits: each ends the call as its own outcome, never the host, and the next call works.

use std::time::{Duration, Instant};

use crate::common::watched::on_a_terminal;
use crate::common::{HOST, call, fixture, returned, tests};
use serde_json::{Value, json};
use skillcell::{Call, CancelToken, LimitKind, Limits, NoteKind, Outcome, Raised, Report};

/// One call of `limits/<name>` within `limits`, and after it one that works: with the same host, on the same thread.
fn run(name: &str, params: Value, set: impl FnOnce(&mut Limits)) -> Report {
    let skill = fixture(&format!("limits/{name}"));
    // Baked before, so that a limit of the call is not met by the bake.
    HOST.call(&skill, &within(json!({"way": "nothing", "length": 0, "count": 0}), |_| {})).expect("the host works");
    let report = call(&skill, &within(params, set));
    assert_eq!(returned(call(&fixture("limits/polite"), &Call::new(json!({})))), Ok(json!(499_500)), "after {name}");
    report
}

fn within(params: Value, set: impl FnOnce(&mut Limits)) -> Call {
    let mut call = Call::new(params);
    set(&mut call.limits);
    call
}

/// The limit, and the exception that the skill saw of it.
fn exceeded(report: &Report) -> (LimitKind, Option<&Raised>) {
    match &report.outcome {
        Outcome::Exceeded(limit, raised) => (*limit, raised.as_ref()),
        other => panic!("{}: {other:?}", report.skill),
    }
}

#[test]
fn the_deadline_ends_whatever_a_skill_does() {
    let deadline = Duration::from_millis(100);
    let busy = ["loop", "regex", "power", "factors", "sort", "swallow", "finally", "hash", "key"];
    let waiting = ["sleep", "many sleeps", "select", "poll"];
    for way in busy.into_iter().chain(waiting) {
        let started = Instant::now();
        let report = run("time", json!({"way": way}), |limits| limits.deadline = deadline);
        assert_eq!(exceeded(&report).0, LimitKind::Deadline, "{way}");
        assert!(report.usage.guest >= deadline / 2, "{way} ended early: {:?}", report.usage);
        // Generous, since the machine may be busy; what it would take without a deadline is hours.
        assert!(started.elapsed() < Duration::from_secs(20), "{way} took {:?}", started.elapsed());
    }
}

#[test]
fn hashing_is_no_call_to_the_host() {
    let report = run("time", json!({"way": "many hashes"}), |limits| limits.host_calls = 100);
    assert!(matches!(report.outcome, Outcome::Returned(_)), "{:?}", report.outcome);
}

#[test]
fn a_cancelled_call_ends_whatever_the_skill_does_and_the_next_one_works() {
    for way in ["loop", "regex", "swallow", "finally", "hash", "key", "sleep", "many sleeps", "select", "poll"] {
        let skill = fixture("limits/time");
        HOST.call(&skill, &within(json!({"way": "nothing"}), |_| {})).expect("the host works");
        let mut cancelled = within(json!({"way": way}), |limits| limits.deadline = Duration::from_secs(600));
        cancelled.cancel = CancelToken::new();
        let token = cancelled.cancel.clone();
        let report = std::thread::scope(|scope| {
            let running = scope.spawn(|| call(&skill, &cancelled));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!running.is_finished(), "{way}");
            token.cancel();
            running.join().expect("it ends")
        });
        assert!(matches!(report.outcome, Outcome::Cancelled), "{way}: {:?}", report.outcome);
        assert!(matches!(call(&skill, &cancelled).outcome, Outcome::Cancelled), "{way}: a token is for good");
        assert_eq!(returned(call(&fixture("limits/polite"), &Call::new(json!({})))), Ok(json!(499_500)), "{way}");
    }
}

#[test]
fn a_deadline_of_one_call_leaves_calls_beside_it_alone() {
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| {
            for _ in 0..10 {
                let report = call(&fixture("limits/polite"), &Call::new(json!({"count": 300_000})));
                assert!(matches!(report.outcome, Outcome::Returned(_)), "{:?}", report.outcome);
            }
        });
        while !busy.is_finished() {
            let report = run("time", json!({"way": "loop"}), |limits| limits.deadline = Duration::from_millis(5));
            assert_eq!(exceeded(&report).0, LimitKind::Deadline);
        }
    });
}

#[test]
fn memory_runs_out_as_a_memory_error_that_a_skill_may_handle() {
    for way in ["one large", "many small", "doubling"] {
        let report = run("memory", json!({"way": way}), |limits| limits.memory_bytes = 96 << 20);
        let (limit, raised) = exceeded(&report);
        assert_eq!(limit, LimitKind::Memory, "{way}");
        assert_eq!(raised.map(|raised| raised.kind.as_str()), Some("MemoryError"), "{way}");
        assert!(report.usage.memory_peak_bytes <= 96 << 20, "{way}: {:?}", report.usage);
    }
    let handled = run("memory", json!({"way": "handled"}), |limits| limits.memory_bytes = 96 << 20);
    assert_eq!(returned(handled), Ok(json!("caught")));
}

#[test]
fn output_ends_at_its_last_byte_however_it_is_written() {
    for way in ["print", "write", "buffer", "descriptor", "duplicate"] {
        for (stream, limit) in [("stdout", LimitKind::StdoutBytes), ("stderr", LimitKind::StderrBytes)] {
            let params = json!({"way": way, "stream": stream, "count": 20_000});
            let report = run("output", params, |limits| {
                (limits.stdout_bytes, limits.stderr_bytes) = (1000, 1000);
            });
            assert_eq!(exceeded(&report).0, limit, "{way} to {stream}");
            let (written, other) =
                if stream == "stdout" { (report.stdout, report.stderr) } else { (report.stderr, report.stdout) };
            assert_eq!((written, other), (vec![b'x'; 1000], vec![]), "{way} to {stream}");
        }
    }
}

#[test]
fn output_of_exactly_its_limit_is_fine_and_none_is_allowed_at_zero() {
    let exact = json!({"way": "descriptor", "stream": "stdout", "count": 1000});
    let report = run("output", exact, |limits| limits.stdout_bytes = 1000);
    assert_eq!(report.stdout.len(), 1000);
    assert_eq!(returned(report), Ok(json!("done")));
    let silent = json!({"way": "print", "stream": "stdout", "count": 0});
    let report = run("output", silent, |limits| (limits.stdout_bytes, limits.stderr_bytes) = (0, 0));
    assert_eq!(returned(report), Ok(json!("done")));
    let one = json!({"way": "print", "stream": "stdout", "count": 1});
    let report = run("output", one, |limits| limits.stdout_bytes = 0);
    assert_eq!((exceeded(&report).0, report.stdout), (LimitKind::StdoutBytes, vec![]));
}

#[test]
fn a_result_may_be_as_long_as_its_limit() {
    let report = run("results", json!({"length": 98}), |limits| limits.result_bytes = 100);
    assert_eq!(returned(report), Ok(json!("x".repeat(98))));
    let report = run("results", json!({"length": 99}), |limits| limits.result_bytes = 100);
    assert_eq!(exceeded(&report).0, LimitKind::ResultBytes);
    let report = run("results", json!({"length": 17 << 20}), |_| {});
    assert_eq!(exceeded(&report).0, LimitKind::ResultBytes, "the default is 16 MiB");
}

#[test]
fn recursion_is_an_exception_or_a_limit_and_never_a_crash() {
    let skill = fixture("limits/recursion");
    let ways = returned(call(&skill, &Call::new(json!({})))).expect("the list of ways");
    for way in ways.as_array().expect("a list").iter().filter_map(Value::as_str) {
        let report = run("recursion", json!({"way": way}), |limits| limits.memory_bytes = 96 << 20);
        match &report.outcome {
            Outcome::Returned(_) => {}
            Outcome::Raised(raised) => {
                let kinds = ["RecursionError", "MemoryError", "SyntaxError", "ValueError", "ResultNotJSON"];
                assert!(kinds.contains(&raised.kind.as_str()), "{way}: {raised:?}");
            }
            Outcome::Exceeded(LimitKind::Recursion | LimitKind::Memory, _) => {}
            other => panic!("{way}: {other:?}"),
        }
    }
}

#[test]
fn an_endless_function_is_a_recursion_error_with_its_line() {
    let report = run("recursion", json!({"way": "function"}), |_| {});
    let raised = crate::common::raised(report).expect("an exception");
    assert_eq!(raised.kind, "RecursionError");
    assert!(raised.traceback.contains("skill.py\", line 29, in function"), "{}", raised.traceback);
}

#[test]
fn recursion_overflows_no_thread_however_small_its_stack() {
    for stack_bytes in [64 << 10, 512 << 10, 2 << 20] {
        let small = std::thread::Builder::new().stack_size(stack_bytes).spawn(|| {
            for way in ["unlimited", "freeing lists", "maps", "json.loads"] {
                run("recursion", json!({"way": way}), |limits| limits.memory_bytes = 96 << 20);
            }
        });
        small.expect("a thread").join().expect("the thread lives");
    }
}

#[test]
fn files_are_limited_in_number_and_bytes_and_a_skill_may_handle_it() {
    let small = |limits: &mut Limits| {
        (limits.open_files, limits.scratch_bytes, limits.scratch_files) = (8, 1_000_000, 20);
    };
    let expected = [
        ("open_many", LimitKind::OpenFiles, 33, 0),
        ("unlinked", LimitKind::OpenFiles, 33, 0),
        ("write_much", LimitKind::ScratchBytes, 51, 1_000_000),
        ("write_home", LimitKind::ScratchBytes, 51, 0),
        ("make_files", LimitKind::ScratchFiles, 51, 0),
        ("make_folders", LimitKind::ScratchFiles, 51, 0),
        ("truncate", LimitKind::ScratchBytes, 51, 0),
        ("seek", LimitKind::ScratchBytes, 51, 0),
    ];
    for (way, limit, errno, in_use) in expected {
        let report = run("files", json!({"way": way, "catch": false}), small);
        let (met, raised) = exceeded(&report);
        assert_eq!(met, limit, "{way}");
        assert_eq!(raised.map(|raised| raised.kind.as_str()), Some("OSError"), "{way}");
        let report = run("files", json!({"way": way, "catch": true}), small);
        assert_eq!(returned(report), Ok(json!({"errno": errno, "in_use": in_use})), "{way}");
    }
}

#[test]
fn bytes_of_deleted_files_that_are_open_count() {
    let report = run("files", json!({"way": "unlinked", "catch": false}), |limits| {
        (limits.open_files, limits.scratch_bytes) = (1000, 1_000_000);
    });
    assert_eq!(exceeded(&report).0, LimitKind::ScratchBytes);
}

#[test]
fn a_flood_of_host_calls_ends() {
    for way in ["stat", "clock", "entropy", "door", "no frame"] {
        let report = run("host_calls", json!({"way": way}), |limits| limits.host_calls = 5000);
        assert_eq!(exceeded(&report).0, LimitKind::HostCalls, "{way}");
        assert_eq!(report.usage.host_calls, 5001, "{way}");
    }
}

#[test]
fn limits_of_nothing_end_the_call_and_not_the_host() {
    type Case = (&'static str, fn(&mut Limits), Option<LimitKind>);
    let nothing: [Case; 9] = [
        ("a nanosecond", |limits| limits.deadline = Duration::from_nanos(1), Some(LimitKind::Deadline)),
        ("no time", |limits| limits.deadline = Duration::ZERO, Some(LimitKind::Deadline)),
        ("all time", |limits| limits.deadline = Duration::MAX, None),
        ("no memory", |limits| limits.memory_bytes = 0, Some(LimitKind::Memory)),
        ("less memory than the image", |limits| limits.memory_bytes = 1 << 20, Some(LimitKind::Memory)),
        ("all memory", |limits| limits.memory_bytes = u64::MAX, None),
        ("no result", |limits| limits.result_bytes = 0, Some(LimitKind::ResultBytes)),
        ("no host call", |limits| limits.host_calls = 0, Some(LimitKind::HostCalls)),
        (
            "no files, no output",
            |limits| {
                (limits.open_files, limits.scratch_bytes, limits.scratch_files) = (0, 0, 0);
                (limits.stdout_bytes, limits.stderr_bytes) = (0, 0);
            },
            None,
        ),
    ];
    for (what, set, limit) in nothing {
        for use_image in [true, false] {
            let skill = fixture("limits/polite");
            let mut tight = within(json!({}), set);
            tight.use_image = use_image;
            if !use_image && what.starts_with("no files") {
                continue; // Python opens files to boot
            }
            let met = match call(&skill, &tight).outcome {
                Outcome::Exceeded(limit, _) => Some(limit),
                Outcome::Returned(_) => None,
                other => panic!("{what}: {other:?}"),
            };
            assert_eq!(met, limit, "{what}, image {use_image}");
        }
    }
    assert_eq!(returned(call(&fixture("limits/polite"), &Call::new(json!({})))), Ok(json!(499_500)));
}

#[test]
fn a_bake_has_the_calls_deadline_and_no_other_of_its_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = tests().join("skills/limits/polite/skill.py");
    let unique = format!("# {:?}\n", std::time::SystemTime::now());
    let text = std::fs::read_to_string(source).expect("readable") + &unique;
    std::fs::write(folder.path().join("skill.py"), text).expect("writable");
    let skill = HOST.skill(folder.path().to_str().expect("a plain path")).expect("a skill");
    let hasty = within(json!({}), |limits| limits.deadline = Duration::from_millis(1));
    let report = call(&skill, &hasty);
    assert_eq!(exceeded(&report).0, LimitKind::Deadline);
    // It is said that it was the bake, and what to do.
    let [note] = report.notes.as_slice() else { panic!("{:?}", report.notes) };
    assert_eq!(note.kind, NoteKind::Bake);
    let build = format!("`skillcell build {}`", folder.path().display());
    assert!(note.message.contains("while the skill was imported") && note.message.contains(&build), "{}", note.message);
    // Nothing of that is kept, and what bakes the image leaves no trace in it.
    let tight = within(json!({}), |limits| (limits.open_files, limits.scratch_files) = (0, 0));
    let report = call(&skill, &tight);
    assert!(report.image.as_ref().is_some_and(|image| image.baked));
    assert_eq!(returned(report), Ok(json!(499_500)));
    // From here on it is the call itself that takes too long, of which there is nothing to note.
    let endless = within(json!({"count": 1_000_000_000}), |limits| limits.deadline = Duration::from_millis(50));
    let report = call(&skill, &endless);
    assert_eq!((exceeded(&report).0, report.notes.len()), (LimitKind::Deadline, 0));
    for memory_bytes in [1 << 20, 46 << 20] {
        let small = within(json!({}), |limits| limits.memory_bytes = memory_bytes);
        assert_eq!(exceeded(&call(&skill, &small)).0, LimitKind::Memory);
    }
}

/// Wasmtime's compiler has two copies of the image at once; nothing of ours comes on top of that.
#[test]
fn a_bake_takes_no_more_than_twice_the_image_on_the_host() {
    let skill = tests().join("skills/limits/heavy");
    let built = on_a_terminal(&["build", skill.to_str().expect("a plain path"), "--json", "--quiet"]);
    assert_eq!(built.code, 0, "{}", built.said);
    let told: Value = serde_json::from_str(&built.said).expect("JSON");
    let image = told["report"]["image_bytes"].as_u64().expect("a size");
    assert!(image > 96 << 20, "{image}");
    assert!(built.peak_bytes < 2 * image + (80 << 20), "{} for an image of {image}", built.peak_bytes);
}

#[test]
fn a_result_of_brackets_is_laid_out_on_a_terminal_in_a_few_times_its_size() {
    let skill = tests().join("skills/limits/deep");
    let ran = on_a_terminal(&["run", skill.to_str().expect("a plain path"), "--quiet", "--timeout", "120"]);
    assert_eq!(ran.code, 0, "{}", ran.said);
    assert!(ran.said.starts_with("[\n  [\n    [\n"), "{:?}", &ran.said[..100]);
    assert!(ran.peak_bytes < 400 << 20, "{}", ran.peak_bytes);
}

/// `cargo test --release --test isolation -- --ignored fuel`
#[test]
#[ignore = "fuel needs the runtime compiled a second time, which takes more than a minute"]
fn fuel_runs_out_and_counts_the_same_every_time() {
    let burnt = |count: u64| {
        let report = run("polite", json!({"count": count}), |limits| limits.fuel = Some(10_000_000_000));
        report.usage.fuel.expect("it was limited")
    };
    let (once, again, more) = (burnt(1000), burnt(1000), burnt(100_000));
    assert_eq!(once, again);
    assert!(more > once);
    for way in ["loop", "hash", "key"] {
        let report = run("time", json!({"way": way}), |limits| limits.fuel = Some(once * 2));
        assert_eq!(exceeded(&report).0, LimitKind::Fuel, "{way}");
    }
}

#[test]
fn every_fixture_is_used() {
    let source = include_str!("limits.rs");
    for folder in std::fs::read_dir(tests().join("skills/limits")).expect("there are fixtures") {
        let name = folder.expect("readable").file_name().into_string().expect("plain names");
        let named = [format!("\"{name}\""), format!("limits/{name}")];
        assert!(named.iter().any(|name| source.contains(name)), "no test runs `{name}`");
    }
}
