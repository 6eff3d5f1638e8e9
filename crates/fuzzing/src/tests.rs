//! The short run: each target over its whole corpus, then over mutations of it for a few seconds.
//!
//! `SKILLCELL_FUZZ_SEED=… cargo test --release -p skillcell-fuzzing` repeats a run that failed; `SKILLCELL_FUZZ_SECONDS` makes it longer.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{TARGETS, find_target};

const SECONDS: u64 = 2;
const MAX_INPUT_BYTES: usize = 64 << 10;
/// What the readers look for, to be put anywhere.
const WORDS: [&str; 46] = [
    "\n",
    "\r\n",
    "\r\n\r\n",
    "\n%%\n",
    "\t",
    " ",
    "\0",
    "/",
    "//",
    "..",
    "/../",
    "%2e",
    "%2F",
    "%25",
    "%",
    "*",
    "*.",
    ":",
    "[::1]",
    "@",
    "#1",
    "?",
    ";",
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "é",
    "\u{202e}",
    "a.test",
    "b.test",
    "https://",
    "GET ",
    "Host: a.test\r\n",
    "Content-Length: 3\r\n",
    "Transfer-Encoding: chunked\r\n",
    "0\r\n\r\n",
    "@KEY@",
    "@VALUE@",
    "65536",
    "4294967295",
    "-1",
    "1e999",
    "null",
];

fn fuzz_folder(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(below)
}

fn read_corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(fuzz_folder("corpus").join(name)).expect("a folder with a corpus");
    let mut inputs: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.display().to_string(), fs::read(&path).expect("a file")))
        .collect();
    inputs.sort();
    inputs
}

/// Numbers that look random: xorshift.
struct Dice(u64);

impl Dice {
    fn roll_below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count.max(1) as u64) as usize
    }

    fn roll_range(&mut self, length: usize) -> std::ops::Range<usize> {
        let (one, other) = (self.roll_below(length + 1), self.roll_below(length + 1));
        one.min(other)..one.max(other).min(one.min(other) + 64)
    }
}

fn mutate(input: &mut Vec<u8>, others: &[(String, Vec<u8>)], dice: &mut Dice) {
    for _ in 0..=dice.roll_below(4) {
        let at = dice.roll_below(input.len() + 1);
        match dice.roll_below(6) {
            0 if at < input.len() => input[at] ^= 1 << dice.roll_below(8),
            1 if at < input.len() => input[at] = dice.roll_below(256) as u8,
            2 => drop(input.drain(dice.roll_range(input.len()))),
            3 => {
                let piece = input[dice.roll_range(input.len())].to_vec();
                input.splice(at..at, piece);
            }
            4 => {
                let other = &others[dice.roll_below(others.len())].1;
                let piece = other[dice.roll_range(other.len())].to_vec();
                input.splice(at..at, piece);
            }
            _ => {
                let word = WORDS[dice.roll_below(WORDS.len())].bytes();
                input.splice(at..at, word);
            }
        }
        input.truncate(MAX_INPUT_BYTES);
    }
}

fn env_number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

fn short_run(name: &str) {
    let (target, inputs) = (find_target(name), read_corpus(name));
    assert!(inputs.len() >= 3, "a corpus of {}", inputs.len());
    for (path, input) in &inputs {
        catch_unwind(|| (target.run)(input)).unwrap_or_else(|_| panic!("it failed on {path}"));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64);
    let seed = env_number("SKILLCELL_FUZZ_SEED").unwrap_or(now | 1);
    let until = Instant::now() + Duration::from_secs(env_number("SKILLCELL_FUZZ_SECONDS").unwrap_or(SECONDS));
    let (mut dice, mut runs) = (Dice(seed | 1), 0_u64);
    while Instant::now() < until {
        let mut input = inputs[dice.roll_below(inputs.len())].1.clone();
        mutate(&mut input, &inputs, &mut dice);
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
        assert!(outcome.is_ok(), "SKILLCELL_FUZZ_SEED={seed}, run {runs}: {name} failed on {}", input.escape_ascii());
        runs += 1;
    }
    println!("{name}: {} inputs, {runs} mutations, SKILLCELL_FUZZ_SEED={seed}", inputs.len());
}

macro_rules! short_runs {
    ($($name:ident)*) => { $(#[test] fn $name() { short_run(stringify!($name)); })* };
}

short_runs! { door http_answer http_request link manifest paths policy_file schema scrubber url_policy }

#[test]
fn every_target_has_a_fuzz_target_a_binary_and_a_corpus() {
    let names: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    let stems = |below: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(fuzz_folder(below)).expect("a folder");
        entries.map(|e| e.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(stems("fuzz_targets"), names);
    assert_eq!(stems("corpus"), names);
    let manifest = fs::read_to_string(fuzz_folder("Cargo.toml")).expect("a manifest");
    for name in &names {
        assert!(manifest.contains(&format!("[[bin]]\nname = \"{name}\"")), "{name}");
        let file = fs::read_to_string(fuzz_folder("fuzz_targets").join(name).with_extension("rs")).expect("a file");
        assert!(file.contains(&format!("run(\"{name}\", data)")), "{name}");
    }
}
