//! Recorded calls, made again in cells: does a skill give there what it gave outside?
//!
//! A case is a call with its result, as `skills-compat/parity/record.py` records it: `{id, skill, params, config?, env?,
//! files?, expected | raises, validate_params?, nondeterministic?}`. Files that a case brings are in a folder that its call
//! has mounted for writing at `/work`. Cases of another `kind` than `offline` are left out here: they need servers that
//! answer as recorded, which the tests of this program have.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::model::{CaseDifference, Parity};
use super::outcomes::tidy;
use crate::call::{Call, Outcome, Report};
use crate::host::Host;
use crate::policy::GrantKind;
use crate::skill::Skill;
use crate::tier::{Choice, Tier};

/// Where a case's own files are, in a cell.
const WORK: &str = "/work";
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The cases of the pinned registry that come with this program.
const PINNED: &str = include_str!("../../skills-compat/parity/cases.json");

/// A file of cases.
#[derive(Debug, Clone, Default)]
pub struct Cases {
    cases: Vec<Value>,
    /// The folder that holds the cases' files.
    files: Option<PathBuf>,
}

impl Cases {
    /// Those that come with this program.
    pub fn pinned() -> Cases {
        Cases::parse(PINNED, None).unwrap_or_default()
    }

    /// `cases.json` in a folder, or a file itself.
    pub fn read(path: &Path) -> Result<Cases, String> {
        let file = if path.is_dir() { path.join("cases.json") } else { path.to_owned() };
        let text = std::fs::read_to_string(&file).map_err(|error| format!("`{}`: {error}", file.display()))?;
        let files = file.parent().map(|folder| folder.join("files"));
        Cases::parse(&text, files).map_err(|why| format!("`{}`: {why}", file.display()))
    }

    fn parse(text: &str, files: Option<PathBuf>) -> Result<Cases, String> {
        let text = text.replace("{{HOME}}", "/home/skill").replace("{{WORK}}", WORK).replace("{{SKILLS}}", "/skills");
        let cases: Vec<Value> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        Ok(Cases { cases, files })
    }

    /// One file after another.
    pub fn join(mut self, other: Cases) -> Cases {
        self.cases.extend(other.cases);
        self.files = other.files.or(self.files);
        self
    }

    fn of<'a>(&'a self, skill: &'a str) -> impl Iterator<Item = &'a Value> {
        self.cases.iter().filter(move |case| case["skill"] == skill)
    }

    /// A call that returns, with the name of its case: something to measure.
    pub fn example(&self, skill: &str) -> Option<(String, Value)> {
        let good = |case: &&Value| {
            let returns = case.get("expected").is_some_and(|expected| !is_error(expected));
            case["kind"] == "offline"
                && returns
                && !has(case, "files")
                && !has(case, "env")
                && case.get("config").is_none()
        };
        let any = |case: &&Value| {
            case["kind"] == "offline"
                && case.get("expected").is_some()
                && !has(case, "files")
                && !has(case, "env")
                && case.get("config").is_none()
        };
        let case = self.of(skill).find(good).or_else(|| self.of(skill).find(any))?;
        Some((name(case).to_owned(), case["params"].clone()))
    }

    /// Makes a skill's calls.
    pub fn run(&self, host: &Host, skill: &Skill) -> Parity {
        let mut parity = Parity::default();
        for case in self.of(skill.id()) {
            let told = |reason: String| CaseDifference { case: name(case).to_owned(), reason };
            if case["kind"] != "offline" {
                parity.left_out.push(told("it needs servers that answer as recorded".to_owned()));
                continue;
            }
            parity.cases += 1;
            match self.compare(host, skill, case) {
                Ok(()) => parity.same += 1,
                Err(why) => parity.different.push(told(tidy(&why))),
            }
        }
        parity
    }

    fn compare(&self, host: &Host, skill: &Skill, case: &Value) -> Result<(), String> {
        let wants_folder =
            has(case, "files") || ["params", "env", "config"].iter().any(|key| case[key].to_string().contains(WORK));
        let folder = wants_folder.then(|| self.lay_out(case)).transpose()?;
        let mut call = Call::new(case["params"].clone());
        call.config = case.get("config").cloned();
        call.limits.deadline = std::time::Duration::from_secs(60);
        // Other tiers may be here, and are not what is studied.
        call.tier = Choice::Tier(Tier::Wasm);
        for (variable, value) in case["env"].as_object().unwrap_or(&Map::new()) {
            call.env.insert(variable.clone(), value.as_str().unwrap_or_default().to_owned());
        }
        if let Some(folder) = &folder {
            let mount = format!("{}:{WORK}:rw", folder.path().display());
            call.grants.add(GrantKind::Mount, &mount).map_err(|error| error.to_string())?;
        }
        let make = |call: &Call| host.call(skill, call).map_err(|error| error.to_string());
        if let Some(invalid) = case["validate_params"].as_str() {
            same(&Value::from(raised(make(&call)?)?), &Value::from(invalid))?;
            call.validate = false;
        }
        let report = make(&call)?;
        match case.get("raises") {
            Some(expected) => {
                let expected = named(text(&expected["type"]), text(&expected["message"]));
                same(&Value::from(raised(report)?), &Value::from(expected))
            }
            None => same_but_for(returned(report)?, case["expected"].clone(), &case["nondeterministic"]),
        }
    }

