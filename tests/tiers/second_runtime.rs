//! Skills that require native code of which only the second runtime has a wheel: they are led to it, and get the real thing. Where
//! npm is not there to get the runtime, the tests say so and count as ignored.

use std::path::Path;
use std::sync::LazyLock;

use crate::common::server::{Request, Server, answer};
use crate::common::trials::trial;
use crate::common::{form, host_builder, returned, tests};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use skillcell::{Call, Choice, Host, NoteKind, RuntimeKind, Skill, Tier};
use skillcell_policy::{GrantKind, Grants};

static HOST: LazyLock<Host> = LazyLock::new(|| host_builder().build().expect("the cache folder can be used"));

pub fn trials() -> Vec<Trial> {
    let test = |name: &str, test: fn()| trial(format!("second_runtime::{name}"), unavailable, test);
    vec![
        test("a_requirement_leads_there_and_is_the_real_thing", a_requirement_leads_there_and_is_the_real_thing),
        test("clients_of_language_models_speak_in_every_way", clients_of_language_models_speak_in_every_way),
        test("a_form_is_filled_as_natively", a_form_is_filled_as_natively),
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

/// As both services answer: at once, and in pieces.
fn model(seen: &Request) -> Option<Vec<u8>> {
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

fn clients_of_language_models_speak_in_every_way() {
    let server = Server::start(None, model);
    let url = format!("http://127.0.0.1:{}", server.port);
    let mut call = Call::new(json!({"url": url}));
    let mut grants = Grants::default();
    grants.add(GrantKind::AllowHttp, &format!("* {url}/*")).expect("a rule");
    call.grants = grants;
    let report = HOST.call(&fixture("clients"), &call).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.runtime, Some(RuntimeKind::Pyodide));
    let said = json!(["hello", ["he", "llo"]]);
    assert_eq!(returned(report).unwrap(), json!({"openai": said, "anthropic": said, "later": [said, said]}));
    assert_eq!(server.seen().len(), 8);
}

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

fn what_needs_both_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "name: both\nversion: 1.0.0\ndescription: d\nrequirements: [pydantic, numpy]\n";
    std::fs::write(folder.path().join("manifest.yaml"), manifest).unwrap();
    let code = "import numpy, pydantic\nfrom skillware.core.base_skill import BaseSkill\n\
                class S(BaseSkill):\n    manifest = {}\n    def execute(self, params):\n        return int(numpy.arange(4).sum())\n";
    std::fs::write(folder.path().join("skill.py"), code).unwrap();
    let skill = HOST.skill(folder.path().to_str().unwrap()).unwrap();
    let report = HOST.call(&skill, &Call::default()).unwrap();
    assert_eq!(report.runtime, Some(RuntimeKind::WasiPython));
    let why = report.runtime_reason.clone().unwrap();
    assert!(["`numpy`", "pydantic-core", "no runtime has both"].iter().all(|part| why.contains(part)), "{why}");
    assert_eq!(returned(report).unwrap(), json!(6));
}
