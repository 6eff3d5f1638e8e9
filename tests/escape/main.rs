//! The escape suite: hostile skills as real folders, each attempt in a pair. With the grant it works; without it, this exact
//! denial, nothing of the host changed, the marker nowhere in what comes out, and the next call unharmed.
//!
//! `<family>/<skill>/pairs.toml` says what is tried and expected; README.md has the format. What is particular to a tier is
//! in `tier.rs`.

mod answers;
mod authority;
mod case;
mod expect;
mod names;
mod promises;
mod props;
mod recorded;
mod runner;
mod servers;
mod stage;
mod tier;

use std::collections::BTreeSet;

/// The folders beside this file, each a test.
macro_rules! families {
    ($($family:ident)*) => {
        const FAMILIES: &[&str] = &[$(stringify!($family)),*];
        $(#[test]
        fn $family() {
            runner::family(stringify!($family));
        })*
    };
}

families! {
    descriptors
    door
    environment
    http
    imports
    leaks
    memory
    paths
    processes
    resources
    secrets
    sockets
}

/// The issue asks for this many.
const FEWEST_PAIRS: usize = 200;

#[test]
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

#[test]
fn every_folder_is_of_a_family_that_is_run() {
    let found: BTreeSet<String> = case::families().into_iter().collect();
    assert_eq!(found, FAMILIES.iter().map(|family| (*family).to_owned()).collect());
}
