//! What the guest found in a skill's files, as it reports it. Nothing here is believed beyond its type: places and names
//! are a stranger's text.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use skillcell_policy::manifest::Manifest;

/// What is unknown in a text that the guest pieced together.
pub const UNKNOWN: char = '\0';

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Facts {
    pub files: BTreeMap<String, File>,
    /// Path, kind, and of an archive the modules in it.
    pub native: Vec<(String, String, Vec<String>)>,
    /// Path, line, why it was not read.
    pub unread: Vec<(String, u32, String)>,
    pub python: Vec<u32>,
    #[serde(rename = "manifest")]
    pub raw_manifest: Value,
    pub manifest_error: Option<String>,
    /// What the interpreter has of each module that is imported: a kind and, of one that it lacks, why.
    pub modules: BTreeMap<String, (String, String)>,
    /// Whether it is a script that is started: its folder is its working folder, and can be written to.
    #[serde(skip)]
    pub is_script: bool,
}

impl Facts {
    /// The manifest; one that makes no sense says nothing.
    pub fn manifest(&self) -> Manifest {
        Manifest::read(self.raw_manifest.clone()).unwrap_or_default()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct File {
    pub imports: Vec<Import>,
    pub edges: Vec<Edge>,
    pub calls: Vec<Call>,
    pub checks: Vec<Check>,
    pub urls: Vec<Url>,
    pub env: Vec<Variable>,
    /// Names in modules that are not the skill's.
    pub refs: Vec<Reference>,
    pub tries: BTreeMap<u32, Try>,
    /// Names of guarded imports that some condition looks at.
    pub checked: Vec<String>,
    pub uses: Vec<Use>,
    /// Modules and programs that are looked for before use, and the functions in which.
    pub probed: BTreeMap<String, Vec<String>>,
    /// Tests after which it gives up where one of these was not found.
    pub insists: Vec<Insistence>,
    /// Names that hold what a function of the skill gave which gives nothing where its import fails.
    pub helped: Vec<Helped>,
    /// Lines of loops that run at import.
    pub loops: Vec<u32>,
    /// Line, whether it is a property, whether it is decorated.
    pub functions: BTreeMap<String, (u32, bool, bool)>,
    /// Line and call, where numpy's default integer decides.
    pub integers: Vec<(u32, String)>,
    /// A class and its bases.
    pub classes: BTreeMap<String, Vec<String>>,
}

/// Where something stands, and what it takes to get there.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub struct Spot {
    #[serde(rename = "l")]
    pub line: u32,
    /// The function, "" for the module.
    #[serde(rename = "f")]
    pub function: String,
    #[serde(rename = "c")]
    pub conditions: Vec<Condition>,
    /// The `try` statements around it, outermost first.
    #[serde(rename = "g")]
    pub tries: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Value")]
pub enum Condition {
    /// A branch of a statement; of how many, 0 if it may be that none is taken.
    If {
        id: u64,
        branch: u64,
        branches: u64,
    },
    /// A handler of a `try`.
    Handler {
        id: u32,
        number: usize,
    },
    Maybe,
}

impl From<Value> for Condition {
    fn from(value: Value) -> Condition {
        let number = |at: usize| value[at].as_u64().unwrap_or(0);
        match value[0].as_str() {
            Some("if") => Condition::If { id: number(1), branch: number(2), branches: number(3) },
            Some("handler") => Condition::Handler {
                id: u32::try_from(number(1)).unwrap_or(0),
                number: usize::try_from(number(2)).unwrap_or(0),
            },
            _ => Condition::Maybe,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Import {
    #[serde(flatten)]
    pub spot: Spot,
    #[serde(rename = "m")]
    pub module: String,
    #[serde(rename = "n")]
    pub names: Vec<String>,
    /// `static`, `dynamic`, `implied`, `unknown` or `types`.
    #[serde(rename = "k")]
    pub kind: String,
    /// The call of a library that imports it, if it is implied.
    pub by: String,
    /// Files of the skill that it runs.
    pub to: Option<Vec<String>>,
}

/// A function of the skill that is called or mentioned.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Edge {
    #[serde(flatten)]
    pub spot: Spot,
    pub to: Option<String>,
    #[serde(rename = "fn")]
    pub function: String,
    #[serde(rename = "s")]
    pub sure: bool,
    /// Whether what is inside of that function is meant: it is a decorator.
    #[serde(rename = "w")]
    pub wraps: bool,
}

/// A name that may hold nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Helped {
    #[serde(rename = "n")]
    pub name: String,
    /// The function that it is a name of, "" for the module.
    #[serde(rename = "f")]
    pub function: String,
    /// The `try` whose failure it comes of.
    #[serde(rename = "t")]
    pub id: u32,
    /// The module that was asked for, if it is a constant.
    #[serde(rename = "m")]
    pub module: String,
}

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub struct Call {
    #[serde(flatten)]
    pub spot: Spot,
    #[serde(rename = "d")]
    pub name: String,
    /// What the first arguments can be, as texts.
    #[serde(rename = "t")]
    pub texts: Vec<Vec<String>>,
    /// Where the first argument leads, as a path.
    #[serde(rename = "p")]
    pub place: Vec<String>,
    /// And the second, where it is a path too.
    #[serde(rename = "p2")]
    pub second_place: Vec<String>,
    /// `mode=` or `method=`.
    #[serde(rename = "w")]
    pub word: String,
    /// Whether it has a body.
    #[serde(rename = "b")]
    pub body: bool,
    /// What it starts, as far as that is written: a program, or a whole command line.
    #[serde(rename = "x")]
    pub commands: Vec<String>,
}

/// A branch that gives up where a name is not there.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Check {
    #[serde(flatten)]
    pub spot: Spot,
    #[serde(rename = "n")]
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Url {
    #[serde(flatten)]
    pub spot: Spot,
    #[serde(rename = "u")]
    pub text: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Variable {
    #[serde(flatten)]
    pub spot: Spot,
    #[serde(rename = "n")]
    pub name: String,
    /// `environ` or `credential`.
    #[serde(rename = "h")]
    pub how: String,
}

/// A test that gives up where something was looked for and is not there.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Insistence {
    #[serde(flatten)]
    pub spot: Spot,
    #[serde(rename = "n")]
    pub name: String,
    /// `program` or `module`.
    #[serde(rename = "k")]
    pub kind: String,
}

/// `module.name`, where it is used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Reference {
    #[serde(flatten)]
    pub spot: Spot,
    #[serde(rename = "m")]
    pub module: String,
    #[serde(rename = "n")]
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Use {
    #[serde(flatten)]
    pub spot: Spot,
    #[serde(rename = "n")]
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Try {
    /// What each handler catches, and how it ends: `raises`, `reports` or `goes on`.
    pub handlers: Vec<(Vec<String>, String)>,
    /// Names that the imports in it bind, that a handler sets to nothing, and that a handler sets to something else.
    pub binds: Vec<String>,
    pub flags: Vec<String>,
    pub mends: Vec<String>,
}
