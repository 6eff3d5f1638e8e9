//! Recorded calls, made again in cells: does a skill give there what it gave outside, by the same requests?
//!
//! Files that a case brings are in a folder that its call has mounted for writing at `/work`. Requests are answered as
//! recorded, by servers on loopback that the call is granted, and nothing else is.

use std::time::Duration;

use serde_json::Value;

use super::answer_servers::{AnswerServers, by_origin};
use super::cases::{Case, Cases, Places};
use super::model::{CaseDifference, Parity, RecordedCall};
use super::outcomes::stable_first_line;
use skillcell_host::call::{Call, Outcome, Report};
use skillcell_host::{Host, HostError};
use skillcell_packages::skill::Skill;
use skillcell_policy::GrantKind;
use skillcell_policy::{Choice, Tier};

/// Where a case's places are, in a cell.
pub const CELL_PLACES: Places<'_> = Places { work: "/work", home: "/home/skill", skills: "/skills" };
const DEADLINE: Duration = Duration::from_secs(60);

impl Cases {
    /// Makes a skill's calls.
    pub fn replay_in_cells(&self, host: &Host, skill: &Skill) -> Parity {
        let mut parity = Parity::default();
        for case in self.cases_of(skill.id(), CELL_PLACES) {
            let difference = |reason: String| CaseDifference { case: case.name().to_owned(), reason };
            if let Some(why) = &case.not_recorded {
                parity.left_out.push(difference(why.clone()));
                continue;
            }
            parity.cases += 1;
            let call = RecordedCall {
                case: case.name().to_owned(),
                ends: case.recorded_ending(),
                requests: case.http_requests.len(),
            };
            parity.calls.push(call);
            match compare_call(host, skill, &case) {
                Ok(()) => parity.same += 1,
                Err(why) => parity.different.push(difference(stable_first_line(&why))),
            }
        }
        parity
    }
}

/// A case's call with all that it needs, which lives as long as this.
pub struct PreparedCase {
    pub call: Call,
    /// A host with nothing open yet, which trusts the servers that answer.
    pub host: Host,
    servers: Option<AnswerServers>,
    _folder: Option<tempfile::TempDir>,
}

impl PreparedCase {
    pub fn new(host: &Host, case: &Case) -> Result<PreparedCase, String> {
        let servers = (!case.http.is_empty()).then(|| AnswerServers::start(&case.http)).transpose()?;
        let authority = servers.as_ref().map(|servers| servers.authority.path().to_owned());
        let mut call = Call::new(case.params.clone());
        call.config = case.config.clone();
        call.env = case.env.clone();
        call.limits.deadline = DEADLINE;
        // A module that a cell can't use should show as a different result, not as a refusal.
        call.allow_any_import = true;
        // Only cells are studied, whatever other tiers the machine has.
        call.tier = Choice::Tier(Tier::Wasm);
        if let Some(servers) = &servers {
            call.grants = servers.grants.clone();
        }
        let folder = case.wants_folder(CELL_PLACES.work).then(tempfile::tempdir).transpose();
        let folder = folder.map_err(|error| error.to_string())?;
        if let Some(folder) = &folder {
            case.write_files(folder.path())?;
            let mount = format!("{}:{}:rw", folder.path().display(), CELL_PLACES.work);
            call.grants.add(GrantKind::Mount, &mount).map_err(|error| error.to_string())?;
        }
        let host = host.fresh(authority).map_err(|error| error.to_string())?;
        Ok(PreparedCase { call, host, servers, _folder: folder })
    }
}

fn compare_call(host: &Host, skill: &Skill, case: &Case) -> Result<(), String> {
    let PreparedCase { mut call, host, servers, _folder } = PreparedCase::new(host, case)?;
    let make = |call: &Call| host.call(skill, call).map_err(|error: HostError| error.to_string());
    if let Some(invalid) = case.validate_params.as_str() {
        expect_same(&Value::from(raised_text(make(&call)?)?), &Value::from(invalid))?;
        call.validate = false;
    }
    let report = make(&call)?;
    match (&case.raises, &case.expected) {
        (Some(expected), _) => {
            let expected = exception_text(&expected.kind, &expected.message);
            expect_same(&Value::from(raised_text(report)?), &Value::from(expected))?;
        }
        (None, expected) => {
            let expected = expected.clone().unwrap_or_default();
            expect_same_but_for(returned_value(report)?, expected, &case.nondeterministic)?;
        }
    }
    let (asked, recorded) = (servers.map(|servers| servers.received_requests()), by_origin(case.http_requests.clone()));
    match asked {
        Some(asked) if asked != recorded => Err(format!("its requests differ: {asked:?}, and were {recorded:?}")),
        _ => Ok(()),
    }
}

fn returned_value(report: Report) -> Result<Value, String> {
    match report.outcome {
        Outcome::Returned(json) => serde_json::from_str(json.get()).map_err(|error| error.to_string()),
        other => Err(other.describe()),
    }
}

/// `ValueError: text`, the class without its module.
fn raised_text(report: Report) -> Result<String, String> {
    match report.outcome {
        Outcome::Raised(raised) => Ok(exception_text(&raised.kind, &raised.message)),
        Outcome::Returned(_) => Err("it returns, and raised outside".to_owned()),
        other => Err(other.describe()),
    }
}

fn exception_text(kind: &str, message: &str) -> String {
    format!("{}: {message}", kind.rsplit('.').next().unwrap_or(kind))
}

/// Compares all but what `pointers` name: a value that changes must be there, a list whose order changes is sorted.
fn expect_same_but_for(mut got: Value, mut expected: Value, pointers: &[String]) -> Result<(), String> {
    for pointer in pointers {
        for side in [&mut got, &mut expected] {
            let (parent, _) = pointer.rsplit_once('/').unwrap_or_default();
            match side.pointer_mut(parent) {
                Some(Value::Array(items)) => items.sort_by_key(Value::to_string),
                _ => *side.pointer_mut(pointer).ok_or_else(|| format!("there is no {pointer}"))? = Value::Null,
            }
        }
    }
    expect_same(&got, &expected)
}

fn expect_same(got: &Value, expected: &Value) -> Result<(), String> {
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
        let error = expect_same(&json!({"a": [1, {"b": 2}]}), &json!({"a": [1, {"b": 3}]})).unwrap_err();
        assert_eq!(error, "it differs: /a/1/b is 2, and was 3");
        assert!(
            expect_same_but_for(
                json!({"t": 1, "l": [2, 1]}),
                json!({"t": 9, "l": [1, 2]}),
                &["/t".into(), "/l/0".into()]
            )
            .is_ok()
        );
        assert!(expect_same_but_for(json!({}), json!({"t": 9}), &["/t".into()]).is_err());
    }
}
