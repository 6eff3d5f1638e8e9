//! What is fuzzed: one function for each reader of hostile bytes, from those bytes to assertions.
//!
//! ```text
//!   fuzz/corpus/NAME/* ─┬─▶ `cargo fuzz run NAME` (fuzz/ depends on this crate) ─┬─▶ Target::run(bytes)
//!                       └─▶ `cargo test` (tests.rs here): all of it, then mutations for seconds ─┘
//! ```
//!
//! A body asserts what the module under test promises, not only that it doesn't panic. No input can change what the next one
//! finds, and it touches nothing but a temporary folder and its own listener on 127.0.0.1. docs/security/fuzzing.md has
//! the promises and the record of the long runs.

mod door;
mod http_answer;
mod http_request;
mod link;
mod manifest;
#[cfg(feature = "meter")]
mod meter;
mod paths;
mod planted_secret;
mod policy_file;
mod schema;
mod scrubber;
#[cfg(test)]
mod tests;
mod url_policy;

/// One thing to fuzz.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
}

/// All of them; fuzz/fuzz_targets has a file for each, fuzz/corpus a folder.
pub const TARGETS: [Target; 10] = [
    Target { name: "door", run: door::run },
    Target { name: "http_answer", run: http_answer::run },
    Target { name: "http_request", run: http_request::run },
    Target { name: "link", run: link::run },
    Target { name: "manifest", run: manifest::run },
    Target { name: "paths", run: paths::run },
    Target { name: "policy_file", run: policy_file::run },
    Target { name: "schema", run: schema::run },
    Target { name: "scrubber", run: scrubber::run },
    Target { name: "url_policy", run: url_policy::run },
];

/// Runs one target on one input, and holds it to the memory that it may take.
#[cfg(feature = "meter")]
pub fn run(name: &str, data: &[u8]) {
    let target = find_target(name);
    let peak = meter::peak_of(|| (target.run)(data));
    assert!(peak <= meter::allowed_bytes(name, data.len()), "{name} took {peak} bytes for an input of {}", data.len());
}

pub fn find_target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).expect("a target's name")
}

/// A text that is shown to people can't steer their terminal, and is not endless.
fn assert_fit_to_show(text: &str) {
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    assert!(text.len() < 16 << 10, "{} bytes of message", text.len());
}

fn contains_bytes(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Cuts a first line off, which says how the rest is to be used.
fn first_line(data: &[u8]) -> Option<(&str, &[u8])> {
    let end = data.iter().position(|&byte| byte == b'\n')?;
    Some((std::str::from_utf8(&data[..end]).ok()?, &data[end + 1..]))
}
