//! Servers on loopback, plain or with TLS by a test authority: each on a port of its own, until it is dropped.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::held::Held;

/// More connections than this are not taken.
const MAX_CONNECTIONS: usize = 4096;
/// More than this of one request is not kept.
const MAX_REQUEST_BYTES: usize = 64 << 20;
const PATIENCE: Duration = Duration::from_secs(30);
/// The body of a request below this path is not read, so it is taken for the next request: as by a careless server.
const UNREAD: &str = "/v1/unread";

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub target: String,
    /// The request line and the headers, each with its end of line.
    pub head: String,
    /// What followed them, with the framing of chunks.
    pub raw: Vec<u8>,
    /// The same as text, without.
    pub body: String,
    scheme: &'static str,
}

impl Request {
    /// `http://host/path?query`, by the connection and the `Host` header.
    pub fn url(&self) -> String {
        format!("{}://{}{}", self.scheme, self.header("host").unwrap_or("-"), self.target)
    }

    /// The target without its first `/`.
    pub fn path(&self) -> &str {
        self.target.strip_prefix('/').unwrap_or_default()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        headers.into_iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// All of it, as it arrived.
    pub fn text(&self) -> String {
        format!("{}\r\n{}", self.head, String::from_utf8_lossy(&self.raw))
    }
}

/// A connection, with TLS or without.
pub trait Wire: Read + Write {}
impl<T: Read + Write> Wire for T {}

/// Writes an answer, and says whether to stay for another request.
type Handler = dyn Fn(&Request, &mut dyn Wire) -> io::Result<bool> + Send + Sync;

#[derive(Default)]
struct Kept {
    requests: Mutex<Vec<Request>>,
    arrived: Condvar,
    connections: AtomicUsize,
    stop: AtomicBool,
}

/// A server that remembers what it was sent. Connections that it has when it is dropped may get one answer more.
pub struct Server {
    pub port: u16,
    kept: Arc<Kept>,
}

impl Server {
    /// Answers each request with these bytes, or not at all until the other side goes away.
    pub fn start(
        tls: Option<Arc<ServerConfig>>,
        answer: impl Fn(&Request) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Server {
        Server::with(tls, move |request, wire| {
            let Some(answer) = answer(request) else {
                let _ = wire.read(&mut [0])?;
                return Ok(false);
            };
            wire.write_all(&answer)?;
            Ok(!answer.windows(17).any(|part| part == b"Connection: close"))
        })
    }

    /// Does with each request whatever the handler does.
    pub fn with(
        tls: Option<Arc<ServerConfig>>,
        handler: impl Fn(&Request, &mut dyn Wire) -> io::Result<bool> + Send + Sync + 'static,
    ) -> Server {
        Server::listen(Arc::default(), tls, Arc::new(handler))
    }

    /// Another port of this server, whose memory it shares.
    pub fn beside(
        &self,
        tls: Option<Arc<ServerConfig>>,
        handler: impl Fn(&Request, &mut dyn Wire) -> io::Result<bool> + Send + Sync + 'static,
    ) -> Server {
        Server::listen(self.kept.clone(), tls, Arc::new(handler))
    }

    fn listen(kept: Arc<Kept>, tls: Option<Arc<ServerConfig>>, handler: Arc<Handler>) -> Server {
        let (listener, port) = listener();
        let server = Server { port, kept: kept.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming().take(MAX_CONNECTIONS).flatten() {
                if kept.stop.load(Ordering::SeqCst) {
                    return;
                }
                kept.connections.fetch_add(1, Ordering::SeqCst);
                let (tls, kept, handler) = (tls.clone(), kept.clone(), handler.clone());
                std::thread::spawn(move || serve(stream, tls, &kept, &*handler));
            }
        });
        server
    }

    pub fn seen(&self) -> Vec<Request> {
        self.kept.requests.lock().expect("no panic").clone()
    }

    /// The same once there are so many requests, or after a minute.
    pub fn seen_when(&self, count: usize) -> Vec<Request> {
        let requests = self.kept.requests.lock().expect("no panic");
        let few = |requests: &mut Vec<Request>| requests.len() < count;
        self.kept.arrived.wait_timeout_while(requests, Duration::from_secs(60), few).expect("no panic").0.clone()
    }

    /// What leads a name's plain HTTP here, for `--resolve`.
    pub fn resolve(&self, name: &str) -> String {
        format!("{name}:80:127.0.0.1:{}", self.port)
    }

