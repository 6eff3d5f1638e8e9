//! The study's classes of skills. A skill can be in several; the first is the one that decides how hard it is to sandbox.

use serde::Serialize;

use super::distributions;
use super::effects::{self, Effect};
use super::facts::Facts;
use super::graph::Graph;
use super::modules::{Module, Modules, requirements};
use super::needs::{Need, What};
use super::verdict;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
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

pub fn classes(facts: &Facts, graph: &Graph<'_>, needs: &[Need], own_bytes: u64) -> Vec<Class> {
    let modules = Modules::new(facts);
    let (mut native, mut network, mut packages, mut main_client) =
        (!used_native(facts).is_empty(), false, false, false);
    let required = requirements(&facts.manifest);
    for (path, file) in &facts.files {
        for import in file.imports.iter().filter(|import| import.kind != "types" && import.to.is_none()) {
            let node = (path.clone(), import.spot.function.clone());
            let soft = graph.reached.get(&node).is_none_or(|reach| reach.soft);
            let survives = graph.survives(path, &import.spot, super::needs::Raises::Import);
            if soft || survives || graph.is_skipped(path, &import.spot) {
                continue;
            }
            for (name, module) in modules.imported(import) {
                if verdict::is_extra(graph, path, &import.spot, &module) {
                    continue;
                }
                let top = name.split('.').next().unwrap_or(&name);
                let package = distributions::package(&name);
                let outside = matches!(
                    module,
                    Module::Runtime | Module::Framework | Module::Package { .. } | Module::Absent { .. }
                );
                if !outside {
                    continue;
                }
                if effects::service(&name).is_some() {
                    (network, main_client) = (true, true);
                } else if CLIENTS.contains(&top) {
                    network |= true;
                    main_client |= required.iter().any(|one| distributions::same(one, package));
                } else if matches!(effects::of(&format!("{top}.")), Some(Effect::Http | Effect::Socket)) {
                    network = true;
                    native |= distributions::is_native(package);
                } else if NATIVE_INSIDE.contains(&top) || distributions::is_native(package) {
                    native = true;
                } else if top != "yaml" || uses_yaml(facts) {
                    packages = true;
                }
            }
        }
    }
    let reached = |need: &&Need| {
        let reach = graph.reached.get(&(need.file.clone(), need.spot.function.clone()));
        reach.is_some_and(|reach| !reach.soft)
    };
    let has = |wanted: &[Effect]| {
        needs.iter().filter(reached).any(|need| matches!(need.what, What::Effect(effect) if wanted.contains(&effect)))
    };
    network |= has(&[Effect::Http, Effect::Socket, Effect::Server]);
    main_client |= has(&[Effect::Socket, Effect::Server]);
    native |= has(&[Effect::NativeLibrary]);
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

/// Native code in the folder that something imports or could load.
fn used_native(facts: &Facts) -> Vec<&str> {
    let used = facts.native.iter().filter(|(_, kind, _)| !matches!(kind.as_str(), "source" | "wheel" | "archive"));
    used.map(|(path, _, _)| path.as_str()).collect()
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
        let keeps = effect == Effect::WriteFile && places.iter().any(|place| place != "temp");
        graph.reached.contains_key(&(need.file.clone(), need.spot.function.clone())) && (given || keeps)
    })
}
