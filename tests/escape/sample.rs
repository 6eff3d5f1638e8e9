//! Some pairs of every family in the other tiers that this machine has, and on the second runtime, against their records, by this
//! same program once more. All of them take an hour; `ESCAPE_TIER` and `SKILLCELL_RUNTIME` run those by hand.

use std::process::{Command, Stdio};

use libtest_mimic::Trial;
use serde_json::Value;
use skillcell::{RuntimeKind, Tier};
use skillcell_tiers::container::Engine;

use crate::common::{HOST, debian, trials};

/// A record to go by.
#[derive(Clone, Copy)]
struct Recorded {
    tier: Tier,
    /// Of cells: the one that case files don't speak of.
    runtime: Option<RuntimeKind>,
    /// Of the two that a process may have.
    sandbox: Option<&'static str>,
    /// One pair of so many, in each folder of pairs: what is slower to start has fewer.
    every: &'static str,
}

const RECORDED: [Recorded; 4] = [
    Recorded { tier: Tier::Wasm, runtime: Some(RuntimeKind::Pyodide), sandbox: None, every: "6" },
    Recorded { tier: Tier::Subprocess, runtime: None, sandbox: Some("bubblewrap"), every: "12" },
    Recorded { tier: Tier::Subprocess, runtime: None, sandbox: Some("landlock"), every: "24" },
    Recorded { tier: Tier::Container, runtime: None, sandbox: None, every: "40" },
];

/// A test for each record. Where it can't be run it is ignored, and says why.
pub fn trials() -> Vec<Trial> {
    RECORDED.into_iter().map(trial).collect()
}

fn trial(recorded: Recorded) -> Trial {
    let runtime = recorded.runtime.map(RuntimeKind::as_str);
    let place = runtime.or(recorded.sandbox).unwrap_or(recorded.tier.name());
    let name = format!("some_of_all_families_are_as_recorded_in_{place}");
    trials::trial(name, move || recorded.missing(), move || recorded.run())
}

impl Recorded {
    fn missing(self) -> Option<String> {
        if let Some(kind) = self.runtime {
            return HOST.runtime_unavailable(kind).map(|(why, _)| why);
        }
        if self.tier == Tier::Container {
            let engine = match Engine::of_machine() {
                Ok(engine) => engine,
                Err(error) => return Some(error.to_string()),
            };
            return debian::base(engine.kind.program()).err();
        }
        // Which sandbox there is, a process asks only once.
        let mut doctor = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        let said = self.in_place(doctor.args(["doctor", "--json"])).output().expect("the program runs");
        let found: Value = serde_json::from_slice(&said.stdout).expect("JSON");
        let line = found["checks"].as_array().expect("checks").iter().find(|it| it["check"] == "tier subprocess");
        let line = line.expect("a line for the tier");
        (line["state"] != "ok").then(|| line["detail"].as_str().unwrap_or_default().to_owned())
    }

    fn in_place(self, command: &mut Command) -> &mut Command {
        self.runtime.into_iter().fold(&mut *command, |command, kind| command.env("SKILLCELL_RUNTIME", kind.as_str()));
        self.sandbox.into_iter().fold(command, |command, sandbox| command.env("SKILLCELL_SANDBOX", sandbox))
    }

    fn run(self) {
        let mut command = Command::new(std::env::current_exe().expect("a path"));
        command.env("ESCAPE_TIER", self.tier.name()).env("ESCAPE_EVERY", self.every).env_remove("ESCAPE_RECORD");
        let ran = self.in_place(&mut command).arg("--test-threads=1").stdin(Stdio::null()).output();
        let ran = ran.expect("it starts");
        let text = [&ran.stdout, &ran.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        assert!(ran.status.success(), "{}", text.concat());
    }
}
