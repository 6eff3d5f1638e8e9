//! Which parts of a skill run when: from its import, its constructor and its calls, through its own functions and files;
//! and which of them can't get past something that a cell does not have.
//!
//! ```text
//!   skill.py ──imports──▶ helper.py          a node is a function, or a module's own statements
//!      │ class Skill                          an item is a need, a call of another node, or an import of a file
//!      ├─ __init__ ──calls──▶ _load           an item has conditions and handlers around it
//!      └─ execute ──calls──▶ helper.work
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::facts::{Condition, Facts, Import, Spot};
use super::needs::{Need, Raises};
use super::skills;

/// When something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    Import,
    Construct,
    Call,
}

impl When {
    pub fn words(self) -> &'static str {
        match self {
            When::Import => "when it is imported",
            When::Construct => "in its constructor",
            When::Call => "in a call",
        }
    }
}

/// A function of a file; "" is the file itself.
pub type Node = (String, String);

enum Action {
    Need(usize),
    Go { to: Vec<Node>, sure: bool },
}

struct Item {
    spot: Spot,
    action: Action,
}

/// How a node is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    pub when: When,
    /// For each kind of failure, whether every way there is inside a `try` that goes on without it.
    soft: [bool; 3],
}

impl Reach {
    pub fn is_soft(self, raises: Raises) -> bool {
        self.soft[raises as usize]
    }
}

pub struct Graph<'a> {
    facts: &'a Facts,
    needs: &'a [Need],
    items: BTreeMap<Node, Vec<Item>>,
    /// A `try` of a file whose body fails, with the handler that runs then.
    failing: BTreeSet<(String, u32, usize)>,
    pub reached: BTreeMap<Node, Reach>,
}

