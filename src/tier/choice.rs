//! Which tier a call asks for: by flag, or by the manifest. What it gets is decided in `host/tiers.rs`.

use std::str::FromStr;

use serde_json::Value;

use super::Tier;

/// A wish for a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Choice {
    /// The strongest that the skill can run in, that this machine has and that policy allows for it.
    #[default]
    Auto,
    /// As `Auto`, also for a skill that nobody knows: the operator asks for isolation, whichever it is.
    Isolated,
    /// This one.
    Tier(Tier),
}

/// A text that names no tier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no tier: it is one of auto, isolated, wasm, container, subprocess, in_process")]
pub struct BadTier(String);

impl FromStr for Tier {
    type Err = BadTier;

    fn from_str(text: &str) -> Result<Tier, BadTier> {
        let found = Tier::ALL.into_iter().find(|tier| tier.name() == text.replace('-', "_"));
        found.ok_or_else(|| BadTier(text.chars().filter(|c| !c.is_control()).take(40).collect()))
    }
}

impl FromStr for Choice {
    type Err = BadTier;

    fn from_str(text: &str) -> Result<Choice, BadTier> {
        match text {
            "auto" => Ok(Choice::Auto),
            "isolated" => Ok(Choice::Isolated),
            text => text.parse().map(Choice::Tier),
        }
    }
}

impl Choice {
    /// What a manifest asks for: `execution:`, or `execution_mode:` as the proposals wrote it.
    pub fn of_manifest(manifest: &Value) -> Result<Option<Choice>, BadTier> {
        match [&manifest["execution"], &manifest["execution_mode"]].into_iter().find(|wish| !wish.is_null()) {
            None => Ok(None),
            Some(Value::String(wish)) => wish.parse().map(Some),
            Some(other) => Err(BadTier(other.to_string().chars().take(40).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_manifest_may_ask_for_a_tier_in_either_form() {
        let of = |manifest: Value| Choice::of_manifest(&manifest);
        assert_eq!(of(json!({})), Ok(None));
        assert_eq!(of(json!({"execution": "subprocess"})), Ok(Some(Choice::Tier(Tier::Subprocess))));
        assert_eq!(of(json!({"execution_mode": "isolated"})), Ok(Some(Choice::Isolated)));
        assert_eq!(of(json!({"execution": "auto"})), Ok(Some(Choice::Auto)));
        for bad in [json!({"execution": "root"}), json!({"execution": true}), json!({"execution": ["wasm"]})] {
            assert!(of(bad).is_err());
        }
    }
}
