//! The contract with a container: one JSON object as its request and one as its answer. An image in any language can
//! implement it; docs/reference/container-contract.md is for its author.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use skillcell_door::Door;
use skillcell_limits::outcome::Raised;
use skillcell_limits::{LimitKind, Limits};
use skillcell_packages::skill::Skill;

/// The version of both directions.
pub const VERSION: u32 = 1;
/// Room in an answer besides the result and the output: an exception with its traceback, and field names.
const OVERHEAD_BYTES: u64 = 1 << 20;
/// A byte of output may take six in JSON, as `\u0000`.
const ESCAPED: u64 = 6;

/// The request.
#[derive(Serialize)]
pub struct Request<'a> {
    skillcell: u32,
    skill: SkillInfo<'a>,
    params: &'a RawValue,
    #[serde(flatten)]
    extra: Extra,
    limits: CallLimits,
    /// The socket of the HTTP proxy.
    http: &'a str,
}

#[derive(Serialize)]
struct SkillInfo<'a> {
    id: &'a str,
    folder: String,
    package: String,
}

/// What the door passes besides the params.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct Extra {
    config: Option<Box<RawValue>>,
    env: BTreeMap<String, String>,
    secrets: Vec<String>,
    validate: bool,
    deny_imports: Vec<String>,
}

#[derive(Serialize)]
struct CallLimits {
    deadline_ms: u64,
    memory_bytes: u64,
    stdout_bytes: u64,
    result_bytes: u64,
}

/// Encodes the call as JSON, with the same content that a cell gets through its door.
pub fn encode_request(skill: &Skill, door: &Door, limits: &Limits, http: &str) -> Result<Vec<u8>, serde_json::Error> {
    let (params, extra) = Door::unpack(&door.call);
    let Limits { deadline, memory_bytes, stdout_bytes, result_bytes, .. } = *limits;
    let deadline_ms = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
    serde_json::to_vec(&Request {
        skillcell: VERSION,
        skill: SkillInfo { id: skill.id(), folder: skill.guest_folder(), package: skill.package() },
        params: serde_json::from_slice(params)?,
        extra: extra.map_or_else(|| Ok(Extra::default()), serde_json::from_slice)?,
        limits: CallLimits { deadline_ms, memory_bytes, stdout_bytes, result_bytes },
        http,
    })
}

/// The answer, with exactly one of `returned`, `raised` and `exceeded`.
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

/// A valid answer.
pub struct ParsedAnswer {
    pub reported: Reported,
    pub stdout: String,
    pub memory_bytes: u64,
}

/// The outcome of the call, as the container reports it.
#[derive(Debug)]
pub enum Reported {
    Returned(Box<RawValue>),
    Raised(Raised),
    Exceeded(LimitKind),
}

/// The longest answer that is read.
pub fn max_answer_bytes(limits: &Limits) -> u64 {
    let stdout = limits.stdout_bytes.saturating_mul(ESCAPED);
    limits.result_bytes.saturating_add(stdout).saturating_add(OVERHEAD_BYTES)
}

/// What is wrong with an answer.
#[derive(Debug, thiserror::Error)]
pub enum ContractError {
    #[error("the container ended without an answer")]
    NoAnswer,
    #[error("the container's answer is not what the contract says: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error("the container answers by version {0} of the contract, and this is {VERSION}")]
    Version(u32),
    #[error("the container's answer has not exactly one of `returned`, `raised`, `exceeded`")]
    NotExactlyOne,
    #[error("the container says that it exceeded {0}, which only the host can tell")]
    Limit(LimitKind),
}

/// The limits that can be noticed inside a container, and so may be reported by it.
const SEEN_INSIDE: [LimitKind; 6] = [
    LimitKind::Memory,
    LimitKind::StdoutBytes,
    LimitKind::ResultBytes,
    LimitKind::ScratchBytes,
    LimitKind::ScratchFiles,
    LimitKind::OpenFiles,
];

/// Parses an answer, which is untrusted.
pub fn read_answer(bytes: &[u8], limits: &Limits) -> Result<ParsedAnswer, ContractError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ContractError::NoAnswer);
    }
    let Answer { skillcell, returned, raised, exceeded, stdout, memory_bytes } = serde_json::from_slice(bytes)?;
    if skillcell != VERSION {
        return Err(ContractError::Version(skillcell));
    }
    if stdout.len() as u64 > limits.stdout_bytes {
        let stdout = String::new();
        return Ok(ParsedAnswer { reported: Reported::Exceeded(LimitKind::StdoutBytes), stdout, memory_bytes });
    }
    let reported = match (returned, raised, exceeded) {
        (Some(result), None, None) if result.get().len() as u64 > limits.result_bytes => {
            Reported::Exceeded(LimitKind::ResultBytes)
        }
        (Some(result), None, None) => Reported::Returned(result),
        (None, Some(raised), None) => Reported::Raised(raised),
        (None, None, Some(limit)) if SEEN_INSIDE.contains(&limit) => Reported::Exceeded(limit),
        (None, None, Some(limit)) => return Err(ContractError::Limit(limit)),
        _ => return Err(ContractError::NotExactlyOne),
    };
    Ok(ParsedAnswer { reported, stdout, memory_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_answer(answer: &str) -> Result<Reported, ContractError> {
        let mut limits = Limits::default();
        limits.result_bytes = 10;
        limits.stdout_bytes = 5;
        read_answer(answer.as_bytes(), &limits).map(|it| it.reported)
    }

    #[test]
    fn one_of_three_is_understood() {
        assert!(matches!(parse_answer(r#"{"skillcell":1,"returned":{"a":1}}"#), Ok(Reported::Returned(_))));
        assert!(matches!(parse_answer(r#"{"skillcell":1,"returned":null}"#), Ok(Reported::Returned(_))));
        let raised = r#"{"skillcell":1,"raised":{"type":"E","message":"m","traceback":""}}"#;
        assert!(matches!(parse_answer(raised), Ok(Reported::Raised(_))));
        assert!(matches!(
            parse_answer(r#"{"skillcell":1,"exceeded":"memory"}"#),
            Ok(Reported::Exceeded(LimitKind::Memory))
        ));
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
            r#"{"skillcell":1,"returned":1,"exceeded":"memory"}"#,
            r#"{"skillcell":1,"exceeded":"deadline"}"#,
            r#"{"skillcell":1,"exceeded":"fuel"}"#,
            r#"{"skillcell":1,"returned":1,"more":1}"#,
            r#"{"skillcell":1,"returned":1} {}"#,
        ];
        for answer in wrong {
            assert!(parse_answer(answer).is_err(), "{answer}");
        }
    }

    #[test]
    fn too_much_is_a_limit() {
        let long = r#"{"skillcell":1,"returned":"0123456789"}"#;
        assert!(matches!(parse_answer(long), Ok(Reported::Exceeded(LimitKind::ResultBytes))));
        let loud = r#"{"skillcell":1,"returned":1,"stdout":"012345"}"#;
        assert!(matches!(parse_answer(loud), Ok(Reported::Exceeded(LimitKind::StdoutBytes))));
    }
}
