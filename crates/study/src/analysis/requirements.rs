//! What the resolver says of a skill's requirements, in the analysis' words.

use super::modules::{self, Required};
use skillcell_packages::{Package, PackageStatus, Packages};
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
        native: matches!(package.standing, PackageStatus::Native { .. }),
        // Building a package would run its code on the host, so no tier does.
        uninstallable: matches!(package.standing, PackageStatus::Source { .. } | PackageStatus::NotFound),
        of_extra: package.of_extra,
        what: words(&package.standing),
        modules: package.modules.clone(),
    }
}

fn words(standing: &PackageStatus) -> String {
    match standing {
        PackageStatus::Runtime { version } => format!("{version}, with the runtime"),
        PackageStatus::Framework { version } => format!("{version}, with the framework"),
        PackageStatus::Wheel { version, .. } => format!("{version}, a pure Python wheel"),
        PackageStatus::StandIn { version, .. } => format!("{version}, a stand-in"),
        PackageStatus::OtherVersion { version } => format!("{version}, another version than is asked for"),
        PackageStatus::Native { version, tags } => {
            let shown: Vec<&str> = tags.iter().take(3).map(String::as_str).collect();
            format!("{version}, native code only ({})", shown.join(", "))
        }
        PackageStatus::Source { version } => format!("{version}, only as source that has to be built"),
        PackageStatus::NoVersion { .. } => "no version that will do".to_owned(),
        PackageStatus::NotFound => "no index has it".to_owned(),
        PackageStatus::Unresolved { why } => format!("unknown: {why}"),
        PackageStatus::Refused { why } => format!("not taken: {why}"),
    }
}
