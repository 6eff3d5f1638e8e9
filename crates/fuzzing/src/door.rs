//! Frames through the door, one after the other, with grants and a server: what reaches the server is what policy allowed.
//!
//! An input is records, separated by a line `%%`. The first byte of the first one says whether the cell bakes (`B`). Then a
//! record is a frame, or, after `=`, what the server says to the next request before it closes; after `+`, without closing.
//! In frames, `#1` and the like stand for a connection's number.
//!
//! There are three hosts. `a.test` may be asked anything and has a secret; `b.test` may be asked to GET `/open/*`; both
//! are a listener here. `t.test` is https, and nobody is there. It all runs in one thread: a connection waits in the
//! listener's queue until the next record.

use std::io::Write;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use super::planted_secret::{PlantedSecret, VALUE};
use super::{assert_fit_to_show, contains_bytes};
use skillcell_door::{Answer, Denials, Door, Fault, HttpSession};
use skillcell_http::framing::BodyReader;
use skillcell_http::head::HeadBuffer;
use skillcell_http::request::Request;
use skillcell_http::{ClientSettings, HttpClient, HttpLimits, Place};
use skillcell_limits::cancel::CancelToken;
use skillcell_policy::naive;
use skillcell_policy::{GrantKind, Grants};

const MAX_RECORDS: usize = 24;
const RESULT_CAP: u64 = 64;
/// A server that says too little is waited for this long, then the call is over.
const DEADLINE: Duration = Duration::from_millis(20);
const ALLOW: [&str; 3] = ["* http://a.test/*", "GET http://b.test/open/*", "* https://t.test/*"];
const DENY: [&str; 1] = ["* http://a.test/denied/*"];

/// The listener, for all inputs of a process, and a client whose TLS settings take longer to make than an input runs.
static LISTENER: LazyLock<TcpListener> = LazyLock::new(|| {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
    listener.set_nonblocking(true).expect("a listener that does not block");
    listener
});
static CLIENT: LazyLock<Arc<HttpClient>> =
    LazyLock::new(|| Arc::new(HttpClient::new(&ClientSettings::default()).expect("a client")));

pub fn run(data: &[u8]) {
    let mut records = split_records(data).into_iter().take(MAX_RECORDS);
    let baking = records.next().is_some_and(|first| first.first() == Some(&b'B'));
    let planted = PlantedSecret::new("a.test");
    let denials = Arc::new(Denials::default());
    let web = HttpSession::new(
        CLIENT.clone(),
        &test_grants(),
        planted.secrets.clone(),
        &denials,
        HttpLimits::default(),
        CancelToken::default(),
    );
    let mut door = Door {
        call: Door::pack(b"{}", None),
        result_cap: RESULT_CAP,
        baking,
        web: Some(Box::new(web)),
        denials: Some(denials.clone()),
        tests: Some(Arc::default()),
        ..Door::default()
    };
    let (mut server, deadline) = (Server::default(), Instant::now() + DEADLINE);
    // A fuzzer that instruments comparisons can learn the value. Once the guest has sent it, it is no secret to it.
    let mut value_known = false;
    for record in records {
        match record.split_first() {
            Some((b'=', says)) => server.queue_answer(&planted.fill_forms(says), true),
            Some((b'+', says)) => server.queue_answer(&planted.fill_forms(says), false),
            _ => {
                let frame = planted.fill_key(&expand_connection_number(record));
                value_known = value_known || contains_bytes(&frame, VALUE.as_bytes());
                let answer = door.receive(&frame, deadline);
                check_answer(&frame, &answer, baking, value_known);
                server.serve_pending();
                if matches!(answer, Err(Fault::Stop(_))) {
                    break;
                }
            }
        }
    }
    check_kept(&door);
    denials.take().iter().for_each(|denial| {
        [Some(&denial.asked), Some(&denial.message), denial.hint.as_ref(), denial.flag.as_ref()]
            .into_iter()
            .flatten()
            .for_each(|text| assert_fit_to_show(text));
    });
    drop(door);
    server.connections.iter().for_each(|(_, received)| check_wire(received, value_known));
}

fn test_grants() -> Grants {
    let port = LISTENER.local_addr().expect("an address").port();
    let mut grants = Grants::default();
    let mut add = |kind, text: &str| grants.add(kind, text).expect("a grant");
    ALLOW.iter().for_each(|rule| add(GrantKind::AllowHttp, rule));
    DENY.iter().for_each(|rule| add(GrantKind::DenyHttp, rule));
    add(GrantKind::Resolve, &format!("a.test:80:127.0.0.1:{port}"));
    add(GrantKind::Resolve, &format!("b.test:80:127.0.0.1:{port}"));
    // Port 1 of this machine: refused at once. Nothing here asks a resolver.
    add(GrantKind::Resolve, "t.test:443:127.0.0.1:1");
    grants
}

