//! The study's classes of skills. A skill can be in several; the first is the one that decides how hard it is to sandbox.

use serde::Serialize;

use super::distributions;
use super::effects::{self, Effect};
use super::facts::Facts;
use super::graph::Graph;
use super::modules::{Module, Modules, requirements};
use super::needs::{Need, Raises, What};
use super::verdict;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Class {
    #[serde(rename = "native extensions")]
    Native,
    #[serde(rename = "network clients")]
    Network,
    #[serde(rename = "pure Python packages")]
    Packages,
    #[serde(rename = "pure standard library")]
    Stdlib,
    #[serde(rename = "file-heavy")]
    Files,
}

impl Class {
    pub fn name(self) -> &'static str {
        match self {
            Class::Native => "native extensions",
            Class::Network => "network clients",
            Class::Packages => "pure Python packages",
            Class::Stdlib => "pure standard library",
            Class::Files => "file-heavy",
        }
    }
}

/// Native code that the runtime has inside, and packages that are nothing without it.
const NATIVE_INSIDE: [&str; 24] = [
    "numpy",
    "pandas",
    "scipy",
    "PIL",
    "lxml",
    "matplotlib",
    "sklearn",
    "statsmodels",
    "contourpy",
    "kiwisolver",
    "regex",
    "seaborn",
    "formulaic",
    "patsy",
    "pptx",
    "docx",
    "trafilatura",
    "docxtpl",
    "readability",
    "newspaper",
    "pyquery",
    "justext",
    "htmldate",
    "mlxtend",
];
const CLIENTS: [&str; 6] = ["requests", "httpx", "urllib3", "aiohttp", "pycurl", "httplib2"];
const MUCH_DATA: u64 = 1 << 20;

pub fn classes(facts: &Facts, graph: &Graph<'_>, needs: &[Need], modules: &Modules<'_>, own_bytes: u64) -> Vec<Class> {
    let (mut native, mut network, mut packages, mut main_client) = (false, false, false, false);
    let required = requirements(&facts.manifest());
    for (path, file) in &facts.files {
        let counted = |kind: &str| !matches!(kind, "types" | "unknown");
        for import in file.imports.iter().filter(|import| counted(&import.kind) && import.to.is_none()) {
            let reach = graph.reached.get(&(path.clone(), import.spot.function.clone()));
            let Some(reach) = reach.filter(|_| !graph.is_skipped(path, &import.spot)) else { continue };
            let survives = graph.survives(path, &import.spot, Raises::Import);
            if survives || is_excused(path, import.spot.line, needs) {
                continue;
            }
            let lacks = |name: &String| modules.lacks(&import.module, name);
            native |= import.names.iter().filter_map(lacks).any(|lost| lost.is_native());
            for (name, module) in modules.imported(import) {
                let missed = !module.is_there() && reach.is_soft(Raises::Import);
                if missed || verdict::is_extra(graph, path, &import.spot, &module) {
                    continue;
                }
                let top = name.split('.').next().unwrap_or(&name);
                let package = distributions::package(&name);
                let outside = matches!(
                    module,
                    Module::Runtime
                        | Module::Framework
                        | Module::Package { .. }
                        | Module::Broken { .. }
                        | Module::Absent { .. }
                );
                if !outside {
                    continue;
                }
                // Also one whose native code is further down.
                let is_native = distributions::is_native(package) || module.is_native();
                if effects::service(&name).is_some() || modules.is_client(&name) {
                    (network, main_client) = (true, true);
                    native |= matches!(&module, Module::Absent { native: Some(true), chain, .. } if !chain.is_empty());
                } else if CLIENTS.contains(&top) {
                    network |= true;
                    native |= !module.is_there() && is_native;
                    main_client |= required.iter().any(|one| distributions::same(one, package));
                } else if matches!(effects::of(&format!("{top}.")), Some(Effect::Http | Effect::Socket)) {
                    network = true;
                    native |= is_native;
                } else if NATIVE_INSIDE.contains(&top) || is_native {
                    native = true;
                } else if top != "yaml" || uses_yaml(facts) {
                    packages = true;
                }
            }
        }
    }
    let reached = |need: &&Need| {
        let reach = graph.reached.get(&(need.file.clone(), need.spot.function.clone()));
        reach.is_some_and(|reach| !reach.is_soft(need.raises)) && !graph.survives(&need.file, &need.spot, need.raises)
    };
    let has = |wanted: &[Effect]| {
        needs.iter().filter(reached).any(|need| matches!(need.what, What::Effect(effect) if wanted.contains(&effect)))
    };
    network |= has(&[Effect::Http, Effect::Socket, Effect::Server]);
    main_client |= has(&[Effect::Socket, Effect::Server]);
    native |= has(&[Effect::NativeLibrary]);
    native |= needs.iter().filter(reached).filter(|need| !need.is_met()).any(|need| match &need.what {
        What::Bundled(_) | What::Without(Module::Bundled) => true,
        What::Without(Module::Absent { native, .. }) => *native == Some(true),
        _ => false,
    });
    let files = own_bytes > MUCH_DATA || handles_files(facts, graph, needs);
    ordered(native, network, packages, main_client, files)
}

fn ordered(native: bool, network: bool, packages: bool, main_client: bool, files: bool) -> Vec<Class> {
    let mut found = Vec::new();
    if native {
        found.push(Class::Native);
    }
    let network_first = main_client || !packages;
    match (network, packages, network_first) {
        (true, true, false) => found.extend([Class::Packages, Class::Network]),
        (true, true, true) => found.extend([Class::Network, Class::Packages]),
        (true, false, _) => found.push(Class::Network),
        (false, true, _) => found.push(Class::Packages),
        (false, false, _) if !native => found.push(Class::Stdlib),
        _ => {}
    }
    if files {
        found.push(Class::Files);
    }
    found
}

fn is_excused(file: &str, line: u32, needs: &[Need]) -> bool {
    let of_import = |need: &&Need| matches!(need.what, What::Module(_) | What::Bundled(_));
    needs.iter().filter(of_import).any(|need| need.is_excused() && need.file == file && need.spot.line == line)
}

/// Most skills read their own manifest with it, and nothing else.
fn uses_yaml(facts: &Facts) -> bool {
    let calls = facts.files.iter().filter(|(path, _)| !super::graph::is_test(path)).flat_map(|(_, file)| &file.calls);
    calls.filter(|call| call.name.starts_with("yaml.")).any(|call| !call.spot.function.ends_with("manifest"))
}

/// Works on files that it is given, or keeps some.
fn handles_files(facts: &Facts, graph: &Graph<'_>, needs: &[Need]) -> bool {
    needs.iter().any(|need| {
        let What::Effect(effect @ (Effect::ReadFile | Effect::WriteFile)) = need.what else { return false };
        let Some(file) = facts.files.get(&need.file) else { return false };
        let call = file.calls.iter().find(|call| call.spot.line == need.spot.line && call.name == need.name);
        let places = call.map(|call| &call.place[..]).unwrap_or_default();
        let given = places.iter().any(|place| matches!(place.as_str(), "param" | "env"));
        let keeps =
            effect == Effect::WriteFile && places.iter().any(|place| !matches!(place.as_str(), "temp" | "memory"));
        graph.reached.contains_key(&(need.file.clone(), need.spot.function.clone())) && (given || keeps)
    })
}
