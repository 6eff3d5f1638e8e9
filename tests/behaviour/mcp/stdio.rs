//! One client on stdio: lists, calls, failures, progress, cancelling, many calls at once.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Era, Session, program, skills, text_of, wait_for_ends};

const ERAS: [Era; 2] = [Era::Old, Era::New];

#[test]
fn a_client_of_either_era_lists_and_calls() {
    for era in ERAS {
        let mut session = Session::start(era, &[]);
        let list = session.ask("tools/list", json!({}))["result"].clone();
        let names: Vec<&str> =
            list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["caller", "echo", "grower", "sleeper"]);
        let echo = &list["tools"][1];
        assert_eq!((&echo["title"], &echo["inputSchema"]["type"]), (&json!("Echo chamber"), &json!("object")));
        assert!(echo["description"].as_str().unwrap().starts_with("Returns what it gets.\nIn two lines."));
        assert!(
            echo["inputSchema"].get("$schema").is_none() && echo["outputSchema"]["properties"]["value"].is_object()
        );
        // Only who speaks the newer revision is shown what the other's models are not given.
        assert_eq!(echo["inputSchema"].get("anyOf").is_some(), era == Era::New);
        assert_eq!(list.get("ttlMs").is_some() && list.get("resultType").is_some(), era == Era::New, "{list}");

        let result = session.call("echo", json!({"value": {"n": 12345678901234567890123_f64, "é": [null]}}));
        assert_eq!(result["structuredContent"]["é"], json!([null]), "{result}");
        assert_eq!(serde_json::from_str::<Value>(text_of(&result)).unwrap(), result["structuredContent"]);
        assert_eq!((&result["isError"], &result["_meta"]["skillcell/outcome"]), (&json!(false), &json!("returned")));
        assert!(result["_meta"]["skillcell/usage"]["wall_ms"].is_number());
        // A text is a text, and structured content is an object where it has to be.
        let result = session.call("echo", json!({"value": "plain"}));
        assert_eq!((text_of(&result), &result["structuredContent"]), ("plain", &json!({"result": "plain"})));
    }
}

