//! What a request costs from a cell: `cargo bench --bench http`. A GET made directly by the host's client, the same GET by
//! `requests` in a fresh cell, and that cell doing nothing, one after the other in each round, against a server on loopback.
//!
//! The server keeps its connections, and so does the host's pool, for the cell as for the host.

#[path = "../tests/common/mod.rs"]
mod common;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::server::{Server, answer};
use serde_json::json;
use skillcell::CancelToken;
use skillcell::{Call, Host, Outcome, Skill};
use skillcell_http::{
    Asked, Audit, CallContext, ClientSettings, Event, Exchanges, Gate, HttpClient, HttpError, HttpLimits, Place,
    Refusal,
};
use skillcell_policy::GrantKind;
use skillcell_policy::{Allowed, AllowedRequest, HttpRule, HttpRules, Target};

const ROUNDS: usize = 300;
const BODY: &str = r#"{"status": "ok", "items": [1, 2, 3]}"#;

fn main() {
    let server = serve();
    let port = server.port;
    let host = Host::builder().build().expect("the cache folder can be used");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/skills-compat/demo/fetch");
    let skill = host.skill(folder).expect("the demo skill is there");
    let mut get = Call::new(json!({"url": format!("http://127.0.0.1:{port}/")}));
    get.grants.add(GrantKind::AllowHttp, &format!("http://127.0.0.1:{port}/*")).expect("a rule");
    let mut nothing = Call::new(json!({}));
    nothing.grants = get.grants.clone();
    let client = Arc::new(HttpClient::new(&ClientSettings::default()).expect("a client"));
    let mut times: [Vec<Duration>; 3] = Default::default();
    let mut faults = [0; 3];
    for _ in 0..ROUNDS {
        let ways: [&dyn Fn(); 3] =
            [&|| direct(&client, port), &|| call(&host, &skill, &get), &|| call(&host, &skill, &nothing)];
        for (at, way) in ways.into_iter().enumerate() {
            let (before, started) = (page_faults(), Instant::now());
            way();
            times[at].push(started.elapsed());
            faults[at] += page_faults() - before;
        }
    }
    println!("{:<36} {:>9} {:>9} {:>9} {:>12}", "", "p50 µs", "p90 µs", "p99 µs", "page faults");
    let names = ["GET by the host", "GET by requests in a fresh cell", "that cell doing nothing"];
    for ((name, all), faults) in names.iter().zip(&mut times).zip(faults) {
        all.sort_unstable();
        let [p50, p90, p99] = [50, 90, 99].map(|percent| micros(all[all.len() * percent / 100]));
        println!("{name:<36} {p50:>9.0} {p90:>9.0} {p99:>9.0} {:>12}", faults / ROUNDS as u64);
    }
    let [direct, get, nothing] = times.map(|all| micros(all[all.len() / 2]));
    println!("{:<36} {:>9.0}", "the cell adds to the host's GET", get - direct);
    println!("{:<36} {:>9.0}", "of which are the request's", get - direct - nothing);
}

/// Of this process, the server's threads included.
fn page_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().nth(7).and_then(|count| count.parse().ok()).unwrap_or(0)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn call(host: &Host, skill: &Skill, call: &Call) {
    let report = host.call(skill, call).expect("the host does its part");
    assert!(matches!(report.outcome, Outcome::Returned(_)), "{:?}", report.outcome);
}

/// As the door does it for a cell, with the headers that `requests` sends.
fn direct(client: &Arc<HttpClient>, port: u16) {
    let terms = CallContext::new(client.clone(), Arc::new(Open), Arc::new(Open), Arc::default(), HttpLimits::default());
    let mut exchanges = Exchanges::new(terms, CancelToken::default());
    let by = Instant::now() + Duration::from_secs(10);
    let id = exchanges.open(false, "127.0.0.1", port).expect("opened");
    exchanges.connect(id, by).expect("connected");
    let head = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: bench\r\nAccept-Encoding: gzip, deflate\r\nAccept: */*\r\n\
         Connection: keep-alive\r\n\r\n"
    );
    exchanges.write(id, head.as_bytes(), by).expect("sent");
    let mut answer = Vec::new();
    loop {
        match exchanges.read(id, 64 << 10, by) {
            Ok(piece) if piece.is_empty() => break,
            Ok(piece) => answer.extend(piece),
            Err(HttpError::NotReady) => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(answer.ends_with(BODY.as_bytes()));
}

fn rules(place: &Place) -> HttpRules {
    let rule = |scheme| HttpRule::parse(&format!("* {scheme}://{place}/*")).expect("a rule");
    HttpRules::new(vec![rule("http"), rule("https")], Vec::new())
}

/// Allows everything, and remembers nothing.
struct Open;

impl Gate for Open {
    fn connect(&self, place: &Place) -> Result<Allowed, Refusal> {
        let target = Target::parse(&format!("http://{place}/")).expect("a place");
        Ok(rules(place).decide_connect(&target).expect("it is allowed"))
    }

    fn request(&self, asked: &Asked) -> Result<AllowedRequest, Refusal> {
        let target = Target::parse(&asked.url()).expect("a URL");
        Ok(rules(&asked.place).decide(&asked.method, &target).expect("it is allowed"))
    }

    fn address(&self, _: &Place, _: &Allowed, _: IpAddr) -> Result<(), Refusal> {
        Ok(())
    }

    fn unresolved(&self, _: &Place, _: &Allowed) -> Result<(), Refusal> {
        Ok(())
    }

    fn resolve(&self, _: &str, _: u16) -> Option<SocketAddr> {
        None
    }
}

impl Audit for Open {
    fn record(&self, _: &Event) -> Result<(), Refusal> {
        Ok(())
    }
}

fn serve() -> Server {
    Server::start(None, |_| Some(answer("200 OK", &[], BODY)))
}
