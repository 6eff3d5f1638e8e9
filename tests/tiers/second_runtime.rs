//! Skills that require native code of which only the second runtime has a wheel: they are led to it, and get the real thing. Where
//! npm is not there to get the runtime, the tests say so and count as ignored.

use std::path::Path;
use std::sync::LazyLock;

use crate::common::server::{Request, Server, answer};
use crate::common::trials::trial;
use crate::common::{form, host_builder, notes, returned, tests};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use skillcell::{Call, Choice, Host, NoteKind, Outcome, RuntimeKind, Skill, Tier};
use skillcell_policy::{GrantKind, Grants};

static HOST: LazyLock<Host> = LazyLock::new(|| host_builder().build().expect("the cache folder can be used"));

pub fn trials() -> Vec<Trial> {
    let test = |name: &str, test: fn()| trial(format!("second_runtime::{name}"), unavailable, test);
    vec![
        test("a_requirement_leads_there_and_is_the_real_thing", a_requirement_leads_there_and_is_the_real_thing),
        test("clients_of_language_models_speak_in_every_way", clients_of_language_models_speak_in_every_way),
        test("a_form_is_filled_as_natively", a_form_is_filled_as_natively),
        test(
            "a_transaction_is_signed_and_sent_with_the_newest_web3",
            a_transaction_is_signed_and_sent_with_the_newest_web3,
        ),
        test("regex_means_what_it_means_natively_or_is_refused", regex_means_what_it_means_natively_or_is_refused),
        test("what_needs_both_is_told", what_needs_both_is_told),
    ]
}

fn unavailable() -> Option<String> {
    HOST.runtime_unavailable(RuntimeKind::Pyodide).map(|(why, _)| why)
}

