//! What becomes of importing the packages that a skill names: the guest does it, in a cell that has the packages and not the
//! skill. Neither a wheel's name nor its metadata says that it wants a library of the system, or that it does without
//! something that it asks for.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use super::facts::Facts;
use super::graph::is_test;
use super::modules::Modules;
use super::needs::Raises;

/// As the guest reports it. It is empty if nobody tried.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Tried {
    pub failed: BTreeMap<String, Failed>,
    pub fine: BTreeSet<String>,
    /// Names that a module does not have, each with its module before it; and why, if getting them fails.
    pub absent: BTreeMap<String, Failed>,
    /// Modules that are clients of a service, with the origins that their own code names.
    pub services: BTreeMap<String, Vec<String>>,
    /// It was begun and not finished: what packages need is then only what their metadata says.
    #[serde(skip)]
    pub is_unfinished: bool,
}

/// How an import failed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Failed {
    /// `import`, `os` or `other`: the kind of exception.
    kind: String,
    /// The exception in words.
    pub text: String,
    /// The module that was not found, if that is what it comes of.
    pub missing: Option<String>,
    /// The host that it asked for in vain, if that is what it comes of: nothing was granted.
    pub asks: Option<String>,
}

impl Failed {
    pub fn raises(&self) -> Raises {
        match self.kind.as_str() {
            "import" => Raises::Import,
            "os" => Raises::Os,
            _ => Raises::Other,
        }
    }
}

const MOST_MODULES: usize = 60;
const MOST_NAMES: usize = 600;

/// What there is to try: modules that may be there, and names that are used of them. Nothing if there are none.
pub fn wanted(facts: &Facts, modules: &Modules<'_>) -> Option<Value> {
    let (mut tops, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (_, file) in facts.files.iter().filter(|(path, _)| !is_test(path)) {
        for import in file.imports.iter().filter(|import| !matches!(import.kind.as_str(), "types" | "unknown")) {
            if import.to.is_none() && modules.can_be_tried(&import.module) {
                tops.insert(&import.module);
                names.extend(import.names.iter().map(|name| (&import.module, name)));
            }
        }
        names.extend(file.refs.iter().map(|used| (&used.module, &used.name)));
    }
    let names: Vec<_> = names.into_iter().take(MOST_NAMES).collect();
    let tops: Vec<_> = tops.into_iter().take(MOST_MODULES).collect();
    (!tops.is_empty()).then(|| json!([tops, names]))
}

/// Where a cell can't be given the packages at all: every import of them fails, and this is why.
pub fn none_of(wanted: &Value, why: &str) -> Tried {
    let modules = wanted[0].as_array().into_iter().flatten().filter_map(Value::as_str);
    let failed = |module: &str| {
        let text = format!("a cell can't be given its packages: {why}");
        (module.to_owned(), Failed { kind: "import".to_owned(), text, missing: None, asks: None })
    };
    Tried { failed: modules.map(failed).collect(), ..Tried::default() }
}

/// What the guest says is only data: of a report of another shape nothing is believed.
pub fn read(report: Option<Value>) -> Tried {
    let read = report.and_then(|report| serde_json::from_value(report).ok());
    read.unwrap_or_else(|| Tried { is_unfinished: true, ..Tried::default() })
}
