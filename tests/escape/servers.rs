//! A loopback server that keeps what it was sent, as a prop: `during.server = {}`, or `{ tls = "good" }` to have one that
//! speaks TLS too (see `authority.rs`), or `{ tls = "none" }` for one that should and does not.
//!
//! Words: `{port}`, `{tls_port}`, `{ca}` (the authority's file). `saw.server` is the list of requests that arrived, as
//! `METHOD host target`; or a table: `requests` is that list, `connections` their number, `has` and `lacks` are texts that
//! must be, or must not be, in what was sent (to `host`, if it is there).
//!
//! It reads as a careless server does: what follows a request on its connection is the next one; under `/v1/unread` that is
//! also the request's body. What it answers is in `answers.rs`, by the path.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::ServerConfig;
use serde::Deserialize;

use crate::stage::{Stage, Words};
use crate::{answers, authority, props};

/// More connections than this are not taken.
const MAX_CONNECTIONS: usize = 400;
const PATIENCE: Duration = Duration::from_secs(20);
/// More than this of one request is not kept.
const MAX_REQUEST_BYTES: usize = 32 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    tls: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Saw {
    requests: Option<Vec<String>>,
    host: Option<String>,
    connections: Option<usize>,
    has: Vec<String>,
    lacks: Vec<String>,
}

/// A request as it arrived.
#[derive(Clone)]
pub struct Request {
    pub method: String,
    pub target: String,
    pub head: String,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.split(':').next().is_some_and(|found| found.eq_ignore_ascii_case(name));
        self.head.lines().skip(1).find(named).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }

    fn line(&self) -> String {
        format!("{} {} {}", self.method, self.header("host").unwrap_or("-"), self.target)
    }

    fn text(&self) -> String {
        format!("{}\r\n\r\n{}", self.head, String::from_utf8_lossy(&self.body))
    }
}

#[derive(Default)]
struct Kept {
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    stop: AtomicBool,
}

pub struct Server {
    kept: Arc<Kept>,
    ports: Vec<u16>,
    words: Words,
}

impl Server {
    pub fn start(settings: &toml::Value, stage: &mut Stage) -> Server {
        let Settings { tls } = settings.clone().try_into().expect("settings of `server`");
        let kept = Arc::new(Kept::default());
        let plain = listen(&kept, None);
        let tls = match tls.as_deref() {
            None | Some("none") => plain,
            Some(kind) => listen(&kept, Some(authority::config(kind))),
        };
        stage.words.put("port", &plain.to_string());
        stage.words.put("tls_port", &tls.to_string());
        stage.words.put("ca", &authority::FILE.path().display().to_string());
        Server { kept, ports: vec![plain, tls], words: stage.words.clone() }
    }
}

impl props::Prop for Server {
    fn check(&mut self, expected: &toml::Value) -> Vec<String> {
        let saw = match expected {
            toml::Value::Array(_) => Saw { requests: expected.clone().try_into().ok(), ..Saw::default() },
            _ => expected.clone().try_into().expect("what `server` saw"),
        };
        let requests = self.kept.requests.lock().expect("no panic").clone();
        let lines: Vec<String> = requests.iter().map(Request::line).collect();
        let wanted = saw.requests.map(|lines| lines.iter().map(|line| self.words.fill(line)).collect::<Vec<_>>());
        let mut wrong = Vec::new();
        if wanted.is_some_and(|wanted| wanted != lines) {
            wrong.push(format!("the server saw {lines:?}"));
        }
        let connections = self.kept.connections.load(Ordering::SeqCst);
        if saw.connections.is_some_and(|wanted| wanted != connections) {
            wrong.push(format!("the server saw {connections} connections"));
        }
        let meant = |request: &&Request| saw.host.as_deref().is_none_or(|host| request.header("host") == Some(host));
        let all: String = requests.iter().filter(meant).map(Request::text).collect::<Vec<_>>().join("\n");
        let shown = || all.chars().take(2000).collect::<String>();
        let has = |text: &String| all.contains(&self.words.fill(text));
        wrong.extend(saw.has.iter().filter(|text| !has(text)).map(|text| format!("{text:?} is not in {:?}", shown())));
        wrong.extend(saw.lacks.iter().filter(|text| has(text)).map(|text| format!("{text:?} is in {:?}", shown())));
        wrong
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kept.stop.store(true, Ordering::SeqCst);
        for port in &self.ports {
            let _ = TcpStream::connect(("127.0.0.1", *port));
        }
    }
}

fn listen(kept: &Arc<Kept>, tls: Option<Arc<ServerConfig>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    let port = listener.local_addr().expect("it is bound").port();
    let kept = kept.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(MAX_CONNECTIONS).flatten() {
            if kept.stop.load(Ordering::SeqCst) {
                return;
            }
            kept.connections.fetch_add(1, Ordering::SeqCst);
            let (kept, tls) = (kept.clone(), tls.clone());
            std::thread::spawn(move || serve(stream, tls, &kept));
        }
    });
    port
}

fn serve(stream: TcpStream, tls: Option<Arc<ServerConfig>>, kept: &Kept) {
    let mut first = [0];
    let _ = stream.set_nodelay(true);
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let _ = stream.set_write_timeout(Some(PATIENCE));
    match tls {
        // TLS, where nobody speaks it.
        None if matches!(stream.peek(&mut first), Ok(1)) && first == [0x16] => {
            let _ = (&stream).write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
        None => converse(&mut { stream }, kept),
        Some(config) => {
            let session = rustls::ServerConnection::new(config).expect("a session");
            converse(&mut rustls::StreamOwned::new(session, stream), kept);
        }
    }
}

fn converse<W: Read + Write>(wire: &mut W, kept: &Kept) {
    let mut received = Vec::new();
    while let Some(request) = receive(wire, &mut received) {
        kept.requests.lock().expect("no panic").push(request.clone());
        let stays = answers::answer(&request, wire).unwrap_or(false) && wire.flush().is_ok();
        let over = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        if !stays || over || kept.stop.load(Ordering::SeqCst) {
            return;
        }
    }
}

/// The next request; what is left over stays in `received`.
fn receive(wire: &mut impl Read, received: &mut Vec<u8>) -> Option<Request> {
    let end = more_until(wire, received, |bytes| find(bytes, b"\r\n\r\n"))?;
    let head = String::from_utf8_lossy(&received[..end]).into_owned();
    received.drain(..end + 4);
    let mut words = head.lines().next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = Request { method, target, head, body: Vec::new() };
    let length = request.header("content-length").and_then(|text| text.parse::<usize>().ok());
    if request.target.starts_with("/v1/unread") {
        return Some(request);
    }
    if request.header("transfer-encoding").is_some() {
        let end = more_until(wire, received, |bytes| find(bytes, b"0\r\n\r\n"))?;
        request.body = received.drain(..end + 5).collect();
    } else if let Some(length) = length {
        more_until(wire, received, |bytes| (bytes.len() >= length).then_some(0))?;
        request.body = received.drain(..length).collect();
    }
    Some(request)
}

fn more_until(wire: &mut impl Read, bytes: &mut Vec<u8>, found: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
    let mut piece = vec![0; 64 << 10];
    loop {
        if let Some(at) = found(bytes) {
            return Some(at);
        }
        match wire.read(&mut piece) {
            Ok(count @ 1..) if bytes.len() < MAX_REQUEST_BYTES => bytes.extend_from_slice(&piece[..count]),
            _ => return None,
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|found| found == what)
}
