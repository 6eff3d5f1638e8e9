//! The same over HTTP, one request at a time on the wire.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Era, PATIENCE, program, skills, wait_for_ends, with_meta};
use super::leaving::send_signal;

/// A server of these skills.
pub struct Served {
    child: Child,
    pub address: String,
}

/// An answer as it arrived.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    /// The answer to the request, be it alone or the last message of a stream.
    fn message(&self) -> Value {
        let last = self.body.lines().rev().find_map(|line| line.strip_prefix("data: ").filter(|data| !data.is_empty()));
        let text = last.unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

impl Served {
    pub fn start(args: &[&str]) -> Served {
        Served::of(program().args(["--http", "127.0.0.1:0"]).arg(skills()).args(args))
    }

    fn of(command: &mut Command) -> Served {
        let command = command.stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(said.read_line(&mut line).unwrap() > 0, "it ended");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.trim().split('/').next().unwrap().to_owned();
            }
        };
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Served { child, address }
    }

    fn connect(&self, head: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        write!(stream, "{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}").unwrap();
        stream
    }

    fn exchange(&self, head: &str, body: &str) -> Answer {
        read_answer(self.connect(head, body))
    }

    /// Sends no more than this.
    fn exchange_head(&self, head: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "{head}Connection: close\r\n\r\n").unwrap();
        read_answer(stream)
    }

    /// The head of a request, with more headers.
    fn head(&self, more: &str) -> String {
        let (host, accept) = (&self.address, "application/json, text/event-stream");
        format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\nContent-Type: application/json\r\n{more}")
    }

    fn ask_with(&self, era: Era, method: &str, params: Value, more: &str) -> Answer {
        let name = params["name"].as_str().or(params["uri"].as_str()).map(|name| format!("Mcp-Name: {name}\r\n"));
        let own = match era {
            Era::New => {
                format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{}", name.unwrap_or_default())
            }
            Era::Old if method == "initialize" => String::new(),
            Era::Old => "MCP-Protocol-Version: 2025-11-25\r\n".to_owned(),
        };
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": with_meta(era, params)});
        self.exchange(&self.head(&format!("{own}{more}")), &message.to_string())
    }

    fn ask(&self, era: Era, method: &str, params: Value) -> Value {
        self.ask_with(era, method, params, "").message()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_answer(mut stream: TcpStream) -> Answer {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    let text = String::from_utf8(text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

fn hello() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})
}

#[test]
fn both_eras_are_served_at_one_place() {
    let served = Served::start(&[]);
    let hello = served.ask_with(Era::Old, "initialize", hello(), "");
    assert_eq!(hello.message()["result"]["protocolVersion"], "2025-11-25");
    assert!(hello.header("mcp-session-id").is_some_and(|name| name.len() == 32), "{}", hello.head);
    assert_eq!(served.ask(Era::New, "server/discover", json!({}))["result"]["resultType"], "complete");
    for era in [Era::Old, Era::New] {
        let list = served.ask(era, "tools/list", json!({}))["result"].clone();
        assert_eq!(list["tools"].as_array().unwrap().len(), 4);
        assert_eq!(list.get("cacheScope").is_some(), era == Era::New);
        let call = json!({"name": "echo", "arguments": {"value": {"a": 1}}});
        assert_eq!(served.ask(era, "tools/call", call)["result"]["structuredContent"]["a"], 1);
        let failed = served.ask(era, "tools/call", json!({"name": "echo", "arguments": {"problem": "x"}}));
        assert_eq!(failed["result"]["isError"], true);
        // With a token for progress the answer is a stream.
        let slow = json!({"name": "sleeper", "arguments": {"seconds": 3}, "_meta": {"progressToken": 1}});
        let answer = served.ask_with(era, "tools/call", slow, "");
        assert!(answer.body.contains("notifications/progress"), "{}", answer.body);
        assert_eq!(answer.header("x-accel-buffering"), Some("no"));
        assert_eq!(answer.message()["result"]["structuredContent"]["slept"], 3);
    }
    let long = served.ask(Era::New, "tools/call", json!({"name": "grower", "arguments": {"lines": 20_000}}));
    let uri = long["result"]["structuredContent"]["resource"].clone();
    let read = served.ask(Era::New, "resources/read", json!({"uri": uri}));
    assert_eq!(read["result"]["contents"][0]["text"].as_str().map(str::len), Some(200_000));
}