    pub fn connections(&self) -> usize {
        self.kept.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kept.stop.store(true, Ordering::SeqCst);
        // So that it looks.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// For what speaks no HTTP: a listener on a port of its own.
pub fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    let port = listener.local_addr().expect("it is bound").port();
    (listener, port)
}

/// A port where nobody listens.
pub fn nobody() -> u16 {
    listener().1
}

fn serve(stream: TcpStream, tls: Option<Arc<ServerConfig>>, kept: &Kept, handler: &Handler) {
    let mut first = [0];
    let _ = stream.set_nodelay(true);
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let _ = stream.set_write_timeout(Some(PATIENCE));
    match tls {
        // TLS, where nobody speaks it.
        None if matches!(stream.peek(&mut first), Ok(1)) && first == [0x16] => {
            let _ = (&stream).write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
        None => converse(&mut { stream }, "http", kept, handler),
        Some(config) => {
            let session = rustls::ServerConnection::new(config).expect("a session");
            converse(&mut rustls::StreamOwned::new(session, stream), "https", kept, handler);
        }
    }
}

fn converse(wire: &mut dyn Wire, scheme: &'static str, kept: &Kept, handler: &Handler) {
    let mut received = Vec::new();
    while let Some(request) = receive(wire, scheme, &mut received) {
        kept.requests.lock().expect("no panic").push(request.clone());
        kept.arrived.notify_all();
        let stays = handler(&request, wire).unwrap_or(false) && wire.flush().is_ok();
        if !stays || kept.stop.load(Ordering::SeqCst) {
            return;
        }
    }
}

/// The next request; what is left over stays in `received`.
pub fn receive(wire: &mut dyn Wire, scheme: &'static str, received: &mut Vec<u8>) -> Option<Request> {
    let end = more_until(wire, received, |bytes| find(bytes, b"\r\n\r\n"))? + 2;
    let head = String::from_utf8_lossy(&received[..end]).into_owned();
    received.drain(..end + 2);
    let mut words = head.lines().next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = Request { method, target, head, raw: Vec::new(), body: String::new(), scheme };
    if request.target.starts_with(UNREAD) {
        return Some(request);
    }
    if request.header("transfer-encoding").is_some() {
        let (end, body) = loop {
            if let Some(whole) = unchunked(received)? {
                break whole;
            }
            let before = received.len();
            more_until(wire, received, |bytes| (bytes.len() > before).then_some(0))?;
        };
        request.raw = received.drain(..end).collect();
        request.body = String::from_utf8_lossy(&body).into_owned();
    } else if let Some(length) = request.header("content-length").and_then(|text| text.parse::<usize>().ok()) {
        more_until(wire, received, |bytes| (bytes.len() >= length).then_some(0))?;
        request.raw = received.drain(..length).collect();
        request.body = String::from_utf8_lossy(&request.raw).into_owned();
    }
    Some(request)
}

/// Where the chunks end, and what is in them; `Some(None)` as long as more of them has to come.
fn unchunked(bytes: &[u8]) -> Option<Option<(usize, Vec<u8>)>> {
    let (mut at, mut body) = (0, Vec::new());
    loop {
        let Some(end) = find(&bytes[at..], b"\r\n") else { return Some(None) };
        let size = std::str::from_utf8(&bytes[at..at + end]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok().filter(|size| *size <= MAX_REQUEST_BYTES)?;
        let start = at + end + 2;
        if bytes.len() < start + size + 2 {
            return Some(None);
        }
        body.extend_from_slice(&bytes[start..start + size]);
        at = start + size + 2;
        if size == 0 {
            return Some(Some((at, body)));
        }
    }
}

fn more_until(wire: &mut dyn Wire, bytes: &mut Vec<u8>, found: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
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

/// An answer with a body of known length.
pub fn answer(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let mut bytes = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// An authority of our own, in a file that clients can be told to trust.
pub struct Authority {
    pub file: Held,
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
}

impl Authority {
    pub fn new() -> Authority {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut params = rcgen::CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("signed");
        Authority { file: Held::new(&certificate.pem()), issuer: rcgen::Issuer::new(params, key) }
    }

    /// What a server of these names needs.
    pub fn server(&self, names: &[&str]) -> Arc<ServerConfig> {
        Arc::new(self.config(names, None))
    }

    /// The same with a certificate that holds until a year begins.
    pub fn config(&self, names: &[&str], until: Option<i32>) -> ServerConfig {
        let key = rcgen::KeyPair::generate().expect("a key");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = rcgen::CertificateParams::new(names).expect("parameters");
        params.not_after = until.map_or(params.not_after, |year| rcgen::date_time_ymd(year, 1, 1));
        let certificate = params.signed_by(&key, &self.issuer).expect("signed");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate")
    }
}
