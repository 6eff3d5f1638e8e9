//! Which tier a call is made in. A cell comes first; what can't run in one goes to the strongest other tier that policy
//! allows and this machine has; what finds none is refused.

use super::{MachineFacts, PassedOver, Refused, RuledOut, SkillFacts, WhyNot, refuse_manifest};
use crate::call::Call;
use crate::entry::Entry;
use skillcell_limits::RuntimeKind;
use skillcell_limits::outcome::MissingModule;
use skillcell_policy::manifest::Manifest;
use skillcell_policy::{Choice, Denial, DenialKind, MountGrant, Tier, TierDenial, TierRules, Vouched};

/// The tier of a call.
pub struct Chosen {
    pub tier: Tier,
    pub reason: Option<String>,
    pub passed_over: Vec<PassedOver>,
}

/// Why a call is not made in a cell.
enum WhyNotWasm {
    /// The manifest asks for this tier.
    Asked(Tier),
    /// Importing the skill needs this module.
    Missing(MissingModule),
    /// A package that it requires is native.
    NativeRequirement(String),
    /// The policy file's list for such skills has no cells.
    NotListed(Denial),
    /// The cell can't be prepared.
    Unprepared(String),
}

/// Everything that the choice depends on.
struct Choosing<'a> {
    skill: &'a SkillFacts<'a>,
    manifest: &'a Manifest,
    call: &'a Call,
    machine: &'a dyn MachineFacts,
    runtime: RuntimeKind,
    mounts: &'a [MountGrant],
}

pub fn choose_tier(
    skill: &SkillFacts<'_>,
    manifest: &Manifest,
    call: &Call,
    machine: &dyn MachineFacts,
    runtime: RuntimeKind,
    mounts: &[MountGrant],
) -> Result<Chosen, Refused> {
    let choosing = Choosing { skill, manifest, call, machine, runtime, mounts };
    if let Choice::Tier(tier) = call.tier {
        return match choosing.check_usable(tier, true) {
            Ok(()) => Ok(Chosen { tier, reason: None, passed_over: Vec::new() }),
            Err(denial) => Err(Refused::new(tier, vec![*denial])),
        };
    }
    // A named tier overrides the manifest, so an invalid `execution` matters only from here on.
    if let Some(bad) = &manifest.bad_execution {
        let mut refused = refuse_manifest(skill.id, bad);
        let hint = "`--tier NAME` decides instead of the manifest: wasm, container, subprocess or in_process";
        refused.denials.iter_mut().for_each(|denial| denial.hint = Some(hint.to_owned()));
        return Err(refused);
    }
    match choosing.why_not_wasm() {
        None => Ok(Chosen { tier: Tier::Wasm, reason: None, passed_over: Vec::new() }),
        Some(why) => choosing.strongest_other(&why),
    }
}