impl<'a> Graph<'a> {
    pub fn new(facts: &'a Facts, needs: &'a [Need]) -> Graph<'a> {
        let mut graph =
            Graph { facts, needs, items: BTreeMap::new(), failing: BTreeSet::new(), reached: BTreeMap::new() };
        graph.gather();
        // A handler that runs may hold imports that fail in turn.
        for _ in 0..3 {
            graph.find_failing();
        }
        graph.reach();
        graph
    }

    fn gather(&mut self) {
        for (at, need) in self.needs.iter().enumerate() {
            let item = Item { spot: need.spot.clone(), action: Action::Need(at) };
            self.items.entry((need.file.clone(), need.spot.function.clone())).or_default().push(item);
        }
        for (path, file) in &self.facts.files {
            for import in file.imports.iter().filter(|import| import.kind == "unknown") {
                let folder = import.module.trim_start_matches('.').replace('.', "/");
                let others = self.facts.files.keys().filter(|other| other.starts_with(&folder) && !is_test(other));
                let to = others.filter(|other| *other != path).map(|other| (other.clone(), String::new())).collect();
                self.add(path, &import.spot, to, false);
            }
            for import in file.imports.iter().filter(|import| import.kind != "types") {
                let to = import.to.iter().flatten().map(|file| (file.clone(), String::new())).collect();
                self.add(path, &import.spot, to, true);
                self.add(path, &import.spot, self.made_when_asked(import), true);
            }
            for edge in &file.edges {
                let (to, one) = if edge.wraps {
                    self.inside(edge.to.as_deref().unwrap_or(path), &edge.function)
                } else {
                    self.targets(path, edge.to.as_deref(), &edge.function)
                };
                self.add(path, &edge.spot, to, edge.sure && one);
            }
        }
    }

    fn add(&mut self, path: &str, spot: &Spot, to: Vec<Node>, sure: bool) {
        if !to.is_empty() {
            let item = Item { spot: spot.clone(), action: Action::Go { to, sure } };
            self.items.entry((path.to_owned(), spot.function.clone())).or_default().push(item);
        }
    }

    /// A file's `__getattr__`, if a name is imported from it that it does not have otherwise.
    fn made_when_asked(&self, import: &Import) -> Vec<Node> {
        let Some(path) = import.to.as_ref().and_then(|files| files.last()) else { return Vec::new() };
        let Some(file) = self.facts.files.get(path).filter(|file| file.functions.contains_key("__getattr__")) else {
            return Vec::new();
        };
        let has = |name: &String| file.functions.contains_key(name) || file.classes.contains_key(name);
        let asks = import.names.iter().any(|name| !has(name) && name != "*");
        if asks { vec![(path.clone(), "__getattr__".to_owned())] } else { Vec::new() }
    }

    /// The functions inside of a decorator, and whether they surely run: if there is but one at each depth.
    fn inside(&self, path: &str, function: &str) -> (Vec<Node>, bool) {
        let start = format!("{function}.");
        let functions = self.facts.files.get(path).into_iter().flat_map(|file| file.functions.keys());
        let names: Vec<&String> = functions.filter(|name| name.starts_with(&start)).collect();
        let depths: BTreeSet<usize> = names.iter().map(|name| name.matches('.').count()).collect();
        (names.iter().map(|name| (path.to_owned(), (*name).clone())).collect(), depths.len() == names.len())
    }

    /// The nodes that a call can mean, and whether it is surely these.
    fn targets(&self, from: &str, to: Option<&str>, function: &str) -> (Vec<Node>, bool) {
        let to = to.map(|path| self.home_of(path, function.split('.').next().unwrap_or(function)));
        if let Some(path) = to
            && let Some(file) = self.facts.files.get(path)
        {
            if file.functions.contains_key(function) {
                return (vec![(path.to_owned(), function.to_owned())], true);
            }
            if file.classes.contains_key(function) {
                let made = ["__init__", "__post_init__"].into_iter();
                return (made.filter_map(|name| self.method(path, function, name, 0)).collect(), true);
            }
            if let Some((class, method)) = function.rsplit_once('.')
                && let Some(node) = self.method(path, class, method, 0)
            {
                return (vec![node], true);
            }
        }
        let last = function.rsplit('.').next().unwrap_or(function);
        let named = self.named(last, to.filter(|path| *path != from).is_some() || to.is_none());
        let one = named.len() == 1;
        (if named.len() <= 6 { named } else { Vec::new() }, one)
    }

    /// The file that has a name which another only hands on: `from .tree import walk` in a package's `__init__.py`.
    fn home_of<'b>(&'b self, path: &'b str, name: &str) -> &'b str {
        let mut home = path;
        for _ in 0..4 {
            let Some(file) = self.facts.files.get(home) else { break };
            if file.functions.contains_key(name) || file.classes.contains_key(name) {
                break;
            }
            let from = file.imports.iter().find(|import| import.names.iter().any(|one| one == name));
            match from.and_then(|import| import.to.as_ref()?.last()) {
                Some(next) => home = next,
                None => break,
            }
        }
        home
    }

    /// A method of a class, or of a class that it is derived from.
    fn method(&self, path: &str, class: &str, method: &str, depth: u8) -> Option<Node> {
        let file = self.facts.files.get(path)?;
        let name = format!("{class}.{method}");
        if file.functions.contains_key(&name) {
            return Some((path.to_owned(), name));
        }
        if depth > 8 {
            return None;
        }
        file.classes.get(class)?.iter().find_map(|base| {
            let base = base.rsplit('.').next().unwrap_or(base);
            let own = file.classes.contains_key(base).then(|| path.to_owned());
            let place = own.or_else(|| {
                self.facts.files.iter().find(|(_, file)| file.classes.contains_key(base)).map(|(path, _)| path.clone())
            })?;
            self.method(&place, base, method, depth + 1)
        })
    }

    /// All functions and classes of this name, wherever they are.
    fn named(&self, name: &str, anywhere: bool) -> Vec<Node> {
        if !anywhere || name.starts_with("__") {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (path, file) in self.facts.files.iter().filter(|(path, _)| !is_test(path)) {
            found.extend(
                file.functions
                    .keys()
                    .filter(|other| other.rsplit('.').next() == Some(name))
                    .map(|other| (path.clone(), other.clone())),
            );
            if file.classes.contains_key(name) {
                found.extend(self.method(path, name, "__init__", 0));
            }
        }
        found
    }

    fn reach(&mut self) {
        let mut mentioned = self.spread([("skill.py".to_owned(), String::new())], When::Import);
        let skills = skills::of(self.facts);
        let methods = |names: &[&str]| -> Vec<Node> {
            let one = |class: &Node| names.iter().filter_map(|name| self.method(&class.0, &class.1, name, 0)).collect();
            skills.iter().flat_map(|class| -> Vec<Node> { one(class) }).collect()
        };
        let (made, called) = (methods(&["__init__", "__new__"]), methods(CALLED));
        mentioned.extend(self.spread(made, When::Construct));
        mentioned.extend(called);
        // What was only mentioned until now may run in a call, and so may what a decorator got hold of.
        for (path, file) in &self.facts.files {
            if self.reached.contains_key(&(path.clone(), String::new())) {
                let decorated = file.functions.iter().filter(|(_, (_, _, decorated))| *decorated);
                mentioned.extend(decorated.map(|(name, _)| (path.clone(), name.clone())));
                // `__getattr__`, `__call__`, `__enter__`: what Python calls without a name.
                let special = file.functions.keys().filter(|name| is_special(name));
                mentioned.extend(special.map(|name| (path.clone(), name.clone())));
            }
        }
        self.spread(mentioned, When::Call);
    }

    /// Follows what runs from here. Before calls, what is only mentioned is given back.
    fn spread(&mut self, from: impl IntoIterator<Item = Node>, when: When) -> Vec<Node> {
        let mut mentioned = Vec::new();
        let mut pending: VecDeque<(Node, [bool; 3])> = from.into_iter().map(|node| (node, [false; 3])).collect();
        while let Some((node, mut soft)) = pending.pop_front() {
            let mut first = when;
            if let Some(known) = self.reached.get(&node) {
                (0..3).for_each(|at| soft[at] &= known.soft[at]);
                first = known.when.min(when);
                if *known == (Reach { when: first, soft }) {
                    continue;
                }
            }
            self.reached.insert(node.clone(), Reach { when: first, soft });
            for item in self.items.get(&node).into_iter().flatten() {
                if let Action::Go { to, sure } = &item.action
                    && !self.is_skipped(&node.0, &item.spot)
                {
                    if !sure && when != When::Call {
                        mentioned.extend(to.iter().cloned());
                        continue;
                    }
                    let kinds = [Raises::Import, Raises::Os, Raises::Other];
                    let around = kinds.map(|raises| self.survives(&node.0, &item.spot, raises));
                    let soft = [0, 1, 2].map(|at| soft[at] || around[at]);
                    pending.extend(to.iter().map(|to| (to.clone(), soft)));
                }
            }
        }
        mentioned
    }

    /// Whether a statement is in a handler that never runs.
    pub fn is_skipped(&self, file: &str, spot: &Spot) -> bool {
        spot.conditions.iter().any(|condition| match condition {
            Condition::Handler { id, number } => {
                let key = (file.to_owned(), *id, *number);
                !self.failing.contains(&key) && self.handler(file, *id, *number).is_some_and(only_for_imports)
            }
            _ => false,
        })
    }

    fn handler(&self, file: &str, id: u32, number: usize) -> Option<&[String]> {
        self.facts.files.get(file)?.tries.get(&id)?.handlers.get(number).map(|(caught, _)| &caught[..])
    }

    /// Whether an exception here ends in a handler that goes on.
    pub fn survives(&self, file: &str, spot: &Spot, mut raises: Raises) -> bool {
        let Some(file) = self.facts.files.get(file) else { return false };
        for id in spot.tries.iter().rev() {
            let Some(handlers) = file.tries.get(id).map(|found| &found.handlers) else { continue };
            match handlers.iter().find(|(caught, _)| raises.is_caught_by(caught)).map(|(_, ends)| ends.as_str()) {
                Some("goes on") => return true,
                Some("reports") => return false,
                Some(_) => raises = Raises::Other,
                None => {}
            }
        }
        false
    }

    /// Whether an exception here ends in a handler that makes a result of it.
    pub fn reports(&self, file: &str, spot: &Spot, raises: Raises) -> bool {
        let Some(file) = self.facts.files.get(file) else { return false };
        let handlers = spot.tries.iter().rev().filter_map(|id| file.tries.get(id)).flat_map(|found| &found.handlers);
        let first = handlers.into_iter().find(|(caught, _)| raises.is_caught_by(caught));
        first.is_some_and(|(_, ends)| ends == "reports")
    }

    fn find_failing(&mut self) {
        let mut found = BTreeSet::new();
        let mut blocked = BTreeMap::new();
        for (node, items) in &self.items {
            for item in items.iter().filter(|item| !item.spot.tries.is_empty()) {
                if let Some(need) = self.unmet(item, &mut blocked, 0)
                    && !self.is_skipped(&node.0, &item.spot)
                {
                    found.extend(self.runs_handler(&node.0, &item.spot, self.needs[need].raises));
                }
            }
        }
        self.failing.extend(found);
    }

    fn runs_handler(&self, path: &str, spot: &Spot, mut raises: Raises) -> Vec<(String, u32, usize)> {
        let mut ran = Vec::new();
        let Some(file) = self.facts.files.get(path) else { return ran };
        for id in spot.tries.iter().rev() {
            let Some(handlers) = file.tries.get(id).map(|found| &found.handlers) else { continue };
            if let Some(at) = handlers.iter().position(|(caught, _)| raises.is_caught_by(caught)) {
                ran.push((path.to_owned(), *id, at));
                if handlers[at].1 != "raises" {
                    break;
                }
                raises = Raises::Other;
            }
        }
        ran
    }

    /// The need that keeps a node from getting to its end, whatever it is called with.
    pub fn blocked(&self, node: &Node) -> Option<usize> {
        self.blocked_within(node, &mut BTreeMap::new(), 0)
    }

    fn blocked_within(&self, node: &Node, known: &mut BTreeMap<Node, Option<usize>>, depth: u8) -> Option<usize> {
        if let Some(done) = known.get(node) {
            return *done;
        }
        if depth > 60 {
            return None;
        }
        // Until it is known: a function that calls itself is not blocked by that.
        known.insert(node.clone(), None);
        let mut stops: Vec<(Vec<Condition>, usize)> = Vec::new();
        for item in self.items.get(node).into_iter().flatten() {
            if let Some(conditions) = self.conditions(&node.0, &item.spot)
                && let Some(need) = self.unmet(item, known, depth)
                && !self.survives(&node.0, &item.spot, self.needs[need].raises)
            {
                stops.push((conditions, need));
            }
        }
        let stops: Vec<(&[Condition], usize)> = stops.iter().map(|(path, need)| (&path[..], *need)).collect();
        let found = all_ways(&stops);
        known.insert(node.clone(), found);
        found
    }

    /// The conditions of a statement, without handlers that are known to run; none if it is in one that never runs.
    fn conditions(&self, file: &str, spot: &Spot) -> Option<Vec<Condition>> {
        if self.is_skipped(file, spot) {
            return None;
        }
        let ran = |condition: &Condition| match condition {
            Condition::Handler { id, number } => self.failing.contains(&(file.to_owned(), *id, *number)),
            _ => false,
        };
        Some(spot.conditions.iter().filter(|condition| !ran(condition)).cloned().collect())
    }

    fn unmet(&self, item: &Item, known: &mut BTreeMap<Node, Option<usize>>, depth: u8) -> Option<usize> {
        match &item.action {
            Action::Need(at) => (!self.needs[*at].is_met()).then_some(*at),
            Action::Go { to, sure: true } => to.iter().find_map(|node| self.blocked_within(node, known, depth + 1)),
            Action::Go { .. } => None,
        }
    }

    /// The first of a skill's ways that is blocked, and by what.
    pub fn blocked_way(&self) -> Option<(When, usize)> {
        if let Some(need) = self.blocked(&("skill.py".to_owned(), String::new())) {
            return Some((When::Import, need));
        }
        let reached = |class: &Node| self.reached.contains_key(&(class.0.clone(), String::new()));
        let skills: Vec<Node> = skills::of(self.facts).into_iter().filter(reached).collect();
        for (when, names) in [(When::Construct, &["__init__"][..]), (When::Call, &["execute", "aexecute"])] {
            let nodes: Vec<Node> = skills
                .iter()
                .flat_map(|class| names.iter().filter_map(|name| self.method(&class.0, &class.1, name, 0)))
                .collect();
            let stops: Vec<Option<usize>> = nodes.iter().map(|node| self.blocked(node)).collect();
            // A skill with both ways to be called works if one of them does.
            if let Some(first) = stops.first().copied().flatten()
                && stops.iter().all(Option::is_some)
            {
                return Some((when, first));
            }
        }
        None
    }
}

