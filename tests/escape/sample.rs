//! Some pairs of every family in the other tiers that this machine has, against their records, by this same program once
//! more. All of them take an hour; `ESCAPE_TIER` runs those by hand.

use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};
use skillcell::Tier;
use skillcell::tier::container::Engine;

/// One pair of so many, in each folder of pairs: what is slower to start has fewer.
const EVERY: [(Tier, &str); 2] = [(Tier::Subprocess, "12"), (Tier::Container, "40")];

/// A test for each tier. Where it can't be run it is ignored, and says why.
pub fn trials() -> Vec<Trial> {
    EVERY.into_iter().map(|(tier, every)| trial(tier, every)).collect()
}

fn trial(tier: Tier, every: &'static str) -> Trial {
    let name = format!("some_of_all_families_are_as_recorded_in_{tier}");
    let missing = missing(tier);
    if let Some(why) = &missing {
        eprintln!("SKIPPED {name}: {why}");
    }
    Trial::test(name, move || run(tier, every)).with_ignored_flag(missing.is_some())
}

fn missing(tier: Tier) -> Option<String> {
    if tier == Tier::Container {
        let engine = match Engine::of_machine() {
            Ok(engine) => engine,
            Err(error) => return Some(error.to_string()),
        };
        return crate::debian::base(engine.kind.program()).err();
    }
    skillcell::tier::available(tier).err().map(|error| error.to_string())
}

fn run(tier: Tier, every: &str) -> Result<(), Failed> {
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.env("ESCAPE_TIER", tier.name()).env("ESCAPE_EVERY", every).env_remove("ESCAPE_RECORD");
    let ran = command.arg("--test-threads=1").stdin(Stdio::null()).output()?;
    if ran.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    Err(text.into())
}
