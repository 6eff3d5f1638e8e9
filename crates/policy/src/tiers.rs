//! Which tiers a policy file allows, by who vouches for a skill: `[tiers]` in `skillcell.toml`.
//!
//! ```toml
//! [tiers]
//! bundled = ["wasm", "container", "subprocess"]    # in the registry that is pinned with this program
//! approved = ["wasm", "subprocess"]                # approved as it is now
//! unknown = ["wasm"]                               # any other
//! ```
//!
//! A list is exhaustive: no flag adds to it. Without a list, the defaults and the flags decide.

use super::Tier;

/// Who vouches for a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vouched {
    /// It is in the pinned registry.
    Bundled,
    /// The operator approved it as it is now.
    Approved,
    /// Nobody does.
    Unknown,
}

impl Vouched {
    /// The key in the policy file.
    pub fn key(self) -> &'static str {
        match self {
            Vouched::Bundled => "bundled",
            Vouched::Approved => "approved",
            Vouched::Unknown => "unknown",
        }
    }
}

/// The lists of a policy file.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TierRules {
    /// For skills of the pinned registry; without a list, the defaults and the flags decide.
    pub bundled: Option<Vec<Tier>>,
    /// For skills that are approved as they are now; likewise.
    pub approved: Option<Vec<Tier>>,
    /// For all other skills; with an empty list none of them runs.
    pub unknown: Option<Vec<Tier>>,
}

/// Why a tier may not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TierDenial {
    /// The list for such skills does not have it.
    NotListed,
    /// It has no isolation, and nobody said that this skill may have it.
    NotTrusted,
    /// Nobody vouches for the skill, and nobody asked for this tier.
    NotAsked,
}

impl TierRules {
    /// Whether a skill may run in a tier. `asked` is whether the operator named it, or asked for isolation; `trusted`
    /// whether they declared the skill fully trusted.
    pub fn decide(&self, tier: Tier, vouched: Vouched, asked: bool, trusted: bool) -> Result<(), TierDenial> {
        let listed = match vouched {
            Vouched::Bundled => &self.bundled,
            Vouched::Approved => &self.approved,
            Vouched::Unknown => &self.unknown,
        };
        match listed {
            Some(tiers) if !tiers.contains(&tier) => Err(TierDenial::NotListed),
            // A listed tier is allowed, but one without isolation must also be requested in this call.
            Some(_) if tier.is_isolated() || asked => Ok(()),
            _ if tier == Tier::Wasm => Ok(()),
            None if tier.is_isolated() && (asked || vouched != Vouched::Unknown) => Ok(()),
            None if tier.is_isolated() => Err(TierDenial::NotAsked),
            None if asked && (trusted || vouched == Vouched::Bundled) => Ok(()),
            _ => Err(TierDenial::NotTrusted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(rules: &TierRules, tier: Tier, vouched: Vouched, asked: bool) -> Result<(), TierDenial> {
        rules.decide(tier, vouched, asked, false)
    }

    #[test]
    fn without_a_file_strangers_get_a_cell_and_what_the_operator_asks_for() {
        let none = TierRules::default();
        assert_eq!(decide(&none, Tier::Wasm, Vouched::Unknown, false), Ok(()));
        for tier in [Tier::Container, Tier::Subprocess] {
            assert_eq!(decide(&none, tier, Vouched::Unknown, false), Err(TierDenial::NotAsked));
            assert_eq!(decide(&none, tier, Vouched::Unknown, true), Ok(()));
            assert_eq!(decide(&none, tier, Vouched::Bundled, false), Ok(()));
            assert_eq!(decide(&none, tier, Vouched::Approved, false), Ok(()));
        }
    }

    #[test]
    fn nothing_runs_without_isolation_unless_it_is_asked_for_and_trusted() {
        let none = TierRules::default();
        for vouched in [Vouched::Bundled, Vouched::Approved, Vouched::Unknown] {
            assert_eq!(none.decide(Tier::InProcess, vouched, false, true), Err(TierDenial::NotTrusted));
            assert_eq!(none.decide(Tier::InProcess, vouched, true, true), Ok(()));
        }
        assert_eq!(decide(&none, Tier::InProcess, Vouched::Bundled, true), Ok(()));
        assert_eq!(decide(&none, Tier::InProcess, Vouched::Approved, true), Err(TierDenial::NotTrusted));
        let listed = TierRules { approved: Some(vec![Tier::InProcess]), ..none };
        assert_eq!(decide(&listed, Tier::InProcess, Vouched::Approved, true), Ok(()));
        assert_eq!(decide(&listed, Tier::InProcess, Vouched::Approved, false), Err(TierDenial::NotTrusted));
    }

    #[test]
    fn no_flag_adds_to_a_list() {
        let rules = TierRules { bundled: Some(vec![Tier::Wasm]), unknown: Some(vec![]), ..TierRules::default() };
        for tier in Tier::ALL {
            assert_eq!(rules.decide(tier, Vouched::Unknown, true, true), Err(TierDenial::NotListed));
        }
        assert_eq!(rules.decide(Tier::Subprocess, Vouched::Bundled, true, true), Err(TierDenial::NotListed));
    }
}
