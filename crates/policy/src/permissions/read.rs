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

pub fn read_permissions(value: &Value) -> Read<Permissions> {
    let root = Node { path: "permissions".into(), value };
    let fields = root.known_fields(&["network", "filesystem", "env", "secrets"])?;
    Ok(Permissions {
        network: root.read_items(fields, "network", read_network)?,
        filesystem: root.read_items(fields, "filesystem", read_folder)?,
        env: root.read_items(fields, "env", read_variable)?,
        secrets: root.read_items(fields, "secrets", read_secret)?,
    })
}

/// `"GET https://…"`, or `{methods, url, reason}`.
fn read_network(node: Node<'_>) -> Read<Asked<HttpRule>> {
    if let Value::String(text) = node.value {
        let rule = HttpRule::parse(text).map_err(|error| node.bad_value(error))?;
        return Ok(Asked { what: rule, reason: None });
    }
    let fields = node.known_fields(&["methods", "url", "reason"])?;
    let methods = match node.optional_field(fields, "methods") {
        Some(methods) => {
            let names: Vec<&str> = methods.list_nodes(MAX_ITEMS)?.iter().map(Node::as_text).collect::<Read<_>>()?;
            Methods::from_names(names.into_iter()).map_err(|error| methods.bad_value(error))?
        }
        None => Methods::get_and_head(),
    };
    let url = node.required_field(fields, "url")?;
    let rule = HttpRule::new(methods, url.as_text()?).map_err(|error| url.bad_value(error))?;
    Ok(Asked { what: rule, reason: node.optional_reason(fields)? })
}

/// `{path, mode, reason}`.
fn read_folder(node: Node<'_>) -> Read<Asked<FolderAsk>> {
    let fields = node.known_fields(&["path", "mode", "reason"])?;
    let path = node.required_field(fields, "path")?;
    let path = GuestPath::parse(path.as_text()?).map_err(|error| path.bad_value(error))?;
    let mode = match node.optional_field(fields, "mode") {
        Some(mode) => mode.as_text()?.parse().map_err(|error| mode.bad_value(error))?,
        None => Mode::ReadOnly,
    };
    Ok(Asked { what: FolderAsk { path, mode }, reason: node.optional_reason(fields)? })
}

/// `"NAME"`, or `{name, reason}`.
fn read_variable(node: Node<'_>) -> Read<Asked<String>> {
    if let Value::String(name) = node.value {
        env::check_grantable(name).map_err(|error| node.bad_value(error))?;
        return Ok(Asked { what: name.clone(), reason: None });
    }
    let fields = node.known_fields(&["name", "reason"])?;
    Ok(Asked { what: node.required_name(fields)?, reason: node.optional_reason(fields)? })
}

/// `{name, hosts, reason}`.
fn read_secret(node: Node<'_>) -> Read<Asked<SecretAsk>> {
    let fields = node.known_fields(&["name", "hosts", "reason"])?;
    let name = node.required_name(fields)?;
    let hosts = node.required_field(fields, "hosts")?;
    let read = |host: &Node<'_>| SecretHost::parse(host.as_text()?).map_err(|error| host.bad_value(error));
    let list: Vec<SecretHost> = hosts.list_nodes(MAX_HOSTS)?.iter().map(read).collect::<Read<_>>()?;
    if list.is_empty() {
        return Err(hosts.bad_value("a secret is for at least one host"));
    }
    Ok(Asked { what: SecretAsk { name, hosts: list }, reason: node.optional_reason(fields)? })
}

impl<'v> Node<'v> {
    fn bad_value(&self, problem: impl ToString) -> BadPermissions {
        BadPermissions { path: self.path.clone(), problem: problem.to_string() }
    }

    /// The fields of an object that has no others than `known`.
    fn known_fields(&self, known: &[&str]) -> Read<&'v Map<String, Value>> {
        let fields = self.value.as_object().ok_or_else(|| self.bad_value("this is not a mapping"))?;
        match fields.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(BadPermissions {
                path: format!("{}.{}", self.path, brief(key)),
                problem: format!("there is no such key; there are: {}", known.join(", ")),
            }),
            None => Ok(fields),
        }
    }

    fn optional_field(&self, fields: &'v Map<String, Value>, key: &str) -> Option<Node<'v>> {
        fields.get(key).map(|value| Node { path: format!("{}.{key}", self.path), value })
    }

    fn required_field(&self, fields: &'v Map<String, Value>, key: &str) -> Read<Node<'v>> {
        self.optional_field(fields, key).ok_or_else(|| self.bad_value(format!("`{key}` is missing")))
    }

    fn list_nodes(&self, most: usize) -> Read<Vec<Node<'v>>> {
        let items = self.value.as_array().ok_or_else(|| self.bad_value("this is not a list"))?;
        if items.len() > most {
            return Err(self.bad_value(format!("this has more than {most} items")));
        }
        let node = |(at, value)| Node { path: format!("{}[{at}]", self.path), value };
        Ok(items.iter().enumerate().map(node).collect())
    }

    /// The items of an optional list, each read by `read`.
    fn read_items<T>(&self, fields: &'v Map<String, Value>, key: &str, read: fn(Node<'v>) -> Read<T>) -> Read<Vec<T>> {
        let list = self.optional_field(fields, key).map_or(Ok(Vec::new()), |list| list.list_nodes(MAX_ITEMS))?;
        list.into_iter().map(read).collect()
    }

    fn as_text(&self) -> Read<&'v str> {
        self.value.as_str().ok_or_else(|| self.bad_value("this is not a text"))
    }

    fn required_name(&self, fields: &'v Map<String, Value>) -> Read<String> {
        let name = self.required_field(fields, "name")?;
        env::check_grantable(name.as_text()?).map_err(|error| name.bad_value(error))?;
        Ok(name.as_text()?.to_owned())
    }

    fn optional_reason(&self, fields: &'v Map<String, Value>) -> Read<Option<String>> {
        let Some(reason) = self.optional_field(fields, "reason") else { return Ok(None) };
        let text = reason.as_text()?;
        if text.chars().nth(MAX_REASON_CHARS).is_some() || !text.chars().all(is_plain) {
            let problem = format!("a reason is one line of up to {MAX_REASON_CHARS} plain characters");
            return Err(reason.bad_value(problem));
        }
        Ok(Some(text.to_owned()))
    }
}
