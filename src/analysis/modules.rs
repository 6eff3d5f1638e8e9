//! What each module that a skill imports is: asked of the guest, of the skill's requirements, and of the tables.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::distributions;
use super::facts::{Facts, Import};

/// What an imported module is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum Module {
    Stdlib,
    /// A module of the standard library that a stand-in takes the place of.
    StandIn,
    /// A module of the standard library that a cell does not have.
    Lacking {
        why: String,
    },
    /// It was in the standard library of an earlier Python.
    Gone,
    Skillware,
    /// A file of the skill.
    Own,
    /// Native code in the skill's folder.
    Bundled,
    /// In an archive in the skill's folder, with native code.
    Archive {
        file: String,
    },
    /// With the runtime, or with the framework.
    Runtime,
    Framework,
    /// From the skill's requirements.
    Package {
        package: String,
    },
    /// Not there. `native`: whether it is native code, if that is known.
    Absent {
        package: String,
        native: Option<bool>,
        required: bool,
        chain: Vec<String>,
    },
    /// A file that should be in the skill's folder.
    NoFile,
}

impl Module {
    pub fn is_there(&self) -> bool {
        !matches!(
            self,
            Module::Lacking { .. }
                | Module::Gone
                | Module::Absent { .. }
                | Module::NoFile
                | Module::Bundled
                | Module::Archive { .. }
        )
    }

    /// The short word for it in lists.
    pub fn group(&self) -> &'static str {
        match self {
            Module::Stdlib => "stdlib",
            Module::StandIn => "stand-in",
            Module::Lacking { .. } | Module::Gone => "stdlib, not in a cell",
            Module::Skillware => "skillware",
            Module::Own | Module::Bundled | Module::Archive { .. } | Module::NoFile => "own",
            Module::Runtime => "runtime",
            Module::Framework => "framework",
            Module::Package { .. } => "package",
            Module::Absent { .. } => "missing",
        }
    }

    /// Why it is not there.
    pub fn why(&self) -> String {
        match self {
            Module::Lacking { why } => format!("a cell's standard library does not have it ({why})"),
            Module::Gone => "it is no longer in Python's standard library".to_owned(),
            Module::Bundled | Module::Archive { .. } => "it is native code, which a cell can't load".to_owned(),
            Module::NoFile => "there is no such file in the skill's folder".to_owned(),
            Module::Absent { package, native, required, chain } => {
                let listed = if *required { "" } else { ", and is not in the manifest's requirements" };
                let through =
                    if chain.is_empty() { String::new() } else { format!(" (through {})", chain.join(" → ")) };
                match native {
                    Some(true) => format!("{package} needs native code{through} that a cell does not have{listed}"),
                    Some(false) => format!("{package} is pure Python, but not in the cell{listed}"),
                    None => format!("{package} is not among a cell's packages{listed}"),
                }
            }
            _ => String::new(),
        }
    }
}

/// What became of a package that the manifest requires, or that one of those pulls in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Required {
    pub package: String,
    /// From the manifest's requirement to this.
    pub chain: Vec<String>,
    /// Whether a cell has it.
    pub there: bool,
    /// Whether it is there only as native code for other machines.
    pub native: bool,
    /// In words: where it comes from, or what was found instead.
    pub what: String,
    /// Top-level names that it has.
    #[serde(skip)]
    pub modules: Vec<String>,
}

pub struct Modules<'a> {
    known: &'a BTreeMap<String, (String, String)>,
    requirements: Vec<String>,
    /// Archives in the skill's folder: path, kind, modules.
    archives: &'a [(String, String, Vec<String>)],
    resolved: &'a [Required],
}

impl<'a> Modules<'a> {
    pub fn new(facts: &'a Facts, resolved: &'a [Required]) -> Modules<'a> {
        let requirements = requirements(&facts.manifest);
        Modules { known: &facts.modules, requirements, archives: &facts.native, resolved }
    }

    /// What an import statement asks for: module names, and what they are.
    pub fn imported(&self, import: &Import) -> Vec<(String, Module)> {
        if import.to.is_some() {
            return vec![(import.module.clone(), Module::Own)];
        }
        if import.module.starts_with('.') {
            return vec![(import.module.clone(), Module::NoFile)];
        }
        // `from google import genai`: the namespace says nothing, the name in it does.
        let inner: Vec<String> = import.names.iter().map(|name| format!("{}.{name}", import.module)).collect();
        if import.module == "google" && inner.iter().any(|name| self.known.contains_key(name)) {
            return inner.into_iter().map(|name| (name.clone(), self.module(&name))).collect();
        }
        vec![(import.module.clone(), self.module(&import.module))]
    }

    /// Whether what a call's name begins with is there: if not, the import is what fails, and the call is never made.
    pub fn has(&self, call: &str) -> bool {
        let mut known = self.known.iter().filter(|(module, _)| {
            call.strip_prefix(module.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        !known.any(|(module, (kind, _))| {
            kind == "absent" && !distributions::is_gone(module) && !self.absent(module).is_there()
        })
    }

    fn module(&self, name: &str) -> Module {
        let (kind, why) = self.known.get(name).map_or(("absent", ""), |(kind, why)| (kind.as_str(), why.as_str()));
        match kind {
            "stdlib" => Module::Stdlib,
            "stand-in" => Module::StandIn,
            "lacking" => Module::Lacking { why: why.to_owned() },
            "skillware" => Module::Skillware,
            "runtime" => Module::Runtime,
            "framework" => Module::Framework,
            "package" => Module::Package { package: distributions::package(name).to_owned() },
            _ if distributions::is_gone(name) => Module::Gone,
            _ => self.absent(name),
        }
    }

    fn absent(&self, name: &str) -> Module {
        let top = name.split('.').next().unwrap_or(name);
        if let Some((file, kind, _)) = self.archives.iter().find(|(_, _, tops)| tops.iter().any(|one| one == top)) {
            let native = kind == "archive with native code";
            return if native { Module::Archive { file: file.clone() } } else { Module::Own };
        }
        let package = distributions::package(name).to_owned();
        if let Some(found) = self.resolved(&package, top) {
            return self.from_requirement(found);
        }
        let required = self.requirements.iter().any(|one| distributions::same(one, &package));
        let native = distributions::is_native(&package).then_some(true);
        Module::Absent { package, native, required, chain: Vec::new() }
    }
}

impl Modules<'_> {
    fn resolved(&self, package: &str, top: &str) -> Option<&Required> {
        let by_name = self.resolved.iter().find(|one| distributions::same(&one.package, package));
        by_name.or_else(|| self.resolved.iter().find(|one| one.modules.iter().any(|module| module == top)))
    }

    /// A package is only as good as what it needs.
    fn from_requirement(&self, found: &Required) -> Module {
        let needs = |other: &&Required| !other.there && other.chain.contains(&found.package);
        let lost = if found.there { self.resolved.iter().find(needs) } else { Some(found) };
        let package = found.package.clone();
        match lost {
            None => Module::Package { package },
            Some(lost) => {
                let at = lost.chain.iter().position(|one| *one == package).unwrap_or(0);
                let chain = if lost.package == package { Vec::new() } else { lost.chain[at..].to_vec() };
                let native = (lost.native || distributions::is_native(&lost.package)).then_some(true);
                Module::Absent { package, native, required: true, chain }
            }
        }
    }
}

/// The packages that a manifest requires.
pub fn requirements(manifest: &Value) -> Vec<String> {
    let listed = manifest["requirements"].as_array().into_iter().flatten();
    listed.filter_map(Value::as_str).map(|text| distributions::required(text).to_owned()).collect()
}
