//! A second, independent implementation of the HTTP rules for tests and fuzzing: a rule becomes a regular expression
//! over the decoded request.
//!
//! It shares no technique with the real one: no prefix comparison, no normal form of paths (bytes are decoded fully), no
//! host types. Its input is rules in their `Display` form, and URLs that `Target::parse` accepted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::IpAddr;

use regex::bytes::Regex;

use crate::{AddressClass, class_of_address};

/// Whether these rules allow a request; `None` if the URL itself is rejected.
pub fn allows(allow: &[String], deny: &[String], method: &str, url: &str) -> Option<bool> {
    let request = Request::read(method, url)?;
    let denied = deny.iter().any(|rule| {
        let any_path = request.odd.then(|| rule_parts(rule).1.to_owned() + "/*");
        let rule = any_path.map_or(rule.clone(), |url| format!("{} {url}", rule_parts(rule).0));
        rule_regex(&rule, true).is_match(&request.line)
    });
    let allowed = allow.iter().any(|rule| {
        (!request.odd || rule.ends_with(&format!("{}/*", rule_parts(rule).1)))
            && rule_regex(rule, false).is_match(&request.line)
            // In an allow rule, `*` covers public hosts only.
            && (!is_for_any_host(rule) || request.public)
    });
    Some(allowed && !denied)
}

/// The methods and the origin of a rule in its `Display` form.
fn rule_parts(rule: &str) -> (&str, &str) {
    let (methods, url) = rule.split_once(' ').unwrap();
    let slash = url.match_indices('/').nth(2).map_or(url.len(), |(at, _)| at);
    (methods, &url[..slash])
}

fn is_for_any_host(rule: &str) -> bool {
    let (_, host) = rule_parts(rule).1.split_once("://").unwrap();
    host == "*" || host.starts_with("*:")
}

fn rule_regex(rule: &str, fold_path: bool) -> Regex {
    let (methods, origin) = rule_parts(rule);
    let path = rule.split_once(' ').unwrap().1.strip_prefix(origin).unwrap();
    let methods = if methods == "*" { "[A-Z][A-Z0-9_-]*".to_owned() } else { methods.replace(',', "|") };
    let host = match origin.split_once("://*.") {
        Some((scheme, parent)) => format!("{scheme}://(?-u:[^./:]+)\\.{}", regex::escape(&with_port(scheme, parent))),
        None if is_for_any_host(rule) => {
            let (scheme, rest) = origin.split_once("://*").unwrap();
            let port = with_port(scheme, &format!("x{rest}"));
            format!("{scheme}://(?-u:[^/]+){}", port.strip_prefix('x').unwrap())
        }
        None => {
            let (scheme, host) = origin.split_once("://").unwrap();
            regex::escape(&format!("{scheme}://{}", with_port(scheme, host)))
        }
    };
    let (path, rest) = path.strip_suffix('*').map_or((path, ""), |path| (path, "(?s-u:.*)"));
    let path: String = percent_decode(path).iter().map(|b| format!("\\x{b:02x}")).collect();
    let fold = if fold_path { "(?i-u)" } else { "(?-u)" };
    cached_regex(format!("^(?:{methods}) {host}(?:{fold}{path}){rest}$"))
}

/// Caches compiled expressions: compiling takes a thousand times longer than matching, and fuzzing repeats rules.
fn cached_regex(text: String) -> Regex {
    thread_local! {
        static MADE: RefCell<HashMap<String, Regex>> = RefCell::default();
    }
    MADE.with_borrow_mut(|made| {
        if made.len() > 256 {
            made.clear();
        }
        made.entry(text).or_insert_with_key(|text| Regex::new(text).unwrap()).clone()
    })
}

fn with_port(scheme: &str, host: &str) -> String {
    let has_port = host.rsplit(']').next().unwrap().contains(':');
    let port = if scheme == "https" { 443 } else { 80 };
    if has_port { host.to_owned() } else { format!("{host}:{port}") }
}

struct Request {
    /// `METHOD scheme://host:port/path`, the path decoded.
    line: Vec<u8>,
    /// Whether servers may interpret the path differently.
    odd: bool,
    /// Whether the host is a name, or a public address.
    public: bool,
}

fn is_public(host: &str) -> bool {
    let bare = match host.split_once(']') {
        Some((address, _)) => address.trim_start_matches('['),
        None => host.split(':').next().unwrap(),
    };
    bare.parse::<IpAddr>().map_or(true, |address| class_of_address(address) == AddressClass::Public)
}

impl Request {
    fn read(method: &str, url: &str) -> Option<Request> {
        let url = url.split('#').next().unwrap().split('?').next().unwrap();
        let parts: Vec<&str> = url.splitn(4, '/').collect();
        let (scheme, host) = (parts[0].trim_end_matches(':').to_lowercase(), parts[2].to_lowercase());
        let raw = parts.get(3).copied().unwrap_or("");
        let segments: Vec<Vec<u8>> = raw.split('/').map(percent_decode).collect();
        for segment in &segments {
            let name = segment.split(|b| *b == b';').next().unwrap();
            let name = String::from_utf8_lossy(name).trim_end_matches(' ').to_owned();
            if name == "." || name == ".." {
                return None;
            }
        }
        let last = segments.len() - 1;
        let odd_byte = |b: &u8| *b == b'/' || *b == b'\\' || b.is_ascii_control();
        let odd = segments.iter().any(|segment| segment.iter().any(odd_byte))
            || segments.iter().enumerate().any(|(at, segment)| segment.is_empty() && at != last)
            || percent_decode(raw) != percent_decode(&String::from_utf8_lossy(&percent_decode(raw)))
            || std::str::from_utf8(&percent_decode(raw)).is_err();
        let mut line = format!("{method} {scheme}://{}/", with_port(&scheme, &host)).into_bytes();
        line.extend(segments.join(&b'/'));
        Some(Request { line, odd, public: is_public(&host) })
    }
}

fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let (mut made, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let pair = text.get(at + 1..at + 3).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match pair.filter(|_| bytes[at] == b'%') {
            Some(byte) => (made.push(byte), at += 3),
            None => (made.push(bytes[at]), at += 1),
        };
    }
    made
}
