//! Servers on loopback that replay recorded answers to HTTP requests while a case runs: one for each origin, with TLS
//! by a certificate authority that only the case's host trusts.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde::Deserialize;

use skillcell_policy::{GrantKind, Grants};

/// The largest head and body of a request that are read, and how many requests are remembered: a skill decides on them.
const MAX_HEAD: u64 = 64 << 10;
const MAX_BODY: u64 = 16 << 20;
const MAX_REQUESTS: usize = 4096;
const IDLE: Duration = Duration::from_secs(30);

/// What a request is answered with.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    pub method: String,
    pub url: String,
    /// Whether `url` is a prefix of the request's URL.
    pub prefix: bool,
    /// Text that the request's body must contain.
    pub asks: String,
    pub status: u16,
    pub headers: std::collections::BTreeMap<String, String>,
    pub body: String,
}

impl Answer {
    fn is_for(&self, request: &Request) -> bool {
        let url = if self.prefix { request.url.starts_with(&self.url) } else { request.url == self.url };
        let body = request.body.as_deref().unwrap_or_default();
        url && self.method == request.method && body.contains(&self.asks)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = self.body.len();
        format!("HTTP/1.1 {} Recorded\r\nContent-Length: {length}\r\n{headers}\r\n{}", self.status, self.body)
            .into_bytes()
    }
}

/// A request that arrived, or was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Request {
    pub method: String,
    pub url: String,
    pub body: Option<String>,
}

/// Scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    fn from_url(url: &str) -> Option<Origin> {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?']).next().unwrap_or(rest);
        let default = if scheme == "https" { 443 } else { 80 };
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (authority, default),
        };
        Some(Origin { scheme: scheme.to_owned(), host: host.to_owned(), port })
    }
}

/// Servers for a case's origins, stopped on drop.
pub struct AnswerServers {
    /// Grants that resolve the origins to these servers and allow the recorded requests.
    pub grants: Grants,
    /// The authority's certificate, for the host that is to trust it.
    pub authority: tempfile::NamedTempFile,
    seen: Arc<Mutex<Vec<Request>>>,
    stopped: Arc<AtomicBool>,
    ports: Vec<u16>,
}

impl AnswerServers {
    pub fn start(answers: &[Answer]) -> Result<AnswerServers, String> {
        let authority = CertificateAuthority::new().map_err(|error| error.to_string())?;
        let mut servers = AnswerServers {
            grants: Grants::default(),
            authority: authority.write_certificate().map_err(|error| error.to_string())?,
            seen: Arc::default(),
            stopped: Arc::default(),
            ports: Vec::new(),
        };
        // One server for each origin, whatever the number of its answers.
        let origins: Option<BTreeSet<Origin>> = answers.iter().map(|one| Origin::from_url(&one.url)).collect();
        let all: Arc<[Answer]> = answers.into();
        for origin in origins.ok_or("an answer's URL can't be read")? {
            let port = servers.start_server(&authority, &origin, &all)?;
            servers.add_grant(GrantKind::Resolve, &format!("{}:{}:127.0.0.1:{port}", origin.host, origin.port))?;
        }
        for one in answers {
            if let Some(Origin { scheme, host, port }) = Origin::from_url(&one.url) {
                servers.add_grant(GrantKind::AllowHttp, &format!("{} {scheme}://{host}:{port}/*", one.method))?;
            }
        }
        Ok(servers)
    }

    /// The requests received so far, grouped by origin: the order across servers is not known.
    pub fn received_requests(&self) -> Vec<Request> {
        by_origin(self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn add_grant(&mut self, kind: GrantKind, text: &str) -> Result<(), String> {
        self.grants.add(kind, text).map_err(|error| error.to_string())
    }

    fn start_server(
        &mut self,
        authority: &CertificateAuthority,
        origin: &Origin,
        answers: &Arc<[Answer]>,
    ) -> Result<u16, String> {
        let failed = |error: io::Error| error.to_string();
        let tls = (origin.scheme == "https").then(|| authority.server_config(&origin.host)).transpose()?;
        let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let (seen, stopped, answers) = (self.seen.clone(), self.stopped.clone(), answers.clone());
        let scheme = origin.scheme.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (seen, answers, scheme, tls) = (seen.clone(), answers.clone(), scheme.clone(), tls.clone());
                std::thread::spawn(move || accept_connection(stream, tls, &scheme, &answers, &seen));
            }
        });
        self.ports.push(port);
        Ok(port)
    }
}

impl Drop for AnswerServers {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        // Each server blocks in `accept`; a connection makes it look at the flag.
        for port in &self.ports {
            let _ = TcpStream::connect(("127.0.0.1", *port));
        }
    }
}

