//! A skill's manifest, parsed once into the one type that all decisions are based on.
//!
//! The guest's PyYAML turns `manifest.yaml` into JSON, in a cell that runs nothing of the skill. [`Manifest::read`] gives
//! that JSON its meaning. A key whose shape makes no sense is refused here, with its path; nothing else indexes the raw
//! JSON. Pure, and hostile input is bounded by the frame that it came in.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{BadTier, Choice, Permissions};
use skillcell_limits::RuntimeKind;
use skillcell_limits::outcome::NoteKind;

/// What a manifest says that matters to the host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Manifest {
    /// What the skill calls itself.
    pub name: Option<String>,
    pub version: Option<String>,
    /// The `short_description`, or else the `description`.
    pub summary: Option<String>,
    /// The JSON Schema of `execute`'s params, if there is a non-empty one.
    pub parameters: Option<Value>,
    /// Python packages, in pip's requirement syntax.
    pub requirements: Vec<String>,
    /// What the skill asks for. `None`: it doesn't say, so grants apply unchanged.
    pub permissions: Option<Permissions>,
    /// The tier that it asks for: `execution`, or `execution_mode` as Skillware's proposals spell it.
    pub execution: Option<Choice>,
    /// Why `execution` can't be read. Not an error of the whole manifest, because an operator can name a tier instead.
    pub bad_execution: Option<BadManifest>,
    /// The runtime that its cells are to be of.
    pub runtime: Option<RuntimeKind>,
    /// Why `runtime` can't be read; as with `execution`.
    pub bad_runtime: Option<BadManifest>,
    /// Names of environment variables that it reads.
    pub env_vars: Vec<String>,
    /// Example params for a call before the image is taken.
    pub warm_up: Option<Value>,
    pub container: Option<ContainerSpec>,
    /// Kinds of notes that the author has acknowledged, so they are not reported.
    pub acknowledge: Vec<NoteKind>,
    /// The whole manifest, for display only. No decision is based on it.
    raw: Value,
}

/// The manifest's `container`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerSpec {
    /// `name@sha256:…`; without it the bundle has a `Dockerfile`.
    pub image: Option<String>,
}

/// A key whose value makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {why}")]
pub struct BadManifest {
    /// Its path: `requirements[2]`.
    pub key: String,
    pub why: String,
}

/// Why a manifest can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// PyYAML does not read it. Importing the skill raises, and says where.
    #[error("{0}")]
    Yaml(String),
    #[error(transparent)]
    Shape(#[from] BadManifest),
}

/// What is known from a skill's files alone. It is read in a cell that runs none of the skill's code, so the skill can't
/// influence it.
#[derive(Debug, Clone)]
pub struct StaticManifest {
    pub manifest: Result<Manifest, ManifestError>,
    /// What importing the skill is certain to import, and where: `subprocess` at `skill.py:3`.
    pub early_imports: BTreeMap<String, String>,
    /// What a script imports from elsewhere, wherever it does.
    pub imports: Vec<String>,
}

impl StaticManifest {
    /// From what the guest read: the manifest as JSON, or why there is none.
    pub fn new(raw: Value, error: Option<String>, early_imports: BTreeMap<String, String>) -> StaticManifest {
        let manifest = match error {
            Some(error) => Err(ManifestError::Yaml(error)),
            None => Manifest::read(raw).map_err(ManifestError::from),
        };
        StaticManifest { manifest, early_imports, imports: Vec::new() }
    }

    /// The manifest. If PyYAML can't read it, an empty one with empty `permissions`, so that no grant applies.
    pub fn manifest_or_empty(&self) -> Result<Manifest, &BadManifest> {
        match &self.manifest {
            Ok(manifest) => Ok(manifest.clone()),
            Err(ManifestError::Yaml(_)) => {
                Ok(Manifest { permissions: Some(Permissions::default()), ..Manifest::default() })
            }
            Err(ManifestError::Shape(bad)) => Err(bad),
        }
    }
}

