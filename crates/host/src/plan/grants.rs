//! What a call may do: what was granted, as far as the skill asks for it; and what keeps it from being made.

use super::SkillFacts;
use crate::call::Call;
use skillcell_policy::{Denial, DenialKind, Effective, Grants, Permissions, Tier, early_denials};

/// All that was granted. What was approved comes first, and is overruled by what the call brings; the caller may be one who
/// keeps less of it.
pub fn all_grants(skill: &SkillFacts<'_>, call: &Call) -> Grants {
    let granted = match &skill.approval {
        Some(approval) => Grants::of_approval(approval.permissions).overruled_by(call.grants.clone()),
        None => call.grants.clone(),
    };
    match &call.at_most {
        Some(most) => granted.narrowed_to(most),
        None => granted,
    }
}

/// What of it holds.
pub fn effective_grants(skill: &SkillFacts<'_>, asked: Option<&Permissions>, granted: &Grants) -> Effective {
    Effective::of(skill.id, asked, granted).approved_by(skill.approve_command.as_deref())
}

/// What keeps the call from being made in this tier.
pub fn find_denials(skill: &SkillFacts<'_>, call: &Call, effective: &Effective, tier: Tier) -> Vec<Denial> {
    let given = |name: &str| call.env.contains_key(name);
    let missing = effective.missing.iter().filter(|missing| missing.is_whole());
    let lacking = missing.filter(|missing| missing.kind != DenialKind::Env || !given(&missing.asked));
    let mut denials = Vec::new();
    // Only cells have no use for these modules; other tiers may.
    if tier == Tier::Wasm && !call.allow_any_import && skill.approval.is_none() {
        denials = early_denials(skill.id, skill.early_imports, &effective.grants.allow_imports);
    }
    denials.extend(lacking.map(Denial::from));
    if denials.is_empty() && !tier.is_isolated() {
        denials.extend(needs_isolation(&effective.grants));
    }
    denials
}

/// A grant that has no meaning where nothing is kept from a skill.
fn needs_isolation(grants: &Grants) -> Option<Denial> {
    let (asked, why) = if let Some(mount) = grants.mounts.first() {
        (mount.guest.as_str(), "there are no mounts in `in_process`: the skill sees every file where it is")
    } else if let Some(secret) = grants.secrets.first() {
        (secret.name.as_str(), "a secret can't be kept from a skill in `in_process`")
    } else {
        return None;
    };
    Some(Denial {
        kind: DenialKind::Tier,
        asked: asked.to_owned(),
        rule: None,
        message: why.to_owned(),
        hint: Some("run it in a tier that isolates: `--isolated`".to_owned()),
        flag: None,
    })
}
