//! `skillcell serve`: what clients get, and who gets nothing.

use std::io::{Read, Write};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::common::serving::{Serving, read_answer};

const TIME: &str = "limits%2Ftime";
const ROUTES: [(&str, &str, &str); 7] = [
    ("GET", "/v1/skills", ""),
    ("GET", "/v1/skills/contract%2Fecho", ""),
    ("POST", "/v1/skills/contract%2Fecho/calls", "{}"),
    ("DELETE", "/v1/skills/contract%2Fecho/sessions/none", ""),
    ("POST", "/mcp", "{}"),
    ("GET", "/metrics", ""),
    ("GET", "/openapi.json", ""),
];

/// SHA-256 of these texts, which are no secrets.
const ALICE: (&str, &str) = ("alice", "2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90");
const BOB: (&str, &str) = ("bob", "81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9");

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

#[test]
fn every_outcome_is_an_envelope_with_status_200() {
    let server = Serving::start(&["contract/echo", "contract/failing", "limits/time", "approve/asks"], &[]);
    let of = |skill: &str, body: Value| {
        let answer = server.call(skill, &body.to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.header("x-request-id").is_some_and(|id| id.len() == 32), "{answer:?}");
        answer.json()
    };
    let returned = of("contract%2Fecho", json!({"params": {"a": 1e300}, "config": {"b": 2}}));
    assert_eq!((&returned["outcome"], &returned["schema"]), (&json!("returned"), &json!(1)));
    assert_eq!((&returned["result"]["params"]["a"], &returned["result"]["config"]["b"]), (&json!(1e300), &json!(2)));
    assert_eq!(returned["stdout"], "printed to stdout\n");
    let raised = of("contract%2Ffailing", json!({}));
    assert_eq!((&raised["outcome"], &raised["error"]["type"]), (&json!("raised"), &json!("ZeroDivisionError")));
    let exceeded = of(TIME, json!({"params": {"way": "loop"}, "limits": {"timeout": "200ms"}}));
    assert_eq!((&exceeded["outcome"], &exceeded["limit"]), (&json!("exceeded"), &json!("deadline")));
    let refused = of("approve%2Fasks", json!({}));
    assert_eq!(refused["outcome"], "refused", "{refused}");
    assert!(!refused["denials"].as_array().unwrap().is_empty());
}

#[test]
fn a_skill_whose_calls_are_refused_is_told_apart_from_one_that_failed() {
    let server = Serving::start(&["contract/echo", "approve/asks"], &[]);
    let ready = server.get("/readyz", &[]);
    let told = ready.json();
    assert_eq!((ready.status, &told["ready"], &told["failed"]), (200, &json!(true), &json!([])), "{told}");
    assert_eq!(told["refused"][0]["id"], "approve/asks", "{told}");
    assert!(told["refused"][0]["why"].as_str().is_some_and(|why| !why.is_empty()), "{told}");
}

