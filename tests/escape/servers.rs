//! A loopback server that keeps what it was sent, as a prop: `during.server = {}`, or `{ tls = "good" }` to have one that
//! speaks TLS too (see `authority.rs`), or `{ tls = "none" }` for one that should and does not.
//!
//! Words: `{port}`, `{tls_port}`, `{ca}` (the authority's file). `saw.server` is the list of requests that arrived, as
//! `METHOD host target`; or a table: `requests` is that list, `connections` their number, `has` and `lacks` are texts that
//! must be, or must not be, in what was sent (to `host`, if it is there).
//!
//! It reads as a careless server does: what follows a request on its connection is the next one; under `/v1/unread` that is
//! also the request's body. What it answers is in `answers.rs`, by the path.

use std::io;

use serde::Deserialize;

use crate::common::server::{self, Request, Wire};
use crate::stage::{Stage, Words};
use crate::{answers, authority, props};

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

pub struct Server {
    plain: server::Server,
    _tls: Option<server::Server>,
    words: Words,
}

impl Server {
    pub fn start(settings: &toml::Value, stage: &mut Stage) -> Server {
        let Settings { tls } = settings.clone().try_into().expect("settings of `server`");
        let plain = server::Server::with(None, answer);
        let tls = match tls.as_deref() {
            None | Some("none") => None,
            Some(kind) => Some(plain.beside(Some(authority::config(kind)), answer)),
        };
        stage.words.put("port", &plain.port.to_string());
        stage.words.put("tls_port", &tls.as_ref().unwrap_or(&plain).port.to_string());
        stage.words.put("ca", &authority::FILE.path().display().to_string());
        Server { plain, _tls: tls, words: stage.words.clone() }
    }
}

impl props::Prop for Server {
    fn check(&mut self, expected: &toml::Value) -> Vec<String> {
        let saw = match expected {
            toml::Value::Array(_) => Saw { requests: expected.clone().try_into().ok(), ..Saw::default() },
            _ => expected.clone().try_into().expect("what `server` saw"),
        };
        let requests = self.plain.seen();
        let lines: Vec<String> = requests.iter().map(line).collect();
        let wanted = saw.requests.map(|lines| lines.iter().map(|line| self.words.fill(line)).collect::<Vec<_>>());
        let mut wrong = Vec::new();
        if wanted.is_some_and(|wanted| wanted != lines) {
            wrong.push(format!("the server saw {lines:?}"));
        }
        let connections = self.plain.connections();
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

fn line(request: &Request) -> String {
    format!("{} {} {}", request.method, request.header("host").unwrap_or("-"), request.target)
}

fn answer(request: &Request, wire: &mut dyn Wire) -> io::Result<bool> {
    let over = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    Ok(answers::answer(request, wire)? && !over)
}