impl Manifest {
    /// Interprets the manifest's JSON.
    pub fn read(raw: Value) -> Result<Manifest, BadManifest> {
        let empty = Map::new();
        let keys = match &raw {
            Value::Object(keys) => keys,
            Value::Null => &empty,
            other => {
                return Err(bad_key("manifest.yaml", format!("it is {}, not a mapping of keys", kind_of_json(other))));
            }
        };
        // A key without a value is `null` in YAML, and means the same as no key.
        let get = |key: &str| keys.get(key).filter(|value| !value.is_null());
        let text = |key: &str| get(key).and_then(Value::as_str).map(str::to_owned);
        // The first of the two spellings wins. An error is kept, because an operator's choice of tier overrides it.
        let wish = ["execution", "execution_mode"].into_iter().find_map(|key| Some((key, get(key)?)));
        let wish = wish.map(|(key, wish)| read_execution(key, wish)).transpose();
        let runtime = get("runtime").map(read_runtime).transpose();
        Ok(Manifest {
            name: text("name"),
            version: text("version"),
            summary: text("short_description").or_else(|| text("description")),
            parameters: get("parameters").map(read_parameters).transpose()?.flatten(),
            requirements: get("requirements").map_or(Ok(Vec::new()), read_requirements)?,
            permissions: get("permissions")
                .map(Permissions::parse)
                .transpose()
                .map_err(|error| bad_key("permissions", error.to_string()))?,
            execution: wish.as_ref().ok().copied().flatten(),
            bad_execution: wish.err(),
            runtime: runtime.as_ref().ok().copied().flatten(),
            bad_runtime: runtime.err(),
            env_vars: get("env_vars").map_or(Ok(Vec::new()), read_env_vars)?,
            warm_up: get("warm_up").cloned(),
            container: get("container").map(read_container).transpose()?,
            acknowledge: get("acknowledge").map_or(Ok(Vec::new()), read_acknowledged)?,
            raw,
        })
    }

    /// All keys, for display.
    pub fn raw(&self) -> &Value {
        &self.raw
    }
}

/// Skillware treats any value that is falsy in Python as "no schema".
fn read_parameters(value: &Value) -> Result<Option<Value>, BadManifest> {
    match value {
        Value::Object(keys) => Ok((!keys.is_empty()).then(|| value.clone())),
        Value::Bool(false) => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::Array(list) if list.is_empty() => Ok(None),
        other => Err(bad_key("parameters", format!("it is {}, not a JSON Schema", kind_of_json(other)))),
    }
}

/// A list of texts; a single text is one requirement.
fn read_requirements(value: &Value) -> Result<Vec<String>, BadManifest> {
    let one = |key: String, value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(bad_key(key, format!("it is {}, and a requirement is a text", kind_of_json(other)))),
    };
    match value {
        Value::Array(list) => {
            list.iter().enumerate().map(|(at, value)| one(format!("requirements[{at}]"), value)).collect()
        }
        other => Ok(vec![one("requirements".to_owned(), other)?]),
    }
}

fn read_execution(key: &str, value: &Value) -> Result<Choice, BadManifest> {
    let wish =
        value.as_str().ok_or_else(|| bad_key(key, format!("it is {}, not the name of a tier", kind_of_json(value))))?;
    wish.parse().map_err(|error: BadTier| bad_key(key, error.to_string()))
}

fn read_runtime(value: &Value) -> Result<RuntimeKind, BadManifest> {
    let wish = value.as_str();
    let wish =
        wish.ok_or_else(|| bad_key("runtime", format!("it is {}, not the name of a runtime", kind_of_json(value))))?;
    wish.parse().map_err(|why| bad_key("runtime", format!("`{}` {why}", skillcell_quote::cut(wish, 40))))
}

/// A mapping by name, a list of names, or a list of mappings with a `name`.
fn read_env_vars(value: &Value) -> Result<Vec<String>, BadManifest> {
    let one = |(at, value): (usize, &Value)| {
        let name = value.as_str().or_else(|| value.get("name").and_then(Value::as_str));
        name.map(str::to_owned).ok_or_else(|| bad_key(format!("env_vars[{at}]"), "it has no name".to_owned()))
    };
    match value {
        Value::Object(names) => Ok(names.keys().cloned().collect()),
        Value::Array(list) => list.iter().enumerate().map(one).collect(),
        other => Err(bad_key("env_vars", format!("it is {}, not a list or a mapping of names", kind_of_json(other)))),
    }
}

/// A list of kinds of notes, or a single one.
fn read_acknowledged(value: &Value) -> Result<Vec<NoteKind>, BadManifest> {
    let one = |key: String, value: &Value| match value.as_str().map(str::parse) {
        Some(Ok(kind)) => Ok(kind),
        Some(Err(why)) => Err(bad_key(key, why)),
        None => Err(bad_key(key, format!("it is {}, not the name of a kind of note", kind_of_json(value)))),
    };
    match value {
        Value::Array(list) => {
            list.iter().enumerate().map(|(at, value)| one(format!("acknowledge[{at}]"), value)).collect()
        }
        other => Ok(vec![one("acknowledge".to_owned(), other)?]),
    }
}

