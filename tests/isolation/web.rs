//! HTTP from a cell with the libraries that skills use, unchanged: what works over the door, and what their users catch
//! where it doesn't. Real cells, real servers on loopback, TLS by an authority of our own.

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::common::server::{self, Authority, Request, Server, answer};
use crate::common::{returned, tests};
use serde_json::{Value, json};
use skillcell::{Call, CancelToken, Host, Outcome, Report, Roots};
use skillcell_http::Lookup;
use skillcell_policy::{DenialKind, GrantKind, Grants};

const NAME: &str = "api.example.test";
const OTHER: &str = "other.example.test";
const LIBRARIES: [&str; 5] = ["urllib", "http.client", "requests", "httpx", "httpx.AsyncClient"];
/// These follow redirects and unpack gzip.
const CLIENTS: [&str; 3] = ["requests", "httpx", "httpx.AsyncClient"];
/// `packed, then unpacked`
const GZIP: [u8; 37] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 43, 72, 76, 206, 78, 77, 209, 81, 40, 201, 72, 205, 83, 40, 205, 43, 0, 115, 1,
    159, 123, 65, 12, 21, 0, 0, 0,
];
const SLOW: Duration = Duration::from_millis(400);

static AUTHORITY: LazyLock<Authority> = LazyLock::new(Authority::new);
static HOST: LazyLock<Host> = LazyLock::new(|| {
    let trusted = AUTHORITY.file.path().to_owned();
    Host::builder().roots(Roots::new([])).ca_files([trusted]).build().expect("the cache folder can be used")
});

fn handle(seen: &Request) -> Option<Vec<u8>> {
    Some(match seen.path() {
        "gzip" => answer("200 OK", &[("Content-Encoding", "gzip")], GZIP),
        "big" => answer("200 OK", &[], "x".repeat(300_000)),
        "chunked" => {
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n".to_vec()
        }
        "parts" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n".to_vec(),
        "odd" => b"HTTP/1.0 999 D\xe9j\xe0 vu\r\nX-B: 1\r\nConnection: close\r\nx-a: 2\r\n\r\nto the end".to_vec(),
        "utf-8" => answer("200 OK", &[("Content-Encoding", "utf-8")], "as it is"),
        "no-http" => b"SSH-2.0-x\r\n\r\n".to_vec(),
        "bad-chunk" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none \r\nzz\r\n".to_vec(),
        "moved" => answer("302 Found", &[("Location", "/plain")], ""),
        "away" => answer("302 Found", &[("Location", "http://refused.example.test/x")], ""),
        "missing" => answer("404 Not Found", &[], "nothing here"),
        "cookie" => answer("200 OK", &[("Set-Cookie", "id=7; Path=/")], "set"),
        "seen" => answer("200 OK", &[], seen.header("cookie").unwrap_or("none")),
        "stall" => return None,
        "slow" => {
            std::thread::sleep(SLOW);
            answer("200 OK", &[], "slow")
        }
        _ => answer("200 OK", &[], format!("{} {}", seen.method, seen.body)),
    })
}

fn plain() -> Server {
    Server::start(None, handle)
}

/// What allows all of these hosts, and leads them to a server.
fn grants(server: &Server, scheme: &str, hosts: &[&str]) -> Grants {
    let mut grants = Grants::default();
    let port = if scheme == "https" { 443 } else { 80 };
    for host in hosts {
        grants.add(GrantKind::AllowHttp, &format!("* {scheme}://{host}/*")).expect("a rule");
        grants.add(GrantKind::Resolve, &format!("{host}:{port}:127.0.0.1:{}", server.port)).expect("a resolve");
    }
    grants
}

fn report(skill: &str, params: Value, grants: Grants) -> Report {
    let folder = tests().join("skills/web").join(skill);
    let skill = HOST.skill(folder.to_str().expect("a plain path")).expect("a skill");
    let mut call = Call::new(params);
    call.grants = grants;
    HOST.call(&skill, &call).expect("the host does its part")
}

