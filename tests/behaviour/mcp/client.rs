//! A client that knows no more than JSON lines: what the program writes is looked at as it is.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long anything may take here; a machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Which words a client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// 2025-11-25: a handshake first.
    Old,
    /// 2026-07-28: each request stands for itself.
    New,
}

/// The skills of these tests.
pub fn skills() -> PathBuf {
    crate::common::tests().join("skills/mcp")
}

/// `skillcell mcp`, ready to be completed; it sees nothing of this machine's own skills.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
    command.arg("mcp").env_remove("SKILLWARE_SKILL_PATH").stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// A program that is served by stdio.
pub struct Session {
    pub child: Child,
    era: Era,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Messages that answer none of our requests, in their order.
    pub notes: VecDeque<Value>,
    answers: Vec<Value>,
    next_id: i64,
}

impl Session {
    /// Serves the skills of these tests.
    pub fn start(era: Era, args: &[&str]) -> Session {
        Session::of(era, program().arg(skills()).args(args))
    }

    pub fn of(era: Era, command: &mut Command) -> Session {
        let mut child = command.spawn().expect("it starts");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let (notes, answers) = (VecDeque::new(), Vec::new());
        let mut session = Session { child, era, input, lines, notes, answers, next_id: 1 };
        if era == Era::Old {
            let about = json!({"name": "test", "version": "1"});
            let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
            let answer = session.ask("initialize", hello);
            assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
            session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        session
    }

    /// Sends a request; its id.
    pub fn begin(&mut self, method: &str, params: Value) -> i64 {
        let (id, params) = (self.next_id, with_meta(self.era, params));
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The answer to a request.
    pub fn finish(&mut self, id: i64) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.answers.iter().position(|answer| answer["id"] == id) {
                return self.answers.swap_remove(at);
            }
            self.read_message(until).unwrap_or_else(|| panic!("request {id} has no answer"));
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.finish(id)
    }

    pub fn begin_call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.begin("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// What a call comes to.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments);
        let answer = self.finish(id);
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// The next message that answers nothing.
    pub fn wait_for_note(&mut self, method: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.notes.iter().position(|note| note["method"] == method) {
                return self.notes.remove(at).unwrap();
            }
            self.read_message(until).unwrap_or_else(|| panic!("no {method}"));
        }
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Any text on a line of its own.
    pub fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).expect("it reads");
    }

    fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Nothing but the protocol is on stdout.
    fn read_message(&mut self, until: Instant) -> Option<()> {
        let line = match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        };
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        if message.get("method").is_some() {
            self.notes.push_back(message)
        } else {
            self.answers.push(message)
        }
        Some(())
    }

    /// Nothing more will be sent.
    pub fn hang_up(&mut self) {
        self.input = None;
    }

    /// The exit code, once it ended by itself.
    pub fn wait_for_end(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it still runs");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What each request of the newer era says of itself.
pub fn with_meta(era: Era, mut params: Value) -> Value {
    if era == Era::New {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    params
}

/// The text of the first block.
pub fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}

/// Waits until the audit has the end of so many calls; how they ended.
pub fn wait_for_ends(audit: &std::path::Path, count: usize) -> Vec<String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let text = std::fs::read_to_string(audit).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let ends: Vec<String> = lines.filter_map(|line| line["outcome"].as_str().map(str::to_owned)).collect();
        if ends.len() >= count {
            return ends;
        }
        assert!(Instant::now() < until, "{count} calls did not end: {text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
