//! Constraints that keep a chain of packages pure, from `runtime-assets/constraints.toml`, which is part of this program.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::requirement::Requirement;
use super::specifier::Specifiers;

pub const TEXT: &str = skillcell_assets::CONSTRAINTS;

static CONSTRAINTS: LazyLock<BTreeMap<String, Specifiers>> =
    LazyLock::new(|| parse(TEXT).expect("tested: the constraints are valid"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    constraint: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    requirement: String,
    #[allow(dead_code, reason = "for people, and it has to be there")]
    reason: String,
}

/// Which versions of a package keep it pure, if that is known.
pub fn constraint_for(name: &str) -> Option<&'static Specifiers> {
    CONSTRAINTS.get(name)
}

fn parse(text: &str) -> Result<BTreeMap<String, Specifiers>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let rows = file.constraint.into_iter().map(|row| {
        let requirement = Requirement::parse(&row.requirement).map_err(|refused| refused.why)?;
        Ok((requirement.name, requirement.specifiers))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_constraints_are_valid_and_each_has_a_reason() {
        assert!(parse(TEXT).unwrap().values().all(|specifiers| !specifiers.is_empty()));
        let file: File = toml::from_str(TEXT).unwrap();
        assert!(file.constraint.iter().all(|row| !row.reason.trim().is_empty()));
    }
}