fn run(library: &str, what: &str, url: &str, timeout: f64, grants: Grants) -> Report {
    report("libraries", json!({"library": library, "do": what, "url": url, "timeout": timeout}), grants)
}

fn told(library: &str, what: &str, url: &str, server: &Server) -> Value {
    let scheme = url.split(':').next().unwrap_or_default();
    let report = run(library, what, url, 20.0, grants(server, scheme, &[NAME, OTHER]));
    assert!(report.denials.is_empty(), "{library} {what}: {:?}", report.denials);
    returned(report).unwrap_or_else(|what| panic!("{library}: {what}"))
}

/// The classes of the exception that came, with the class of its `reason`.
fn kinds(report: Report) -> (Vec<String>, String) {
    let told = returned(report).unwrap_or_else(|what| panic!("{what}"));
    let kinds = told["kinds"].as_array().unwrap_or_else(|| panic!("{told}"));
    let kinds = kinds.iter().map(|kind| kind.as_str().unwrap_or_default().to_owned()).collect();
    (kinds, told["reason"].as_str().unwrap_or_default().to_owned())
}

/// Asserts that users of each library catch what they catch elsewhere. For urllib, what the `URLError`'s reason is.
fn caught(what: &str, expected: [&str; 5], ask: impl Fn(&str) -> Report) {
    for (library, expected) in LIBRARIES.into_iter().zip(expected) {
        let (kinds, reason) = kinds(ask(library));
        match expected.strip_prefix("reason ") {
            Some(expected) => {
                assert_eq!(
                    (kinds[0].as_str(), reason.as_str()),
                    ("urllib.error.URLError", expected),
                    "{library}, {what}"
                )
            }
            None => assert!(kinds.iter().any(|kind| kind == expected), "{library}, {what}: {kinds:?}, not {expected}"),
        }
    }
}

#[test]
fn every_library_gets_answers_of_every_form() {
    let server = plain();
    for library in LIBRARIES {
        let url = |path: &str| format!("http://{NAME}/{path}");
        let plain = json!({"status": 200, "text": "GET ", "url": url("plain")});
        assert_eq!(told(library, "get", &url("plain"), &server), plain, "{library}");
        assert_eq!(told(library, "get", &url("chunked"), &server)["text"], "one two", "{library}");
        assert_eq!(told(library, "download", &url("big"), &server), json!({"bytes": 300_000, "several": true}));
        assert_eq!(told(library, "upload", &url("x"), &server), json!({"text": "POST one two three"}), "{library}");
        assert_eq!(server.seen().last().and_then(|seen| seen.header("transfer-encoding")), Some("chunked"));
        if CLIENTS.contains(&library) {
            assert_eq!(told(library, "get", &url("gzip"), &server)["text"], "packed, then unpacked", "{library}");
            assert_eq!(told(library, "get", &url("missing"), &server)["status"], 404, "{library}");
            assert_eq!(told(library, "get", &url("moved"), &server), plain, "{library}");
        }
    }
}

#[test]
fn sessions_keep_cookies_and_their_connection() {
    let server = plain();
    for library in ["urllib", "requests", "httpx", "httpx.AsyncClient"] {
        let session = told(library, "session", &format!("http://{NAME}"), &server);
        assert_eq!(session["texts"], json!(["set", "id=7", "id=7"]), "{library}");
        if library != "urllib" {
            assert_eq!(session["connections"], 1, "{library}");
        }
    }
}

#[test]
fn a_redirect_to_a_host_that_is_not_granted_is_refused() {
    let server = plain();
    for library in ["urllib", "requests", "httpx", "httpx.AsyncClient"] {
        let report = run(library, "get", &format!("http://{NAME}/away"), 20.0, grants(&server, "http", &[NAME]));
        let flags: Vec<_> = report.denials.iter().filter_map(|denial| denial.flag.as_deref()).collect();
        assert_eq!(flags, ["--allow-http 'http://refused.example.test/*'"], "{library}");
        kinds(report);
    }
    assert!(server.seen().iter().all(|seen| seen.url().ends_with("/away")));
}

