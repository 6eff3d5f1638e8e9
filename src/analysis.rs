//! What a skill needs, found in its files without running them; and from that its classes, the permissions that it would
//! have to ask for, and whether it runs in a cell.
//!
//! The files are parsed in a cell (`skillcell_guest/analysis`), so a hostile one meets the parser there, and the guest's own
//! Python decides what is Python. What comes back is data, and everything after it is pure. It reads code, it does not
//! run it: a name that is put together at run time stays unknown, and is said to be.
//!
//! ```text
//!   files ─▶ facts (guest) ─▶ tried (guest) ─▶ needs ─▶ graph ─▶ verdict, classes
//!                                                         └────▶ network ─▶ asking
//! ```

mod asking;
mod classes;
mod distributions;
mod effects;
mod facts;
mod graph;
mod modules;
mod needs;
mod network;
mod report;
mod requirements;
mod skills;
#[cfg(test)]
mod tests;
mod tried;
mod verdict;

use serde_json::Value;

pub use self::asking::Asking;
pub use self::classes::Class;
pub use self::effects::Effect;
use self::facts::Facts;
use self::graph::Graph;
pub use self::graph::When;
use self::modules::Modules;
pub use self::modules::{Module, Required};
pub use self::report::{Analysis, Finding, Imported, NativeFile, Unread};
use self::tried::Tried;
pub use self::verdict::{BestTier, Reason, Verdict};
use crate::host::{Host, HostError};
use crate::skill::Skill;

/// Reads a skill's files and says what follows. Nothing of the skill is run; packages that it imports are imported, in a cell
/// without it.
pub fn analyse(host: &Host, skill: &Skill) -> Result<Analysis, HostError> {
    let required = requirements::of(&host.packages(skill)?);
    let facts = understood(host.facts(skill)?);
    let wanted = tried::wanted(&facts, &Modules::new(&facts, &required, &Tried::default()));
    let tried = match wanted {
        Some(wanted) => tried::read(host.tried(skill, &wanted)?),
        None => Tried::default(),
    };
    let data = skill.files().iter().filter(|(path, _)| !path.ends_with(".py")).map(|(_, size)| size).sum();
    Ok(from_facts(&facts, data, required, &tried))
}

/// What the guest says is only data: of a report of another shape nothing is believed.
fn understood(facts: Value) -> Facts {
    serde_json::from_value(facts).unwrap_or_else(|_| Facts {
        unread: vec![("skill.py".to_owned(), 0, "what was found in it could not be understood".to_owned())],
        ..Facts::default()
    })
}

fn from_facts(facts: &Facts, data_bytes: u64, required: Vec<Required>, tried: &Tried) -> Analysis {
    let modules = Modules::new(facts, &required, tried);
    let mut needs = needs::of(facts, &modules);
    let early: Vec<usize> = {
        let graph = Graph::new(facts, &needs);
        let is_early = |need: &needs::Need| {
            let reach = graph.reached.get(&(need.file.clone(), need.spot.function.clone()));
            reach.is_some_and(|reach| reach.when == When::Import && !reach.is_soft(need.raises)) && need.is_sure()
        };
        (0..needs.len()).filter(|at| is_early(&needs[*at])).collect()
    };
    early.into_iter().for_each(|at| needs[at].at_import());
    let graph = Graph::new(facts, &needs);
    let rules = network::rules(facts, &graph, tried);
    let asking = asking::asking(facts, &graph, &needs, &rules);
    let decision = verdict::decide(&graph, &needs, asking.is_needed);
    let classes = classes::classes(facts, &graph, &needs, &modules, data_bytes);
    let found = report::analysis(facts, &graph, &needs, &modules, decision, classes, asking);
    Analysis { requirements: required, ..found }
}
