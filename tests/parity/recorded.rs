//! The recorded requests of a case: servers on loopback that answer as recorded, and the grants that lead there.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skillcell::policy::{GrantKind, Grants};
use skillcell::{Host, Roots};

use crate::web::{Authority, Seen, Server, answer};

/// A case's servers, one for each of its origins.
pub struct Recorded {
    pub host: Host,
    pub grants: Grants,
    servers: Vec<Server>,
    /// The host reads the authority from here.
    _authority: Authority,
}

impl Recorded {
    pub fn start(case: &Value) -> Recorded {
        let authority = Authority::new();
        let answers = case["http"].as_array().expect("a list of answers").clone();
        let text = |answer: &Value, key: &str| answer[key].as_str().expect("text").to_owned();
        let origins: BTreeSet<(String, String, u16)> = answers.iter().map(|one| origin(&text(one, "url"))).collect();
        let mut grants = Grants::default();
        let servers = origins.iter().map(|(scheme, host, port)| {
            let answers = answers.clone();
            let tls = (scheme == "https").then(|| authority.server(&[host]));
            let server = Server::start(tls, move |seen| Some(reply(&answers, seen)));
            let resolve = format!("{host}:{port}:127.0.0.1:{}", server.port);
            grants.add(GrantKind::Resolve, &resolve).expect("a resolve");
            server
        });
        let servers = servers.collect();
        for one in &answers {
            let (scheme, host, port) = origin(&text(one, "url"));
            let rule = format!("{} {scheme}://{host}:{port}/*", text(one, "method"));
            grants.add(GrantKind::AllowHttp, &rule).expect("a rule");
        }
        let host = Host::builder().roots(Roots::new([])).ca_files([authority.file.path().to_owned()]);
        let host = host.build().expect("the cache folder can be used");
        Recorded { host, grants, servers, _authority: authority }
    }

    /// What was asked. Requests to one server are in their order; a case's order across servers is not known here.
    pub fn requests(&self) -> Value {
        let seen = self.servers.iter().flat_map(Server::seen);
        sorted(seen.map(|seen| (seen.method, seen.url, seen.body)))
    }
}

pub fn expected_requests(case: &Value) -> Value {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = case["http_requests"].as_array().expect("a list of requests");
    sorted(all.iter().map(|one| (text(&one["method"]), text(&one["url"]), text(&one["body"]))))
}

/// By origin, so that the order within each stays.
fn sorted(all: impl Iterator<Item = (String, String, String)>) -> Value {
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(_, url, _)| origin(url));
    json!(all)
}

fn reply(answers: &[Value], seen: &Seen) -> Vec<u8> {
    let is_for = |one: &&Value| {
        let url = one["url"].as_str().unwrap_or_default();
        one["method"] == seen.method.as_str()
            && if one["prefix"] == true { seen.url.starts_with(url) } else { seen.url == url }
    };
    let Some(one) = answers.iter().find(is_for) else {
        return answer("500 Not Recorded", &[], format!("{} {} is not recorded", seen.method, seen.url));
    };
    let no_headers = serde_json::Map::new();
    let headers = one["headers"].as_object().unwrap_or(&no_headers).iter();
    let headers: Vec<(&str, &str)> = headers.map(|(name, value)| (&**name, value.as_str().unwrap_or(""))).collect();
    answer(&format!("{} Recorded", one["status"]), &headers, one["body"].as_str().unwrap_or(""))
}

/// Scheme, host and port.
fn origin(url: &str) -> (String, String, u16) {
    let (scheme, rest) = url.split_once("://").expect("a URL");
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    let default = if scheme == "https" { 443 } else { 80 };
    let (host, port) =
        authority.split_once(':').map_or((authority, default), |(host, port)| (host, port.parse().expect("a port")));
    (scheme.to_owned(), host.to_owned(), port)
}
