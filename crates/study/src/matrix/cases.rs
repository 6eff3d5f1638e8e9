//! Recorded calls: what `skills-compat/parity/cases.json` holds, and how each ended outside of any sandbox.
//!
//! A case is `{id, skill, params, config?, env?, files?, http?, ends, expected | raises, validate_params?,
//! nondeterministic?, http_requests?}`, as `skills-compat/parity/record.py` records it; or `{id, skill, not_recorded}`,
//! a call that would be worth having, with the reason why there is none; or a run of a script, see
//! [`ScriptCase`]. `{{WORK}}`, `{{HOME}}` and `{{SKILLS}}` stand for
//! places that differ from run to run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer_servers::{Answer, Request};
pub use super::script_cases::ScriptCase;

const MAX_FILE_BYTES: u64 = 64 << 20;

/// The cases of the pinned registry that come with this program.
const PINNED: &str = include_str!("../../../../skills-compat/parity/cases.json");
/// The files that they bring.
const PINNED_FILES: [(&str, &[u8]); 3] = [
    ("addressbook.yaml", include_bytes!("../../../../skills-compat/parity/files/addressbook.yaml")),
    ("evm.yaml", include_bytes!("../../../../skills-compat/parity/files/evm.yaml")),
    ("form.pdf", include_bytes!("../../../../skills-compat/parity/files/form.pdf")),
];

/// How a call ended, outside of any sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Ending {
    #[serde(rename = "succeeds")]
    Succeeds,
    /// It returned, and what it returned says that it failed.
    #[serde(rename = "reports an error")]
    ReportsAnError,
    #[serde(rename = "raises")]
    Raises,
}

impl Ending {
    /// Of a call that returned this. The same rule is in `runtime-assets/study/recorded.py`.
    pub fn of_result(result: &Value) -> Ending {
        let says_so = matches!(result["status"].as_str(), Some("error" | "blocked" | "failed"))
            || result["success"] == false
            || result
                .get("error")
                .is_some_and(|error| !matches!(error, Value::Null | Value::Bool(false)) && error != "");
        if says_so { Ending::ReportsAnError } else { Ending::Succeeds }
    }

    pub fn name(self) -> &'static str {
        match self {
            Ending::Succeeds => "succeeds",
            Ending::ReportsAnError => "reports an error",
            Ending::Raises => "raises",
        }
    }
}

/// One recorded call, in the places of a run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Case {
    pub id: String,
    pub skill: String,
    pub params: Value,
    pub config: Option<Value>,
    pub env: BTreeMap<String, String>,
    /// Names in the work folder, and the recorded files that they are.
    pub files: BTreeMap<String, String>,
    /// What its requests are answered with.
    pub http: Vec<Answer>,
    /// The requests that it made.
    pub http_requests: Vec<Request>,
    ends: Option<Ending>,
    pub expected: Option<Value>,
    pub raises: Option<Raises>,
    /// True, or the exception of a check against the manifest.
    pub validate_params: Value,
    /// JSON pointers into `expected`.
    pub nondeterministic: Vec<String>,
    /// Why the call was never made.
    pub not_recorded: Option<String>,
    /// The case as it was read, for a process that makes the call.
    #[serde(skip)]
    pub json: Value,
    #[serde(skip)]
    source: Files,
}

/// An exception.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Raises {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
}

/// Where the placeholders of a case lead in a run.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    pub work: &'a str,
    pub home: &'a str,
    pub skills: &'a str,
}

impl Case {
    /// Its name without its skill.
    pub fn name(&self) -> &str {
        self.id.split_once('#').map_or(&self.id, |(_, name)| name)
    }

    /// The recorded ending; derived from the result if the file has none.
    pub fn recorded_ending(&self) -> Ending {
        let derived = match &self.expected {
            Some(result) => Ending::of_result(result),
            None => Ending::Raises,
        };
        self.ends.unwrap_or(derived)
    }

    /// Whether it needs a work folder: it has files, or mentions the path `work`.
    pub fn wants_folder(&self, work: &str) -> bool {
        let names_it = ["params", "env", "config"].iter().any(|key| self.json[*key].to_string().contains(work));
        names_it || !self.files.is_empty()
    }

    /// Writes its files to a work folder.
    pub fn write_files(&self, folder: &Path) -> Result<(), String> {
        for (target, source) in &self.files {
            // The shared files are named with their folder.
            let source = source.rsplit('/').next().unwrap_or_default();
            if !is_plain(target) || !is_plain(source) {
                return Err(format!("`{target}` is no name of a file"));
            }
            let bytes = self.source.read(source)?;
            std::fs::write(folder.join(target), bytes).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "." && name != ".."
}

/// Where the files of a case are.
#[derive(Debug, Clone, Default)]
pub(super) enum Files {
    #[default]
    Pinned,
    Folder(PathBuf),
}

impl Files {
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        match self {
            Files::Pinned => {
                let found = PINNED_FILES.iter().find(|(known, _)| *known == name);
                found.map(|(_, bytes)| bytes.to_vec()).ok_or_else(|| format!("there is no file `{name}`"))
            }
            Files::Folder(folder) => {
                let path = folder.join(name);
                let size = std::fs::metadata(&path).map_err(|error| format!("`{name}`: {error}"))?.len();
                if size > MAX_FILE_BYTES {
                    return Err(format!("`{name}` is too large"));
                }
                std::fs::read(&path).map_err(|error| format!("`{name}`: {error}"))
            }
        }
    }
}

/// Recorded calls of a registry.
#[derive(Debug, Clone, Default)]
pub struct Cases {
    /// With their placeholders.
    cases: Vec<(Value, Files)>,
}

impl Cases {
    /// Those that come with this program.
    pub fn pinned() -> Cases {
        Cases::parse(PINNED, &Files::Pinned).unwrap_or_default()
    }

