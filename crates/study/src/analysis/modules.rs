//! What each module that a skill imports is: asked of the guest, of the skill's requirements, and of the tables.

use std::collections::BTreeMap;

use serde::Serialize;

use super::distributions;
use super::facts::{Facts, Import};
use super::needs::Raises;
use super::tried::{Failed, Tried};
use skillcell_packages::Requirement;
use skillcell_policy::manifest::Manifest;

/// What an imported module is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
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
    /// Required, and no tier can install it: there are no wheels of it, or nothing of this name at all.
    Uninstallable {
        package: String,
        /// From the import's package to the one that can't be had.
        chain: Vec<String>,
        why: String,
    },
    /// A package is there, and importing it fails all the same.
    Broken {
        package: String,
        why: String,
    },
    /// A name that the module it should be in does not have; `None` if that is one of the standard library.
    NoName {
        package: Option<String>,
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
                | Module::Uninstallable { .. }
                | Module::Broken { .. }
                | Module::NoName { .. }
                | Module::NoFile
                | Module::Bundled
                | Module::Archive { .. }
        )
    }

    /// Whether it is missing for want of native code, its own or further down.
    pub fn is_native(&self) -> bool {
        matches!(self, Module::Absent { native: Some(true), .. })
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
            Module::NoName { package: None } => "stdlib, not in a cell",
            Module::Package { .. } | Module::Broken { .. } | Module::NoName { .. } => "package",
            Module::Absent { .. } | Module::Uninstallable { .. } => "missing",
        }
    }

    /// Why it is not there.
    pub fn why(&self) -> String {
        match self {
            Module::Lacking { why } => format!("a cell's standard library does not have it ({why})"),
            Module::Gone => "it is no longer in Python's standard library".to_owned(),
            Module::Bundled | Module::Archive { .. } => "it is native code, which a cell can't load".to_owned(),
            Module::NoFile => "there is no such file in the skill's folder".to_owned(),
            Module::Broken { package, why } => format!("{package} is there, but importing it fails in a cell ({why})"),
            Module::NoName { package: Some(package) } => format!("the {package} that a cell has does not have it"),
            Module::NoName { package: None } => "a cell's Python does not have it".to_owned(),
            Module::Uninstallable { package, chain, why } => {
                format!("{package} can't be installed in any tier{}: {why}", through(chain))
            }
            Module::Absent { package, native, required, chain } => {
                let listed = if *required { "" } else { ", and is not in the manifest's requirements" };
                match native {
                    Some(true) => {
                        format!("{package} needs native code{} that a cell does not have{listed}", through(chain))
                    }
                    Some(false) => format!("{package} is pure Python, but not in the cell{listed}"),
                    None => format!("{package} is not among a cell's packages{listed}"),
                }
            }
            _ => String::new(),
        }
    }
}

fn through(chain: &[String]) -> String {
    if chain.is_empty() { String::new() } else { format!(" (through {})", chain.join(" → ")) }
}

/// What became of a package that the manifest requires, or that one of those pulls in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Required {
    pub package: String,
    /// From the manifest's requirement to this.
    pub chain: Vec<String>,
    /// Whether a cell has it.
    pub there: bool,
    /// Whether it is there only as native code for other machines.
    pub native: bool,
    /// Whether no tier can install it.
    #[serde(skip)]
    pub uninstallable: bool,
    /// Whether only an extra that the manifest asks for needs it.
    pub of_extra: bool,
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
    tried: &'a Tried,
}

impl<'a> Modules<'a> {
    pub fn new(facts: &'a Facts, resolved: &'a [Required], tried: &'a Tried) -> Modules<'a> {
        let requirements = requirements(&facts.manifest());
        Modules { known: &facts.modules, requirements, archives: &facts.native, resolved, tried }
    }

    /// Whether importing it would tell more: a package of others that is there, as far as is known.
    pub fn can_be_tried(&self, name: &str) -> bool {
        match self.module(name) {
            Module::Runtime | Module::Framework | Module::Package { .. } => true,
            Module::Absent { package, .. } => self.resolved.iter().any(|one| one.package == package && one.there),
            _ => false,
        }
    }

    /// Whether it was seen to be the client of a service.
    pub fn is_client(&self, name: &str) -> bool {
        self.tried.services.contains_key(name)
    }

    /// What the import of a module raises, if it is known to fail.
    pub fn raises(&self, name: &str) -> Raises {
        self.tried.failed.get(name).map_or(Raises::Import, Failed::raises)
    }

    /// What is wrong with using a name of a module, if the module is there and the name is not.
    pub fn lacks(&self, module: &str, name: &str) -> Option<Module> {
        let dotted = format!("{module}.{name}");
        if self.known.get(&dotted).is_some_and(|(kind, _)| kind == "no name") {
            return Some(Module::NoName { package: None });
        }
        let failed = self.tried.absent.get(&dotted)?;
        let top = module.split('.').next().unwrap_or(module);
        let package = self.resolved(distributions::package(module), top).map(|found| found.package.clone());
        let package = package.unwrap_or_else(|| distributions::package(module).to_owned());
        Some(match failed.text.is_empty() {
            true => Module::NoName { package: Some(package) },
            false => self.failed(package, failed),
        })
    }

    /// A requirement that a package lacks which can be imported without it.
    pub fn does_without(&self, module: &Module) -> Option<&Required> {
        let Module::Package { package } = module else { return None };
        let found = self.resolved.iter().find(|one| distributions::same(&one.package, package))?;
        self.resolved.iter().find(|other| !other.there && other.chain.contains(&found.package))
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
            "runtime" => self.unless_it_failed(name, Module::Runtime),
            "framework" => self.unless_it_failed(name, Module::Framework),
            "package" => {
                self.unless_it_failed(name, Module::Package { package: distributions::package(name).to_owned() })
            }
            _ if distributions::is_gone(name) => Module::Gone,
            _ => self.absent(name),
        }
    }

