//! The analysis as others see it: one struct, serialisable, every entry with its place.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::asking::Asking;
use super::classes::Class;
use super::effects::{self, Effect};
use super::facts::Facts;
use super::graph::{Graph, When};
use super::integer_width::{IntegerWidth, integer_width};
use super::modules::{Module, Modules, Required};
use super::needs::{Need, Raises, What};
use super::programs;
use super::verdict::{BestTier, Decision, Reason, Verdict};

/// Entries that a list has at most.
const MOST: usize = 400;

/// What was found out about a skill without running it.
#[derive(Debug, Clone, Serialize)]
pub struct Analysis {
    pub verdict: Verdict,
    pub best_tier: BestTier,
    /// Why it is not `runs` or `runs with grants`, the deciding one first.
    pub reasons: Vec<Reason>,
    /// What it does without where it has to.
    pub optional: Vec<Reason>,
    /// Where numpy's default integer, narrower in a cell, may change its results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integer_width: Option<IntegerWidth>,
    /// The first is the primary one.
    pub classes: Vec<Class>,
    pub permissions: Asking,
    /// What the manifest's requirements resolve to, and what those pull in.
    pub requirements: Vec<Required>,
    pub imports: Vec<Imported>,
    /// Calls that a sandbox changes.
    pub effects: Vec<Finding>,
    /// The programs that it starts, as far as they are written: a cell has none of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// What happens when it is imported or constructed.
    pub work: Vec<Finding>,
    pub native_files: Vec<NativeFile>,
    pub unread: Vec<Unread>,
    /// Files of the skill that nothing imports.
    pub unreached: Vec<String>,
    /// What can't be known without running it.
    pub unknown: Vec<Finding>,
    /// As PyYAML reads it.
    #[serde(skip)]
    pub manifest: Value,
    #[serde(skip)]
    pub manifest_error: Option<String>,
}

/// An imported module, with where it is imported first.
#[derive(Debug, Clone, Serialize)]
pub struct Imported {
    pub module: String,
    #[serde(flatten)]
    pub what: Module,
    pub file: String,
    pub line: u32,
    /// `None` in a file that nothing imports.
    pub when: Option<When>,
    /// `module`, `function`, `dynamic`, `implied` by a call of a library, or `types` for one that only type checkers see.
    pub how: &'static str,
    /// Whether a handler goes on without it.
    pub guarded: bool,
}

/// Something that a statement does.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    pub file: String,
    pub line: u32,
    pub when: Option<When>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The call as the file has it, or a sentence.
    pub what: String,
    /// Paths that it is about: `own`, `temp`, `home`, `param`, `env`, `memory`, `text:…`, `other`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct NativeFile {
    pub file: String,
    /// `ELF`, `PE`, `Mach-O`, `library`, `source`, `wheel`, …
    pub kind: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Unread {
    pub file: String,
    pub line: u32,
    pub why: String,
}

impl Analysis {
    /// The verdict's name and the first of its reasons.
    pub fn in_brief(&self) -> (String, Option<String>) {
        let reason = self.reasons.first().map(|reason| format!("{}: {}", reason.place(), reason.text));
        (self.verdict.name().to_owned(), reason)
    }
}