fn fixture(name: &str) -> Skill {
    HOST.skill(tests().join("skills/second").join(name).to_str().unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

fn a_requirement_leads_there_and_is_the_real_thing() {
    let skill = fixture("native");
    let call = |params: Value| HOST.call(&skill, &Call::new(params)).unwrap_or_else(|error| panic!("{error}"));
    let report = call(json!({"id": "no number", "name": "too long"}));
    assert_eq!((report.tier, report.runtime), (Tier::Wasm, Some(RuntimeKind::Pyodide)));
    assert!(report.runtime_reason.as_ref().unwrap().contains("pydantic-core"), "{report:?}");
    assert_eq!(returned(report).unwrap(), json!({"errors": ["int_parsing", "string_too_long"], "file": "so"}));
    let again = call(json!({"id": "7", "name": "short"}));
    assert!(again.image.as_ref().is_some_and(|image| !image.baked), "it starts from its image: {again:?}");
    assert_eq!(returned(again).unwrap(), json!({"id": 7, "name": "short"}));
}

fn event(name: &str, data: &Value) -> String {
    let name = if name.is_empty() { String::new() } else { format!("event: {name}\n") };
    format!("{name}data: {data}\n\n")
}

/// As Gemini answers.
fn gemini(seen: &Request) -> Vec<u8> {
    let piece = |text: &str| {
        let content = json!({"role": "model", "parts": [{"text": text}]});
        json!({"candidates": [{"content": content, "finishReason": "STOP"}]})
    };
    let json = [("Content-Type", "application/json")];
    if seen.url().contains("refused") {
        let error = json!({"error": {"code": 400, "message": "no such model", "status": "INVALID_ARGUMENT"}});
        answer("400 Bad Request", &json, error.to_string())
    } else if seen.url().contains("streamGenerateContent") {
        let parts = event("", &piece("he")) + &event("", &piece("llo"));
        answer("200 OK", &[("Content-Type", "text/event-stream")], parts)
    } else {
        answer("200 OK", &json, piece("hello").to_string())
    }
}

/// As the services answer: at once, and in pieces.
fn model(seen: &Request) -> Option<Vec<u8>> {
    if seen.url().contains("enerateContent") {
        return Some(gemini(seen));
    }
    let asked: Value = serde_json::from_str(&seen.body).ok()?;
    let is_chat = seen.url().contains("chat/completions");
    let body = match (is_chat, asked["stream"] == true) {
        (true, false) => json!({
            "id": "1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}],
        })
        .to_string(),
        (true, true) => {
            let piece = |text: &str| {
                event(
                    "",
                    &json!({
                        "id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                        "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": null}],
                    }),
                )
            };
            piece("he") + &piece("llo") + "data: [DONE]\n\n"
        }
        (false, false) => message(&json!([{"type": "text", "text": "hello"}])).to_string(),
        (false, true) => {
            let piece = |text: &str| {
                let delta = json!({"type": "text_delta", "text": text});
                event("content_block_delta", &json!({"type": "content_block_delta", "index": 0, "delta": delta}))
            };
            let block = json!({"type": "text", "text": ""});
            event("message_start", &json!({"type": "message_start", "message": message(&json!([]))}))
                + &event(
                    "content_block_start",
                    &json!({"type": "content_block_start", "index": 0, "content_block": block}),
                )
                + &piece("he")
                + &piece("llo")
                + &event("content_block_stop", &json!({"type": "content_block_stop", "index": 0}))
                + &event("message_stop", &json!({"type": "message_stop"}))
        }
    };
    let kind = if asked["stream"] == true { "text/event-stream" } else { "application/json" };
    Some(answer("200 OK", &[("Content-Type", kind)], body))
}

fn message(content: &Value) -> Value {
    json!({
        "id": "1", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "end_turn",
        "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    })
}

/// Lets a call ask this server anything.
fn grants(server: &Server) -> (String, Grants) {
    let url = format!("http://127.0.0.1:{}", server.port);
    let mut grants = Grants::default();
    grants.add(GrantKind::AllowHttp, &format!("* {url}/*")).expect("a rule");
    (url, grants)
}

fn clients_of_language_models_speak_in_every_way() {
    let server = Server::start(None, model);
    let key = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(key.path(), "a-real-key").expect("written");
    let (url, mut grants) = grants(&server);
    let secret = format!("GOOGLE_API_KEY=file:{}@http://127.0.0.1", key.path().display());
    grants.add(GrantKind::Secret, &secret).expect("a secret");
    let mut call = Call::new(json!({"url": url}));
    call.grants = grants;
    let report = HOST.call(&fixture("clients"), &call).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((report.tier, report.runtime), (Tier::Wasm, Some(RuntimeKind::Pyodide)), "{:?}", report.tier_reason);
    let said = json!(["hello", ["he", "llo"]]);
    let expected = json!({
        "openai": said, "anthropic": said, "gemini": said, "later": [said, said, said],
        "refused": [400, "INVALID_ARGUMENT", "no such model"],
        "missing": "cryptography",
    });
    assert_eq!(returned(report).unwrap(), expected);
    let seen = server.seen();
    assert_eq!(seen.len(), 13);
    let asked: Vec<&Request> = seen.iter().filter(|seen| seen.url().contains("enerateContent")).collect();
    assert!(asked.len() == 5 && asked.iter().all(|seen| seen.header("x-goog-api-key") == Some("a-real-key")));
}

/// What a stand-in says of what it lacks.
const WORDING: &str = "not available in a skillcell cell: ";

fn a_form_is_filled_as_natively() {
    form::is_filled_as_natively(&HOST, Choice::Tier(Tier::Wasm), |_: &Path| "/out".to_owned());
    let skill = HOST.skill("office/pdf_form_filler").unwrap();
    let mut call = Call::new(json!({"action": "inspect", "pdf_path": "/nowhere/at/all.pdf"}));
    call.limits.memory_bytes = 1 << 30;
    let report = HOST.call(&skill, &call).unwrap();
    assert_eq!((report.tier, report.runtime), (Tier::Wasm, Some(RuntimeKind::Pyodide)), "nobody named them");
    let older = report.notes.iter().find(|note| note.kind == NoteKind::OlderWheel);
    assert_eq!(older.map(|note| &*note.subject), Some("pymupdf"), "{:?}", report.notes);
}

/// It has no cell: a tier with both serves it where there is one, and the reason names what decided.
fn what_needs_both_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "name: both\nversion: 1.0.0\ndescription: d\nrequirements: [pydantic, numpy]\n";
    std::fs::write(folder.path().join("manifest.yaml"), manifest).unwrap();
    let code = "import numpy, pydantic\nfrom skillware.core.base_skill import BaseSkill\n\
                class S(BaseSkill):\n    manifest = {}\n    def execute(self, params):\n        return int(numpy.arange(4).sum())\n";
    std::fs::write(folder.path().join("skill.py"), code).unwrap();
    let skill = HOST.skill(folder.path().to_str().unwrap()).unwrap();
    let report = HOST.call(&skill, &Call::default()).unwrap();
    let told = format!("{:?} {:?} {:?}", report.tier_reason, report.runtime_reason, report.denials);
    if report.tier == Tier::Wasm {
        let Outcome::Raised(raised) = &report.outcome else { panic!("{told}") };
        assert!(raised.message.contains("pydantic-core"), "{}", raised.message);
    } else {
        assert!(told.contains("pydantic → pydantic-core"), "{told}");
    }
}

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
    let (url, grants) = grants(&server);
    let mut call = Call::new(json!({"url": url}));
    call.grants = grants;
    let report = HOST.call(&fixture("wallet"), &call).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((report.tier, report.runtime), (Tier::Wasm, Some(RuntimeKind::Pyodide)), "{:?}", report.runtime_reason);
    let mut told = notes(&report);
    told.retain(|(kind, _)| *kind == NoteKind::StandIn);
    told.sort_by(|one, other| one.1.cmp(&other.1));
    let names: Vec<&str> = told.iter().map(|(_, name)| &**name).collect();
    assert_eq!(names, ["ckzg", "pycryptodome", "regex"], "no stand-in where there is a wheel");
    let mut result = returned(report).unwrap();
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

fn regex_means_what_it_means_natively_or_is_refused() {
    let folder = tests().join("skills/standins/expressions");
    let expected: Value = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let skill = HOST.skill(folder.to_str().unwrap()).unwrap_or_else(|error| panic!("{error}"));
    let result = returned(HOST.call(&skill, &Call::new(json!({}))).unwrap_or_else(|error| panic!("{error}"))).unwrap();
    let is_refused = |value: &Value| value.as_str().is_some_and(|text| text.starts_with(WORDING));
    let of = |all: &'_ Value, part: &str| all[part].as_array().expect("a list").clone();
    assert_eq!(of(&result, "beyond").iter().position(|value| !is_refused(value)), None, "all of it is refused");
    assert_eq!(result["hand"], expected["hand"]);
    let (drawn, natively) = (of(&result, "drawn"), of(&expected, "drawn"));
    assert_eq!(drawn.len(), natively.len());
    for (at, (ours, theirs)) in drawn.iter().zip(&natively).enumerate() {
        assert!(is_refused(ours) || ours == theirs, "{at}: {ours}, and natively {theirs}");
    }
    assert!(drawn.iter().filter(|value| !is_refused(value)).count() > 600, "enough was compared");
}