fn read_container(value: &Value) -> Result<ContainerSpec, BadManifest> {
    let Value::Object(keys) = value else {
        return Err(bad_key(
            "container",
            format!("it is {}, not a mapping such as `image: name@sha256:…`", kind_of_json(value)),
        ));
    };
    match keys.get("image") {
        None => Ok(ContainerSpec { image: None }),
        Some(Value::String(image)) => Ok(ContainerSpec { image: Some(image.clone()) }),
        Some(other) => Err(bad_key("container.image", format!("it is {}, not a text", kind_of_json(other)))),
    }
}

fn bad_key(key: impl Into<String>, why: String) -> BadManifest {
    BadManifest { key: key.into(), why }
}

fn kind_of_json(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Tier;

    fn read(raw: Value) -> Result<Manifest, String> {
        Manifest::read(raw).map_err(|bad| bad.key)
    }

    #[test]
    fn a_single_requirement_is_one_however_it_is_written() {
        for raw in [json!({"requirements": "requests>=2"}), json!({"requirements": ["requests>=2"]})] {
            assert_eq!(read(raw).unwrap().requirements, ["requests>=2"]);
        }
        for none in [json!({}), json!({"requirements": null}), json!({"requirements": []}), Value::Null] {
            assert!(read(none).unwrap().requirements.is_empty());
        }
    }

    #[test]
    fn a_manifest_may_ask_for_a_tier_in_either_form() {
        let of = |raw: Value| read(raw).map(|manifest| manifest.execution);
        assert_eq!(of(json!({})), Ok(None));
        assert_eq!(of(json!({"execution": "subprocess"})), Ok(Some(Choice::Tier(Tier::Subprocess))));
        assert_eq!(of(json!({"execution_mode": "isolated"})), Ok(Some(Choice::Isolated)));
        assert_eq!(of(json!({"execution": "auto", "execution_mode": 3})), Ok(Some(Choice::Auto)));
    }

    #[test]
    fn a_tier_that_makes_no_sense_is_told_and_spoils_nothing_else() {
        let cases = [(json!({"execution": "root"}), "execution"), (json!({"execution": true}), "execution")];
        for (raw, key) in cases.into_iter().chain([(json!({"execution_mode": ["wasm"]}), "execution_mode")]) {
            let manifest = read(raw).unwrap();
            assert_eq!((manifest.execution, manifest.bad_execution.unwrap().key.as_str()), (None, key));
        }
    }

    #[test]
    fn a_manifest_may_name_a_runtime_and_one_that_makes_no_sense_spoils_nothing_else() {
        let of = |raw: Value| read(raw).unwrap();
        assert_eq!(of(json!({"runtime": "pyodide"})).runtime, Some(RuntimeKind::Pyodide));
        assert_eq!(of(json!({"runtime": null})).runtime, None);
        for raw in [json!({"runtime": "node"}), json!({"runtime": 3})] {
            let manifest = of(raw);
            assert_eq!((manifest.runtime, manifest.bad_runtime.unwrap().key.as_str()), (None, "runtime"));
        }
    }

    #[test]
    fn shapes_that_make_no_sense_are_refused_with_their_path() {
        let cases = [
            (json!([1]), "manifest.yaml"),
            (json!({"requirements": ["a", 5]}), "requirements[1]"),
            (json!({"requirements": {"a": "b"}}), "requirements"),
            (json!({"env_vars": [{"description": "x"}]}), "env_vars[0]"),
            (json!({"env_vars": 3}), "env_vars"),
            (json!({"acknowledge": ["nothing"]}), "acknowledge[0]"),
            (json!({"parameters": [1]}), "parameters"),
            (json!({"container": "x"}), "container"),
            (json!({"container": {"image": 1}}), "container.image"),
            (json!({"permissions": {"netwrk": []}}), "permissions"),
        ];
        for (raw, key) in cases {
            assert_eq!(read(raw.clone()).unwrap_err(), key, "{raw}");
        }
    }

    #[test]
    fn names_of_variables_come_in_three_forms() {
        for raw in [json!({"A": "what it is"}), json!(["A"]), json!([{"name": "A", "required": true}])] {
            assert_eq!(read(json!({"env_vars": raw})).unwrap().env_vars, ["A"]);
        }
    }

    #[test]
    fn one_that_yaml_can_not_read_asks_for_nothing() {
        let unread = StaticManifest::new(Value::Null, Some("bad indentation".into()), BTreeMap::new());
        assert_eq!(unread.manifest_or_empty().unwrap().permissions, Some(Permissions::default()));
    }
}
