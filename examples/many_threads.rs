//! Calls a skill from several threads at once. `cargo run --release --example many_threads`

use std::thread;
use std::time::Instant;

use serde_json::json;
use skillcell::{Call, Host, HostError, Outcome, Skill};

const SKILL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/skills-compat/demo/word_count");
const THREADS: usize = 4;
const CALLS: usize = 250;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // One host and one skill for all of them: both are shared by reference, or cloned cheaply.
    let host = Host::builder().build()?;
    let skill = host.skill(SKILL)?;
    // Whoever comes first bakes the skill's image, if it is not in the cache, and the others wait for it.

    let started = Instant::now();
    let returned: usize = thread::scope(|scope| {
        let call_often = |thread| call_often(&host, &skill, thread);
        let workers: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || call_often(thread))).collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).sum::<Result<usize, HostError>>()
    })?;
    println!("{returned} of {} calls returned", THREADS * CALLS);
    eprintln!("{:.0} calls per second", returned as f64 / started.elapsed().as_secs_f64());
    Ok(())
}

/// Makes calls one after the other, each in a cell of its own. How many returned.
fn call_often(host: &Host, skill: &Skill, thread: usize) -> Result<usize, HostError> {
    let mut returned = 0;
    for number in 0..CALLS {
        let report = host.call(skill, &Call::new(json!({"text": format!("thread {thread}, call {number}")})))?;
        // `Outcome::Busy` would mean that no cell came free within the call's deadline; it may be made again.
        returned += usize::from(matches!(report.outcome, Outcome::Returned(_)));
    }
    Ok(returned)
}
