//! The promise of endurance: calls leave nothing in the host, however many there were and however they ended.
//!
//! `SKILLCELL_SOAK_CALLS` says how many; 20,000 unless it is set.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::common::{call, fixture};
use serde_json::json;
use skillcell::{Call, CancelToken, Outcome, Session, SessionLimits};

const THREADS: usize = 2;
/// Every tenth call ends in one of these.
const ENDS: [&str; 11] = [
    "cancelled",
    "deadline",
    "sleep",
    "memory",
    "stdout_bytes",
    "result_bytes",
    "recursion",
    "open_files",
    "scratch_bytes",
    "host_calls",
    "abort",
];
const MEBIBYTE: u64 = 1 << 20;
/// What a cell that waits for the next call may keep of its pages.
const AT_REST: u64 = 8 * MEBIBYTE;
/// The name of the threads that call.
const CALLER: &str = "soak-caller";

/// What this process holds.
#[derive(Debug)]
struct Held {
    /// Memory of its own, and with what it maps of files.
    private_bytes: u64,
    resident_bytes: u64,
    threads: usize,
    descriptors: usize,
}

impl Held {
    fn now() -> Held {
        // A thread that was joined may be listed for a moment longer.
        let patience = Instant::now() + Duration::from_secs(5);
        while caller_is_listed() && Instant::now() < patience {
            std::thread::yield_now();
        }
        let status = std::fs::read_to_string("/proc/self/status").expect("readable");
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a field");
            line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).expect("a number") << 10
        };
        let count = |folder: &str| std::fs::read_dir(folder).expect("readable").count();
        Held {
            private_bytes: field("RssAnon:"),
            resident_bytes: field("VmRSS:"),
            threads: count("/proc/self/task"),
            descriptors: count("/proc/self/fd"),
        }
    }
}

fn caller_is_listed() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").expect("readable").flatten();
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok()).any(|name| name.trim() == CALLER)
}

fn calls() -> usize {
    std::env::var("SKILLCELL_SOAK_CALLS").map_or(20_000, |count| count.parse().expect("a number of calls"))
}

/// The `number`th call, and the check of its outcome.
fn one(skill: &skillcell::Skill, number: usize) {
    let way = if number.is_multiple_of(10) { ENDS[number / 10 % ENDS.len()] } else { "work" };
    let asked = if way == "cancelled" { "deadline" } else { way };
    let mut work = Call::new(json!({"way": asked}));
    work.limits.memory_bytes = 80 << 20;
    work.limits.result_bytes = 50_000;
    work.limits.host_calls = 5000;
    work.limits.scratch_bytes = 1 << 20;
    if matches!(way, "deadline" | "sleep") {
        work.limits.deadline = Duration::from_millis(10);
    }
    let outcome = std::thread::scope(|scope| {
        if way == "cancelled" {
            work.cancel = CancelToken::new();
            let token = work.cancel.clone();
            let canceller = std::thread::Builder::new().name(CALLER.into());
            let cancel = move || {
                std::thread::sleep(Duration::from_millis(2));
                token.cancel();
            };
            canceller.spawn_scoped(scope, cancel).expect("a thread");
        }
        call(skill, &work).outcome
    });
    let ended = match outcome {
        Outcome::Returned(result) => format!("work: {result}"),
        Outcome::Raised(raised) => raised.kind,
        Outcome::Exceeded(limit, _) => limit.to_string().replace(' ', "_"),
        other => other.name().to_owned(),
    };
    let expected = match way {
        "work" => "work: 490",
        "sleep" => "deadline",
        "abort" => "CellCrash",
        limit => limit,
    };
    assert_eq!(ended, expected, "call {number}, {way}");
}

fn run(skill: &skillcell::Skill, numbers: std::ops::Range<usize>) {
    let next = AtomicUsize::new(numbers.start);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let calls = || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        return;
                    }
                    one(skill, number);
                }
            };
            std::thread::Builder::new().name(CALLER.into()).spawn_scoped(scope, calls).expect("a thread");
        }
    });
}

pub fn calls_of_which_a_tenth_hit_limits_leave_no_memory_threads_or_descriptors() {
    let fixtures = std::fs::read_dir(crate::common::tests().join("skills/soak")).expect("there are fixtures");
    assert_eq!(fixtures.count(), 1, "only `worker`");
    let skill = fixture("soak/worker");
    let warm_up = calls() / 4;
    run(&skill, 0..warm_up);
    let (before, started) = (Held::now(), Instant::now());
    run(&skill, warm_up..calls());
    let after = Held::now();
    println!("{} calls in {:?}: {before:?}, then {after:?}", calls() - warm_up, started.elapsed());
    let slack = 4 * MEBIBYTE + THREADS as u64 * AT_REST;
    assert!(after.private_bytes < before.private_bytes + slack, "{before:?}, then {after:?}");
    assert!(after.resident_bytes < before.resident_bytes + 2 * slack, "{before:?}, then {after:?}");
    assert_eq!((after.threads, after.descriptors), (before.threads, before.descriptors), "{before:?}, then {after:?}");
}

pub fn thousands_of_calls_in_one_session_leave_no_memory_threads_or_descriptors() {
    let (skill, session) = (fixture("soak/worker"), Session::new(SessionLimits::default()));
    let run = |calls: usize| {
        for _ in 0..calls {
            let mut work = Call::new(json!({"way": "work"}));
            work.session = Some(session.clone());
            let outcome = call(&skill, &work).outcome;
            assert!(matches!(outcome, Outcome::Returned(_)), "{outcome:?}");
        }
    };
    run(1000);
    let before = Held::now();
    run(4000);
    let after = Held::now();
    println!("4000 calls in one session: {before:?}, then {after:?}");
    assert!(after.private_bytes < before.private_bytes + 4 * MEBIBYTE, "{before:?}, then {after:?}");
    assert_eq!((after.threads, after.descriptors), (before.threads, before.descriptors), "{before:?}, then {after:?}");
    session.close();
}
