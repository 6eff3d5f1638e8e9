//! Calls that run a script: how they are made, and what its end means.

pub(super) mod outside;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::call::{Call, Note, NoteKind, Outcome, Raised, Report};
use crate::entry::{Entry, Script};
use skillcell_policy::manifest::Manifest;

impl Call {
    /// A call that runs a file of the skill with these arguments; all else as by default.
    pub fn script(path: impl Into<String>, argv: impl IntoIterator<Item = String>) -> Call {
        Call::default().with_script(path, argv)
    }

    /// The same call, to run a file of the skill with these arguments. What the script imports is no reason to refuse it:
    /// what a cell has no use for raises where it is used.
    pub fn with_script(self, path: impl Into<String>, argv: impl IntoIterator<Item = String>) -> Call {
        let path = path.into();
        // What it finds as `sys.argv[0]` is what was written, as with `python3 ./scripts/x.py`.
        let is_plain = path.split('/').all(|part| !matches!(part, "" | "."));
        let called = (!is_plain).then(|| path.clone());
        let entry = Entry::Script(Script { path, ..Script::default() });
        let params = json!({"argv": argv.into_iter().collect::<Vec<_>>(), "called": called});
        self.entering(entry, params)
    }

    /// The same call, to run this code as `python3 -c` would, with a skill from [`Host::program`](crate::Host::program).
    pub fn with_code(self, code: &str, argv: impl IntoIterator<Item = String>) -> Call {
        let entry = Entry::Script(Script { path: super::program::NAME.to_owned(), ..Script::default() });
        let params = json!({"argv": argv.into_iter().collect::<Vec<_>>(), "code": code});
        self.entering(entry, params)
    }

    /// The same call, to run what somebody typed at a prompt: one statement, whose value is shown if it is an expression. A session
    /// goes on with it. Where more lines have to follow nothing runs, and the report [says so](Report::is_incomplete).
    pub fn with_lines(self, code: &str) -> Call {
        let script = Script { path: super::program::NAME.to_owned(), typed: true, ..Script::default() };
        self.entering(Entry::Script(script), json!({"argv": [], "code": code, "interactive": true}))
    }

    /// The script that it runs, if it runs one.
    pub fn script_mut(&mut self) -> Option<&mut Script> {
        match &mut self.entry {
            Entry::Script(script) => Some(script),
            Entry::Execute => None,
        }
    }
}

impl Report {
    /// Whether what was typed is only a beginning, as [`Call::with_lines`] had it: nothing of it ran.
    pub fn is_incomplete(&self) -> bool {
        matches!(&self.outcome, Outcome::Returned(json) if json.get() == "\"incomplete\"")
    }
}

/// What a script's end means: an exit code, and a result only where that is 0.
pub(super) fn finish_script(entry: &Entry, report: &mut Report) {
    let Entry::Script(script) = entry else { return };
    let code = match &report.outcome {
        Outcome::Returned(_) => Some(0),
        Outcome::Raised(raised) => Some(exit_status(raised)),
        _ => None,
    };
    report.exit_code = code;
    if code == Some(0) && !script.typed {
        report.outcome = Outcome::Returned(RawValue::NULL.to_owned());
    }
}

/// What a shell has of a program that ended by `SIGABRT`, which is what a crash of the interpreter comes closest to.
const ABORTED: u8 = 134;
const CRASH: &str = "CellCrash";

/// As a shell sees it: the lowest eight bits. An exception is 1.
fn exit_status(raised: &Raised) -> u8 {
    match raised.exit_code {
        Some(code) => (code & 0xFF) as u8,
        None if raised.kind == CRASH => ABORTED,
        None => 1,
    }
}

/// Notes on a script's packages, where they are only a guess.
pub(super) fn note_guess(manifest: &Manifest) -> Option<Note> {
    let raw = manifest.raw();
    let guessed = raw.get("requirements_from").and_then(Value::as_str) == Some("imports");
    (guessed && !manifest.requirements.is_empty()).then(|| {
        let names = manifest.requirements.join(", ");
        let message = format!(
            "nothing says which packages the script requires; by what it imports they are taken to be: {names}. A PEP 723 \
             block in the script, or a `requirements.txt` in the skill, would say it"
        );
        Note::new(NoteKind::GuessedPackages, names, message)
    })
}
