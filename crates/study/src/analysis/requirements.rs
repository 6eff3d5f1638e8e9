//! What the resolver says of a skill's requirements, in the analysis' words.

use super::modules::{self, Required};
use skillcell_packages::{Package, Packages, Standing};
use skillcell_policy::manifest::Manifest;

pub fn of(packages: &Packages) -> Vec<Required> {
    let refused = packages.refused.iter().map(|(requirement, why)| Required {
        package: requirement.clone(),
        chain: vec![requirement.clone()],
        there: false,
        native: false,
        uninstallable: true,
        of_extra: false,
        what: format!("not taken: {why}"),
        modules: Vec::new(),
    });
    packages.packages.iter().map(required).chain(refused).collect()
}

/// What a manifest requires, as if a cell had it: for packages that are there, and too much to be put into one.
pub fn listed(manifest: &Manifest) -> Vec<Required> {
    let listed = |package: String| Required {
        chain: vec![package.clone()],
        package,
        there: true,
        native: false,
        uninstallable: false,
        of_extra: false,
        what: "too much for a cell, with what it pulls in".to_owned(),
        modules: Vec::new(),
    };
    modules::requirements(manifest).into_iter().map(listed).collect()
}

fn required(package: &Package) -> Required {
    Required {
        package: package.name.clone(),
        chain: package.chain.clone(),
        there: package.standing.is_there(),
        native: matches!(package.standing, Standing::Native { .. }),
        // Building a package would run its code on the host, so no tier does.
        uninstallable: matches!(package.standing, Standing::Source { .. } | Standing::NotFound),
        of_extra: package.of_extra,
        what: words(&package.standing),
        modules: package.modules.clone(),
    }
}

fn words(standing: &Standing) -> String {
    match standing {
        Standing::Runtime { version } => format!("{version}, with the runtime"),
        Standing::Framework { version } => format!("{version}, with the framework"),
        Standing::Wheel { version, .. } => format!("{version}, a pure Python wheel"),
        Standing::StandIn { version, .. } => format!("{version}, a stand-in"),
        Standing::OtherVersion { version } => format!("{version}, another version than is asked for"),
        Standing::Native { version, tags } => {
            let shown: Vec<&str> = tags.iter().take(3).map(String::as_str).collect();
            format!("{version}, native code only ({})", shown.join(", "))
        }
        Standing::Source { version } => format!("{version}, only as source that has to be built"),
        Standing::NoVersion { .. } => "no version that will do".to_owned(),
        Standing::NotFound => "no index has it".to_owned(),
        Standing::Unresolved { why } => format!("unknown: {why}"),
        Standing::Refused { why } => format!("not taken: {why}"),
    }
}