#[test]
fn a_clients_limits_only_narrow_the_servers() {
    let server = Serving::start(&["limits/time"], &["--timeout", "300ms"]);
    let wide = server.call(TIME, r#"{"params": {"way": "sleep"}, "limits": {"timeout": 3600, "memory": "64G"}}"#);
    assert_eq!(wide.json()["limit"], "deadline", "{wide:?}");
    assert!(wide.json()["usage"]["wall_ms"].as_f64().unwrap() < 30_000.0, "{wide:?}");
    server.call(TIME, r#"{"limits": {"fuel": 1000}}"#).is(400, "limit_not_offered");
    let plan = &server.get(&format!("/v1/skills/{TIME}"), &[]).json()["plan"];
    assert_eq!(plan["limits"]["deadline_ms"], 300, "{plan}");
}

#[test]
fn who_has_no_token_or_anothers_gets_nothing() {
    let settings = format!(
        "[token.alice]\nsha256 = '{}'\nskills = ['contract/echo']\noperator = true\n[token.bob]\nsha256 = '{}'\n",
        ALICE.1, BOB.1
    );
    let server = Serving::with_settings(&settings, &["contract/echo"], &[]);
    let id = "contract%2Fecho";
    assert_eq!(server.get("/v1/skills", &[&bearer(ALICE.0)]).json()["skills"][0]["id"], "contract/echo");
    assert_eq!(server.call_with(id, &[&bearer(ALICE.0)], "{}").status, 200);
    for (method, path, body) in ROUTES {
        for headers in
            [vec![], vec![bearer("mallory")], vec![bearer("")], vec!["Authorization: Basic alice".to_owned()]]
        {
            let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
            let answer = server.send(method, path, &headers, body);
            answer.is(401, "unauthorized");
            assert_eq!(answer.header("www-authenticate"), Some("bearer"), "{answer:?}");
            assert!(!answer.body.contains("echo"), "{answer:?}");
        }
    }
    let bob = [&*bearer(BOB.0)];
    assert_eq!(server.get("/v1/skills", &bob).json(), json!({"skills": []}));
    server.get("/v1/skills/contract%2Fecho", &bob).is(404, "no_such_skill");
    server.call_with(id, &bob, "{}").is(404, "no_such_skill");
    server.get("/metrics", &bob).is(403, "not_operator");
    // Whether it lives is no secret; what it serves is.
    assert_eq!(server.get("/healthz", &[]).json(), json!({"status": "ok"}));
    assert_eq!(server.get("/readyz", &[]).json(), json!({"ready": true}));
}

#[test]
fn a_token_keeps_its_skills_rate_and_limits() {
    let settings = format!(
        "[token.alice]\nsha256 = '{}'\nskills = ['*time']\nrate = '2/h'\nlimits = {{ timeout = '200ms' }}\n",
        ALICE.1
    );
    let server = Serving::with_settings(&settings, &["limits/time", "contract/echo"], &[]);
    let alice = [&*bearer(ALICE.0)];
    server.call_with("contract%2Fecho", &alice, "{}").is(404, "no_such_skill");
    for _ in 0..2 {
        let answer = server.call_with(TIME, &alice, r#"{"params": {"way": "sleep"}}"#);
        assert_eq!(answer.json()["limit"], "deadline", "{answer:?}");
    }
    let third = server.call_with(TIME, &alice, "{}");
    third.is(429, "rate_exceeded");
    assert!(third.header("retry-after").unwrap().parse::<u64>().unwrap() > 60, "{third:?}");
}

/// Answers every request on loopback, for as long as the test runs.
fn answer_everybody() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    address
}

#[test]
fn a_tokens_grants_take_away_and_add_nothing() {
    let (here, other) = (answer_everybody(), answer_everybody());
    let names = ["alice", "bob", "mallory", "carol"];
    let grants = [
        String::new(),
        "grants = {}".to_owned(),
        format!("grants = {{ allow_http = ['GET http://{here}/narrow/*'] }}"),
        format!("grants = {{ allow_http = ['GET http://{other}/*'], env = ['WORD=x'] }}"),
    ];
    let tokens = names.iter().zip(grants).map(|(name, grants)| {
        let hash: String = Sha256::digest(name).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("[token.{name}]\nsha256 = '{hash}'\nskills = ['*']\n{grants}\n")
    });
    let allowed = format!("GET http://{here}/*");
    let server = Serving::with_settings(&tokens.collect::<String>(), &["page/trial"], &["--allow-http", &allowed]);
    let may_ask = |name: &str, url: String| {
        let body = json!({"params": {"text": "a", "url": url}}).to_string();
        let answer = server.call_with("page%2Ftrial", &[&bearer(name)], &body).json();
        let denied = answer["denials"].as_array().is_some_and(|denials| !denials.is_empty());
        assert_eq!(answer["result"]["asked"] == 200, !denied, "{answer}");
        // What would lift a denial is for the operator alone.
        assert!(!answer.to_string().contains("--allow-http"), "{answer}");
        !denied
    };
    for (name, wide, narrow) in
        [("alice", true, true), ("bob", false, false), ("mallory", false, true), ("carol", false, false)]
    {
        assert_eq!(may_ask(name, format!("http://{here}/wide")), wide, "{name}");
        assert_eq!(may_ask(name, format!("http://{here}/narrow/x")), narrow, "{name}");
        assert!(!may_ask(name, format!("http://{other}/")), "{name} is granted what nobody granted the skill");
    }
}

#[test]
fn a_name_that_was_made_to_lead_here_and_pages_of_other_sites_are_refused() {
    let server =
        Serving::start(&["contract/echo"], &["--allow-host", "skills.example", "--allow-origin", "https://a.example"]);
    let port = server.address.rsplit(':').next().unwrap();
    let (own, here) = (format!("Host: localhost:{port}"), format!("Origin: http://localhost:{port}"));
    for (method, path, body) in
        ROUTES.into_iter().chain([("GET", "/healthz", ""), ("GET", "/readyz", ""), ("GET", "/", "")])
    {
        let with = |headers: &[&str]| server.send(method, path, headers, body);
        for host in ["Host: evil.example", "Host: localhost.evil.example", "Host: 127.0.0.1.evil.example:80"] {
            with(&[host]).is(421, "wrong_host");
        }
        for origin in ["Origin: http://evil.example", "Origin: null", "Origin: http://localhost:1"] {
            with(&[&own, origin]).is(403, "cross_site");
        }
        with(&[&own, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"]).is(403, "cross_site");
        with(&["Host: a", "Host: b"]).is(400, "bad_host");
    }
    for headers in
        [vec![&*own, &here], vec!["Host: skills.example"], vec!["Origin: https://a.example"], vec!["Host: [::1]"]]
    {
        assert_eq!(server.get("/v1/skills", &headers).status, 200, "{headers:?}");
    }
    // A browser asks first, and lets the page read the answer only if it is told so.
    let asks = ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization, content-type"];
    let path = "/v1/skills/contract%2Fecho/calls";
    for (origin, is_let_in) in [("https://a.example", true), ("https://b.example", false)] {
        let from = format!("Origin: {origin}");
        let told = server.send("OPTIONS", path, &[&from, asks[0], asks[1]], "");
        let allowed = is_let_in.then_some(origin);
        assert_eq!(told.header("access-control-allow-origin"), allowed, "{told:?}");
        if is_let_in {
            assert!(told.header("access-control-allow-methods").unwrap().contains("post"), "{told:?}");
            assert!(told.header("access-control-allow-headers").unwrap().contains("authorization"), "{told:?}");
        }
        let called = server.call_with("contract%2Fecho", &[&from], "{}");
        assert_eq!(called.header("access-control-allow-origin"), allowed, "{called:?}");
        assert_eq!(called.status, if is_let_in { 200 } else { 403 }, "{called:?}");
        assert!(called.header("access-control-allow-credentials").is_none(), "{called:?}");
    }
    // A form of another page can only send these, and is asked for no permission first.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        server.call_with("contract%2Fecho", &[&format!("Content-Type: {kind}")], "{}").is(415, "not_json");
    }
}

#[test]
fn a_call_can_be_streamed_and_its_request_is_in_the_audit() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit.jsonl");
    let server = Serving::start(&["contract/echo"], &["--audit", audit.to_str().unwrap()]);
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let headers =
        ["Accept: text/event-stream", "X-Request-Id: mine.1", &format!("traceparent: {trace}"), "Connection: close"];
    let mut stream = server.begin("contract%2Fecho", &headers, "{}");
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("content-type: text/event-stream") && text.contains("x-request-id: mine.1"), "{text}");
    let mut events: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    // A line may come in pieces: what was printed is sent on as it is written.
    events.dedup();
    assert_eq!(events, ["accepted", "started", "stdout", "stderr", "end"], "{text}");
    let end = text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(end).unwrap()["outcome"], "returned");
    let begin: Value = serde_json::from_str(std::fs::read_to_string(&audit).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!((&begin["request"], &begin["traceparent"]), (&json!("mine.1"), &json!(trace)), "{begin}");
    // A name that would break a log is replaced.
    let odd = server.call_with("contract%2Fecho", &["X-Request-Id: a b", "traceparent: no"], "{}");
    assert_eq!(odd.header("x-request-id").unwrap().len(), 32);
}

#[test]
fn the_document_names_the_routes_that_there_are() {
    let server = Serving::start(&["contract/echo"], &[]);
    let document = server.get("/openapi.json", &[]).json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 8);
    for (path, operations) in paths {
        for method in operations.as_object().unwrap().keys().filter(|key| *key != "parameters") {
            let path = path.replace("{id}", "contract%2Fecho").replace("{session}", "none");
            let body = if method == "post" { "{}" } else { "" };
            let answer = server.send(&method.to_uppercase(), &path, &[], body);
            let documented = &operations[method]["responses"][answer.status.to_string()];
            let expected = if method == "delete" { 404 } else { 200 };
            assert!(answer.status == expected && documented.is_object(), "{method} {path}: {answer:?}");
        }
    }
    let envelope = server.call("contract%2Fecho", "{}").json();
    let schema = &document["components"]["schemas"]["Envelope"]["properties"];
    for key in envelope.as_object().unwrap().keys() {
        assert!(schema[key].is_object(), "`{key}` is not in the document");
    }
    let required = document["components"]["schemas"]["Envelope"]["required"].as_array().unwrap();
    assert!(required.iter().all(|key| !envelope[key.as_str().unwrap()].is_null() || key == "result"), "{required:?}");
}