#[test]
fn requests_of_an_async_client_wait_for_their_answers_at_the_same_time() {
    let server = plain();
    let urls = [NAME, OTHER, NAME, OTHER, NAME].map(|host| format!("http://{host}/slow")).join(" ");
    let report = run("httpx.AsyncClient", "together", &urls, 20.0, grants(&server, "http", &[NAME, OTHER]));
    let told = returned(report).unwrap();
    assert_eq!(told["texts"], json!(["slow", "slow", "slow", "slow", "slow"]));
    let seconds = told["seconds"].as_f64().expect("a number");
    assert!(seconds < SLOW.as_secs_f64() * 4.0, "one after the other it would take five times {SLOW:?}: {seconds}");
    let hosts: Vec<String> = server.seen().iter().filter_map(|seen| seen.header("host").map(str::to_owned)).collect();
    assert_eq!((hosts.len(), hosts.iter().filter(|host| *host == OTHER).count()), (5, 2), "{hosts:?}");
}

#[test]
fn as_many_requests_wait_at_once_as_httpx_makes() {
    let server = plain();
    let urls = vec![format!("http://{NAME}/plain"); 100].join(" ");
    let told = told("httpx.AsyncClient", "together", &urls, &server);
    assert_eq!(told["texts"], json!(vec!["GET "; 100]));
}

#[test]
fn an_answer_keeps_its_form() {
    let server = plain();
    let odd = json!({
        "status": 999, "reason": "D\u{e9}j\u{e0} vu", "version": 10, "text": "to the end",
        "headers": [["X-B", "1"], ["Connection", "close"], ["x-a", "2"]],
    });
    for library in ["http.client", "requests"] {
        assert_eq!(told(library, "form", &format!("http://{NAME}/odd"), &server), odd, "{library}");
        let sized = told(library, "form", &format!("http://{NAME}/seen"), &server);
        assert_eq!(sized["headers"], json!([["Content-Length", "4"]]), "{library}");
    }
    assert_eq!(told("requests", "pieces", &format!("http://{NAME}/parts"), &server), json!(["one ", "two"]));
    for library in LIBRARIES {
        assert_eq!(told(library, "get", &format!("http://{NAME}/utf-8"), &server)["text"], "as it is", "{library}");
    }
}

#[test]
fn a_server_sees_whether_a_connection_is_to_last() {
    let server = plain();
    for (library, word) in [("urllib", Some("close")), ("http.client", None), ("requests", Some("keep-alive"))] {
        told(library, "get", &format!("http://{NAME}/plain"), &server);
        assert_eq!(server.seen().last().and_then(|seen| seen.header("connection")), word, "{library}");
    }
}

#[test]
fn a_malformed_answer_is_the_librarys_own_error() {
    let server = plain();
    let ask = |library: &str, path: &str| {
        run(library, "get", &format!("http://{NAME}/{path}"), 5.0, grants(&server, "http", &[NAME]))
    };
    let no_http = [
        "http.client.BadStatusLine",
        "http.client.BadStatusLine",
        "requests.exceptions.ConnectionError",
        "httpx.RemoteProtocolError",
        "httpx.RemoteProtocolError",
    ];
    caught("no HTTP", no_http, |library| ask(library, "no-http"));
    let bad_chunk = [
        "http.client.IncompleteRead",
        "http.client.IncompleteRead",
        "requests.exceptions.ChunkedEncodingError",
        "httpx.RemoteProtocolError",
        "httpx.RemoteProtocolError",
    ];
    caught("bad chunk", bad_chunk, |library| ask(library, "bad-chunk"));
}

