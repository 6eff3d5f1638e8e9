//! `/metrics`, in Prometheus' text format. Written by hand: the figures are kept by `activity`, which the page shows too, and
//! a client library would keep them a second time.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;

use super::{Api, Problem};
use crate::{Client, Latency, Service};

const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// They name every client's skills, so they are the operator's.
pub(super) async fn tell_metrics(
    State(api): State<Api>,
    Extension(client): Extension<Client>,
) -> Result<Response, Problem> {
    if !client.is_operator() {
        let detail = "this token may not read figures of all clients";
        return Err(Problem::new(StatusCode::FORBIDDEN, "not_operator", detail));
    }
    let mut page = Page::default();
    page.add_service(api.service());
    page.add_process();
    let connections = api.inner.connections.load(Ordering::Relaxed);
    page.add("connections", "gauge", "Connections that are open.", [(String::new(), connections as f64)]);
    Ok(([(CONTENT_TYPE, FORMAT)], page.0).into_response())
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn add_service(&mut self, service: &Service) {
        let (skills, load) = (service.activity().skills(), service.load());
        let outcomes = skills.iter().flat_map(|(skill, of)| {
            let label = move |outcome: &str| format!("{{skill={},outcome=\"{outcome}\"}}", quoted(skill));
            of.outcomes.iter().map(move |(outcome, count)| (label(outcome), *count as f64))
        });
        self.add("calls_total", "counter", "Calls that are over, by how they ended.", outcomes);
        let denials = skills.iter().map(|(skill, of)| (format!("{{skill={}}}", quoted(skill)), of.denials as f64));
        self.add("denials_total", "counter", "What was refused to calls.", denials);
        let turned_away = service.activity().turned_away();
        let reasons = turned_away.iter().map(|(code, count)| (format!("{{reason=\"{code}\"}}"), *count as f64));
        self.add("turned_away_total", "counter", "Calls that did not get a worker.", reasons);
        let times = skills.iter().map(|(skill, of)| (skill.as_str(), &of.latency));
        self.add_histogram("call_seconds", "Time of a call on its worker.", times);
        let waits = skills.iter().map(|(skill, of)| (skill.as_str(), &of.waited));
        self.add_histogram("queue_wait_seconds", "Time that a call waited for a worker.", waits);
        for (name, help, value) in [
            ("calls_waiting", "Calls in the queue.", load.waiting),
            ("calls_running", "Calls on workers.", load.running),
            ("workers", "Calls that can run at once.", load.workers),
        ] {
            self.add(name, "gauge", help, [(String::new(), value as f64)]);
        }
        let sessions = service.sessions().count();
        self.add("sessions", "gauge", "Sessions that are open.", [(String::new(), sessions as f64)]);
        let warmth = service.warmth();
        let states = ["waiting", "ready", "failed"].map(|state| {
            let count = warmth.iter().filter(|(_, warmth)| warmth.name() == state).count();
            (format!("{{state=\"{state}\"}}"), count as f64)
        });
        self.add("skills", "gauge", "Skills that are served, by whether their images are there.", states);
        if let Ok((bytes, most)) = service.host().image_bytes() {
            self.add("image_bytes", "gauge", "What images take on disk.", [(String::new(), bytes as f64)]);
            self.add("image_bytes_max", "gauge", "What images may take on disk.", [(String::new(), most as f64)]);
        }
    }

    fn add_process(&mut self) {
        let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
        self.add("build_info", "gauge", "The version.", [(version, 1.0)]);
        let about =
            "Memory of this process, with pages of files (images, compiled code) that the system can take back.";
        for (name, help, field) in [
            ("resident_memory_bytes", about, "VmRSS:"),
            ("private_memory_bytes", "Memory that is this process's own.", "RssAnon:"),
        ] {
            if let Some(bytes) = memory_bytes(field) {
                self.add(name, "gauge", help, [(String::new(), bytes as f64)]);
            }
        }
    }

    fn add(&mut self, name: &str, kind: &str, help: &str, values: impl IntoIterator<Item = (String, f64)>) {
        let _ = writeln!(self.0, "# HELP skillcell_{name} {help}\n# TYPE skillcell_{name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(self.0, "skillcell_{name}{labels} {value}");
        }
    }

    fn add_histogram<'a>(&mut self, name: &str, help: &str, series: impl Iterator<Item = (&'a str, &'a Latency)>) {
        let _ = writeln!(self.0, "# HELP skillcell_{name} {help}\n# TYPE skillcell_{name} histogram");
        for (skill, times) in series {
            let skill = quoted(skill);
            for (bound, count) in times.cumulative() {
                let _ = writeln!(self.0, "skillcell_{name}_bucket{{skill={skill},le=\"{bound:.6}\"}} {count}");
            }
            let (count, sum) = (times.count(), times.sum().as_secs_f64());
            let _ = writeln!(self.0, "skillcell_{name}_bucket{{skill={skill},le=\"+Inf\"}} {count}");
            let _ = writeln!(self.0, "skillcell_{name}_sum{{skill={skill}}} {sum}");
            let _ = writeln!(self.0, "skillcell_{name}_count{{skill={skill}}} {count}");
        }
    }
}

/// A label's value: a folder's name may be anything.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// What the kernel counts under this name.
fn memory_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_can_hold_any_folders_name() {
        assert_eq!(quoted("a\"b\\c\nd"), r#""a\"b\\c\nd""#);
    }

    #[test]
    fn memory_is_known() {
        let [all, own] = ["VmRSS:", "RssAnon:"].map(|field| memory_bytes(field).unwrap());
        assert!(own > 100 << 10 && all > own, "{all} {own}");
    }
}
