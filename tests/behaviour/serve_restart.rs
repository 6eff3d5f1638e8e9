//! `skillcell serve` on a socket that systemd holds, restarted under load: nobody is refused, and every call that was made was
//! made once.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::serving::{read_answer, write_request};
use crate::common::tests;

const ECHO: &str = "/v1/skills/contract%2Fecho/calls";
const CLIENTS: usize = 6;
/// Answered calls between one restart and the next.
const BETWEEN: usize = 150;
const PATIENCE: Duration = Duration::from_secs(60);

/// Hands the socket over as systemd does: as the third descriptor, with the number of the process that it is for.
fn start_server(socket: &TcpListener, audit: &Path) -> Child {
    let handed_over: OwnedFd = socket.try_clone().expect("a descriptor").into();
    let mut command = Command::new("sh");
    command.arg("-c").arg("exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec \"$@\"").arg("sh");
    command.arg(env!("CARGO_BIN_EXE_skillcell")).args(["--quiet", "serve"]).arg(tests().join("skills/contract/echo"));
    // Were it used, the second server would find it taken.
    command.args(["--listen", "127.0.0.1:1", "--audit"]).arg(audit);
    command.stdin(Stdio::from(handed_over)).spawn().expect("sh starts")
}

/// One client: its next call begins when the last one is answered.
fn call_until(address: &str, client: usize, is_over: &AtomicBool, answered: &AtomicUsize) -> Vec<String> {
    let (mut made, mut kept) = (Vec::new(), None);
    while !is_over.load(Ordering::Relaxed) {
        let name = format!("call-{client}-{}", made.len());
        kept = make_call(address, &name, kept);
        answered.fetch_add(1, Ordering::Relaxed);
        made.push(name);
    }
    made
}

/// Makes a call that has to be answered, and gives its connection back unless that is closed. A kept connection that was closed
/// before any of the answer came is replaced by a new one, as every client does: if the call had been made, it would be made twice.
fn make_call(address: &str, name: &str, kept: Option<TcpStream>) -> Option<TcpStream> {
    let was_kept = kept.is_some();
    let mut stream = kept.unwrap_or_else(|| TcpStream::connect(address).expect("the socket is open throughout"));
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let body = json!({"params": {"name": name}}).to_string();
    write_request(&mut stream, "POST", ECHO, &[&format!("X-Request-Id: {name}")], &body);
    let answer = read_answer(&mut stream);
    if answer.status == 0 && was_kept {
        return make_call(address, name, None);
    }
    assert_eq!(answer.status, 200, "{name} is lost: {answer:?}");
    assert_eq!(answer.json()["result"]["params"]["name"], name, "{answer:?}");
    (answer.header("connection") != Some("close")).then_some(stream)
}

/// How often each request was begun and ended by a skill.
fn read_audit(audit: &Path) -> BTreeMap<String, (usize, usize)> {
    let text = std::fs::read_to_string(audit).expect("an audit");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a whole line")).collect();
    let mut requests = BTreeMap::new();
    let mut calls = BTreeMap::new();
    for line in &lines {
        if let Some(request) = line["request"].as_str() {
            calls.insert(line["call"].to_string(), request.to_owned());
            requests.entry(request.to_owned()).or_insert((0, 0)).0 += 1;
        }
        if line["outcome"].is_string() {
            let request = &calls[&line["call"].to_string()];
            requests.get_mut(request).expect("it was begun").1 += usize::from(line["outcome"] == "returned");
        }
    }
    requests
}

#[test]
fn a_restart_under_load_loses_no_call_and_makes_none_twice() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit.jsonl");
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let (is_over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let made: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (address, is_over, answered) = (&address, &is_over, &answered);
                scope.spawn(move || call_until(address, client, is_over, answered))
            })
            .collect();
        let mut server = start_server(&socket, &audit);
        for _ in 0..2 {
            wait_for_calls(&answered, || running.iter().all(|client| !client.is_finished()));
            end_server(&mut server);
            server = start_server(&socket, &audit);
        }
        wait_for_calls(&answered, || running.iter().all(|client| !client.is_finished()));
        is_over.store(true, Ordering::Relaxed);
        let made = running.into_iter().flat_map(|client| client.join().expect("a client")).collect();
        end_server(&mut server);
        made
    });
    assert!(made.len() >= 3 * BETWEEN);
    let audited = read_audit(&audit);
    let once: BTreeMap<String, (usize, usize)> = made.into_iter().map(|name| (name, (1, 1))).collect();
    assert_eq!(audited, once);
}

/// Waits until so many more calls were answered.
fn wait_for_calls(answered: &AtomicUsize, are_alive: impl Fn() -> bool) {
    let enough = answered.load(Ordering::Relaxed) + BETWEEN;
    while answered.load(Ordering::Relaxed) < enough && are_alive() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn end_server(server: &mut Child) {
    let pid = rustix::process::Pid::from_child(server);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    assert!(server.wait().expect("it is ours").success());
}