#[test]
fn the_newer_era_is_told_what_the_server_is_without_a_handshake() {
    let mut session = Session::start(Era::New, &[]);
    let found = session.ask("server/discover", json!({}))["result"].clone();
    let versions: BTreeSet<&str> =
        found["supportedVersions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(versions.contains("2026-07-28") && versions.contains("2025-11-25"), "{found}");
    assert!(found["capabilities"]["tools"].is_object() && found["instructions"].is_string(), "{found}");
    let other = json!({"io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {}});
    session.send_line(
        &json!({"jsonrpc": "2.0", "id": 77, "method": "tools/list", "params": {"_meta": other}}).to_string(),
    );
    assert_eq!(session.finish(77)["error"]["code"], -32022);
}

#[test]
fn a_failure_is_a_result_that_a_model_can_act_on() {
    for era in ERAS {
        let mut session = Session::start(era, &["--timeout", "2"]);
        let failed = |result: &Value| {
            assert_eq!(result["isError"], true, "{result}");
            text_of(result).to_owned()
        };
        assert_eq!(failed(&session.call("echo", json!({"problem": "no such thing"}))), "ValueError: no such thing");
        let wrong = failed(&session.call("echo", json!({"times": 0})));
        assert!(wrong.contains("times") && wrong.contains("less than the minimum"), "{wrong}");
        let late = session.call("sleeper", json!({"seconds": 30}));
        assert!(failed(&late).contains("deadline"), "{late}");
        assert_eq!(late["_meta"]["skillcell/limit"], "deadline");
        // What is no call of a tool is an error of the protocol.
        let unknown = session.ask("tools/call", json!({"name": "nothing", "arguments": {}}));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        assert!(session.call("echo", json!({"value": 1}))["isError"] == false);
    }
}

#[test]
fn a_refusal_names_what_was_refused_and_no_way_round() {
    let mut session = Session::start(Era::New, &[]);
    let result = session.call("caller", json!({"url": "http://127.0.0.1:9/secret"}));
    assert_eq!(result["isError"], false, "{result}");
    let told = result.to_string();
    assert!(told.contains("127.0.0.1") && told.contains("Only the operator"), "{told}");
    assert_eq!(result["_meta"]["skillcell/denials"][0]["kind"], "http", "{result}");
    for word in ["--allow-http", "--resolve", "approve", "hint", "flag", "skillcell.toml"] {
        assert!(!told.contains(word), "`{word}` in {told}");
    }
}

#[test]
fn nothing_that_a_client_sends_widens_a_call() {
    let mut session = Session::start(Era::New, &["--timeout", "1", "--env", "SECRET_WORD=swordfish"]);
    let wide = json!({"allow_http": ["GET http://127.0.0.1:9/*"], "timeout": 60});
    let params = json!({
        "name": "sleeper", "arguments": {"seconds": 20}, "limits": {"deadline": 60, "timeout": 60}, "grants": wide, "config": wide,
        "_meta": {"skillcell/grants": wide, "skillcell/limits": {"timeout": 60}, "limits": {"timeout": 60}},
    });
    let late = session.ask("tools/call", params);
    assert_eq!(late["result"]["_meta"]["skillcell/limit"], "deadline", "{late}");
    let asked = json!({"name": "caller", "arguments": {"url": "http://127.0.0.1:9/"}, "grants": wide, "_meta": {"grants": wide}});
    let denied = session.ask("tools/call", asked);
    assert_eq!(denied["result"]["_meta"]["skillcell/denials"][0]["kind"], "http", "{denied}");
    for method in ["tools/list", "resources/list", "prompts/list", "server/discover", "resources/templates/list"] {
        let answer = session.ask(method, json!({}));
        assert!(answer["result"].is_object() && !answer.to_string().contains("swordfish"), "{answer}");
    }
    for method in ["skillcell/approve", "grants/add", "logging/setLevel", "sampling/createMessage"] {
        let answer = session.ask(method, json!({"level": "debug"}));
        assert!(answer["error"].is_object(), "{answer}");
    }
}

#[test]
fn a_long_result_is_cut_and_the_rest_can_be_read() {
    for era in ERAS {
        let mut session = Session::start(era, &[]);
        let result = session.call("grower", json!({"lines": 25_000}));
        assert_eq!((result["isError"].clone(), text_of(&result).len()), (json!(false), 100_000), "{era:?}");
        let link = &result["content"][2];
        assert_eq!((&link["type"], &link["size"]), (&json!("resource_link"), &json!(250_000)), "{link}");
        assert!(result.to_string().len() < 130_000);
        let uri = link["uri"].as_str().unwrap().to_owned();
        let mut read = |uri: &str| session.ask("resources/read", json!({"uri": uri}));
        let whole = read(&uri)["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
        assert_eq!(whole.len(), 250_000);
        let parts: String = (1..=3)
            .map(|part| read(&format!("{uri}/{part}"))["result"]["contents"][0]["text"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(parts, whole);
        for missing in
            [format!("{uri}/4"), format!("{uri}0"), "skillcell://results/".into(), "file:///etc/passwd".into()]
        {
            let code = read(&missing)["error"]["code"].as_i64();
            assert_eq!(code, Some(if era == Era::New { -32602 } else { -32002 }), "{missing}");
        }
        // Another client's handle is no handle.
        let mut other = Session::start(era, &[]);
        assert!(other.ask("resources/read", json!({"uri": uri}))["error"].is_object());
    }
}

#[test]
fn instructions_and_cards_are_resources_and_a_prompt() {
    for era in ERAS {
        let mut session = Session::start(era, &[]);
        let list = session.ask("resources/list", json!({}))["result"]["resources"].clone();
        let uris: Vec<String> =
            list.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap().to_owned()).collect();
        assert_eq!(uris, ["skillcell://skills/echo/instructions.md", "skillcell://skills/echo/card.json"]);
        let texts = uris
            .iter()
            .map(|uri| session.ask("resources/read", json!({"uri": uri}))["result"]["contents"][0]["text"].clone());
        let texts: Vec<String> = texts.map(|text| text.as_str().unwrap().to_owned()).collect();
        assert!(texts[0].starts_with("# Echo") && texts[1].contains("Echo card"), "{texts:?}");
        assert_eq!(session.ask("prompts/list", json!({}))["result"]["prompts"][0]["name"], "echo");
        let prompt = session.ask("prompts/get", json!({"name": "echo"}))["result"].clone();
        assert!(
            prompt["messages"][0]["content"]["text"].as_str().unwrap().contains("Call it with `value`"),
            "{prompt}"
        );
        assert_eq!(session.ask("prompts/get", json!({"name": "sleeper"}))["error"]["code"], -32602);
    }
}

#[test]
fn a_call_that_takes_long_reports_progress_to_who_asked_for_it() {
    for era in ERAS {
        let mut session = Session::start(era, &[]);
        let call = json!({"name": "sleeper", "arguments": {"seconds": 6}, "_meta": {"progressToken": "mine"}});
        let id = session.begin("tools/call", call);
        let mut seen = -1.0;
        for _ in 0..2 {
            let told = session.wait_for_note("notifications/progress")["params"].clone();
            assert_eq!(told["progressToken"], "mine", "{told}");
            assert!(told["progress"].as_f64().unwrap() > seen, "{told}");
            seen = told["progress"].as_f64().unwrap();
        }
        assert_eq!(session.finish(id)["result"]["structuredContent"]["slept"], 6);
    }
}

#[test]
fn a_cancelled_call_ends_and_is_not_answered() {
    for era in ERAS {
        let folder = tempfile::tempdir().unwrap();
        let audit = folder.path().join("audit.jsonl");
        let mut session = Session::start(era, &["--audit", audit.to_str().unwrap(), "--timeout", "60"]);
        session.call("sleeper", json!({"seconds": 0}));
        let id = session.begin_call("sleeper", json!({"seconds": 50}));
        while !std::fs::read_to_string(&audit).unwrap().lines().filter(|line| line.contains("\"begin\"")).count().eq(&2)
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        session.notify("notifications/cancelled", json!({"requestId": id, "reason": "changed my mind"}));
        assert_eq!(wait_for_ends(&audit, 2)[1], "cancelled");
        // Of a call that is over, or never was, nothing is to be ended.
        session.notify("notifications/cancelled", json!({"requestId": id}));
        session.notify("notifications/cancelled", json!({"requestId": "nothing"}));
        assert_eq!(session.call("echo", json!({"value": 5}))["structuredContent"]["result"], 5);
    }
}

#[test]
fn a_hundred_calls_at_once_are_all_answered() {
    for era in ERAS {
        let mut session = Session::start(era, &[]);
        let ids: Vec<i64> = (0..100).map(|n| session.begin_call("echo", json!({"value": {"n": n}}))).collect();
        for (n, id) in ids.into_iter().enumerate() {
            let answer = session.finish(id);
            assert_eq!(answer["result"]["structuredContent"]["n"], n, "{answer}");
        }
    }
}

#[test]
fn what_is_no_message_harms_no_other() {
    let mut session = Session::start(Era::Old, &[]);
    for line in ["", "no JSON", "[]", "{}", "{\"jsonrpc\":\"2.0\",\"id\":9}", "\u{0}", &"[".repeat(100_000), "{\"a\":"]
    {
        session.send_line(line);
    }
    session.send_line(&format!("\"{}\"", "x".repeat(17 << 20)));
    assert_eq!(session.call("echo", json!({"value": {"deep": 1}}))["structuredContent"]["deep"], 1);
    let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    session.send_line(&format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"deep\",\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"value\":{deep}}}}}}}"
    ));
    assert_eq!(session.call("echo", json!({"value": 2}))["isError"], false);
}

#[test]
fn who_subscribes_is_told_when_the_list_gets_better() {
    // The guest's reading comes after the host's, and brings what a call may do.
    let mut session = Session::start(Era::New, &["--allow-http", "POST https://example.org/*"]);
    session.begin("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    session.wait_for_note("notifications/subscriptions/acknowledged");
    let mut hints = json!(null);
    for _ in 0..600 {
        hints = session.ask("tools/list", json!({}))["result"]["tools"][0]["annotations"].clone();
        if hints.is_object() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let expected = json!({"readOnlyHint": false, "destructiveHint": true, "openWorldHint": true});
    assert_eq!(hints, expected);
}

#[test]
fn a_request_that_is_no_json_here_is_answered_and_so_is_one_with_wrong_params() {
    for era in ERAS {
        let mut session = Session::start(era, &[]);
        // A client in JavaScript writes half of a character like this.
        session.send_line(
            r#"{"method": "tools/call", "params": {"name": "echo", "arguments": {"value": "\ud83d"}}, "id": 700}"#,
        );
        let error = session.finish(700)["error"].clone();
        assert_eq!(error["code"], -32700, "{error}");
        let deep = "[".repeat(5000) + &"]".repeat(5000);
        session.send_line(&format!(r#"{{"jsonrpc": "2.0", "id": 701, "method": "tools/call", "params": {deep}}}"#));
        assert_eq!(session.finish(701)["error"]["code"], -32700);
        // The method is known, so it is not that which is wrong.
        for (method, params) in [
            ("tools/call", json!({"name": "echo", "arguments": [1]})),
            ("tools/call", json!({"name": 5})),
            ("resources/read", json!({})),
            ("prompts/get", json!({"name": null})),
        ] {
            let error = session.ask(method, params)["error"].clone();
            assert_eq!(error["code"], -32602, "{error}");
            assert!(error["message"].as_str().unwrap().contains("params"), "{error}");
        }
        assert_eq!(session.ask("no/such", json!({}))["error"]["code"], -32601);
        assert_eq!(session.call("echo", json!({"value": 1}))["isError"], false);
    }
}

#[test]
fn a_client_that_takes_no_answers_is_not_read_until_it_does() {
    const PINGS: usize = 50_000;
    let mut child = program().arg(skills()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let writer = std::thread::spawn(move || {
        let about =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": about});
        writeln!(input, "{hello}\n{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
        for id in 0..PINGS {
            writeln!(input, r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).unwrap();
            counted.store(id + 1, Ordering::Relaxed);
        }
        input
    });
    let mut seen = usize::MAX;
    while seen != sent.load(Ordering::Relaxed) || seen == 0 {
        seen = sent.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_secs(2));
    }
    assert!(seen < PINGS / 2, "{seen} were read and kept");
    // Nothing of it is lost.
    let is_answer = |line: &String| line.contains(r#""result":{}"#);
    let answers = BufReader::new(output).lines().map_while(Result::ok).filter(is_answer).take(PINGS).count();
    assert_eq!(answers, PINGS);
    drop(writer.join().unwrap());
    assert!(child.wait().unwrap().success());
}
