//! The escape suite: hostile skills as real folders, each attempt in a pair. With the grant it works; without it, this exact
//! denial, nothing of the host changed, the marker nowhere in what comes out, and the next call unharmed.
//!
//! `<family>/<skill>/pairs.toml` says what is tried and expected; README.md has the format. What is particular to a tier is
//! in `tier.rs`.

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod authority;
mod case;
mod expect;
mod folders;
mod names;
mod promises;
mod props;
mod recorded;
mod runner;
mod sample;
mod servers;
mod spellings;
mod stage;
mod tier;
mod wheels;

use std::collections::BTreeSet;
use std::process::ExitCode;

use common::trials::trial;
use libtest_mimic::{Arguments, Trial};

/// The folders beside this file, each a test.
const FAMILIES: &[&str] = &[
    "charsets",
    "descriptors",
    "door",
    "environment",
    "http",
    "imports",
    "leaks",
    "memory",
    "partial",
    "paths",
    "processes",
    "resources",
    "secrets",
    "sockets",
    "wheels",
];

type Test = (&'static str, fn());

/// Hostile folders that the program is started in: no skill, so no pairs.
const FOLDERS: &[Test] = &[
    (
        "folders::no_verb_runs_what_is_in_the_folder_that_it_is_started_in",
        folders::no_verb_runs_what_is_in_the_folder_that_it_is_started_in,
    ),
    ("folders::each_bait_bites_when_it_is_run_on_purpose", folders::each_bait_bites_when_it_is_run_on_purpose),
    (
        "folders::a_folder_that_stands_in_for_the_registry_is_named",
        folders::a_folder_that_stands_in_for_the_registry_is_named,
    ),
];

/// Tests of the suite itself.
const OF_ITSELF: &[Test] = &[
    ("pairs_are_many_and_named_once_and_their_halves_differ", pairs_are_many_and_named_once_and_their_halves_differ),
    ("every_folder_is_of_a_family_that_is_run", every_folder_is_of_a_family_that_is_run),
    (
        "the_table_of_promises_is_that_of_the_recorded_runs",
        promises::the_table_of_promises_is_that_of_the_recorded_runs,
    ),
    (
        "nothing_recorded_breaks_a_promise_and_every_difference_that_lets_more_has_a_reason",
        promises::nothing_recorded_breaks_a_promise_and_every_difference_that_lets_more_has_a_reason,
    ),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let families = FAMILIES.iter().map(|&name| trial(name, || None, move || runner::family(name)));
    let mut trials: Vec<Trial> = families.collect();
    if tier::is_as_written() {
        trials.extend(FOLDERS.iter().chain(OF_ITSELF).map(|&(name, test)| trial(name, || None, test)));
        trials.extend(sample::trials());
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The issue asks for this many.
const FEWEST_PAIRS: usize = 200;

fn pairs_are_many_and_named_once_and_their_halves_differ() {
    let (mut names, mut wrong) = (BTreeSet::new(), Vec::new());
    for folder in FAMILIES.iter().copied().flat_map(case::folders) {
        for pair in &folder.pairs {
            let name = folder.name_of(pair);
            if pair.allowed.gives == pair.denied.gives {
                wrong.push(format!("{name}: both halves expect the same"));
            }
            if !pair.denied.gives.says_something() || !pair.allowed.gives.says_something() {
                wrong.push(format!("{name}: a half expects nothing"));
            }
            if !names.insert(name.clone()) {
                wrong.push(format!("{name}: there are two of this name"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(names.len() >= FEWEST_PAIRS, "there are {} pairs", names.len());
}

fn every_folder_is_of_a_family_that_is_run() {
    let found: BTreeSet<String> = case::families().into_iter().collect();
    assert_eq!(found, FAMILIES.iter().map(|family| (*family).to_owned()).collect());
}