    /// The host that importing a module asks, if it does: with that granted it would not fail.
    pub fn asks(&self, name: &str) -> Option<&str> {
        self.tried.failed.get(name)?.asks.as_deref()
    }

    fn unless_it_failed(&self, name: &str, module: Module) -> Module {
        let package = || distributions::package(name).to_owned();
        let failed = self.tried.failed.get(name).filter(|failed| failed.asks.is_none());
        failed.map_or(module, |failed| self.failed(package(), failed))
    }

    /// A package whose import failed: for want of another one, or by itself.
    fn failed(&self, package: String, failed: &Failed) -> Module {
        let lost = failed.missing.as_deref().and_then(|missing| {
            let top = missing.split('.').next().unwrap_or(missing);
            // `pymatgen.core` is in `pymatgen-core`, which `pymatgen` pulls in.
            let part = self.resolved.iter().find(|one| distributions::same(&one.package, missing));
            part.or_else(|| self.resolved(distributions::package(missing), top)).filter(|found| !found.there)
        });
        match lost {
            Some(lost) => Self::for_want_of(package, lost),
            None => Module::Broken { package, why: failed.text.clone() },
        }
    }

    fn for_want_of(package: String, lost: &Required) -> Module {
        let chain = match lost.chain.iter().position(|one| *one == package) {
            _ if lost.package == package => Vec::new(),
            Some(at) => lost.chain[at..].to_vec(),
            // The manifest asks for it too.
            None => vec![package.clone(), lost.package.clone()],
        };
        if lost.uninstallable {
            return Module::Uninstallable { package, chain, why: lost.what.clone() };
        }
        let native = (lost.native || distributions::is_native(&lost.package)).then_some(true);
        Module::Absent { package, native, required: true, chain }
    }

    fn absent(&self, name: &str) -> Module {
        let top = name.split('.').next().unwrap_or(name);
        if let Some((file, kind, _)) = self.archives.iter().find(|(_, _, tops)| tops.iter().any(|one| one == top)) {
            let native = kind == "archive with native code";
            return if native { Module::Archive { file: file.clone() } } else { Module::Own };
        }
        let package = distributions::package(name).to_owned();
        if let Some(found) = self.resolved(&package, top) {
            return self.module_of_requirement(name, found);
        }
        let required = self.requirements.iter().any(|one| distributions::same(one, &package));
        let native = distributions::is_native(&package).then_some(true);
        Module::Absent { package, native, required, chain: Vec::new() }
    }
}

impl Modules<'_> {
    fn resolved(&self, package: &str, top: &str) -> Option<&Required> {
        let by_name = self.resolved.iter().find(|one| distributions::same(&one.package, package));
        let by_module = || self.resolved.iter().find(|one| one.modules.iter().any(|module| module == top));
        // What a package that was never unpacked is imported as is not known: `PyTDC` is likely to be `tdc`.
        let by_guess = || {
            let unseen = self.resolved.iter().filter(|one| !one.there && one.chain.len() == 1);
            let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '_', '.'], "");
            let top = plain(top);
            (top.len() > 2).then(|| unseen.into_iter().find(|one| plain(&one.package).contains(&top))).flatten()
        };
        by_name.or_else(by_module).or_else(by_guess)
    }

    /// A package is only as good as what it needs, unless it was seen to do without.
    fn module_of_requirement(&self, name: &str, found: &Required) -> Module {
        let needs = |other: &&Required| !other.there && !other.of_extra && other.chain.contains(&found.package);
        let package = found.package.clone();
        match self.tried.failed.get(name) {
            Some(failed) if found.there && failed.asks.is_some() => return Module::Package { package },
            Some(failed) if found.there => return self.failed(package, failed),
            _ => {}
        }
        // What it keeps in a package of its own it is nothing without, however far an import gets.
        let own = |other: &Required| other.package.starts_with(&format!("{package}-"));
        let fine = self.tried.fine.contains(name);
        let lost =
            if found.there { self.resolved.iter().filter(needs).find(|lost| !fine || own(lost)) } else { Some(found) };
        match lost {
            None => Module::Package { package },
            Some(lost) => Self::for_want_of(package, lost),
        }
    }
}

/// The packages that a manifest requires.
pub fn requirements(manifest: &Manifest) -> Vec<String> {
    manifest
        .requirements
        .iter()
        .filter_map(|text| Requirement::parse(text).ok())
        .map(|requirement| requirement.name)
        .collect()
}