impl Finding {
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

pub fn analysis(
    facts: &Facts,
    graph: &Graph<'_>,
    needs: &[Need],
    modules: &Modules<'_>,
    decision: Decision,
    classes: Vec<Class>,
    permissions: Asking,
) -> Analysis {
    let effects = findings(facts, graph, needs);
    let early = |finding: &&Finding| matches!(finding.when, Some(When::Import | When::Construct));
    let mut work: Vec<Finding> = effects.iter().filter(early).cloned().collect();
    work.extend(loops(facts, graph));
    let imports = imports(facts, graph, modules);
    Analysis {
        integer_width: integer_width(facts, graph, &imports),
        verdict: decision.verdict,
        best_tier: decision.best_tier,
        reasons: decision.reasons,
        optional: decision.optional,
        classes,
        permissions,
        requirements: Vec::new(),
        imports,
        effects,
        programs: programs::all(needs, &|need| when(graph, &need.file, &need.spot.function).is_some()),
        work,
        native_files: facts
            .native
            .iter()
            .map(|(file, kind, _)| NativeFile { file: file.clone(), kind: kind.clone() })
            .collect(),
        unread: facts
            .unread
            .iter()
            .map(|(file, line, why)| Unread { file: file.clone(), line: *line, why: why.clone() })
            .collect(),
        unreached: facts
            .files
            .keys()
            .filter(|path| !graph.reached.contains_key(&((*path).clone(), String::new())))
            .cloned()
            .collect(),
        unknown: unknown(facts, graph),
        manifest: facts.raw_manifest.clone(),
        manifest_error: facts.manifest_error.clone(),
    }
}

fn when(graph: &Graph<'_>, file: &str, function: &str) -> Option<When> {
    graph.reached.get(&(file.to_owned(), function.to_owned())).map(|reach| reach.when)
}

fn findings(facts: &Facts, graph: &Graph<'_>, needs: &[Need]) -> Vec<Finding> {
    let mut found = Vec::new();
    for need in needs.iter().take(MOST * 4) {
        let (What::Effect(effect) | What::TooEarly(effect)) = need.what else { continue };
        let call = facts
            .files
            .get(&need.file)
            .and_then(|file| file.calls.iter().find(|call| call.spot.line == need.spot.line && call.name == need.name));
        let is_file = matches!(effect, Effect::ReadFile | Effect::WriteFile);
        found.push(Finding {
            file: need.file.clone(),
            line: need.spot.line,
            when: when(graph, &need.file, &need.spot.function),
            effect: Some(effect),
            what: need.name.clone(),
            paths: call.filter(|_| is_file).map(|call| call.place.clone()).unwrap_or_default(),
        });
    }
    found.truncate(MOST);
    found
}

fn loops(facts: &Facts, graph: &Graph<'_>) -> Vec<Finding> {
    let of = |path: &String, line: u32| Finding {
        file: path.clone(),
        line,
        when: when(graph, path, ""),
        effect: None,
        what: "a loop".to_owned(),
        paths: Vec::new(),
    };
    let all = facts.files.iter().flat_map(|(path, file)| file.loops.iter().map(move |line| of(path, *line)));
    all.filter(|finding| finding.when.is_some()).take(MOST).collect()
}

fn imports(facts: &Facts, graph: &Graph<'_>, modules: &Modules<'_>) -> Vec<Imported> {
    let mut found: BTreeMap<(String, bool), Imported> = BTreeMap::new();
    for (path, file) in &facts.files {
        for import in file.imports.iter().filter(|import| import.kind != "unknown") {
            let node = graph.reached.get(&(path.clone(), import.spot.function.clone()));
            let how = match import.kind.as_str() {
                "types" => "types",
                "dynamic" => "dynamic",
                "implied" => "implied",
                _ if import.spot.function.is_empty() => "module",
                _ => "function",
            };
            for (name, what) in modules.imported(import) {
                let one = Imported {
                    module: name.clone(),
                    what,
                    file: path.clone(),
                    line: import.spot.line,
                    when: if how == "types" { None } else { node.map(|reach| reach.when) },
                    how,
                    guarded: graph.survives(path, &import.spot, Raises::Import),
                };
                let key = (name, one.when.is_some());
                match found.get(&key) {
                    Some(known) if rank(known) <= rank(&one) => {}
                    _ => drop(found.insert(key, one)),
                }
            }
        }
    }
    found.into_values().take(MOST).collect()
}

/// What is imported early and without a guard is what counts.
fn rank(import: &Imported) -> (u8, bool) {
    let when = match import.when {
        Some(When::Import) => 0,
        Some(When::Construct) => 1,
        Some(When::Call) => 2,
        None => 3,
    };
    (when, import.guarded)
}

/// Said where importing the packages in a cell did not come to an end.
pub fn not_tried() -> Finding {
    let what = "importing its packages in a cell did not come to an end: what they need is taken from their metadata"
        .to_owned();
    Finding { file: "manifest.yaml".to_owned(), line: 0, when: None, effect: None, what, paths: Vec::new() }
}

fn unknown(facts: &Facts, graph: &Graph<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, file) in &facts.files {
        let one = |line: u32, function: &str, what: String| Finding {
            file: path.clone(),
            line,
            when: when(graph, path, function),
            effect: None,
            what,
            paths: Vec::new(),
        };
        for import in file.imports.iter().filter(|import| import.kind == "unknown") {
            let known = if import.module.is_empty() { String::new() } else { format!(" (`{}…`)", import.module) };
            let what = format!("imports a module whose name is only known at run time{known}");
            found.push(one(import.spot.line, &import.spot.function, what));
        }
        for call in file.calls.iter().filter(|call| effects::of(&call.name) == Some(Effect::Code)) {
            let literal = call.texts.first().is_some_and(|texts| !texts.is_empty());
            if !literal && matches!(call.name.as_str(), "exec" | "eval" | "marshal.loads") {
                let what = format!("runs code that is only known at run time (`{}`)", call.name);
                found.push(one(call.spot.line, &call.spot.function, what));
            }
        }
    }
    found.retain(|finding| finding.when.is_some());
    found.truncate(MOST);
    found
}