#[test]
fn headers_have_to_say_what_the_body_says() {
    let served = Served::start(&[]);
    let message = |version: &str| {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}});
        let params = json!({"name": "echo", "arguments": {}, "_meta": meta});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
    };
    let version = "MCP-Protocol-Version: 2026-07-28\r\n";
    let cases = [
        (format!("{version}Mcp-Method: tools/list\r\nMcp-Name: echo\r\n"), "2026-07-28", -32020),
        (format!("{version}Mcp-Method: tools/call\r\nMcp-Name: sleeper\r\n"), "2026-07-28", -32020),
        (format!("{version}Mcp-Method: tools/call\r\n"), "2026-07-28", -32020),
        ("Mcp-Method: tools/call\r\nMcp-Name: echo\r\n".to_owned(), "2026-07-28", -32020),
        (
            "MCP-Protocol-Version: 2099-01-01\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n".to_owned(),
            "2099-01-01",
            -32022,
        ),
    ];
    for (headers, body, code) in cases {
        let answer = served.exchange(&served.head(&headers), &message(body));
        assert_eq!((answer.status, answer.message()["error"]["code"].as_i64()), (400, Some(code)), "{headers}");
    }
    let unknown = served.ask_with(Era::New, "nothing/at_all", json!({}), "");
    assert_eq!((unknown.status, unknown.message()["error"]["code"].as_i64()), (404, Some(-32601)));
}

#[test]
fn pages_and_other_names_of_this_machine_get_nothing() {
    let served = Served::start(&["--allow-origin", "http://localhost:6274"]);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()}).to_string();
    let status = |head: &str| served.exchange(head, &body).status;
    for origin in ["http://evil.example", "null", "http://localhost:6275", "https://localhost:6274", "x"] {
        assert_eq!(status(&served.head(&format!("Origin: {origin}\r\n"))), 403, "{origin}");
    }
    for own in ["http://localhost:6274".to_owned(), format!("http://{}", served.address)] {
        assert_eq!(status(&served.head(&format!("Origin: {own}\r\n"))), 200, "{own}");
    }
    let rebound = served.head("").replace(&served.address, "evil.example");
    assert_eq!(status(&rebound), 403);
    let get = served.head("").replace("POST", "GET");
    assert_eq!(served.exchange(&get, "").status, 405);
    // By its length alone: nothing of it is sent.
    assert_eq!(served.exchange_head(&served.head(&format!("Content-Length: {}\r\n", 17 << 20))).status, 413);
    assert!((400..500).contains(&served.exchange(&served.head(""), "no JSON").status));
    assert_eq!(status(&served.head("")), 200);
}

#[test]
fn a_closed_connection_cancels_its_call() {
    for era in [Era::Old, Era::New] {
        let folder = tempfile::tempdir().unwrap();
        let audit = folder.path().join("audit.jsonl");
        let served = Served::start(&["--audit", audit.to_str().unwrap(), "--timeout", "100"]);
        served.ask(era, "tools/call", json!({"name": "sleeper", "arguments": {"seconds": 0}}));
        let stream = begin_sleep(&served, era, "", 1);
        wait_for_begin(&audit, 2);
        drop(stream);
        assert_eq!(wait_for_ends(&audit, 2)[1], "cancelled", "{era:?}");
    }
}

#[test]
fn an_older_clients_cancellation_finds_its_call_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit.jsonl");
    let served = Served::start(&["--audit", audit.to_str().unwrap(), "--timeout", "100"]);
    let session = |_| {
        let hello = served.ask_with(Era::Old, "initialize", hello(), "");
        format!("Mcp-Session-Id: {}\r\n", hello.header("mcp-session-id").unwrap())
    };
    let [mine, others] = [(), ()].map(session);
    assert_ne!(mine, others);
    let stream = begin_sleep(&served, Era::Old, &mine, 7);
    wait_for_begin(&audit, 1);
    let cancel = |headers: &str, id: Value| {
        let body = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        served
            .exchange(&served.head(&format!("MCP-Protocol-Version: 2025-11-25\r\n{headers}")), &body.to_string())
            .status
    };
    let strangers = [(others.as_str(), json!(7)), ("", json!(7)), (&mine, json!("7")), (&mine, json!(8))];
    for (headers, id) in strangers {
        assert_eq!(cancel(headers, id), 202);
    }
    assert_eq!(std::fs::read_to_string(&audit).unwrap().matches("\"outcome\"").count(), 0);
    assert_eq!(cancel(&mine, json!(7)), 202);
    assert_eq!(wait_for_ends(&audit, 1), ["cancelled"]);
    drop(stream);
}