#[test]
fn other_tasks_go_on_while_an_answer_is_awaited() {
    let told = told("httpx.AsyncClient", "beside", &format!("http://{NAME}/slow"), &plain());
    assert_eq!(told["text"], "slow");
    assert!(told["ticks"].as_u64().is_some_and(|ticks| ticks >= 3), "{told}");
}

#[test]
fn a_task_that_awaits_an_answer_can_be_cancelled() {
    let told = told("httpx.AsyncClient", "cancelled", &format!("http://{NAME}/stall"), &plain());
    assert!(told["seconds"].as_f64().is_some_and(|seconds| seconds < 5.0), "{told}");
}

#[test]
fn a_server_that_does_not_answer_is_a_read_time_out() {
    let server = plain();
    let expected = [
        "builtins.TimeoutError",
        "builtins.TimeoutError",
        "requests.exceptions.ReadTimeout",
        "httpx.ReadTimeout",
        "httpx.ReadTimeout",
    ];
    caught("stalled", expected, |library| {
        run(library, "get", &format!("http://{NAME}/stall"), 0.3, grants(&server, "http", &[NAME]))
    });
}

/// Never knows an address, and says when it was asked.
#[derive(Debug, Default)]
struct Sleepy(AtomicBool);

impl Lookup for Sleepy {
    fn addresses(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
        self.0.store(true, Ordering::SeqCst);
        std::thread::sleep(Duration::from_secs(60));
        Ok(Vec::new())
    }
}

/// Makes a call, cancels it once it waits, and gives how long it took to end then.
fn cancelled(host: &Host, library: &str, url: &str, grants: Grants, waits: impl Fn() -> bool) -> Duration {
    let folder = tests().join("skills/web/libraries");
    let skill = host.skill(folder.to_str().expect("a plain path")).expect("a skill");
    let mut call = Call::new(json!({"library": library, "do": "get", "url": url, "timeout": 600}));
    (call.grants, call.limits.deadline, call.cancel) = (grants, Duration::from_secs(600), CancelToken::new());
    let token = call.cancel.clone();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| host.call(&skill, &call).expect("the host does its part"));
        while !waits() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(50));
        assert!(!running.is_finished(), "{library} {url}");
        let cancelled = Instant::now();
        token.cancel();
        let report = running.join().expect("it ends");
        assert!(matches!(report.outcome, Outcome::Cancelled), "{library} {url}: {:?}", report.outcome);
        cancelled.elapsed()
    })
}

#[test]
fn a_call_that_waits_for_a_server_ends_when_it_is_cancelled() {
    // Generous, since the machine may be busy; each of these waits would take ten seconds and more.
    let soon = Duration::from_secs(3);
    for library in ["requests", "httpx.AsyncClient"] {
        let server = plain();
        let granted = grants(&server, "http", &[NAME]);
        let took = cancelled(&HOST, library, &format!("http://{NAME}/stall"), granted, || !server.seen().is_empty());
        eprintln!("{library}, reading: {took:?}");
        assert!(took < soon, "{library}, reading: {took:?}");
    }
    let (full, mut granted) = (Full::start(), Grants::default());
    granted.add(GrantKind::AllowHttp, &format!("http://{NAME}/*")).expect("a rule");
    granted.add(GrantKind::Resolve, &format!("{NAME}:80:127.0.0.1:{}", full.1)).expect("a resolve");
    let started = Instant::now();
    let begun = || started.elapsed() > Duration::from_millis(500);
    let took = cancelled(&HOST, "requests", &format!("http://{NAME}/"), granted, begun);
    eprintln!("connecting: {took:?}");
    assert!(took < soon, "connecting: {took:?}");
    let (mute, mut granted) = (TcpListener::bind("127.0.0.1:0").expect("a port"), Grants::default());
    let port = mute.local_addr().expect("bound").port();
    granted.add(GrantKind::AllowHttp, &format!("https://{NAME}/*")).expect("a rule");
    granted.add(GrantKind::Resolve, &format!("{NAME}:443:127.0.0.1:{port}")).expect("a resolve");
    let begun = || mute.accept().is_ok_and(|(stream, _)| std::mem::ManuallyDrop::new(stream).peek(&mut [0]).is_ok());
    let took = cancelled(&HOST, "requests", &format!("https://{NAME}/"), granted, begun);
    eprintln!("shaking hands: {took:?}");
    assert!(took < soon, "shaking hands: {took:?}");
    let lookup = Arc::new(Sleepy::default());
    let host = Host::builder().roots(Roots::new([])).lookup(lookup.clone()).build().expect("the cache can be used");
    let mut granted = Grants::default();
    granted.add(GrantKind::AllowHttp, &format!("http://{NAME}/*")).expect("a rule");
    let begun = || lookup.0.load(Ordering::SeqCst);
    let took = cancelled(&host, "requests", &format!("http://{NAME}/"), granted, begun);
    eprintln!("looking a name up: {took:?}");
    assert!(took < soon, "looking a name up: {took:?}");
}

