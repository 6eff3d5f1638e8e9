//! `skillcell serve`: what bounds it. Each bound is met, and the next call is unharmed.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::common::serving::{Serving, read_answer};

const TIME: &str = "limits%2Ftime";
const ECHO: &str = "contract%2Fecho";
const SLEEP: &str = r#"{"params": {"way": "sleep"}, "limits": {"timeout": 20}}"#;
const BURN: &str = r#"{"params": {"way": "loop"}}"#;
const TOKENS: &str = "[token.alice]\nsha256 = '2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90'\nskills = ['*']\noperator = true\n\
                      [token.bob]\nsha256 = '81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9'\nskills = ['*']\n";

fn is_unharmed(server: &Serving) {
    let answer = server.call(ECHO, "{}");
    assert_eq!((answer.status, &answer.json()["outcome"]), (200, &json!("returned")), "{answer:?}");
}

#[test]
fn bodies_that_are_wrong_or_too_long_are_refused_before_a_call() {
    let server = Serving::start(&["contract/echo"], &["--max-body", "100K"]);
    let call = |body: &str| server.call(ECHO, body);
    for wrong in ["nonsense", "[]", "{\"params\": }", "{\"parms\": {}}", "{\"params\": {}, \"params\": {}}", "{} {}"] {
        call(wrong).is(400, "bad_body");
    }
    for wrong in [r#"{"limits": {"timeout": -1}}"#, r#"{"limits": {"sudo": 1}}"#, r#"{"grants": {}}"#, r#"{"env": {}}"#]
    {
        call(wrong).is(400, "bad_body");
    }
    // Numbers are as JSON has them.
    for (timeout, status) in
        [("1.5", 200), ("15e-1", 200), ("2", 200), ("\"1500ms\"", 200), ("1e308", 400), ("{}", 400)]
    {
        let answer = call(&format!("{{\"limits\": {{\"timeout\": {timeout}, \"memory\": 1e8}}}}"));
        assert_eq!(answer.status, status, "{timeout}: {answer:?}");
    }
    call(r#"{"config": [1]}"#).is(400, "config_not_an_object");
    let long = format!("{{\"params\": {{\"a\": \"{}\"}}}}", "x".repeat(100 << 10));
    call(&long).is(413, "too_large");
    let nested = format!("{{\"params\": {}{}}}", "[".repeat(20_000), "]".repeat(20_000));
    assert_eq!(call(&nested).status, 400);
    // Of unknown length: cut off where it gets too long.
    let mut stream = server.connect();
    let head = format!(
        "POST /v1/skills/{ECHO}/calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    while stream.write_all(format!("400\r\n{}\r\n", " ".repeat(1024)).as_bytes()).is_ok() {
        stream.set_nonblocking(true).unwrap();
        let is_answered = stream.peek(&mut [0]).is_ok();
        stream.set_nonblocking(false).unwrap();
        if is_answered {
            break;
        }
    }
    assert_eq!(read_answer(&mut stream).status, 413);
    is_unharmed(&server);
}

#[test]
fn heads_that_are_too_long_or_too_slow_end_their_connection() {
    let server = Serving::start(&["contract/echo"], &["--max-receive", "500ms", "--max-connections", "2"]);
    let long = format!("X-Long: {}", "x".repeat(100 << 10));
    let answer = server.get("/healthz", &[&long]);
    assert!(matches!(answer.status, 0 | 400 | 431), "{answer:?}");
    let many: Vec<String> = (0..200).map(|number| format!("X-{number}: y")).collect();
    let answer = server.get("/healthz", &many.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(matches!(answer.status, 0 | 400 | 431), "{answer:?}");
    // Both places are taken: by a head and by bodies that never end, and by connections that say nothing.
    let begun = "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{";
    for beginning in [
        "",
        "GET /healthz HTTP/1.1\r\nHost: loc",
        &format!("POST /v1/skills/{ECHO}/calls {begun}"),
        &format!("POST /mcp {begun}"),
    ] {
        let mut streams = [server.connect(), server.connect()];
        streams.iter_mut().for_each(|stream| stream.write_all(beginning.as_bytes()).unwrap());
        is_unharmed(&server);
        for stream in &mut streams {
            let answer = read_answer(stream);
            assert!(matches!(answer.status, 0 | 408), "{beginning}: {answer:?}");
        }
    }
    // A connection that is kept and not used is ended too.
    let mut idle = [server.connect(), server.connect()];
    for stream in &mut idle {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        assert_eq!(read_answer(stream).status, 200);
    }
    is_unharmed(&server);
}

#[test]
fn a_full_queue_turns_calls_away_and_says_when_to_come_back() {
    let server = Serving::start(&["limits/time", "contract/echo"], &["--workers", "1", "--max-waiting", "1"]);
    let running = server.begin(TIME, &[], SLEEP);
    server.wait_for("skillcell_calls_running", 1.0);
    let waiting = server.begin(ECHO, &[], "{}");
    server.wait_for("skillcell_calls_waiting", 1.0);
    let answer = server.call(ECHO, "{}");
    answer.is(429, "busy");
    assert!(answer.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    assert_eq!(server.metric("skillcell_turned_away_total{reason=\"busy\"}"), 1.0);
    // Waiting counts: one whose time is over before its turn never runs.
    drop(waiting);
    server.wait_for("skillcell_calls_waiting", 0.0);
    server.call(ECHO, r#"{"limits": {"timeout": "200ms"}}"#).is(429, "busy");
    drop(running);
    is_unharmed(&server);
    assert_eq!(server.metric("skillcell_calls_total{skill=\"limits/time\",outcome=\"cancelled\"}"), 1.0);
    assert_eq!(server.metric("skillcell_calls_total{skill=\"contract/echo\",outcome=\"returned\"}"), 1.0);
}

#[test]
fn a_closed_connection_cancels_its_call() {
    let server = Serving::start(&["limits/time", "contract/echo"], &["--workers", "1", "--timeout", "10m"]);
    for (headers, way) in [(&[][..], "sleep"), (&[], "loop"), (&["Accept: text/event-stream"], "loop")] {
        let stream = server.begin(TIME, headers, &json!({"params": {"way": way}}).to_string());
        server.wait_for("skillcell_calls_running", 1.0);
        drop(stream);
        server.wait_for("skillcell_calls_running", 0.0);
    }
    assert_eq!(server.metric("skillcell_calls_total{skill=\"limits/time\",outcome=\"cancelled\"}"), 3.0);
    is_unharmed(&server);
}

#[test]
fn a_token_that_only_burns_deadlines_leaves_workers_to_others() {
    let flags = ["--workers", "4", "--timeout", "10m"];
    let server = Serving::with_settings(TOKENS, &["limits/time", "contract/echo"], &flags);
    let burning: Vec<_> = (0..12).map(|_| server.begin(TIME, &["Authorization: Bearer bob"], BURN)).collect();
    for _ in 0..20 {
        let answer = server.call_with(ECHO, &["Authorization: Bearer alice"], "{}");
        assert_eq!(answer.json()["outcome"], "returned", "{answer:?}");
    }
    // None of bob's is over when all of alice's are: his go on for ten minutes.
    for mut stream in &burning {
        stream.set_nonblocking(true).unwrap();
        let nothing = stream.read(&mut [0]).unwrap_err();
        assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock);
    }
    let page = server.get("/metrics", &["Authorization: Bearer alice"]).body;
    let running = page.lines().find_map(|line| line.strip_prefix("skillcell_calls_running ")).unwrap();
    assert!(running.parse::<f64>().unwrap() <= 2.0, "bob has at most half of the workers: {running}");
    drop(burning);
}

#[test]
fn a_shutdown_answers_what_runs_and_takes_no_more() {
    let mut server = Serving::start(&["limits/time"], &["--timeout", "3s"]);
    let mut running = server.begin(TIME, &[], r#"{"params": {"way": "loop"}}"#);
    server.wait_for("skillcell_calls_running", 1.0);
    server.terminate();
    let answer = read_answer(&mut running);
    assert_eq!((answer.status, &answer.json()["limit"]), (200, &json!("deadline")), "{answer:?}");
    assert_eq!(answer.header("connection"), Some("close"), "{answer:?}");
    let mut rest = String::new();
    assert_eq!(running.read_to_string(&mut rest).unwrap_or(0), 0, "answered once: {rest}");
    assert!(server.child.wait().unwrap().success());
    assert!(TcpStream::connect(&server.address).is_err());
}

#[test]
fn beyond_this_machine_only_with_tokens() {
    let skill = crate::common::tests().join("skills/contract/echo");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_skillcell"));
    let ran = crate::common::ran::finish(command.arg("serve").arg(skill).args(["--listen", "0.0.0.0:0"]));
    ran.is(2, &["beyond this machine", "--insecure-no-auth", "--new-token"]);
}

#[test]
fn a_new_token_is_shown_once_with_its_hash() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_skillcell"));
    let ran = crate::common::ran::finish(command.args(["serve", "--new-token", "ci"]));
    ran.is(0, &["[token.ci]", "sha256 = \""]);
    assert!(ran.stdout.starts_with("sct_") && ran.stdout.lines().count() == 1, "{}", ran.stdout);
    assert!(!ran.stderr.contains(ran.stdout.trim()), "only on stdout");
}

/// A few hundred requests that no client would send: each is answered with a problem or a closed connection.
#[test]
fn noise_gets_no_fault_out_of_the_server() {
    let server = Serving::start(&["contract/echo"], &["--max-receive", "300ms"]);
    let good = format!(
        "POST /v1/skills/{ECHO}/calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 14\r\nConnection: close\r\n\r\n{{\"params\": {{}}}}"
    );
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |bound: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % bound as u64) as usize
    };
    for _ in 0..300 {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..=next(4) {
            let place = next(bytes.len());
            match next(4) {
                0 => bytes[place] = next(256) as u8,
                1 => drop(bytes.remove(place)),
                2 => bytes.insert(place, next(256) as u8),
                _ => bytes.truncate(place.max(1)),
            }
        }
        let mut stream = server.connect();
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let answer = read_answer(&mut stream);
        assert!(answer.status < 500, "{}: {answer:?}", String::from_utf8_lossy(&bytes));
    }
    is_unharmed(&server);
}

#[test]
fn longer_bodies_share_one_room_whatever_the_route() {
    let server = Serving::start(&["contract/echo"], &["--max-body", "64M", "--max-receive", "60"]);
    let begin = |path: &str| {
        let mut stream = server.connect();
        let kind = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{kind}\r\nContent-Length: 67108864\r\n\r\n{{");
        stream.write_all(head.as_bytes()).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    };
    // 256 MiB are there for all of them: four get their share, whichever those are.
    let calls = format!("/v1/skills/{ECHO}/calls");
    let streams: Vec<TcpStream> = ["/mcp", &calls, "/mcp", &calls, "/mcp", &calls].into_iter().map(begin).collect();
    for _ in 0..3_000 {
        if streams.iter().filter(|stream| is_answered(stream)).count() >= 2 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let (turned_away, held): (Vec<TcpStream>, Vec<TcpStream>) = streams.into_iter().partition(is_answered);
    assert_eq!((turned_away.len(), held.len()), (2, 4));
    for mut stream in turned_away {
        stream.set_nonblocking(false).unwrap();
        let answer = read_answer(&mut stream);
        answer.is(429, "busy");
        assert!(answer.header("retry-after").is_some(), "{answer:?}");
    }
    drop(held);
    is_unharmed(&server);
}

fn is_answered(stream: &TcpStream) -> bool {
    stream.peek(&mut [0]).is_ok()
}
