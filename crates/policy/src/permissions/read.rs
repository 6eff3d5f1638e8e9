//! Reads `permissions` out of a manifest's JSON, keeping the path for errors.

use serde_json::{Map, Value};

use super::{Asked, FolderAsk, Permissions, SecretAsk};
use crate::env;
use crate::http::HttpRule;
use crate::method::Methods;
use crate::mount::{GuestPath, Mode};
use crate::quote::{brief, is_plain};
use crate::secret::SecretHost;

const MAX_ITEMS: usize = 64;
const MAX_HOSTS: usize = 16;
const MAX_REASON_CHARS: usize = 300;

/// What is wrong with a manifest's `permissions`, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {problem}")]
pub struct BadPermissions {
    /// As in `permissions.network[2].url`.
    pub path: String,
    pub problem: String,
}

type Read<T> = Result<T, BadPermissions>;

/// A value and where it is.
struct Node<'v> {
    path: String,
    value: &'v Value,
}

pub fn permissions(value: &Value) -> Read<Permissions> {
    let root = Node { path: "permissions".into(), value };
    let fields = root.fields(&["network", "filesystem", "env", "secrets"])?;
    Ok(Permissions {
        network: root.items(fields, "network", network)?,
        filesystem: root.items(fields, "filesystem", folder)?,
        env: root.items(fields, "env", variable)?,
        secrets: root.items(fields, "secrets", secret)?,
    })
}

/// `"GET https://…"`, or `{methods, url, reason}`.
fn network(node: Node<'_>) -> Read<Asked<HttpRule>> {
    if let Value::String(text) = node.value {
        let rule = HttpRule::parse(text).map_err(|error| node.bad(error))?;
        return Ok(Asked { what: rule, reason: None });
    }
    let fields = node.fields(&["methods", "url", "reason"])?;
    let methods = match node.field(fields, "methods") {
        Some(methods) => {
            let names: Vec<&str> = methods.list(MAX_ITEMS)?.iter().map(Node::text).collect::<Read<_>>()?;
            Methods::of(names.into_iter()).map_err(|error| methods.bad(error))?
        }
        None => Methods::reading(),
    };
    let url = node.needed(fields, "url")?;
    let rule = HttpRule::new(methods, url.text()?).map_err(|error| url.bad(error))?;
    Ok(Asked { what: rule, reason: node.reason(fields)? })
}

/// `{path, mode, reason}`.
fn folder(node: Node<'_>) -> Read<Asked<FolderAsk>> {
    let fields = node.fields(&["path", "mode", "reason"])?;
    let path = node.needed(fields, "path")?;
    let path = GuestPath::parse(path.text()?).map_err(|error| path.bad(error))?;
    let mode = match node.field(fields, "mode") {
        Some(mode) => mode.text()?.parse().map_err(|error| mode.bad(error))?,
        None => Mode::ReadOnly,
    };
    Ok(Asked { what: FolderAsk { path, mode }, reason: node.reason(fields)? })
}

/// `"NAME"`, or `{name, reason}`.
fn variable(node: Node<'_>) -> Read<Asked<String>> {
    if let Value::String(name) = node.value {
        env::check_grantable(name).map_err(|error| node.bad(error))?;
        return Ok(Asked { what: name.clone(), reason: None });
    }
    let fields = node.fields(&["name", "reason"])?;
    Ok(Asked { what: node.name(fields)?, reason: node.reason(fields)? })
}

/// `{name, hosts, reason}`.
fn secret(node: Node<'_>) -> Read<Asked<SecretAsk>> {
    let fields = node.fields(&["name", "hosts", "reason"])?;
    let name = node.name(fields)?;
    let hosts = node.needed(fields, "hosts")?;
    let read = |host: &Node<'_>| SecretHost::parse(host.text()?).map_err(|error| host.bad(error));
    let list: Vec<SecretHost> = hosts.list(MAX_HOSTS)?.iter().map(read).collect::<Read<_>>()?;
    if list.is_empty() {
        return Err(hosts.bad("a secret is for at least one host"));
    }
    Ok(Asked { what: SecretAsk { name, hosts: list }, reason: node.reason(fields)? })
}

impl<'v> Node<'v> {
    fn bad(&self, problem: impl ToString) -> BadPermissions {
        BadPermissions { path: self.path.clone(), problem: problem.to_string() }
    }

    /// The fields of an object that has no others than `known`.
    fn fields(&self, known: &[&str]) -> Read<&'v Map<String, Value>> {
        let fields = self.value.as_object().ok_or_else(|| self.bad("this is not a mapping"))?;
        match fields.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(BadPermissions {
                path: format!("{}.{}", self.path, brief(key)),
                problem: format!("there is no such key; there are: {}", known.join(", ")),
            }),
            None => Ok(fields),
        }
    }

    fn field(&self, fields: &'v Map<String, Value>, key: &str) -> Option<Node<'v>> {
        fields.get(key).map(|value| Node { path: format!("{}.{key}", self.path), value })
    }

    fn needed(&self, fields: &'v Map<String, Value>, key: &str) -> Read<Node<'v>> {
        self.field(fields, key).ok_or_else(|| self.bad(format!("`{key}` is missing")))
    }

    fn list(&self, most: usize) -> Read<Vec<Node<'v>>> {
        let items = self.value.as_array().ok_or_else(|| self.bad("this is not a list"))?;
        if items.len() > most {
            return Err(self.bad(format!("this has more than {most} items")));
        }
        let node = |(at, value)| Node { path: format!("{}[{at}]", self.path), value };
        Ok(items.iter().enumerate().map(node).collect())
    }

    /// The items of an optional list, each read by `read`.
    fn items<T>(&self, fields: &'v Map<String, Value>, key: &str, read: fn(Node<'v>) -> Read<T>) -> Read<Vec<T>> {
        let list = self.field(fields, key).map_or(Ok(Vec::new()), |list| list.list(MAX_ITEMS))?;
        list.into_iter().map(read).collect()
    }

    fn text(&self) -> Read<&'v str> {
        self.value.as_str().ok_or_else(|| self.bad("this is not a text"))
    }

    fn name(&self, fields: &'v Map<String, Value>) -> Read<String> {
        let name = self.needed(fields, "name")?;
        env::check_grantable(name.text()?).map_err(|error| name.bad(error))?;
        Ok(name.text()?.to_owned())
    }

    fn reason(&self, fields: &'v Map<String, Value>) -> Read<Option<String>> {
        let Some(reason) = self.field(fields, "reason") else { return Ok(None) };
        let text = reason.text()?;
        if text.chars().nth(MAX_REASON_CHARS).is_some() || !text.chars().all(is_plain) {
            let problem = format!("a reason is one line of up to {MAX_REASON_CHARS} plain characters");
            return Err(reason.bad(problem));
        }
        Ok(Some(text.to_owned()))
    }
}
