//! Calls a skill and reads what came of it. `cargo run --release --example call_a_skill`
//!
//! The first call on a machine fetches and compiles the runtime, which takes a minute or two.

use serde_json::json;
use skillcell::{Call, Host, Outcome};

const SKILL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/skills-compat/demo/word_count");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Keep the host: it holds the compiled runtime and the images of skills. Clones share them.
    let host = Host::builder().build()?;
    // A folder with a `skill.py`, or the id of a skill in the pinned registry.
    let skill = host.skill(SKILL)?;

    // The manifest asks for a `text`: the second call is wrong, and no cell is made for it.
    for params in [json!({"text": "one two two"}), json!({"txt": "one"})] {
        // An error here is the host's own: a cache that can't be written, say. What the skill does is an outcome.
        let report = host.call(&skill, &Call::new(params))?;
        match &report.outcome {
            Outcome::Returned(result) => println!("returned {result}"),
            Outcome::Raised(raised) => println!("raised {}: {}", raised.kind, raised.message),
            Outcome::Exceeded(limit, _) => println!("went over a limit: {limit}"),
            // Outcomes may be added: the enum is non-exhaustive.
            other => println!("{}", other.name()),
        }
        eprintln!("it took {:?} in all, {:?} of that in the cell", report.usage.wall, report.usage.guest);
    }
    Ok(())
}
