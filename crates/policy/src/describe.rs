//! Describes grants and requested permissions for the operator; the texts follow "it may" or "it wants to".

use super::address::{AddressClass, class_of_address};
use super::host::HostPattern;
use super::http::HttpRule;
use super::method::Methods;
use super::mount::{GuestPath, Mode};
use super::quote::list;
use super::secret::SecretHost;
use super::url::Scheme;

pub fn http_rule(rule: &HttpRule) -> String {
    let methods = match rule.methods() {
        Methods::Any => "requests of any method".to_owned(),
        Methods::Only(methods) => format!("{} requests", list(&Vec::from_iter(methods))),
    };
    let path = rule.path().to_string();
    let path = match path.strip_suffix('*') {
        Some("/") => "any path".to_owned(),
        Some(prefix) => format!("paths that begin with {prefix}"),
        None => format!("the path {path}"),
    };
    let plain = if rule.scheme() == Scheme::Http { ", unencrypted" } else { "" };
    format!("send {methods} to {}, {path}{plain}{}", rule.origin(), notable_host(rule.host()))
}

pub fn http_exposes(rule: &HttpRule) -> String {
    let mut text = String::from(
        "whatever the skill is given (its params, and files and variables that you grant) can be sent there",
    );
    if !Methods::get_and_head().covers(rule.methods()) {
        text += "; these methods can also change or delete things there";
    }
    if rule.scheme() == Scheme::Http {
        text += "; anyone on the way can read and change it";
    }
    match rule.host() {
        HostPattern::OneBelow(parent) => text + &format!("; whoever has a name below {parent} can receive it"),
        HostPattern::Any => text + "; that is anyone, anywhere",
        HostPattern::Exact(host) => match host.addr().map(class_of_address) {
            None | Some(AddressClass::Public) => text,
            Some(_) => text + "; services there may trust whoever can reach them, and strangers usually can't",
        },
    }
}

/// A remark on a host that is a pattern or not public; otherwise empty.
fn notable_host(host: &HostPattern) -> String {
    match host {
        HostPattern::OneBelow(parent) => format!("; any name one level below {parent}"),
        HostPattern::Any => "; any host of the public internet".to_owned(),
        HostPattern::Exact(host) => match host.addr().map(class_of_address) {
            None | Some(AddressClass::Public) => String::new(),
            Some(class) => format!("; that is {}", class.describe()),
        },
    }
}

pub fn mounted_folder(path: &GuestPath, mode: Mode) -> String {
    match mode {
        Mode::ReadOnly => format!("read a folder of yours as {path}"),
        Mode::ReadWrite => format!("read and change a folder of yours as {path}"),
    }
}

pub fn folder_exposes(changes: bool) -> String {
    let read = "every file in the folder that you name: the skill can give their content back, or send it where it may";
    if changes { format!("{read}; and it can change or delete them") } else { read.to_owned() }
}

pub fn env_variable(name: &str) -> String {
    format!("read your environment variable {name}")
}

pub fn env_exposes() -> String {
    "its value: the skill sees it, and can give it back or send it where it may; for keys there are secrets".to_owned()
}

pub fn secret_exposes(name: &str, hosts: &[SecretHost]) -> String {
    let shown: Vec<String> = hosts.iter().map(secret_host).collect();
    let to = list(&shown);
    let mut text = format!(
        "the skill can act there in your name, as far as {name} goes; the value comes from your variable {name}, unless you \
         say otherwise with --secret, and is sent to {to} only"
    );
    if hosts.iter().any(SecretHost::allows_plain_http) {
        text += "; unencrypted, anyone on the way can read it";
    }
    text
}

pub fn secret_use(name: &str, hosts: &[SecretHost]) -> String {
    let hosts: Vec<String> = hosts.iter().map(secret_host).collect();
    format!("use the secret {name}, without seeing it, with {}", list(&hosts))
}

fn secret_host(host: &SecretHost) -> String {
    let plain = if host.allows_plain_http() { " (also unencrypted)" } else { "" };
    let text = host.to_string();
    format!("{}{plain}{}", text.strip_prefix("http://").unwrap_or(&text), notable_host(host.host()))
}