#[test]
fn a_signal_ends_the_server_and_its_calls() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit.jsonl");
    let mut served = Served::start(&["--audit", audit.to_str().unwrap(), "--timeout", "100"]);
    let mut stream = begin_sleep(&served, Era::New, "", 1);
    wait_for_begin(&audit, 1);
    send_signal(served.child.id(), "TERM");
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
    assert_eq!(wait_for_ends(&audit, 1), ["cancelled"]);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.contains("shutting down") || answer.contains("500"), "{answer}");
}

#[test]
fn other_machines_are_not_served_without_tokens() {
    let output = program().args(["--http", "0.0.0.0:0"]).arg(skills()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("skillcell serve"), "{output:?}");
}

/// A call that sleeps for longer than any test waits.
fn begin_sleep(served: &Served, era: Era, more: &str, id: i64) -> TcpStream {
    let params = with_meta(era, json!({"name": "sleeper", "arguments": {"seconds": 90}}));
    let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string();
    let own = match era {
        Era::New => "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: sleeper\r\n",
        Era::Old => "MCP-Protocol-Version: 2025-11-25\r\n",
    };
    served.connect(&served.head(&format!("{own}{more}")), &body)
}

fn wait_for_begin(audit: &std::path::Path, count: usize) {
    let until = std::time::Instant::now() + PATIENCE;
    while std::fs::read_to_string(audit).unwrap_or_default().matches("\"begin\"").count() < count {
        assert!(std::time::Instant::now() < until, "it does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn serve_has_it_behind_its_tokens_and_each_sees_its_own_skills() {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new(env!("CARGO_BIN_EXE_skillcell")).args(["serve", "--new-token", "ci"]).output().unwrap();
    let (token, told) = (String::from_utf8(made.stdout).unwrap(), String::from_utf8(made.stderr).unwrap());
    let hash = told.split("sha256 = \"").nth(1).unwrap().split('"').next().unwrap();
    let policy = folder.path().join("skillcell.toml");
    std::fs::write(&policy, format!("[token.ci]\nsha256 = \"{hash}\"\nskills = [\"echo\", \"grower\"]\n")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--policy"]).arg(&policy).arg(skills());
    let served = Served::of(&mut command);
    let bearer = |token: &str| format!("Authorization: Bearer {}\r\n", token.trim());
    for era in [Era::Old, Era::New] {
        for headers in ["".to_owned(), bearer("nobody")] {
            let answer = served.ask_with(era, "tools/list", json!({}), &headers);
            assert_eq!(answer.status, 401, "{}", answer.body);
            assert!(!answer.body.contains("echo"), "{}", answer.body);
        }
        let ask = |method: &str, params: Value| served.ask_with(era, method, params, &bearer(&token)).message();
        let list = ask("tools/list", json!({}))["result"].clone();
        let names: Vec<&str> =
            list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["echo", "grower"]);
        assert!(era == Era::Old || list["cacheScope"] == "private", "{list}");
        let call = ask("tools/call", json!({"name": "echo", "arguments": {"value": {"a": 1}}}));
        assert_eq!(call["result"]["structuredContent"]["a"], 1, "{call}");
        let hidden = ask("tools/call", json!({"name": "sleeper", "arguments": {"seconds": 0}}));
        assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
        let foreign =
            ask("tools/call", json!({"name": "echo", "arguments": {"value": 1}, "_meta": {"skillcell/session": "x"}}));
        assert_eq!(foreign["result"]["isError"], true, "{foreign}");
    }
    let rebound = served.head(&bearer(&token)).replace(&served.address, "evil.example");
    assert!((400..500).contains(&served.exchange(&rebound, "{}").status));
}

#[test]
fn where_nobody_is_asked_for_a_token_it_stays_on_this_machine_and_ignores_none() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("skillcell.toml");
    std::fs::write(&settings, format!("[token.ci]\nsha256 = '{}'\nskills = ['*']\n", "0".repeat(64))).unwrap();
    let refused = |args: &[&str]| {
        let output = program().arg(skills()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = refused(&["--http", "0.0.0.0:0"]);
    assert!(said.contains("other machines") && said.contains("skillcell serve"), "{said}");
    let said = refused(&["--http", "127.0.0.1:0", "--policy", settings.to_str().unwrap()]);
    assert!(said.contains("tokens") && said.contains("/mcp"), "{said}");
}
