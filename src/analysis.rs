//! What a skill needs, found in its files without running them; and from that its classes, the permissions that it would
//! have to ask for, and whether it runs in a cell.
//!
//! The files are parsed in a cell (`skillcell_guest/analysis`), so a hostile one meets the parser there, and the guest's own
//! Python decides what is Python. What comes back is data, and everything after it is pure. It reads code, it does not
//! run it: a name that is put together at run time stays unknown, and is said to be.
//!
//! ```text
//!   files ─▶ facts (guest) ─▶ needs ─▶ graph ─▶ verdict, classes
//!                                        └────▶ network ─▶ asking
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
#[cfg(test)]
mod tests;
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
pub use self::verdict::{BestTier, Reason, Verdict};
use crate::host::{Host, HostError};
use crate::skill::Skill;

/// Reads a skill's files and says what follows. Nothing of the skill is run.
pub fn analyse(host: &Host, skill: &Skill) -> Result<Analysis, HostError> {
    let required = requirements::of(&host.packages(skill)?);
    let facts = host.facts(skill)?;
    Ok(conclude(skill, facts, required))
}

pub(crate) fn conclude(skill: &Skill, facts: Value, required: Vec<Required>) -> Analysis {
    // What the guest says is only data: of a report of another shape nothing is believed.
    let facts: Facts = serde_json::from_value(facts).unwrap_or_else(|_| Facts {
        unread: vec![("skill.py".to_owned(), 0, "what was found in it could not be understood".to_owned())],
        ..Facts::default()
    });
    let data = skill.files().iter().filter(|(path, _)| !path.ends_with(".py")).map(|(_, size)| size).sum();
    from_facts(&facts, data, required)
}

fn from_facts(facts: &Facts, data_bytes: u64, required: Vec<Required>) -> Analysis {
    let modules = Modules::new(facts, &required);
    let mut needs = needs::of(facts, &modules);
    let early: Vec<usize> = {
        let graph = Graph::new(facts, &needs);
        let is_early = |need: &needs::Need| {
            let reach = graph.reached.get(&(need.file.clone(), need.spot.function.clone()));
            reach.is_some_and(|reach| reach.when == When::Import && !reach.is_soft(need.raises))
        };
        (0..needs.len()).filter(|at| is_early(&needs[*at])).collect()
    };
    early.into_iter().for_each(|at| needs[at].at_import());
    let graph = Graph::new(facts, &needs);
    let rules = network::rules(facts, &graph);
    let asking = asking::asking(facts, &graph, &needs, &rules);
    let decision = verdict::decide(&graph, &needs, asking.is_needed);
    let classes = classes::classes(facts, &graph, &needs, &modules, data_bytes);
    let found = report::analysis(facts, &graph, &needs, &modules, decision, classes, asking);
    Analysis { requirements: required, ..found }
}
