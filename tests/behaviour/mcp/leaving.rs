//! How it ends: with its client, however that goes, or by a signal. Nothing is left.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Era, PATIENCE, Session, program, skills, wait_for_ends};

#[test]
fn the_end_of_its_input_ends_it_and_its_calls() {
    for era in [Era::Old, Era::New] {
        let folder = tempfile::tempdir().unwrap();
        let audit = folder.path().join("audit.jsonl");
        let mut session = Session::start(era, &["--audit", audit.to_str().unwrap(), "--timeout", "100"]);
        session.call("sleeper", json!({"seconds": 0}));
        session.begin_call("sleeper", json!({"seconds": 90}));
        session.hang_up();
        assert_eq!(session.wait_for_end(), Some(0));
        assert_eq!(wait_for_ends(&audit, 2)[1], "cancelled");
    }
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let mut session = Session::start(Era::Old, &[]);
    session.call("echo", json!({"value": 0}));
    let id = session.begin_call("echo", json!({"value": 7}));
    session.hang_up();
    assert_eq!(session.finish(id)["result"]["structuredContent"]["result"], 7);
    assert_eq!(session.wait_for_end(), Some(0));
}

#[test]
fn it_ends_before_anything_was_said() {
    let mut command = program();
    let mut child = command.arg(skills()).stdin(Stdio::null()).spawn().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_signal_ends_it_and_its_calls() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit.jsonl");
    let mut session = Session::start(Era::Old, &["--audit", audit.to_str().unwrap(), "--timeout", "100"]);
    session.call("sleeper", json!({"seconds": 0}));
    session.begin_call("sleeper", json!({"seconds": 90}));
    while std::fs::read_to_string(&audit).unwrap().matches("\"begin\"").count() < 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    send_signal(session.child.id(), "TERM");
    assert_eq!(session.wait_for_end(), Some(0));
    assert_eq!(wait_for_ends(&audit, 2)[1], "cancelled");
}

/// A client that starts the server, calls the skill that sleeps, tells both numbers, and waits.
const CLIENT: &str = r#"
import json, subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def send(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n"); server.stdin.flush()
about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
send({"id": 1, "method": "initialize", "params": about})
server.stdout.readline()
send({"method": "notifications/initialized"})
send({"id": 2, "method": "tools/call", "params": {"name": "sleeper", "arguments": {"seconds": 90}}})
print(server.pid, flush=True)
server.wait()
"#;

#[test]
fn a_killed_client_leaves_no_process() {
    let mut client = Command::new("python3");
    client.args(["-c", CLIENT, env!("CARGO_BIN_EXE_skillcell"), "mcp", "--timeout", "100"]).arg(skills());
    let mut client = client.stdout(Stdio::piped()).spawn().expect("python3 starts");
    let mut said = String::new();
    BufReader::new(client.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let server: u32 = said.trim().parse().unwrap();
    assert!(is_alive(server));
    client.kill().unwrap();
    client.wait().unwrap();
    let until = Instant::now() + PATIENCE;
    while is_alive(server) {
        assert!(Instant::now() < until, "the server still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn send_signal(process: u32, signal: &str) {
    let sent = Command::new("kill").args([format!("-{signal}"), process.to_string()]).status().expect("kill starts");
    assert!(sent.success());
}

/// One that ended and was not waited for is no process any more.
fn is_alive(process: u32) -> bool {
    let state = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).unwrap_or_default();
    state.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}