/// Sorts requests by origin; the sort is stable, so the order within each origin stays.
pub fn by_origin(mut requests: Vec<Request>) -> Vec<Request> {
    requests.sort_by_key(|request| Origin::from_url(&request.url));
    requests
}

fn accept_connection(
    stream: TcpStream,
    tls: Option<Arc<rustls::ServerConfig>>,
    scheme: &str,
    answers: &[Answer],
    seen: &Mutex<Vec<Request>>,
) {
    if stream.set_read_timeout(Some(IDLE)).is_err() || stream.set_nodelay(true).is_err() {
        return;
    }
    match tls.map(rustls::ServerConnection::new) {
        None => answer_requests(stream, scheme, answers, seen),
        Some(Ok(session)) => answer_requests(rustls::StreamOwned::new(session, stream), scheme, answers, seen),
        Some(Err(_)) => {}
    }
}

fn answer_requests(stream: impl Read + Write, scheme: &str, answers: &[Answer], seen: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader, scheme) {
        // An unexpected request is answered with an error, and then differs from what was recorded.
        let missing = || Answer {
            status: 500,
            body: format!("{} {} is not recorded", request.method, request.url),
            ..Answer::default()
        };
        let answer = answers.iter().find(|one| one.is_for(&request)).cloned().unwrap_or_else(missing);
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MAX_REQUESTS {
            seen.push(request);
        }
        drop(seen);
        let sent = reader.get_mut().write_all(&answer.to_bytes()).and_then(|()| reader.get_mut().flush());
        if sent.is_err() {
            return;
        }
    }
}

/// The next request. One that can't be read, or is too large, ends the connection.
fn read_request(reader: &mut impl BufRead, scheme: &str) -> Option<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let left = MAX_HEAD.checked_sub(head.len() as u64)?;
        if reader.by_ref().take(left).read_until(b'\n', &mut head).ok()? == 0 {
            return None;
        }
    }
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    parsed.parse(&head).ok()?;
    let header = |name: &str| {
        let found = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| std::str::from_utf8(header.value).ok())
    };
    let length = header("content-length").map_or(Some(0), |length| length.parse().ok())?;
    let url = format!("{scheme}://{}{}", header("host")?, parsed.path?);
    let method = parsed.method?.to_owned();
    let mut body = Vec::new();
    // A body that ends early is no request either.
    if length > MAX_BODY || reader.take(length).read_to_end(&mut body).ok()? as u64 != length {
        return None;
    }
    let body = (!body.is_empty()).then(|| String::from_utf8_lossy(&body).into_owned());
    Some(Request { method, url, body })
}

/// A throwaway authority that signs the servers' certificates. Only the case's host trusts it.
struct CertificateAuthority {
    certificate: String,
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
}

impl CertificateAuthority {
    fn new() -> Result<CertificateAuthority, rcgen::Error> {
        let key = rcgen::KeyPair::generate()?;
        let mut params = rcgen::CertificateParams::new(Vec::new())?;
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key)?.pem();
        Ok(CertificateAuthority { certificate, issuer: rcgen::Issuer::new(params, key) })
    }

    fn write_certificate(&self) -> io::Result<tempfile::NamedTempFile> {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(self.certificate.as_bytes())?;
        Ok(file)
    }

    fn server_config(&self, name: &str) -> Result<Arc<rustls::ServerConfig>, String> {
        let failed = |error: rcgen::Error| error.to_string();
        let key = rcgen::KeyPair::generate().map_err(failed)?;
        let params = rcgen::CertificateParams::new(vec![name.to_owned()]).map_err(failed)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(failed)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key));
        config.map(Arc::new).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_for_the_requests_that_it_was_recorded_for() {
        let answer = Answer {
            method: "POST".into(),
            url: "http://a.example/rpc".into(),
            asks: "balance".into(),
            ..Answer::default()
        };
        let request =
            |url: &str, body: &str| Request { method: "POST".into(), url: url.into(), body: Some(body.into()) };
        assert!(answer.is_for(&request("http://a.example/rpc", "{balance}")));
        assert!(!answer.is_for(&request("http://a.example/rpc", "{name}")));
        assert!(!answer.is_for(&request("http://a.example/rpc?x", "{balance}")));
        assert!(Answer { prefix: true, ..answer }.is_for(&request("http://a.example/rpc?x", "{balance}")));
    }

    #[test]
    fn a_request_that_is_too_large_is_not_read() {
        let read = |text: &str| read_request(&mut text.as_bytes(), "http");
        let good = read("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi").expect("a request");
        assert_eq!((good.url.as_str(), good.body.as_deref()), ("http://a/x", Some("hi")));
        assert_eq!(read("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\nhi"), None);
        assert_eq!(read("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nhi"), None);
        assert_eq!(read(&format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(1 << 17))), None);
    }
}