#[test]
fn a_connection_is_kept_for_the_next_request() {
    let server = Serving::start(&["contract/echo"], &[]);
    let mut stream = server.connect();
    for number in 0..20 {
        let body = json!({"params": {"number": number}}).to_string();
        crate::common::serving::write_request(&mut stream, "POST", "/v1/skills/contract%2Fecho/calls", &[], &body);
        let answer = read_answer(&mut stream);
        assert_eq!(answer.json()["result"]["params"]["number"], number, "{answer:?}");
    }
}

#[test]
fn a_session_keeps_its_cell_for_its_client_and_its_skill() {
    let settings = format!(
        "[token.alice]\nsha256 = '{}'\nskills = ['*']\n[token.bob]\nsha256 = '{}'\nskills = ['*']\n",
        ALICE.1, BOB.1
    );
    let server = Serving::with_settings(&settings, &["sessions/keeper", "sessions/other"], &[]);
    let (alice, bob) = (bearer(ALICE.0), bearer(BOB.0));
    let count = |session: &str| {
        let body = json!({"params": {"way": "tell"}, "session": session}).to_string();
        server.call_with("sessions%2Fkeeper", &[&alice], &body)
    };
    let first = count("new").json();
    let handle = first["session"].as_str().unwrap_or_else(|| panic!("{first}")).to_owned();
    assert_eq!(
        (&first["result"]["count"], &count(&handle).json()["result"]["count"]),
        (&json!(1), &json!(2)),
        "{first}"
    );
    assert_eq!(count("new").json()["result"]["count"], 1, "another one is fresh");
    let body = json!({"session": handle}).to_string();
    server.call_with("sessions%2Fkeeper", &[&bob], &body).is(404, "no_such_session");
    server.call_with("sessions%2Fother", &[&alice], &body).is(404, "no_such_session");
    let path = format!("/v1/skills/sessions%2Fkeeper/sessions/{handle}");
    server.send("DELETE", &path, &[&bob], "").is(404, "no_such_session");
    assert_eq!(count(&handle).json()["result"]["count"], 3, "nobody else closed it");
    assert_eq!(server.send("DELETE", &path, &[&alice], "").status, 204);
    count(&handle).is(404, "no_such_session");
    for _ in 0..7 {
        assert_eq!(count("new").status, 200);
    }
    count("new").is(429, "no_session");
}