impl Choosing<'_> {
    fn why_not_wasm(&self) -> Option<WhyNotWasm> {
        if let Some(tier) = self.asked_by_manifest() {
            return Some(WhyNotWasm::Asked(tier));
        }
        if let Err(denial) = self.check_allowed(Tier::Wasm, true) {
            return Some(WhyNotWasm::NotListed(*denial));
        }
        match self.ruled_out(Tier::Wasm) {
            Some(WhyNot::Missing(missing)) => return Some(WhyNotWasm::Missing(missing.clone())),
            Some(WhyNot::Unprepared { message, .. }) => return Some(WhyNotWasm::Unprepared(message.clone())),
            None => {}
        }
        // The skill imports in a cell, but one of its packages is native only: prefer a tier that has it, if one is usable.
        let cell_only = self.call.limits.fuel.is_some() || self.call.session.is_some();
        let native = self.skill.needs.native_requirement(self.runtime).filter(|_| !cell_only)?;
        let elsewhere = [Tier::Subprocess, Tier::Container];
        let isolated = self.call.tier == Choice::Isolated;
        let usable = elsewhere.into_iter().any(|tier| self.check_usable(tier, isolated).is_ok());
        usable.then(|| WhyNotWasm::NativeRequirement(native.clone()))
    }

    /// The tier that the manifest asks for, where that counts and is no cell.
    fn asked_by_manifest(&self) -> Option<Tier> {
        let Some(Choice::Tier(tier)) = self.manifest.execution else { return None };
        // `--isolated` takes the strongest tier, whatever the manifest prefers. But a skill that brings its own container
        // image runs nowhere else.
        let has_image = self.manifest.container.is_some() || self.skill.has_dockerfile;
        let counts = self.call.tier != Choice::Isolated || tier == Tier::Container && has_image;
        (counts && tier != Tier::Wasm).then_some(tier)
    }

    /// The strongest usable tier besides a cell.
    fn strongest_other(&self, why: &WhyNotWasm) -> Result<Chosen, Refused> {
        let isolated = self.call.tier == Choice::Isolated;
        let candidates = why.candidates();
        let mut passed_over = Vec::new();
        let mut hint = why.hint_of_denial();
        for tier in &candidates {
            match self.check_usable(*tier, isolated) {
                Ok(()) => {
                    let stronger = passed_over.iter().map(|passed: &PassedOver| passed.why.clone());
                    let reason = [why.reason()].into_iter().chain(stronger).collect::<Vec<_>>().join("; ");
                    passed_over.insert(0, PassedOver { tier: Tier::Wasm, why: why.reason() });
                    return Ok(Chosen { tier: *tier, reason: Some(reason), passed_over });
                }
                Err(denial) => {
                    passed_over.push(PassedOver { tier: *tier, why: denial.message });
                    hint = hint.or(denial.hint);
                }
            }
        }
        let lacks = passed_over.into_iter().map(|passed| passed.why);
        let message = [why.reason()].into_iter().chain(why.explanation()).chain(lacks).collect::<Vec<_>>().join("; ");
        let tier = candidates.first().copied().unwrap_or(Tier::Wasm);
        let hint = hint.or_else(|| Some(why.hint()));
        Err(Refused::new(tier, vec![Denial { message, hint, ..tier_denial(tier) }]))
    }

    /// Whether a call may be made in a tier, and can be. `asked`: the operator named it, or asked for isolation.
    fn check_usable(&self, tier: Tier, asked: bool) -> Result<(), Box<Denial>> {
        self.check_allowed(tier, asked)?;
        if let Some(why) = self.machine.unavailable(tier) {
            return Err(Box::new(Denial { message: why, hint: Some(to_install(tier)), ..tier_denial(tier) }));
        }
        match self.ruled_out(tier) {
            Some(WhyNot::Unprepared { message, hint }) => {
                let hint = hint.clone().or_else(|| Some(NO_REMEDY.to_owned()));
                let message = format!("`{tier}`: {message}");
                return Err(Box::new(Denial { message, hint, ..tier_denial(tier) }));
            }
            Some(WhyNot::Missing(_)) | None => {}
        }
        self.machine.mount_denial(tier, self.mounts).map_or(Ok(()), |denial| Err(Box::new(denial)))
    }

    fn ruled_out(&self, tier: Tier) -> Option<&WhyNot> {
        let is_this = |out: &&RuledOut| out.tier == tier && out.runtime.is_none_or(|kind| kind == self.runtime);
        self.skill.ruled_out.iter().find(is_this).map(|out| &out.why)
    }

    /// Whether policy lets a call be made in a tier.
    fn check_allowed(&self, tier: Tier, asked: bool) -> Result<(), Box<Denial>> {
        if self.call.limits.fuel.is_some() && tier != Tier::Wasm {
            let message = "instructions (`--fuel`) are counted in a cell only".to_owned();
            let hint = Some("run it without `--fuel`, or in a cell: `--tier wasm`".to_owned());
            return Err(Box::new(Denial { message, hint, ..tier_denial(tier) }));
        }
        if tier == Tier::Container && matches!(self.call.entry, Entry::Script(_)) {
            let message = "scripts are run in a cell or in `subprocess`, not in `container`".to_owned();
            let hint = Some("`--tier subprocess`, or a cell: `--tier wasm`".to_owned());
            return Err(Box::new(Denial { message, hint, ..tier_denial(tier) }));
        }
        if self.call.session.is_some() && tier != Tier::Wasm {
            let message = format!("a session is kept in a cell only, not in `{tier}`");
            let hint = Some("call it without a session, or in a cell: the tier `wasm`".to_owned());
            return Err(Box::new(Denial { message, hint, ..tier_denial(tier) }));
        }
        if tier == Tier::Wasm && self.call.tiers == TierRules::default() {
            return Ok(());
        }
        // Approving a skill for a named tier counts as asking for that tier.
        let named = self.skill.approval.as_ref().is_some_and(|approval| approval.tiers.contains(&tier));
        let trusted = self.call.trust_remote_code || named;
        let decided = self.call.tiers.decide(tier, self.skill.vouched, asked || named, trusted);
        decided.map_err(|denial| Box::new(not_allowed(denial, tier, self.skill)))
    }
}

