//! What is wanted of each distribution while requirements are resolved, and what is chosen for it.

use std::collections::{BTreeMap, BTreeSet};

use super::metadata::Required;
use super::requirement::Requirement;
use super::specifier::{Specifiers, parse_version};
use super::{Package, PackageStatus};

/// Package metadata is untrusted, so what it can make us keep is bounded.
const MAX_EXTRAS: usize = 64;
const MAX_REFUSED: usize = 100;

/// What is known of a distribution so far.
pub struct Chosen {
    pub standing: PackageStatus,
    pub requires: Vec<Required>,
    pub modules: Vec<String>,
    /// What was asked for when it was chosen.
    pub asked: String,
}

/// What is wanted of a distribution, by all that are chosen now.
#[derive(Default)]
pub struct Demand {
    pub specifiers: Specifiers,
    pub extras: BTreeSet<String>,
    pub chain: Vec<String>,
}

/// Everything that is wanted now.
#[derive(Default)]
pub struct Demands {
    pub by_name: BTreeMap<String, Demand>,
    /// Requirements that were refused: the dependency chain to each, and the reason.
    pub refused: Vec<(String, String)>,
}

impl Demands {
    /// Adds a requirement. Returns its dependency chain if its own requirements have to be visited: the first time a
    /// distribution is seen, and again whenever more extras are requested.
    pub fn add_requirement(&mut self, requirement: &Requirement, above: &[String]) -> Option<Vec<String>> {
        let known = self.by_name.contains_key(&requirement.name);
        let demand = self.by_name.entry(requirement.name.clone()).or_default();
        if !known {
            demand.chain = above.iter().chain([&requirement.name]).cloned().collect();
        }
        demand.specifiers.add_clauses(&requirement.specifiers);
        let before = demand.extras.len();
        let room = MAX_EXTRAS.saturating_sub(before);
        demand.extras.extend(requirement.extras.iter().take(room).cloned());
        (!known || demand.extras.len() > before).then(|| demand.chain.clone())
    }

    pub fn record_refusal(&mut self, chain: &[String], text: &str, why: &str) {
        let way = format!("{} → {text}", chain.join(" → "));
        if self.refused.len() < MAX_REFUSED && self.refused.iter().all(|(known, _)| *known != way) {
            self.refused.push((way, why.to_owned()));
        }
    }
}

impl Demand {
    pub fn to_text(&self) -> String {
        format!("{:?}{}", self.extras, self.specifiers)
    }
}

/// Whether a demand still needs a choice: none was made, or the one made for an earlier demand no longer satisfies it.
pub fn is_open(chosen: &BTreeMap<String, Chosen>, name: &str, demand: &Demand) -> bool {
    let Some(chosen) = chosen.get(name) else { return true };
    let fits = match &chosen.standing {
        // The wheel is the same whatever extras are wanted of it.
        PackageStatus::Wheel { version, .. } => {
            parse_version(version).is_some_and(|version| demand.specifiers.accept(&version))
        }
        _ => false,
    };
    !fits && chosen.asked != demand.to_text()
}

/// The skill's own requirements first, in manifest order, then the others by name.
pub fn in_order(
    roots: &[Requirement],
    demands: BTreeMap<String, Demand>,
    mut chosen: BTreeMap<String, Chosen>,
    always: &BTreeSet<String>,
) -> Vec<Package> {
    let unresolved = || PackageStatus::Unresolved { why: "it was given up after too many steps".into() };
    let packages = demands.into_iter().map(|(name, demand)| {
        let found = chosen.remove(&name);
        let (standing, modules) =
            found.map_or_else(|| (unresolved(), Vec::new()), |found| (found.standing, found.modules));
        let of_extra = !always.contains(&name);
        Package { name, wanted: demand.specifiers.to_string(), chain: demand.chain, modules, of_extra, standing }
    });
    let mut packages: Vec<Package> = packages.collect();
    let place = |package: &Package| roots.iter().position(|root| root.name == package.name).unwrap_or(usize::MAX);
    packages.sort_by_key(place);
    packages
}
