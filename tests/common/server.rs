//! Servers on loopback, plain or with TLS by a test authority.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::held::Held;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub method: String,
    /// `http://host/path?query`, by the connection and the `Host` header.
    pub url: String,
    pub head: String,
    pub body: String,
}

impl Seen {
    pub fn path(&self) -> &str {
        self.url.splitn(4, '/').nth(3).unwrap_or_default()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.split_once(':').is_some_and(|(given, _)| given.eq_ignore_ascii_case(name));
        self.head.lines().find(named).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }
}

/// The bytes of an answer, or nothing until the other side goes away.
type Handler = dyn Fn(&Seen) -> Option<Vec<u8>> + Send + Sync;

/// A server on a port of its own, for as long as the test runs. It remembers what it was sent.
pub struct Server {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    pub fn start(
        tls: Option<Arc<rustls::ServerConfig>>,
        handler: impl Fn(&Seen) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        let port = listener.local_addr().expect("it is bound").port();
        let server = Server { port, seen: Arc::default(), connections: Arc::default() };
        let (seen, connections, handler) = (server.seen.clone(), server.connections.clone(), Arc::new(handler));
        std::thread::spawn(move || {
            for stream in listener.incoming().take(4096).flatten() {
                let (seen, handler, tls) = (seen.clone(), handler.clone(), tls.clone());
                connections.fetch_add(1, Ordering::Relaxed);
                std::thread::spawn(move || {
                    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
                    stream.set_nodelay(true).expect("set");
                    match tls {
                        None => serve(stream, "http", &seen, &*handler),
                        Some(config) => {
                            let session = rustls::ServerConnection::new(config).expect("a session");
                            serve(rustls::StreamOwned::new(session, stream), "https", &seen, &*handler);
                        }
                    }
                });
            }
        });
        server
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no panic").clone()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

fn serve(stream: impl Read + Write, scheme: &str, seen: &Mutex<Vec<Seen>>, handler: &Handler) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = receive(&mut reader, scheme) {
        seen.lock().expect("no panic").push(request.clone());
        let Some(answer) = handler(&request) else {
            let _ = reader.read(&mut [0]);
            return;
        };
        let sent = reader.get_mut().write_all(&answer).and_then(|()| reader.get_mut().flush());
        if sent.is_err() || answer.windows(17).any(|part| part == b"Connection: close") {
            return;
        }
    }
}

fn receive(reader: &mut impl BufRead, scheme: &str) -> Option<Seen> {
    let (head, body) = request(reader)?;
    let mut words = head.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut seen = Seen { method, url: String::new(), head, body };
    seen.url = format!("{scheme}://{}{target}", seen.header("host")?);
    Some(seen)
}

/// The next request's head and body.
pub fn request(reader: &mut impl BufRead) -> Option<(String, String)> {
    let (mut head, mut length, mut chunked) = (String::new(), 0, false);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let lower = line.trim_end().to_ascii_lowercase();
        if lower.is_empty() {
            break;
        }
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        chunked |= lower == "transfer-encoding: chunked";
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    while chunked {
        let mut size = String::new();
        reader.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        let mut piece = vec![0; size + 2];
        reader.read_exact(&mut piece).ok()?;
        body.extend(&piece[..size]);
        chunked = size > 0;
    }
    Some((head, String::from_utf8_lossy(&body).into_owned()))
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
    pub fn server(&self, names: &[&str]) -> Arc<rustls::ServerConfig> {
        let key = rcgen::KeyPair::generate().expect("a key");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let params = rcgen::CertificateParams::new(names).expect("parameters");
        let certificate = params.signed_by(&key, &self.issuer).expect("signed");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate");
        Arc::new(config)
    }
}
