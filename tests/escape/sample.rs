//! Some pairs of every family in the other tiers that this machine has, against their records, by this same program once
//! more. All of them take an hour; `ESCAPE_TIER` runs those by hand.

use std::process::{Command, Stdio};

use libtest_mimic::Trial;
use serde_json::Value;
use skillcell::Tier;
use skillcell_tiers::container::Engine;

use crate::common::{debian, trials};

/// A record to go by.
#[derive(Clone, Copy)]
struct Recorded {
    tier: Tier,
    /// Of the two that a process may have.
    sandbox: Option<&'static str>,
    /// One pair of so many, in each folder of pairs: what is slower to start has fewer.
    every: &'static str,
}

const RECORDED: [Recorded; 3] = [
    Recorded { tier: Tier::Subprocess, sandbox: Some("bubblewrap"), every: "12" },
    Recorded { tier: Tier::Subprocess, sandbox: Some("landlock"), every: "24" },
    Recorded { tier: Tier::Container, sandbox: None, every: "40" },
];

/// A test for each record. Where it can't be run it is ignored, and says why.
pub fn trials() -> Vec<Trial> {
    RECORDED.into_iter().map(trial).collect()
}

fn trial(recorded: Recorded) -> Trial {
    let place = recorded.sandbox.unwrap_or(recorded.tier.name());
    let name = format!("some_of_all_families_are_as_recorded_in_{place}");
    trials::trial(name, move || recorded.missing(), move || recorded.run())
}

impl Recorded {
    fn missing(self) -> Option<String> {
        if self.tier == Tier::Container {
            let engine = match Engine::of_machine() {
                Ok(engine) => engine,
                Err(error) => return Some(error.to_string()),
            };
            return debian::base(engine.kind.program()).err();
        }
        // Which sandbox there is, a process asks only once.
        let mut doctor = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        let said = self.in_sandbox(doctor.args(["doctor", "--json"])).output().expect("the program runs");
        let found: Value = serde_json::from_slice(&said.stdout).expect("JSON");
        let line = found["checks"].as_array().expect("checks").iter().find(|it| it["check"] == "tier subprocess");
        let line = line.expect("a line for the tier");
        (line["state"] != "ok").then(|| line["detail"].as_str().unwrap_or_default().to_owned())
    }

    fn in_sandbox(self, command: &mut Command) -> &mut Command {
        self.sandbox.into_iter().fold(command, |command, sandbox| command.env("SKILLCELL_SANDBOX", sandbox))
    }

    fn run(self) {
        let mut command = Command::new(std::env::current_exe().expect("a path"));
        command.env("ESCAPE_TIER", self.tier.name()).env("ESCAPE_EVERY", self.every).env_remove("ESCAPE_RECORD");
        let ran = self.in_sandbox(&mut command).arg("--test-threads=1").stdin(Stdio::null()).output();
        let ran = ran.expect("it starts");
        let text = [&ran.stdout, &ran.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        assert!(ran.status.success(), "{}", text.concat());
    }
}