/// What a host calls on a skill.
const CALLED: &[&str] = &["execute", "aexecute", "manifest", "validate_params", "credential", "run"];

/// Whether what stops stands in every way through: without a condition, or in each branch of one that has them all.
fn all_ways(stops: &[(&[Condition], usize)]) -> Option<usize> {
    if let Some((_, need)) = stops.iter().find(|(path, _)| path.is_empty()) {
        return Some(*need);
    }
    type Branches<'a> = BTreeMap<u64, Vec<(&'a [Condition], usize)>>;
    let mut branches: BTreeMap<u64, (u64, Branches<'_>)> = BTreeMap::new();
    for (path, need) in stops {
        if let Condition::If { id, branch, branches: total } = path[0]
            && total > 0
        {
            let entry = branches.entry(id).or_insert((total, BTreeMap::new()));
            entry.1.entry(branch).or_default().push((&path[1..], *need));
        }
    }
    branches.values().find_map(|(total, taken)| {
        let whole = u64::try_from(taken.len()).is_ok_and(|taken| taken >= *total);
        let needs: Vec<Option<usize>> = taken.values().map(|stops| all_ways(stops)).collect();
        if whole && needs.iter().all(Option::is_some) { needs.first().copied().flatten() } else { None }
    })
}

fn only_for_imports(caught: &[String]) -> bool {
    caught.iter().all(|name| matches!(name.as_str(), "ImportError" | "ModuleNotFoundError" | "ValueError"))
        && caught.iter().any(|name| name != "ValueError")
}

/// Whether this is a method that Python calls by itself; making an object is followed as a call.
fn is_special(function: &str) -> bool {
    let Some((_, name)) = function.rsplit_once('.') else { return function == "__getattr__" };
    name.starts_with("__") && name.ends_with("__") && !matches!(name, "__init__" | "__new__" | "__post_init__")
}

/// Files that are about a skill, not part of it.
pub fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py" || path.starts_with("tests/")
}
