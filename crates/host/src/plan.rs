//! What a call will do, decided before anything of the skill runs or is baked.
//!
//! ```text
//!   SkillFacts, Manifest, Call, MachineFacts ──▶ plan ──▶ Plan: tier, grants, limits, what to prepare
//!                                                   └──▶ Refused: denials, each with a way out or that there is none
//! ```
//!
//! Pure: it reads what it is given. What is found out later (a module that a cell lacks, an image that can't be pulled)
//! becomes a `RuledOut` in the facts, and the call is planned again; so every decision is made here.

mod describe;
mod grants;
mod runtime;
#[cfg(test)]
mod tests;
mod tier;

use std::collections::BTreeMap;

pub use self::describe::PlanView;
pub(crate) use self::runtime::{RuntimeNeeds, SECOND_RUNTIME};
use crate::call::Call;
use skillcell_limits::outcome::MissingModule;
use skillcell_limits::{Limits, RuntimeKind};
use skillcell_policy::manifest::{BadManifest, Manifest};
use skillcell_policy::{Denial, DenialKind, Effective, Grants, MountGrant, Permissions, Tier, Vouched};

/// What is known of a skill.
pub(crate) struct SkillFacts<'a> {
    pub id: &'a str,
    pub vouched: Vouched,
    /// What was approved of it, as it is now.
    pub approval: Option<ApprovedAs<'a>>,
    /// The command that would approve it, where approvals count.
    pub approve_command: Option<String>,
    /// Whether its folder has a `Dockerfile`.
    pub has_dockerfile: bool,
    /// What importing it is certain to import, and where.
    pub early_imports: &'a BTreeMap<String, String>,
    /// What its requirements say about the runtimes.
    pub needs: &'a RuntimeNeeds,
    /// Why its packages for the second runtime are not known, if they were asked for.
    pub unresolved: Option<&'a str>,
    /// The runtime that the operator named.
    pub named_runtime: Option<RuntimeKind>,
    /// What was tried for this call, and does not do.
    pub ruled_out: Vec<RuledOut>,
}

/// What an approval says that matters to a plan.
pub(crate) struct ApprovedAs<'a> {
    pub permissions: &'a Permissions,
    /// The tiers that it was approved for by name.
    pub tiers: &'a [Tier],
}

/// A tier that turned out not to do for this call; of cells, a runtime.
#[derive(Debug, Clone)]
pub(crate) struct RuledOut {
    pub tier: Tier,
    /// The runtime that the cell was of.
    pub runtime: Option<RuntimeKind>,
    pub why: WhyNot,
}

/// Why a tier does not do.
#[derive(Debug, Clone)]
pub(crate) enum WhyNot {
    /// Importing the skill in a cell needs a module that a cell lacks.
    Missing(MissingModule),
    /// What the tier runs on can't be had.
    Unprepared { message: String, hint: Option<String> },
}

/// What is known of the machine. An implementation may look when it is asked, and should remember.
pub(crate) trait MachineFacts {
    /// Why a tier can't be used here, if so.
    fn unavailable(&self, tier: Tier) -> Option<String>;
    /// Why cells of a runtime can't be had here, if so, and what to do about it.
    fn runtime_unavailable(&self, kind: RuntimeKind) -> Option<(String, String)>;
    /// Why a tier can't show a call one of these folders, if so.
    fn mount_denial(&self, tier: Tier, mounts: &[MountGrant]) -> Option<Denial>;
}

/// What a call will do.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// Where it will be executed.
    pub tier: Tier,
    /// Why this tier, where that needed deciding.
    pub reason: Option<String>,
    /// The runtime that its cell is of; in another tier it means nothing.
    pub runtime: RuntimeKind,
    /// Why this runtime, where that needed deciding.
    pub runtime_reason: Option<String>,
    /// Stronger tiers, and why it is none of them.
    pub passed_over: Vec<PassedOver>,
    /// What was granted, by approval, policy file and flags together.
    pub granted: Grants,
    /// What of it holds, what the skill lacks, and what was granted for nothing.
    pub effective: Effective,
    /// What the call may use, as it was set.
    pub limits: Limits,
    /// What has to be there before the call runs. It is made if it is not, once for each content.
    pub preparation: Preparation,
}

/// A tier that is not used, and why.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PassedOver {
    /// The stronger one.
    pub tier: Tier,
    /// What speaks against it, in words.
    pub why: String,
}

/// What a call runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preparation {
    /// The skill's image: imported, constructed and warmed up.
    SkillImage,
    /// The runtime alone: the call imports the skill itself.
    ImportInCall,
    /// An environment of these packages for this machine's Python.
    Environment {
        /// As the manifest has them; what they require in turn is resolved when it is made.
        requirements: Vec<String>,
    },
    /// A container image: named by the manifest, built from the skill's `Dockerfile`, or from its requirements.
    ContainerImage {
        /// The one that the manifest names.
        named: Option<String>,
        /// What is installed where it names none and there is no `Dockerfile`.
        requirements: Vec<String>,
    },
}

