//! What a container is told and what it answers: one JSON object each way. An image in any language can keep it;
//! docs/reference/container-contract.md is for its author.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::call::{Call, Outcome, Raised};
use crate::limits::{LimitKind, Limits};
use crate::skill::Skill;

/// The version of both directions.
pub const VERSION: u32 = 1;
/// What is around the result and the output in an answer: an exception with its traceback, and names.
const OVERHEAD_BYTES: u64 = 1 << 20;
/// A byte of output may be written as six in JSON.
const ESCAPED: u64 = 6;

/// What it is told.
#[derive(Serialize)]
pub struct Request<'a> {
    skillcell: u32,
    skill: About<'a>,
    params: Box<RawValue>,
    config: &'a Option<Value>,
    env: &'a std::collections::BTreeMap<String, String>,
    secrets: &'a [String],
    validate: bool,
    deny_imports: Vec<String>,
    limits: Bounds,
    /// The socket of the HTTP proxy; null where nothing of HTTP is granted.
    http: Option<&'a str>,
}

#[derive(Serialize)]
struct About<'a> {
    id: &'a str,
    folder: String,
    package: String,
}

#[derive(Serialize)]
struct Bounds {
    deadline_ms: u64,
    memory_bytes: u64,
    stdout_bytes: u64,
    result_bytes: u64,
}

impl<'a> Request<'a> {
    pub fn new(
        skill: &'a Skill,
        call: &'a Call,
        validate: bool,
        http: Option<&'a str>,
    ) -> Result<Request<'a>, serde_json::Error> {
        let Limits { deadline, memory_bytes, stdout_bytes, result_bytes, .. } = call.limits;
        let deadline_ms = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
        Ok(Request {
            skillcell: VERSION,
            skill: About { id: skill.id(), folder: skill.guest_folder(), package: skill.package() },
            params: RawValue::from_string(call.params_json().into_owned())?,
            config: &call.config,
            env: &call.env,
            secrets: &call.secrets,
            validate,
            deny_imports: call.grants.deny_imports.iter().map(ToString::to_string).collect(),
            limits: Bounds { deadline_ms, memory_bytes, stdout_bytes, result_bytes },
            http,
        })
    }
}

/// What it answers, with exactly one of the first three.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    skillcell: u32,
    /// `null` is a result like any other.
    #[serde(default, deserialize_with = "present")]
    returned: Option<Box<RawValue>>,
    raised: Option<Raised>,
    exceeded: Option<LimitKind>,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    memory_bytes: u64,
}

fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(from).map(Some)
}

/// An answer that was understood.
pub struct Understood {
    pub outcome: Outcome,
    pub stdout: String,
    pub memory_bytes: u64,
}

/// The most that an answer may be.
pub fn longest(limits: &Limits) -> u64 {
    let stdout = limits.stdout_bytes.saturating_mul(ESCAPED);
    limits.result_bytes.saturating_add(stdout).saturating_add(OVERHEAD_BYTES)
}

/// Reads an answer, or says what is wrong with it. It is a stranger's.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Understood, String> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("the container ended without an answer".to_owned());
    }
    let answer: Answer = serde_json::from_slice(bytes)
        .map_err(|error| format!("the container's answer is not what the contract says: {error}"))?;
    let Answer { skillcell, returned, raised, exceeded, stdout, memory_bytes } = answer;
    if skillcell != VERSION {
        return Err(format!(
            "the container answers by version {skillcell} of the contract, and this is version {VERSION}"
        ));
    }
    let outcome = match (returned, raised, exceeded) {
        (Some(result), None, None) if result.get().len() as u64 > limits.result_bytes => {
            Outcome::Exceeded(LimitKind::ResultBytes, None)
        }
        (Some(result), None, None) => Outcome::Returned(one_line(result)),
        (None, Some(raised), None) if raised.out_of_memory => Outcome::Exceeded(LimitKind::Memory, Some(raised)),
        (None, Some(raised), None) => Outcome::Raised(raised),
        (None, None, Some(limit)) => Outcome::Exceeded(limit, None),
        _ => return Err("the container's answer has not exactly one of `returned`, `raised` and `exceeded`".to_owned()),
    };
    let outcome = match outcome {
        Outcome::Returned(_) if stdout.len() as u64 > limits.stdout_bytes => {
            Outcome::Exceeded(LimitKind::StdoutBytes, None)
        }
        other => other,
    };
    Ok(Understood { outcome, stdout, memory_bytes })
}

/// In JSON a line end can only be space between values. Whoever reads the result line by line must not be fooled by one.
fn one_line(json: Box<RawValue>) -> Box<RawValue> {
    if !json.get().contains(['\n', '\r']) {
        return json;
    }
    RawValue::from_string(json.get().replace(['\n', '\r'], " ")).unwrap_or(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(answer: &str) -> Result<Outcome, String> {
        read(answer.as_bytes(), &Limits { result_bytes: 10, stdout_bytes: 5, ..Limits::default() }).map(|it| it.outcome)
    }

    #[test]
    fn one_of_three_is_understood() {
        assert!(matches!(outcome(r#"{"skillcell":1,"returned":{"a":1}}"#), Ok(Outcome::Returned(_))));
        let raised = r#"{"skillcell":1,"raised":{"type":"E","message":"m","traceback":""}}"#;
        assert!(matches!(outcome(raised), Ok(Outcome::Raised(_))));
        assert!(matches!(
            outcome(r#"{"skillcell":1,"exceeded":"deadline"}"#),
            Ok(Outcome::Exceeded(LimitKind::Deadline, None))
        ));
        assert!(matches!(outcome(r#"{"skillcell":1,"returned":null}"#), Ok(Outcome::Returned(_))));
    }

    #[test]
    fn what_is_no_answer_is_told_so() {
        let wrong = [
            "",
            " \n",
            "hello",
            "[]",
            r#"{"skillcell":1}"#,
            r#"{"skillcell":2,"returned":1}"#,
            r#"{"skillcell":1,"returned":1,"exceeded":"deadline"}"#,
            r#"{"skillcell":1,"returned":1,"more":1}"#,
            r#"{"skillcell":1,"returned":1} {}"#,
        ];
        for answer in wrong {
            assert!(outcome(answer).is_err(), "{answer}");
        }
    }

    #[test]
    fn too_much_is_a_limit() {
        let long = r#"{"skillcell":1,"returned":"0123456789"}"#;
        assert!(matches!(outcome(long), Ok(Outcome::Exceeded(LimitKind::ResultBytes, None))));
        let loud = r#"{"skillcell":1,"returned":1,"stdout":"012345"}"#;
        assert!(matches!(outcome(loud), Ok(Outcome::Exceeded(LimitKind::StdoutBytes, None))));
    }
}
