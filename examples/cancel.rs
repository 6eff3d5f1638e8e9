//! Ends a call from another thread. `cargo run --release --example cancel`

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use skillcell::{Call, CancelToken, Host};

const SKILL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/skills/waits");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let host = Host::builder().build()?;
    let skill = host.skill(SKILL)?;
    // The first call bakes the skill's image, so that the one below does nothing but wait.
    println!("{}", host.call(&skill, &Call::new(json!({"seconds": 0})))?.outcome.name());

    let token = CancelToken::new();
    let mut call = Call::new(json!({"seconds": 25}));
    // Any number of calls can carry clones of a token: those of one client, say, for when it goes away.
    call.cancel = token.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        token.cancel();
    });
    let started = Instant::now();
    let report = host.call(&skill, &call)?;
    println!("{}", report.outcome.name());
    eprintln!("after {:?}", started.elapsed());
    Ok(())
}
