//! What the parts of a call cost: `cargo bench`. `skillcell bench` compares whole calls with the alternatives.
//!
//! Medians of interleaved rounds, printed as a table; these machines are noisy, so read ratios, not times.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillcell::{Call, Host, Outcome, Skill};

const ROUNDS: usize = 200;

fn main() {
    let host = Host::builder().build().expect("the cache folder can be used");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/skills-compat/demo/nothing");
    let nothing = host.skill(folder).expect("the demo skill is there");
    println!("{:<34} {:>10} {:>10} {:>10} {:>10}", "", "wall µs", "set-up µs", "guest µs", "down µs");
    for (name, call) in calls() {
        row(name, &measure(&host, &nothing, &call));
    }
    println!("{:<34} {:>10.0}", "open a host and make one call, ms", start_ms(folder));
}

/// The same skill, given more and more to do with its params.
fn calls() -> Vec<(&'static str, Call)> {
    let text = |bytes: usize| json!({"text": "x".repeat(bytes)});
    let rows = |count: usize| json!({"rows": (0..count).map(|n| json!({"id": n, "name": "row"})).collect::<Vec<_>>()});
    let mut constructed = Call::new(json!({}));
    constructed.config = Some(json!({"mode": "fast"}));
    let with = |params: Value| Call::new(params);
    vec![
        ("no params", with(json!({}))),
        ("params of 10 kB, one string", with(text(10_000))),
        ("params of 1 MB, one string", with(text(1_000_000))),
        ("params of 1,000 objects", with(rows(1_000))),
        ("config, so constructed in the call", constructed),
    ]
}

fn measure(host: &Host, skill: &Skill, call: &Call) -> [Duration; 4] {
    let mut parts: [Vec<Duration>; 4] = Default::default();
    for _ in 0..ROUNDS {
        let report = host.call(skill, call).expect("the host does its part");
        assert!(matches!(report.outcome, Outcome::Returned(_)), "{:?}", report.outcome);
        let usage = report.usage;
        for (all, part) in parts.iter_mut().zip([usage.wall, usage.setup, usage.guest, usage.teardown]) {
            all.push(part);
        }
    }
    parts.map(|mut all| {
        all.sort_unstable();
        all[all.len() / 2]
    })
}

fn row(name: &str, parts: &[Duration; 4]) {
    let [wall, setup, guest, teardown] = parts.map(|part| part.as_secs_f64() * 1e6);
    println!("{name:<34} {wall:>10.0} {setup:>10.0} {guest:>10.0} {teardown:>10.0}");
}

/// What a program pays before its first result, with everything in the cache.
fn start_ms(folder: &str) -> f64 {
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let started = Instant::now();
            let host = Host::builder().build().expect("the cache folder can be used");
            let skill = host.skill(folder).expect("the demo skill is there");
            host.call(&skill, &Call::new(json!({}))).expect("the host does its part");
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}