/// Why a call is not made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Refused {
    /// Where it would have been made.
    pub tier: Tier,
    /// Why, at least one; each says what would allow it.
    pub denials: Vec<Denial>,
    /// What was granted, by approval, policy file and flags together; nothing if the manifest can't be read.
    pub granted: Box<Grants>,
    /// What of it would hold.
    pub effective: Box<Effective>,
}

impl Refused {
    pub(crate) fn new(tier: Tier, denials: Vec<Denial>) -> Refused {
        Refused { tier, denials, granted: Box::default(), effective: Box::default() }
    }
}

/// What was decided about a call.
#[derive(Debug, Clone)]
pub enum Decision {
    /// It can be made, in this way.
    Planned(Box<Plan>),
    /// [`Host::call`](crate::Host::call) would have the outcome `refused`.
    Refused(Refused),
}

impl Decision {
    /// What was granted, by approval, policy file and flags together.
    pub fn granted(&self) -> &Grants {
        match self {
            Decision::Planned(plan) => &plan.granted,
            Decision::Refused(refused) => &refused.granted,
        }
    }

    /// What of it holds, or would hold.
    pub fn effective(&self) -> &Effective {
        match self {
            Decision::Planned(plan) => &plan.effective,
            Decision::Refused(refused) => &refused.effective,
        }
    }
}

impl From<Result<Plan, Refused>> for Decision {
    fn from(decided: Result<Plan, Refused>) -> Decision {
        match decided {
            Ok(plan) => Decision::Planned(Box::new(plan)),
            Err(refused) => Decision::Refused(refused),
        }
    }
}

/// Decides about a call.
pub(crate) fn plan_call(
    skill: &SkillFacts<'_>,
    manifest: &Manifest,
    call: &Call,
    machine: &dyn MachineFacts,
) -> Result<Plan, Refused> {
    let granted = grants::all_grants(skill, call);
    let effective = grants::effective_grants(skill, manifest.permissions.as_ref(), &granted);
    let chosen = runtime::choose_runtime(skill, manifest, machine).and_then(|on| {
        let chosen = tier::choose_tier(skill, manifest, call, machine, on.kind, &effective.grants.mounts)?;
        Ok((on, chosen))
    });
    let (on, chosen) = match chosen {
        Ok(chosen) => chosen,
        // Both leave the grants of their refusals empty.
        Err(refused) => return Err(Refused { granted: Box::new(granted), effective: Box::new(effective), ..refused }),
    };
    let denials = grants::find_denials(skill, call, &effective, chosen.tier);
    if !denials.is_empty() {
        return Err(Refused { tier: chosen.tier, denials, granted: Box::new(granted), effective: Box::new(effective) });
    }
    Ok(Plan {
        tier: chosen.tier,
        reason: chosen.reason,
        runtime: on.kind,
        runtime_reason: on.reason,
        passed_over: chosen.passed_over,
        preparation: preparation_for(chosen.tier, manifest, call),
        granted,
        effective,
        limits: call.limits.clone(),
    })
}

fn preparation_for(tier: Tier, manifest: &Manifest, call: &Call) -> Preparation {
    let requirements = manifest.requirements.clone();
    match tier {
        Tier::Wasm if call.use_image => Preparation::SkillImage,
        Tier::Wasm => Preparation::ImportInCall,
        Tier::Container => Preparation::ContainerImage {
            named: manifest.container.as_ref().and_then(|container| container.image.clone()),
            requirements,
        },
        Tier::Subprocess | Tier::InProcess => Preparation::Environment { requirements },
    }
}

/// The refusal of a manifest with a key that makes no sense.
pub(crate) fn refuse_manifest(skill: &str, bad: &BadManifest) -> Refused {
    let is_permissions = bad.key == "permissions";
    let denial = Denial {
        kind: if is_permissions { DenialKind::Permissions } else { DenialKind::Manifest },
        asked: bad.key.clone(),
        rule: None,
        message: format!("the `{}` of `{skill}` can't be read: {}", bad.key, bad.why),
        hint: Some("no flag helps: whoever wrote the manifest has to correct it".to_owned()),
        flag: None,
    };
    Refused::new(Tier::Wasm, vec![denial])
}

/// The refusal of a skill that is no longer what was approved. What was approved of it grants nothing.
pub(crate) fn refuse_changed(
    skill: &SkillFacts<'_>,
    asked: Option<&Permissions>,
    call: &Call,
    denial: Denial,
) -> Refused {
    let granted = grants::all_grants(skill, call);
    let effective = grants::effective_grants(skill, asked, &granted);
    Refused { tier: Tier::Wasm, denials: vec![denial], granted: Box::new(granted), effective: Box::new(effective) }
}