    /// A folder with the files that a case brings.
    fn lay_out(&self, case: &Value) -> Result<tempfile::TempDir, String> {
        let failed = |error: std::io::Error| error.to_string();
        let folder = tempfile::tempdir().map_err(failed)?;
        for (target, source) in case["files"].as_object().unwrap_or(&Map::new()) {
            let plain = |name: &str| !name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "..";
            let source = text(source).rsplit('/').next().unwrap_or_default();
            let from =
                self.files.as_ref().filter(|_| plain(target) && plain(source)).ok_or("its files are not there")?;
            let from = from.join(source);
            let size = std::fs::metadata(&from).map_err(failed)?.len();
            if size > MAX_FILE_BYTES {
                return Err(format!("`{target}` is too large"));
            }
            std::fs::copy(from, folder.path().join(target)).map_err(failed)?;
        }
        Ok(folder)
    }
}

/// A case's name without its skill.
fn name(case: &Value) -> &str {
    let id = text(&case["id"]);
    id.split_once('#').map_or(id, |(_, name)| name)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn has(case: &Value, key: &str) -> bool {
    case[key].as_object().is_some_and(|map| !map.is_empty())
}

/// Whether a result says that the call failed.
fn is_error(result: &Value) -> bool {
    result["status"] == "error"
        || result["success"] == false
        || result.get("error").is_some_and(|error| !error.is_null())
}

fn returned(report: Report) -> Result<Value, String> {
    match report.outcome {
        Outcome::Returned(json) => serde_json::from_str(json.get()).map_err(|error| error.to_string()),
        other => Err(other.describe()),
    }
}

/// `ValueError: text`, the class without its module.
fn raised(report: Report) -> Result<String, String> {
    match report.outcome {
        Outcome::Raised(raised) => Ok(named(&raised.kind, &raised.message)),
        Outcome::Returned(_) => Err("it returns, and raised outside".to_owned()),
        other => Err(other.describe()),
    }
}

fn named(kind: &str, message: &str) -> String {
    format!("{}: {message}", kind.rsplit('.').next().unwrap_or(kind))
}

/// Compares all but what `pointers` name: a value that changes must be there, a list whose order changes is sorted.
fn same_but_for(mut got: Value, mut expected: Value, pointers: &Value) -> Result<(), String> {
    for pointer in pointers.as_array().into_iter().flatten().filter_map(Value::as_str) {
        for side in [&mut got, &mut expected] {
            let (parent, _) = pointer.rsplit_once('/').unwrap_or_default();
            match side.pointer_mut(parent) {
                Some(Value::Array(items)) => items.sort_by_key(Value::to_string),
                _ => *side.pointer_mut(pointer).ok_or_else(|| format!("there is no {pointer}"))? = Value::Null,
            }
        }
    }
    same(&got, &expected)
}

fn same(got: &Value, expected: &Value) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("it differs: {}", first_difference(got, expected, ""))) }
}

/// Where two results part, as a JSON pointer with both values.
fn first_difference(got: &Value, expected: &Value, at: &str) -> String {
    let brief = |value: &Value| value.to_string().chars().take(80).collect::<String>();
    match (got, expected) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = other.keys().chain(one.keys());
            for key in keys {
                let (mine, theirs) = (one.get(key).unwrap_or(&Value::Null), other.get(key).unwrap_or(&Value::Null));
                if mine != theirs {
                    return first_difference(mine, theirs, &format!("{at}/{key}"));
                }
            }
            format!("{at}: {} and {}", brief(got), brief(expected))
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let found = one.iter().zip(other).enumerate().find(|(_, (mine, theirs))| mine != theirs);
            found.map_or_else(
                || at.to_owned(),
                |(index, (mine, theirs))| first_difference(mine, theirs, &format!("{at}/{index}")),
            )
        }
        _ => format!("{} is {}, and was {}", if at.is_empty() { "all of it" } else { at }, brief(got), brief(expected)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_cases_that_come_with_this_program_can_be_read() {
        assert!(Cases::parse(PINNED, None).unwrap().cases.len() > 30);
    }

    #[test]
    fn a_difference_is_named_by_its_place() {
        let error = same(&json!({"a": [1, {"b": 2}]}), &json!({"a": [1, {"b": 3}]})).unwrap_err();
        assert_eq!(error, "it differs: /a/1/b is 2, and was 3");
        assert!(
            same_but_for(json!({"t": 1, "l": [2, 1]}), json!({"t": 9, "l": [1, 2]}), &json!(["/t", "/l/0"])).is_ok()
        );
        assert!(same_but_for(json!({}), json!({"t": 9}), &json!(["/t"])).is_err());
    }
}
