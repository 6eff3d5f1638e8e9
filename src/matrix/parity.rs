//! Recorded calls, made again in cells: does a skill give there what it gave outside, by the same requests?
//!
//! Files that a case brings are in a folder that its call has mounted for writing at `/work`. Requests are answered as
//! recorded, by servers on loopback that the call is granted, and nothing else is.

use std::time::Duration;

use serde_json::Value;

use super::answers::{AnswerServers, by_origin};
use super::cases::{Case, Cases, Places};
use super::model::{CaseDifference, Parity, RecordedCall};
use super::outcomes::tidy;
use crate::call::{Call, Outcome, Report};
use crate::host::{Host, HostError};
use crate::policy::GrantKind;
use crate::policy::{Choice, Tier};
use crate::skill::Skill;

/// Where a case's places are, in a cell.
pub const IN_A_CELL: Places<'_> = Places { work: "/work", home: "/home/skill", skills: "/skills" };
const DEADLINE: Duration = Duration::from_secs(60);

impl Cases {
    /// Makes a skill's calls.
    pub fn run(&self, host: &Host, skill: &Skill) -> Parity {
        let mut parity = Parity::default();
        for case in self.of(skill.id(), IN_A_CELL) {
            let told = |reason: String| CaseDifference { case: case.name().to_owned(), reason };
            if let Some(why) = &case.not_recorded {
                parity.left_out.push(told(why.clone()));
                continue;
            }
            parity.cases += 1;
            let call =
                RecordedCall { case: case.name().to_owned(), ends: case.ends(), requests: case.http_requests.len() };
            parity.calls.push(call);
            match compare(host, skill, &case) {
                Ok(()) => parity.same += 1,
                Err(why) => parity.different.push(told(tidy(&why))),
            }
        }
        parity
    }
}

/// A case's call with all that it needs, which lives as long as this.
pub struct Prepared {
    pub call: Call,
    /// A host with nothing open yet, which trusts the servers that answer.
    pub host: Host,
    servers: Option<AnswerServers>,
    _folder: Option<tempfile::TempDir>,
}

impl Prepared {
    pub fn new(host: &Host, case: &Case) -> Result<Prepared, String> {
        let servers = (!case.http.is_empty()).then(|| AnswerServers::start(&case.http)).transpose()?;
        let authority = servers.as_ref().map(|servers| servers.authority.path().to_owned());
        let mut call = Call::new(case.params.clone());
        call.config = case.config.clone();
        call.env = case.env.clone();
        call.limits.deadline = DEADLINE;
        // What can't be used in a cell is for the result to show.
        call.allow_any_import = true;
        // Other tiers may be here, and are not what is studied.
        call.tier = Choice::Tier(Tier::Wasm);
        if let Some(servers) = &servers {
            call.grants = servers.grants.clone();
        }
        let folder = case.wants_folder(IN_A_CELL.work).then(tempfile::tempdir).transpose();
        let folder = folder.map_err(|error| error.to_string())?;
        if let Some(folder) = &folder {
            case.write_files(folder.path())?;
            let mount = format!("{}:{}:rw", folder.path().display(), IN_A_CELL.work);
            call.grants.add(GrantKind::Mount, &mount).map_err(|error| error.to_string())?;
        }
        let host = host.fresh(authority).map_err(|error| error.to_string())?;
        Ok(Prepared { call, host, servers, _folder: folder })
    }
}

fn compare(host: &Host, skill: &Skill, case: &Case) -> Result<(), String> {
    let Prepared { mut call, host, servers, _folder } = Prepared::new(host, case)?;
    let make = |call: &Call| host.call(skill, call).map_err(|error: HostError| error.to_string());
    if let Some(invalid) = case.validate_params.as_str() {
        same(&Value::from(raised(make(&call)?)?), &Value::from(invalid))?;
        call.validate = false;
    }
    let report = make(&call)?;
    match (&case.raises, &case.expected) {
        (Some(expected), _) => {
            let expected = named(&expected.kind, &expected.message);
            same(&Value::from(raised(report)?), &Value::from(expected))?;
        }
        (None, expected) => {
            let expected = expected.clone().unwrap_or_default();
            same_but_for(returned(report)?, expected, &case.nondeterministic)?;
        }
    }
    let (asked, recorded) = (servers.map(|servers| servers.requests()), by_origin(case.http_requests.clone()));
    match asked {
        Some(asked) if asked != recorded => Err(format!("its requests differ: {asked:?}, and were {recorded:?}")),
        _ => Ok(()),
    }
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
fn same_but_for(mut got: Value, mut expected: Value, pointers: &[String]) -> Result<(), String> {
    for pointer in pointers {
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
    fn a_difference_is_named_by_its_place() {
        let error = same(&json!({"a": [1, {"b": 2}]}), &json!({"a": [1, {"b": 3}]})).unwrap_err();
        assert_eq!(error, "it differs: /a/1/b is 2, and was 3");
        assert!(
            same_but_for(json!({"t": 1, "l": [2, 1]}), json!({"t": 9, "l": [1, 2]}), &["/t".into(), "/l/0".into()])
                .is_ok()
        );
        assert!(same_but_for(json!({}), json!({"t": 9}), &["/t".into()]).is_err());
    }
}