/// A listener whose queue is full, so that connecting to it takes for ever. The standard library can't make one.
struct Full(Child, u16);

impl Full {
    fn start() -> Full {
        let script = "import socket, sys, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(0)
waiting = [socket.socket() for _ in range(4)]
for c in waiting: c.setblocking(False); c.connect_ex(s.getsockname())
time.sleep(0.2); print(s.getsockname()[1], flush=True); sys.stdin.read()";
        let mut child = Command::new("python3")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        Full(child, line.trim().parse().expect("a port"))
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn a_server_that_takes_no_connection_is_a_connect_time_out() {
    let full = Full::start();
    let mut grants = Grants::default();
    grants.add(GrantKind::AllowHttp, &format!("http://{NAME}/*")).expect("a rule");
    grants.add(GrantKind::Resolve, &format!("{NAME}:80:127.0.0.1:{}", full.1)).expect("a resolve");
    let expected = [
        "reason TimeoutError",
        "builtins.TimeoutError",
        "requests.exceptions.ConnectTimeout",
        "httpx.ConnectTimeout",
        "httpx.ConnectTimeout",
    ];
    let started = Instant::now();
    caught("no room", expected, |library| run(library, "get", &format!("http://{NAME}/"), 0.3, grants.clone()));
    assert!(started.elapsed() < Duration::from_secs(60));
}

const CONNECTION_ERRORS: [&str; 5] = [
    "reason ConnectionRefusedError",
    "builtins.ConnectionRefusedError",
    "requests.exceptions.ConnectionError",
    "httpx.ConnectError",
    "httpx.ConnectError",
];
const NAME_ERRORS: [&str; 5] = [
    "reason gaierror",
    "socket.gaierror",
    "requests.exceptions.ConnectionError",
    "httpx.ConnectError",
    "httpx.ConnectError",
];

#[test]
fn nobody_at_a_port_is_a_connection_error() {
    let port = server::nobody();
    let mut grants = Grants::default();
    grants.add(GrantKind::AllowHttp, &format!("http://{NAME}/*")).expect("a rule");
    grants.add(GrantKind::Resolve, &format!("{NAME}:80:127.0.0.1:{port}")).expect("a resolve");
    let ask = |library: &str| run(library, "get", &format!("http://{NAME}/"), 5.0, grants.clone());
    caught("nobody", CONNECTION_ERRORS, ask);
    for library in ["urllib", "http.client", "requests", "httpx"] {
        let told = returned(ask(library)).unwrap();
        let why = told["why"].as_str().unwrap_or_default();
        assert!(why.contains("[Errno 111] Connection refused"), "skills hand on what Linux says: {library}: {why}");
    }
}

#[test]
fn a_host_that_is_not_granted_is_a_connection_error_and_a_denial() {
    let server = plain();
    let ask = |library: &str, url: &str, flag: &str, granted: Grants| {
        let report = run(library, "get", url, 5.0, granted);
        let told = |denial: &skillcell_policy::Denial| denial.flag.clone().unwrap_or_else(|| denial.asked.clone());
        assert_eq!(report.denials.iter().map(told).collect::<Vec<_>>(), [flag], "{library}");
        report
    };
    let granted = grants(&server, "http", &[NAME]);
    caught("another name", NAME_ERRORS, |library| {
        ask(library, &format!("http://{OTHER}/"), &format!("--allow-http 'http://{OTHER}/*'"), granted.clone())
    });
    caught("nothing granted", NAME_ERRORS, |library| {
        ask(library, &format!("http://{NAME}/"), &format!("--allow-http 'http://{NAME}/*'"), Grants::default())
    });
    caught("an address", CONNECTION_ERRORS, |library| {
        // For such an address no flag is offered.
        ask(library, "http://127.0.0.1/", "127.0.0.1", granted.clone())
    });
    caught("another port", CONNECTION_ERRORS, |library| {
        let url = format!("http://{NAME}:8080/");
        ask(library, &url, &format!("--allow-http 'http://{NAME}:8080/*'"), granted.clone())
    });
    assert_eq!(server.seen(), []);
}

#[test]
fn a_path_that_is_not_granted_is_a_denial_that_every_library_tells_of() {
    let server = plain();
    for library in LIBRARIES {
        let mut granted = Grants::default();
        granted.add(GrantKind::AllowHttp, &format!("http://{NAME}/v1/*")).expect("a rule");
        granted.add(GrantKind::Resolve, &format!("{NAME}:80:127.0.0.1:{}", server.port)).expect("a resolve");
        let report = run(library, "get", &format!("http://{NAME}/v2"), 5.0, granted);
        let flags: Vec<_> = report.denials.iter().filter_map(|denial| denial.flag.as_deref()).collect();
        assert_eq!(flags, [format!("--allow-http 'GET http://{NAME}/v2'")], "{library}");
        let (kinds, _) = kinds(report);
        let caught = ["builtins.OSError", "httpx.NetworkError"];
        assert!(kinds.iter().any(|kind| caught.contains(&kind.as_str())), "{library}: {kinds:?}");
    }
    assert_eq!(server.seen(), []);
}

#[test]
fn an_operators_proxy_is_asked_by_name_and_never_for_names_of_its_own_network() {
    let proxy = plain();
    let policy = tempfile::NamedTempFile::new().expect("a file");
    let lines = format!("[http]\nproxy = \"http://127.0.0.1:{}\"\n", proxy.port);
    std::fs::write(policy.path(), lines).expect("written");
    let folder = tests().join("skills/web/libraries");
    let ask = |library: &str, host: &str, settings: &[&str]| {
        let params = json!({"library": library, "do": "get", "url": format!("http://{host}/plain"), "timeout": 20});
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        command.arg("run").arg(&folder).args(["--json", "--quiet", "--params", &params.to_string()]);
        command.args(["--allow-http", &format!("http://{host}/*")]).args(settings);
        // Nobody listens there: who read it would reach nobody.
        command.env("HTTP_PROXY", "http://127.0.0.1:1").env("http_proxy", "http://127.0.0.1:1");
        serde_json::from_slice::<Value>(&command.output().expect("it runs").stdout).expect("JSON")
    };
    let (flag, file) = (format!("http://127.0.0.1:{}", proxy.port), policy.path().to_str().expect("plain"));
    for library in ["requests", "httpx.AsyncClient"] {
        for settings in [["--proxy", &flag], ["--policy", file]] {
            assert_eq!(ask(library, NAME, &settings)["result"]["text"], "GET ", "{library} {settings:?}");
        }
    }
    let told: Vec<String> =
        proxy.seen().iter().filter_map(|seen| seen.head.lines().next().map(str::to_owned)).collect();
    assert_eq!(told, vec![format!("GET http://{NAME}/plain HTTP/1.1"); 4]);
    for host in ["metadata.google.internal", "localhost.localdomain", "intranet"] {
        let report = ask("requests", host, &["--proxy", &flag]);
        assert_eq!(report["denials"][0]["kind"], "address", "{report}");
    }
    assert_eq!(proxy.seen().len(), 4);
}

#[test]
fn the_systems_authorities_are_trusted_and_no_others() {
    let server = Server::start(Some(AUTHORITY.server(&[NAME])), handle);
    let folder = tests().join("skills/web/libraries");
    let ask = |store: &std::path::Path| {
        let params = json!({"library": "requests", "do": "get", "url": format!("https://{NAME}/plain"), "timeout": 20});
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        command.arg("run").arg(&folder).args(["--json", "--quiet", "--params", &params.to_string()]);
        command.args(["--allow-http", &format!("https://{NAME}/*")]);
        command.args(["--resolve", &format!("{NAME}:443:127.0.0.1:{}", server.port)]);
        let output = command.env("SSL_CERT_FILE", store).env_remove("SSL_CERT_DIR").output().expect("it runs");
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        told["result"].clone()
    };
    assert_eq!(ask(AUTHORITY.file.path())["text"], "GET ");
    // With the store of another machine, and with none at all, where those that are built in stand in.
    for store in [Authority::new().file.path(), std::path::Path::new("/nowhere")] {
        let kinds = ask(store)["kinds"].to_string();
        assert!(kinds.contains("requests.exceptions.SSLError"), "{kinds}");
    }
}

#[test]
fn https_is_verified_by_the_host_for_every_library() {
    let server = Server::start(Some(AUTHORITY.server(&[NAME, OTHER])), handle);
    for library in LIBRARIES {
        let url = |path: &str| format!("https://{NAME}/{path}");
        assert_eq!(told(library, "get", &url("plain"), &server)["text"], "GET ", "{library}");
        assert_eq!(told(library, "download", &url("big"), &server), json!({"bytes": 300_000, "several": true}));
        assert_eq!(told(library, "upload", &url("x"), &server), json!({"text": "POST one two three"}), "{library}");
        if CLIENTS.contains(&library) {
            assert_eq!(told(library, "get", &url("moved"), &server)["text"], "GET ", "{library}");
            let session = told(library, "session", &format!("https://{NAME}"), &server);
            assert_eq!(session, json!({"texts": ["set", "id=7", "id=7"], "connections": 1}), "{library}");
        }
    }
    let urls = [NAME, OTHER].map(|host| format!("https://{host}/slow")).join(" ");
    assert_eq!(told("httpx.AsyncClient", "together", &urls, &server)["texts"], json!(["slow", "slow"]));
    assert!(server.seen().iter().all(|seen| seen.url().starts_with("https://")));
}

#[test]
fn a_certificate_of_an_unknown_authority_or_for_another_name_is_the_librarys_error() {
    let expected = [
        "reason SSLCertVerificationError",
        "ssl.SSLCertVerificationError",
        "requests.exceptions.SSLError",
        "httpx.ConnectError",
        "httpx.ConnectError",
    ];
    for (what, config) in [
        ("unknown authority", Authority::new().server(&[NAME])),
        ("another name", AUTHORITY.server(&["elsewhere.example.test"])),
    ] {
        let server = Server::start(Some(config), handle);
        caught(what, expected, |library| {
            run(library, "get", &format!("https://{NAME}/"), 20.0, grants(&server, "https", &[NAME]))
        });
        assert_eq!(server.seen(), [], "{what}");
    }
}

#[test]
fn a_server_that_does_not_shake_hands_is_a_time_out() {
    // Takes connections and never says anything.
    let (_listener, port) = server::listener();
    let mut granted = Grants::default();
    granted.add(GrantKind::AllowHttp, &format!("https://{NAME}/*")).expect("a rule");
    granted.add(GrantKind::Resolve, &format!("{NAME}:443:127.0.0.1:{port}")).expect("a resolve");
    let expected = [
        "reason TimeoutError",
        "builtins.TimeoutError",
        "requests.exceptions.Timeout",
        "httpx.ConnectTimeout",
        "httpx.ConnectTimeout",
    ];
    caught("no handshake", expected, |library| run(library, "get", &format!("https://{NAME}/"), 0.3, granted.clone()));
}

#[test]
fn a_server_that_speaks_no_tls_is_a_tls_error() {
    let server = plain();
    let expected =
        ["reason SSLError", "ssl.SSLError", "requests.exceptions.SSLError", "httpx.ConnectError", "httpx.ConnectError"];
    caught("no TLS", expected, |library| {
        run(library, "get", &format!("https://{NAME}/"), 20.0, grants(&server, "https", &[NAME]))
    });
}

#[test]
fn a_rule_for_any_host_does_not_lead_into_this_machine() {
    let server = plain();
    let mut granted = Grants::default();
    for rule in [format!("http://*:{}/*", server.port), "http://*/*".to_owned()] {
        granted.add(GrantKind::AllowHttp, &rule).expect("a rule");
    }
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{}/plain", server.port);
        let refused = run("requests", "get", &url, 5.0, granted.clone());
        assert!(!refused.denials.is_empty(), "{host}");
        assert!(refused.denials.iter().all(|denial| matches!(denial.kind, DenialKind::Address | DenialKind::Http)));
        kinds(refused);
    }
    assert_eq!(server.seen(), []);
    granted.add(GrantKind::Resolve, &format!("any.example.test:80:127.0.0.1:{}", server.port)).expect("a resolve");
    granted.add(GrantKind::Resolve, &format!("93.184.216.34:80:127.0.0.1:{}", server.port)).expect("a resolve");
    for host in ["any.example.test", "93.184.216.34"] {
        let told = returned(run("requests", "get", &format!("http://{host}/plain"), 5.0, granted.clone())).unwrap();
        assert_eq!(told["text"], "GET ", "{host}: {told}");
    }
    granted.add(GrantKind::AllowHttp, &format!("http://127.0.0.1:{}/*", server.port)).expect("a rule");
    let own = run("requests", "get", &format!("http://127.0.0.1:{}/plain", server.port), 5.0, granted);
    assert_eq!(returned(own).unwrap()["text"], "GET ");
}

#[test]
fn a_request_at_import_is_an_error_that_says_where_it_belongs() {
    let mut granted = Grants::default();
    granted.add(GrantKind::AllowHttp, "https://rates.example.test/*").expect("a rule");
    let report = report("at_import", json!({}), granted);
    let Outcome::Raised(raised) = &report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(raised.kind, "requests.exceptions.ConnectionError");
    assert!(raised.message.contains("make requests in `execute` or in the constructor"), "{}", raised.message);
    assert!(raised.traceback.contains("/skills/web/at_import/skill.py\", line 4"), "{}", raised.traceback);
}

#[test]
fn a_request_in_the_constructor_is_made_in_each_call_as_granted() {
    let server = plain();
    for count in 1..=2 {
        let report = report("in_constructor", json!({}), grants(&server, "http", &[NAME]));
        assert_eq!(returned(report).unwrap(), json!({"said": "GET "}));
        assert_eq!(server.seen().len(), count);
    }
    let refused = report("in_constructor", json!({}), Grants::default());
    assert_eq!(refused.denials.len(), 1);
    assert!(
        matches!(&refused.outcome, Outcome::Raised(raised) if raised.kind == "requests.exceptions.ConnectionError")
    );
}

#[test]
fn every_fixture_is_used() {
    let text = include_str!("web.rs");
    for folder in std::fs::read_dir(tests().join("skills/web")).expect("listed").flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        assert!(text.contains(&format!("\"{name}\"")), "no test runs `{name}`");
    }
}