fn split_records(data: &[u8]) -> Vec<&[u8]> {
    let (mut records, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = data.get(at..).and_then(|rest| rest.windows(4).position(|window| window == b"\n%%\n")) {
        records.push(&data[start..at + found]);
        (start, at) = (at + found + 4, at + found + 4);
    }
    records.push(&data[start..]);
    records
}

/// `#1` as the four bytes of a number.
fn expand_connection_number(record: &[u8]) -> Vec<u8> {
    match record {
        [kind, b'#', digit @ b'0'..=b'9', rest @ ..] => {
            [&[*kind], &u32::from(digit - b'0').to_le_bytes()[..], rest].concat()
        }
        _ => record.to_vec(),
    }
}

fn check_answer(frame: &[u8], answer: &Result<Answer, Fault>, baking: bool, value_known: bool) {
    let kind = frame.first().copied().unwrap_or(0);
    match answer {
        Ok(Answer::Bytes(bytes)) => {
            assert!(b"TGFRBoswracn".contains(&kind), "a frame that is none is answered");
            assert!(kind != b'B' || baking, "a frame of a bake in a call");
            if b"oswracn".contains(&kind) {
                let (status, payload) = bytes.split_first().expect("a status");
                assert!(*status <= 9 && payload.len() <= 1 << 20);
                assert!(value_known || !contains_bytes(payload, VALUE.as_bytes()), "a secret goes to the guest");
            }
        }
        Ok(Answer::Computed { answer, .. }) => assert!(kind == b'K' && answer.len() <= 2 * 64 && frame.len() < 256),
        Ok(Answer::Pin(pins)) => assert!(baking && kind == b'P' && pins.len() < frame.len()),
        Err(Fault::Malformed | Fault::Stop(_)) => {}
    }
}

fn check_kept(door: &Door) {
    assert!(door.result.as_ref().is_none_or(|result| result.len() as u64 <= RESULT_CAP));
    assert!(!(door.result.is_some() && door.raised.is_some()), "the first of both counts");
    assert!(door.report.is_none() || door.baking);
    let test_bytes = door.tests.as_ref().map(|tests| tests.lock().expect("not poisoned").bytes);
    assert!(test_bytes.is_none_or(|bytes| bytes <= RESULT_CAP));
}

#[derive(Default)]
struct Server {
    /// What it says next, and whether it then closes.
    lines: Vec<(Vec<u8>, bool)>,
    connections: Vec<(TcpStream, Vec<u8>)>,
}

impl Server {
    fn queue_answer(&mut self, bytes: &[u8], close: bool) {
        self.lines.push((bytes.to_vec(), close));
    }

    /// Takes new connections, sees what came, and answers where something did.
    fn serve_pending(&mut self) {
        while let Ok((stream, _)) = LISTENER.accept() {
            stream.set_nonblocking(true).expect("a socket that does not block");
            self.connections.push((stream, Vec::new()));
        }
        for (stream, received) in &mut self.connections {
            // Peeked at, not read: closing a socket with unread data resets the connection, so that none is left in
            // TIME_WAIT.
            let mut buffer = vec![0; 256 << 10];
            let count = stream.peek(&mut buffer).unwrap_or(0);
            if count > received.len() {
                *received = buffer[..count].to_vec();
                let (says, close) = if self.lines.is_empty() { (Vec::new(), true) } else { self.lines.remove(0) };
                let _ = stream.write_all(&says);
                if close {
                    let _ = stream.shutdown(Shutdown::Write);
                }
            }
        }
    }
}

/// All that reached the server on one connection: requests that policy allows, each for the host of this connection, and
/// the secret only for the host that it is for.
fn check_wire(received: &[u8], value_known: bool) {
    let Ok((_, Some(head))) = HeadBuffer::default().push(received) else {
        // A head that was cut off, or the beginning of TLS.
        assert!(value_known || !contains_bytes(received, VALUE.as_bytes()), "a secret goes to nobody");
        return;
    };
    // The name of a header is sent as the guest wrote it.
    let head_in_lower_case = head.to_ascii_lowercase();
    let is_for = |name: &&str| contains_bytes(&head_in_lower_case, format!("\r\nhost: {name}\r\n").as_bytes());
    let name = ["a.test", "b.test"].into_iter().find(is_for).expect("a host that is granted");
    assert!(
        value_known || name == "a.test" || !contains_bytes(received, VALUE.as_bytes()),
        "a secret goes to another host"
    );
    let place = Place::parse(name, 80).expect("a place");
    let (allow, deny) = (ALLOW.map(str::to_owned), DENY.map(str::to_owned));
    let mut rest = received;
    while !rest.is_empty() {
        let (taken, head) = HeadBuffer::default().push(rest).expect("a head");
        let Some(head) = head else { return };
        let request = Request::parse(&head, &place, false).expect("a request for this connection's host");
        for method in [&request.asked.method].into_iter().chain(&request.overrides) {
            let allowed = naive::allows(&allow, &deny, method, &request.asked.url());
            assert_eq!(allowed, Some(true), "{method} {} was sent", request.asked.url());
        }
        rest = &rest[taken..];
        let mut reader = BodyReader::new(request.framing, true);
        let taken = reader.take_all(rest, &mut Vec::new()).expect("a body");
        rest = &rest[taken..];
        assert!(reader.is_done() || rest.is_empty());
    }
}