#[test]
fn a_call_can_run_a_script_of_an_agent_skills_folder() {
    let server = Serving::start(&["served/word-count", "contract/echo"], &[]);
    let call = |body: Value| server.call("served%2Fword-count", &body.to_string());
    let file = json!({"path": "x.txt", "text": "a b c"});
    let made =
        call(json!({"script": {"path": "scripts/count.py", "args": ["x.txt", "--out", "made.txt"], "files": [file]}}));
    let envelope = made.json();
    assert_eq!((made.status, &envelope["exit_code"], &envelope["stdout"]), (200, &json!(0), &json!("3\n")), "{made:?}");
    assert_eq!(envelope["files"], json!([{"path": "made.txt", "bytes": 8, "base64": "MyB3b3Jkcwo="}]));
    let failed = call(json!({"script": {"path": "scripts/count.py", "stdin": "", "args": ["--exit", "3"]}})).json();
    assert_eq!((&failed["outcome"], &failed["exit_code"]), (&json!("raised"), &json!(3)), "{failed}");
    let denied =
        call(json!({"script": {"path": "scripts/count.py", "args": ["--fetch", "http://127.0.0.1:9/"]}})).json();
    assert_eq!(denied["denials"][0]["kind"], "http", "{denied}");
    let late =
        json!({"script": {"path": "scripts/count.py", "args": ["--sleep", "60"]}, "limits": {"timeout": "200ms"}});
    assert_eq!(call(late).json()["limit"], "deadline");

    let shown = server.get("/v1/skills/served%2Fword-count", &[]).json();
    assert_eq!((&shown["scripts"], &shown["name"]), (&json!(["scripts/count.py"]), &json!("word-count")), "{shown}");
    assert_eq!(shown["state"], "ready", "{shown}");
    call(json!({})).is(400, "bad_script_call");
    call(json!({"script": {"path": "scripts/none.py"}})).is(404, "no_such_script");
    call(json!({"script": {"path": "scripts/count.py"}, "params": {}})).is(400, "bad_script_call");
    call(json!({"script": {"path": "scripts/count.py", "files": [{"path": "../x", "text": ""}]}}))
        .is(400, "bad_script_call");
    call(json!({"script": {"path": "scripts/count.py", "grants": {}}})).is(400, "bad_body");
    // A skill of Skillware is entered by `execute` alone.
    server.call("contract%2Fecho", r#"{"script": {"path": "skill.py"}}"#).is(404, "no_such_script");
}
