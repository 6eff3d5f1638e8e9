//! What became of a skill's packages in a cell, in the words of the matrix.

use super::model::Package;
use skillcell_packages::{self as packages, PackageStatus, Packages};

pub fn describe_packages(found: &Packages) -> Vec<Package> {
    let mut all: Vec<Package> = found.packages.iter().map(describe_package).collect();
    // The skill's own requirements first, then what is missing, then the rest.
    all.sort_by_key(|one| (one.chain.len() > 1, one.is_there, one.name.clone()));
    all.extend(found.refused.iter().map(|(requirement, why)| Package {
        name: requirement.clone(),
        how: "refused".to_owned(),
        is_there: false,
        version: None,
        chain: vec![requirement.clone()],
        detail: why.clone(),
    }));
    all
}

fn describe_package(one: &packages::Package) -> Package {
    let (how, detail) = match &one.standing {
        PackageStatus::Runtime { .. } | PackageStatus::Framework { .. } => ("in the runtime", String::new()),
        PackageStatus::Wheel { .. } => ("pure wheel", String::new()),
        PackageStatus::StandIn { limits, .. } => ("stand-in", limits.join("; ")),
        PackageStatus::OtherVersion { .. } => ("another version", format!("wanted is {}", one.wanted)),
        PackageStatus::Native { version, tags } => ("native only", format!("{version}: {}", first_names(tags))),
        PackageStatus::Source { version } => ("sources only", version.clone()),
        PackageStatus::NoVersion { versions } => {
            ("not found", format!("no version fits; there are {}", first_names(versions)))
        }
        PackageStatus::NotFound => ("not found", "no index knows it".to_owned()),
        PackageStatus::Unresolved { why } => ("not resolved", why.clone()),
        PackageStatus::Refused { why } => ("refused", why.clone()),
    };
    Package {
        name: one.name.clone(),
        how: how.to_owned(),
        is_there: one.standing.is_there(),
        version: one.standing.version().map(str::to_owned),
        chain: one.chain.clone(),
        detail,
    }
}

fn first_names(all: &[String]) -> String {
    let shown = all.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > 4 { format!("{shown} and {} more", all.len() - 4) } else { shown }
}
