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
mod integer_width;
mod modules;
mod needs;
mod network;
mod programs;
mod report;
mod requirements;
mod scripts;
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
pub use self::integer_width::{DefaultInteger, IntegerWidth};
use self::modules::Modules;
pub use self::modules::{Module, Required};
pub use self::report::{Analysis, Finding, Imported, NativeFile, Unread};
pub use self::scripts::{ScriptAnalysis, analyse_script, analyse_scripts, overall_verdict};
use self::tried::Tried;
pub use self::verdict::{BestTier, Reason, Verdict};
use skillcell_cell::image::BakeError;
use skillcell_host::{Host, HostError};
use skillcell_packages as packages;
use skillcell_packages::skill::Skill;

/// Tells one state of this module from another.
pub const DIGEST: &str = env!("SKILLCELL_ANALYSIS");

/// Reads a skill's files and says what follows. Nothing of the skill is run; packages that it imports are imported, in a cell
/// without it.
pub fn analyse(host: &Host, skill: &Skill) -> Result<Analysis, HostError> {
    analyse_facts(host, skill, understood(host.facts(skill)?))
}

fn analyse_facts(host: &Host, skill: &Skill, facts: Facts) -> Result<Analysis, HostError> {
    let (required, too_much, is_complete) = match host.packages(skill) {
        // That is an answer too: no cell can be given them.
        Err(HostError::Bake(BakeError::Packages(packages::Error::TooMuch(why)))) => {
            (requirements::listed(&facts.manifest()), Some(why), true)
        }
        found => {
            let found = found?;
            (requirements::of(&found), None, found.is_complete())
        }
    };
    let wanted = tried::wanted(&facts, &Modules::new(&facts, &required, &Tried::default()));
    let tried = match (wanted, too_much) {
        (Some(wanted), Some(why)) => tried::none_of(&wanted, &why),
        (Some(wanted), None) => tried::read(host.tried(skill, &wanted)?),
        (None, _) => Tried::default(),
    };
    let data = skill.files().iter().filter(|(path, _)| !path.ends_with(".py")).map(|(_, size)| size).sum();
    let analysis = from_facts(&facts, data, required, &tried);
    // What nobody could be asked about may be answered another time.
    if is_complete && !tried.is_unfinished {
        let (verdict, reason) = analysis.in_brief();
        host.remember_verdict(skill, DIGEST, &verdict, reason.as_deref());
    }
    Ok(analysis)
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
    if facts.is_script {
        needs.retain(|need| !matches!(need.what, needs::What::ReadOnly(_) | needs::What::Nowhere(_)));
    }
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
    let mut found = report::analysis(facts, &graph, &needs, &modules, decision, classes, asking);
    found.unknown.extend(tried.is_unfinished.then(report::not_tried));
    Analysis { requirements: required, ..found }
}
