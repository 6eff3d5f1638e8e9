//! Promise: a stand-in for a native package gives what the native one gives, and says so where it can't.
//!
//! What the native ones give is in `expected.json` beside a skill, written by `tests/skills/standins/oracle.py`. The
//! pure Python packages around them, and the Python of those that are completed, are fetched with pip the first time.

use std::fs;
use std::sync::LazyLock;

use crate::common::server::{Request, Server, answer};
use crate::common::{host_builder, notes, returned, tests};
use serde_json::{Value, json};
use skillcell::{Call, Host, NoteKind, Report, RuntimeKind, Skill};
use skillcell_packages::PackageStatus;
use skillcell_policy::{GrantKind, Grants};

const WORDING: &str = "not available in a skillcell cell: ";

/// On the first runtime: the second one has the real thing in place of most.
static HOST: LazyLock<Host> =
    LazyLock::new(|| host_builder().runtime(RuntimeKind::WasiPython).build().expect("the cache folder can be used"));

fn skill(name: &str) -> Skill {
    let folder = tests().join("skills/standins").join(name);
    HOST.skill(folder.to_str().expect("a plain path")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn call(skill: &Skill, call: &Call) -> Report {
    HOST.call(skill, call).unwrap_or_else(|error| panic!("{}: {error}", skill.id()))
}

fn gives_what_the_native_one_gives(name: &str) {
    let file = tests().join("skills/standins").join(name).join("expected.json");
    let expected: Value = serde_json::from_slice(&fs::read(file).expect("the oracle wrote it")).expect("JSON");
    let result = returned(call(&skill(name), &Call::new(json!({})))).unwrap_or_else(|what| panic!("{name} {what}"));
    let expected = expected.as_object().expect("an object");
    assert_eq!(expected.keys().collect::<Vec<_>>(), result.as_object().expect("one").keys().collect::<Vec<_>>());
    for (part, expected) in expected {
        assert_eq!(&result[part], expected, "{name}: {part}");
    }
}

/// Calls a skill that may ask this server anything.
fn with_server(name: &str, server: &Server, secret: Option<&str>) -> Value {
    let url = format!("http://127.0.0.1:{}", server.port);
    let mut call_with = Call::new(json!({"url": url}));
    let mut grants = Grants::default();
    grants.add(GrantKind::AllowHttp, &format!("* {url}/*")).expect("a rule");
    if let Some(secret) = secret {
        grants.add(GrantKind::Secret, secret).expect("a secret");
    }
    call_with.grants = grants;
    returned(call(&skill(name), &call_with)).unwrap_or_else(|what| panic!("{name} {what}"))
}

#[test]
fn biopython_aligns_and_translates_as_the_native_one() {
    gives_what_the_native_one_gives("alignments");
}

#[test]
fn pydantic_validates_and_serializes_as_over_the_native_core() {
    gives_what_the_native_one_gives("models");
}

#[test]
fn hashes_ciphers_bits_and_persistent_collections_are_those_of_the_native_ones() {
    gives_what_the_native_one_gives("primitives");
}

#[test]
fn a_stand_in_says_what_it_lacks() {
    let packages = HOST.packages(&skill("alignments")).unwrap_or_else(|error| panic!("{error}"));
    let biopython = packages.packages.iter().find(|package| package.name == "biopython").expect("it is required");
    let PackageStatus::StandIn { version, limits } = &biopython.standing else { panic!("{:?}", biopython.standing) };
    assert_eq!(version, "1.88");
    assert!(limits.iter().any(|limit| limit.contains("NotImplementedError")), "{limits:?}");
}

#[test]
fn gemini_is_asked_over_the_door_with_a_key_that_the_skill_never_sees() {
    let server = Server::start(None, |seen: &Request| {
        let body = if seen.url().contains("refused") {
            json!({"error": {"code": 400, "message": "no such model", "status": "INVALID_ARGUMENT"}})
        } else {
            json!({
                "candidates": [{"content": {"role": "model", "parts": [{"text": "{\"a\":"}, {"text": " 1}"}]}, "finishReason": "STOP"}],
                "usageMetadata": {"totalTokenCount": 7},
            })
        };
        let status = if seen.url().contains("refused") { "400 Bad Request" } else { "200 OK" };
        Some(answer(status, &[("Content-Type", "application/json")], body.to_string()))
    });
    let key = tempfile::NamedTempFile::new().expect("a file");
    fs::write(key.path(), "a-real-key").expect("written");
    let secret = format!("GOOGLE_API_KEY=file:{}@http://127.0.0.1", key.path().display());
    let result = with_server("gemini", &server, Some(&secret));
    assert_eq!(result["text"], "{\"a\": 1}");
    assert_eq!((&result["why"], &result["tokens"]), (&json!("STOP"), &json!(7)));
    assert_eq!(result["refused"], json!([400, "INVALID_ARGUMENT", "no such model"]));
    assert!(result["missing"].as_str().expect("a text").starts_with(WORDING), "{result}");
    let seen = server.seen();
    assert_eq!(seen[0].header("x-goog-api-key"), Some("a-real-key"));
    let asked: Value = serde_json::from_str(&seen[0].body).expect("JSON");
    let expected = json!({
        "contents": [{"role": "user", "parts": [{"text": "a question"}]}],
        "generationConfig": {"responseMimeType": "application/json", "temperature": 0.0},
    });
    assert_eq!(asked, expected);
}

#[test]
fn a_transaction_is_signed_and_sent_with_the_newest_web3() {
    let server = Server::start(None, |seen: &Request| {
        let asked: Value = serde_json::from_str(&seen.body).ok()?;
        let result = match asked["method"].as_str()? {
            "eth_chainId" => json!("0x1"),
            "eth_getBalance" => json!("0xde0b6b3a7640000"),
            "eth_call" => json!(format!("0x{:064x}", 18)),
            "eth_sendRawTransaction" => json!(format!("0x{}", "cd".repeat(32))),
            other => panic!("{other} was not expected"),
        };
        let body = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
        Some(answer("200 OK", &[("Content-Type", "application/json")], body.to_string()))
    });
    let mut result = with_server("wallet", &server, None);
    let slow = result.as_object_mut().expect("an object").remove("slow").expect("it is there");
    assert!(slow.as_str().expect("a text").starts_with(WORDING) && slow.to_string().contains("scrypt"), "{slow}");
    // Signed by eth-account 0.14.0 with its native parts.
    let signed = "02f8620180010a8252089422222222222222222222222222222222222222220180c080a05f8996009b5d1c089eebdc82da2afb49\
                  7762d4ec945aab8e41b103eb6e15cb5ca01936b65f9206c63e36a722aa840dac8cf0e8f96e8c81b28b5163ecb104c43127";
    let expected = json!({
        "address": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
        "signed": signed,
        "recovered": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
        "token": "0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB",
        "chain": 1,
        "balance": 1_000_000_000_000_000_000_u64,
        "decimals": 18,
        "sent": "cd".repeat(32),
    });
    assert_eq!(result, expected);
    let sent = server.seen().iter().any(|seen| seen.body.contains(signed));
    assert!(sent, "the node got what was signed");
}

#[test]
fn corners_of_pydantic_are_those_of_the_native_core_or_refused() {
    let file = tests().join("skills/standins/corners/expected.json");
    let expected: Value = serde_json::from_slice(&fs::read(file).expect("the oracle wrote it")).expect("JSON");
    let mut call_with = Call::new(json!({}));
    call_with.limits.deadline = std::time::Duration::from_secs(120);
    let report = call(&skill("corners"), &call_with);
    assert_eq!(notes(&report), [(NoteKind::StandIn, "pydantic-core".to_owned())], "a caller knows what answered");
    let result = returned(report).unwrap_or_else(|what| panic!("{what}"));
    let (expected, result) = (expected.as_object().expect("an object"), result.as_object().expect("an object"));
    assert_eq!(expected.keys().collect::<Vec<_>>(), result.keys().collect::<Vec<_>>());
    let mut refused = 0;
    for (case, expected) in expected {
        if result[case].as_str().is_some_and(|text| text.starts_with(WORDING)) {
            refused += 1;
        } else {
            assert_eq!(&result[case], expected, "{case}");
        }
    }
    assert!(refused <= 3, "{refused} are refused");
}

#[test]
fn a_stand_in_that_is_not_used_is_not_told_of() {
    let told = |params: Value| notes(&call(&skill("seldom"), &Call::new(params)));
    assert_eq!(told(json!({})), []);
    assert_eq!(told(json!({"use": true})), [(NoteKind::StandIn, "bitarray".to_owned())]);
}