    /// `cases.json` in a folder, or a file itself; the files that its cases bring are in `files` beside it.
    pub fn read(path: &Path) -> Result<Cases, String> {
        let file = if path.is_dir() { path.join("cases.json") } else { path.to_owned() };
        let text = std::fs::read_to_string(&file).map_err(|error| format!("`{}`: {error}", file.display()))?;
        let files = Files::Folder(file.with_file_name("files"));
        Cases::parse(&text, &files).map_err(|why| format!("`{}`: {why}", file.display()))
    }

    fn parse(text: &str, files: &Files) -> Result<Cases, String> {
        let values: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        for value in &values {
            let case = Case::deserialize(value).map_err(|error| format!("{}: {error}", value["id"]))?;
            let is_call = case.not_recorded.is_none() && value["script"].is_null();
            if is_call && case.expected.is_none() && case.raises.is_none() {
                return Err(format!("`{}` has no result", case.id));
            }
        }
        Ok(Cases { cases: values.into_iter().map(|value| (value, files.clone())).collect() })
    }

    /// One file after another.
    pub fn join(mut self, other: Cases) -> Cases {
        self.cases.extend(other.cases);
        self
    }

    /// A skill's cases, those that were not recorded among them.
    pub fn cases_of<'a>(&'a self, skill: &'a str, places: Places<'a>) -> impl Iterator<Item = Case> + 'a {
        let own = self.cases.iter().filter(move |(value, _)| value["skill"] == skill);
        own.filter_map(move |(value, files)| put_in_places(value, files, places))
    }

    /// The recorded runs of a skill's script.
    pub fn script_cases<'a>(&'a self, skill: &'a str, script: &'a str) -> impl Iterator<Item = ScriptCase> + 'a {
        let own = self.cases.iter().filter(move |(value, _)| value["skill"] == skill && value["script"] == script);
        own.filter_map(|(value, files)| ScriptCase::read(value, files))
    }

    /// The call to measure a skill by: its first recorded one that succeeds.
    pub fn example_call(&self, skill: &str, places: Places<'_>) -> Option<Case> {
        let mut recorded = self.cases_of(skill, places).filter(|case| case.not_recorded.is_none());
        recorded.find(|case| case.recorded_ending() == Ending::Succeeds)
    }

    /// The ids of the skills that there are cases of.
    pub fn skill_ids(&self) -> impl Iterator<Item = &str> {
        self.cases.iter().filter_map(|(value, _)| value["skill"].as_str())
    }
}

fn put_in_places(value: &Value, files: &Files, places: Places<'_>) -> Option<Case> {
    let mut text = value.to_string();
    for (name, place) in [("{{WORK}}", places.work), ("{{HOME}}", places.home), ("{{SKILLS}}", places.skills)] {
        text = text.replace(name, place);
    }
    let json: Value = serde_json::from_str(&text).ok()?;
    let case = Case::deserialize(&json).ok()?;
    Some(Case { source: files.clone(), json, ..case })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLACES: Places<'_> = Places { work: "/work", home: "/home/skill", skills: "/skills" };

    #[test]
    fn every_skill_with_cases_has_one_that_succeeds_or_the_reason_why_not() {
        let cases = Cases::parse(PINNED, &Files::Pinned).unwrap();
        let skills: std::collections::BTreeSet<&str> = cases.skill_ids().collect();
        assert_eq!(skills.len(), 28);
        for skill in skills {
            let reason = cases.cases_of(skill, PLACES).find_map(|case| case.not_recorded);
            assert!(cases.example_call(skill, PLACES).is_some() || reason.is_some_and(|why| why.len() > 20), "{skill}");
        }
    }

    #[test]
    fn what_a_case_says_of_its_end_is_what_its_result_says() {
        let cases = Cases::pinned();
        for skill in cases.skill_ids().collect::<std::collections::BTreeSet<_>>() {
            for case in cases.cases_of(skill, PLACES).filter(|case| case.not_recorded.is_none()) {
                let said = case.ends.unwrap_or_else(|| panic!("{} does not say how it ends", case.id));
                let derived = Case { ends: None, ..case.clone() }.recorded_ending();
                assert_eq!(said, derived, "{}", case.id);
            }
        }
    }

    #[test]
    fn a_result_that_says_that_it_failed_is_no_success() {
        for failed in [
            json!({"status": "error"}),
            json!({"status": "blocked"}),
            json!({"success": false}),
            json!({"error": {"code": 1}}),
            json!({"error": "no"}),
        ] {
            assert_eq!(Ending::of_result(&failed), Ending::ReportsAnError, "{failed}");
        }
        for good in [json!({"status": "ok", "error": null}), json!([1]), json!({"error": ""}), json!({"success": true})]
        {
            assert_eq!(Ending::of_result(&good), Ending::Succeeds, "{good}");
        }
    }

    #[test]
    fn a_file_of_a_case_stays_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let with = |target: &str, source: &str| Case {
            files: BTreeMap::from([(target.to_owned(), source.to_owned())]),
            ..Case::default()
        };
        assert!(with("a.yaml", "evm.yaml").write_files(folder.path()).is_ok());
        for (target, source) in [("../a", "evm.yaml"), ("..", "evm.yaml"), ("a", "none.yaml"), ("/a", "evm.yaml")] {
            assert!(with(target, source).write_files(folder.path()).is_err(), "{target} {source}");
        }
    }

    #[test]
    fn a_case_without_a_result_is_an_error() {
        assert!(Cases::parse(r#"[{"id": "a/b#c", "skill": "a/b", "params": {}}]"#, &Files::Pinned).is_err());
    }
}