impl WhyNotWasm {
    fn reason(&self) -> String {
        match self {
            WhyNotWasm::Asked(tier) => format!("its manifest asks for `{tier}`"),
            WhyNotWasm::Missing(MissingModule { module, why: Some(_) }) => {
                format!("it imports `{module}`, which a cell does not have")
            }
            WhyNotWasm::Missing(MissingModule { module, why: None }) => format!(
                "it could not be imported in a cell for want of `{module}`, which is of no package that is known"
            ),
            WhyNotWasm::NativeRequirement(chain) => format!("it requires `{chain}`, which exists only as native code"),
            WhyNotWasm::NotListed(denial) => denial.message.clone(),
            WhyNotWasm::Unprepared(why) => why.clone(),
        }
    }

    /// What a refusal adds to that.
    fn explanation(&self) -> Option<String> {
        match self {
            WhyNotWasm::Missing(missing) => missing.why.clone(),
            _ => None,
        }
    }

    /// What may do instead, strongest first.
    fn candidates(&self) -> Vec<Tier> {
        match self {
            WhyNotWasm::Asked(tier) => vec![*tier],
            _ => vec![Tier::Container, Tier::Subprocess],
        }
    }

    fn hint_of_denial(&self) -> Option<String> {
        match self {
            WhyNotWasm::NotListed(denial) => denial.hint.clone(),
            _ => None,
        }
    }

    /// What would help where no candidate says so.
    fn hint(&self) -> String {
        match self {
            WhyNotWasm::Asked(Tier::Container) => to_install(Tier::Container),
            _ => "`skillcell doctor` says what each tier lacks on this machine".to_owned(),
        }
    }
}

/// The hint of a refusal that nothing can be done about.
const NO_REMEDY: &str =
    "nothing that you can grant helps; `skillcell doctor` says what each tier lacks on this machine";

fn not_allowed(denial: TierDenial, tier: Tier, skill: &SkillFacts<'_>) -> Denial {
    let (id, key) = (skill.id, skill.vouched.key());
    let message = match denial {
        TierDenial::NotListed => format!("`[tiers]` in the policy file does not have `{tier}` in `{key}`"),
        TierDenial::NotTrusted => format!(
            "in `{tier}` a skill could read and change all of your files, use your keys and reach any network, and `{id}` \
             is not trusted with that"
        ),
        TierDenial::NotAsked => format!("nobody vouches for `{id}`, so it runs in `{tier}` only if you say so"),
    };
    let bundled = skill.vouched == Vouched::Bundled;
    let flag = match denial {
        TierDenial::NotListed => None,
        TierDenial::NotTrusted if !bundled => Some(format!("--tier {tier} --trust-remote-code")),
        TierDenial::NotTrusted | TierDenial::NotAsked => Some(format!("--tier {tier}")),
    };
    let hint = match (&flag, denial) {
        (None, _) => format!("no flag adds to that list; `{key} = [\"{tier}\", …]` there would"),
        (Some(flag), TierDenial::NotTrusted) => {
            let way = if bundled { "" } else { ", `skillcell approve --tier in_process` remembers it" };
            format!("`{flag}` would run it so; nothing would hold it{way}")
        }
        (Some(flag), _) => format!("`{flag}` runs it there, `--isolated` in the strongest that will do"),
    };
    Denial { message, hint: Some(hint), flag, ..tier_denial(tier) }
}

/// What a machine needs for a tier.
fn to_install(tier: Tier) -> String {
    let needs = match tier {
        Tier::Container => "it needs Podman, or Docker with its daemon",
        Tier::Subprocess => "it needs bubblewrap with user namespaces, or Linux 6.12 with Landlock",
        Tier::Wasm | Tier::InProcess => "nothing has to be installed for it",
    };
    format!("{needs}; `skillcell doctor` says what each tier lacks on this machine")
}

fn tier_denial(tier: Tier) -> Denial {
    Denial {
        kind: DenialKind::Tier,
        asked: tier.name().to_owned(),
        rule: None,
        message: String::new(),
        hint: None,
        flag: None,
    }
}
