//! Which tier a call is made in. A cell comes first; what can't run in one goes to the strongest other tier that policy
//! allows and this machine has, and what finds none is refused, with what would help.

use std::sync::Arc;

use serde_json::Value;

use super::calling::refused;
use super::{Host, HostError};
use crate::approvals::{Approval, Standing as Approved};
use crate::audit::Trail;
use crate::call::{Call, Outcome, Report};
use crate::packages::{Lack, Package, Site, Standing};
use crate::policy::{Denial, DenialKind, TierDenial, TierRules, Vouched};
use crate::skill::{Origin, Skill};
use crate::tier::container::ImageError;
use crate::tier::{self, Choice, Tier, TierError};

/// Why a call is not made in a cell.
pub(super) enum Elsewhere {
    /// The manifest asks for this tier.
    Asks(Tier),
    /// A module that it needs is not there.
    Lacks(Lack),
    /// A package that it requires is native.
    Requires(String),
    /// The policy file's list for such skills has no cells.
    Unlisted(Denial),
    /// What the manifest asks for makes no sense.
    Unreadable(String),
}

impl Elsewhere {
    /// What a manifest has to say about it. The operator's own choice of a cell comes first.
    pub fn asked_by(manifest: &Value, skill: &Skill, call: &Call) -> Option<Elsewhere> {
        if call.tier == Choice::Tier(Tier::Wasm) {
            return None;
        }
        // Whoever asks for isolation gets the strongest that there is, whatever a manifest would rather have. But an image
        // of its own is the skill, and runs nowhere else.
        let heeded = |tier| call.tier != Choice::Isolated || tier == Tier::Container && has_image(manifest, skill);
        match Choice::of_manifest(manifest) {
            Ok(Some(Choice::Tier(tier))) if !heeded(tier) => None,
            Ok(Some(Choice::Tier(tier))) if tier != Tier::Wasm => Some(Elsewhere::Asks(tier)),
            Ok(_) => None,
            Err(bad) => Some(Elsewhere::Unreadable(format!("the manifest's `execution`: {bad}"))),
        }
    }

    /// A skill that could not be imported for want of a package.
    pub fn lacking(outcome: &Outcome, call: &Call) -> Option<Elsewhere> {
        let Outcome::Raised(raised) = outcome else { return None };
        let lack = raised.lack.clone().filter(|_| call.tier != Choice::Tier(Tier::Wasm))?;
        Some(Elsewhere::Lacks(lack))
    }

    fn reason(&self) -> String {
        match self {
            Elsewhere::Asks(tier) => format!("its manifest asks for `{tier}`"),
            Elsewhere::Lacks(Lack { module, why: Some(_) }) => {
                format!("it imports `{module}`, which a cell does not have")
            }
            Elsewhere::Lacks(Lack { module, why: None }) => {
                format!(
                    "it could not be imported in a cell for want of `{module}`, which is of no package that is known"
                )
            }
            Elsewhere::Requires(way) => format!("it requires `{way}`, which exists only as native code"),
            Elsewhere::Unlisted(denial) => denial.message.clone(),
            Elsewhere::Unreadable(why) => why.clone(),
        }
    }

    /// What a refusal adds to that.
    fn explained(&self) -> Option<String> {
        match self {
            Elsewhere::Lacks(lack) => lack.why.clone(),
            _ => None,
        }
    }

    /// What may do instead, strongest first.
    fn candidates(&self) -> Vec<Tier> {
        match self {
            Elsewhere::Asks(tier) => vec![*tier],
            Elsewhere::Lacks(_) | Elsewhere::Requires(_) | Elsewhere::Unlisted(_) => {
                vec![Tier::Container, Tier::Subprocess]
            }
            Elsewhere::Unreadable(_) => Vec::new(),
        }
    }

    /// What would help where none of them does and none says why.
    fn hint(&self) -> String {
        match self {
            Elsewhere::Asks(Tier::Container) => to_install(Tier::Container),
            Elsewhere::Unreadable(_) => {
                "`--tier NAME` decides instead of the manifest: wasm, container, subprocess or in_process".to_owned()
            }
            _ => "`skillcell doctor` says what each tier lacks on this machine".to_owned(),
        }
    }
}

/// Whether a skill brings the image that it runs in.
fn has_image(manifest: &Value, skill: &Skill) -> bool {
    !manifest["container"].is_null() || skill.files().iter().any(|(path, _)| path == "Dockerfile")
}

impl Host {
    /// Makes a call in the tier that it is for.
    pub(super) fn in_some_tier(
        &self,
        skill: &Skill,
        call: &Call,
        trail: Option<&Arc<Trail>>,
    ) -> Result<Report, HostError> {
        if let Choice::Tier(tier) = call.tier
            && tier != Tier::Wasm
        {
            return self.in_named_tier(tier, skill, call, trail);
        }
        let Some(denial) = self.unlisted(skill, call)? else { return self.in_cell(skill, call, trail) };
        if call.tier == Choice::Tier(Tier::Wasm) {
            return refuse(skill, Tier::Wasm, denial, trail);
        }
        let asked = Elsewhere::asked_by(&*self.manifest(skill)?, skill, call);
        self.elsewhere(&asked.unwrap_or(Elsewhere::Unlisted(denial)), skill, call, trail)
    }

    /// Why not in a cell. Only a list can say so; where there is none, which is the rule, nobody is asked who vouches.
    fn unlisted(&self, skill: &Skill, call: &Call) -> Result<Option<Denial>, HostError> {
        if call.tiers == TierRules::default() {
            Ok(None)
        } else {
            Ok(self.may_use(Tier::Wasm, skill, call, true)?.err())
        }
    }

    /// Makes a call in the tier that the operator named.
    fn in_named_tier(
        &self,
        tier: Tier,
        skill: &Skill,
        call: &Call,
        trail: Option<&Arc<Trail>>,
    ) -> Result<Report, HostError> {
        match self.may_use(tier, skill, call, true)? {
            Ok(()) => match self.in_tier(tier, skill, call, trail) {
                // As it is where a manifest asks for it.
                Err(HostError::Tier(error)) if is_refusal(&error) => {
                    let unavailable = matches!(error, TierError::Unavailable { .. });
                    let hint = if unavailable { Some(to_install(tier)) } else { error.hint() };
                    refuse(skill, tier, Denial { message: error.to_string(), hint, ..denial_of(tier) }, trail)
                }
                ran => match ran? {
                    Ok(report) => Ok(report),
                    Err(denial) => refuse(skill, tier, denial, trail),
                },
            },
            Err(denial) => refuse(skill, tier, denial, trail),
        }
    }

    /// Makes a call that a cell can't, in the strongest tier that will do.
    pub(super) fn elsewhere(
        &self,
        why: &Elsewhere,
        skill: &Skill,
        call: &Call,
        trail: Option<&Arc<Trail>>,
    ) -> Result<Report, HostError> {
        let asked = call.tier == Choice::Isolated;
        let candidates = why.candidates();
        let mut lacks = Vec::new();
        let mut hint = if let Elsewhere::Unlisted(denial) = why { denial.hint.clone() } else { None };
        for tier in &candidates {
            // Looking for an engine takes a while, so that comes last.
            let may_use = self.may_use(*tier, skill, call, asked)?;
            let available = if may_use.is_ok() { tier::available(*tier) } else { Ok(String::new()) };
            if let Some(lack) = self.grounds().lack(*tier, skill) {
                lacks.push(lack.to_owned());
                continue;
            }
            match (available, may_use) {
                (Ok(_), Ok(())) => match self.in_tier(*tier, skill, call, trail) {
                    // Nothing ran yet: there may be no base image here.
                    Err(HostError::Tier(error @ TierError::Image(_))) => {
                        let lack = format!("`{tier}`: {error}");
                        self.grounds().keep_lack(*tier, skill, lack.clone());
                        lacks.push(lack);
                    }
                    ran => match ran? {
                        Ok(report) => {
                            // What came before it in strength, and why it was not that.
                            let tier_reason = [why.reason()].into_iter().chain(lacks).collect::<Vec<_>>().join("; ");
                            return Ok(Report { tier_reason: Some(tier_reason), ..report });
                        }
                        Err(denial) => {
                            lacks.push(format!("`{tier}`: {}", denial.message));
                            hint = hint.or(denial.hint);
                        }
                    },
                },
                (Ok(_), Err(denial)) => {
                    lacks.push(denial.message);
                    hint = hint.or(denial.hint);
                }
                (Err(error), _) => lacks.push(error.to_string()),
            }
        }
        let message = [why.reason()].into_iter().chain(why.explained()).chain(lacks).collect::<Vec<_>>().join("; ");
        let hint = hint.or_else(|| Some(why.hint()));
        let tier = candidates.first().copied().unwrap_or(Tier::Wasm);
        refuse(skill, tier, Denial { message, hint, flag: None, ..denial_of(tier) }, trail)
    }

    /// A skill that can be imported, though a package that it requires is native, is worth more where that is; if it may
    /// go there. Otherwise it does what it can in a cell.
    pub(super) fn better_elsewhere(
        &self,
        site: Option<&Site>,
        skill: &Skill,
        call: &Call,
    ) -> Result<Option<Elsewhere>, HostError> {
        let native = |package: &&Package| matches!(package.standing, Standing::Native { .. });
        let Some(package) = site.and_then(|site| site.packages.missing().find(native)) else { return Ok(None) };
        if call.tier == Choice::Tier(Tier::Wasm) || call.limits.fuel.is_some() {
            return Ok(None);
        }
        for tier in [Tier::Subprocess, Tier::Container] {
            if self.may_use(tier, skill, call, call.tier == Choice::Isolated)?.is_ok() && tier::available(tier).is_ok()
            {
                return Ok(Some(Elsewhere::Requires(package.way())));
            }
        }
        Ok(None)
    }

    fn may_use(&self, tier: Tier, skill: &Skill, call: &Call, asked: bool) -> Result<Result<(), Denial>, HostError> {
        if call.limits.fuel.is_some() && tier != Tier::Wasm {
            let message = "instructions (`--fuel`) are counted in a cell only".to_owned();
            return Ok(Err(Denial { message, ..denial_of(tier) }));
        }
        let approval = self.approval(skill)?;
        let named = approval.as_ref().is_some_and(|approval| approval.tiers.contains(&tier));
        let vouched = match (skill.origin(), approval) {
            (Origin::Registry, _) => Vouched::Bundled,
            (_, Some(_)) => Vouched::Approved,
            (_, None) => Vouched::Unknown,
        };
        // A tier that was named when the skill was approved was asked for then, with what it means.
        let decided = call.tiers.decide(tier, vouched, asked || named, call.trust_remote_code || named);
        let Err(denial) = decided else { return Ok(Ok(())) };
        let (id, key) = (skill.id(), vouched.key());
        let message = match denial {
            TierDenial::NotListed => format!("`[tiers]` in the policy file does not have `{tier}` in `{key}`"),
            TierDenial::NotTrusted => format!(
                "in `{tier}` a skill could read and change all of your files, use your keys and reach any network, and \
                 `{id}` is not trusted with that"
            ),
            TierDenial::NotAsked => format!("nobody vouches for `{id}`, so it runs in `{tier}` only if you say so"),
        };
        let flag = match denial {
            TierDenial::NotListed => None,
            TierDenial::NotTrusted if vouched != Vouched::Bundled => Some(format!("--tier {tier} --trust-remote-code")),
            TierDenial::NotTrusted | TierDenial::NotAsked => Some(format!("--tier {tier}")),
        };
        let hint = match (&flag, denial) {
            (None, _) => Some(format!("no flag adds to that list; `{key} = [\"{tier}\", …]` there would")),
            (Some(flag), TierDenial::NotTrusted) => {
                let way = if vouched == Vouched::Bundled {
                    ""
                } else {
                    ", `skillcell approve --tier in_process` remembers it"
                };
                Some(format!("`{flag}` would run it so; nothing would hold it{way}"))
            }
            (Some(flag), _) => Some(format!("`{flag}` runs it there, `--isolated` in the strongest that will do")),
        };
        Ok(Err(Denial { message, hint, flag, ..denial_of(tier) }))
    }

    /// What was approved of the skill, in the state that it is in.
    fn approval(&self, skill: &Skill) -> Result<Option<Arc<Approval>>, HostError> {
        match self.approvals().map(|approvals| approvals.standing(skill)).transpose()? {
            Some(Approved::Approved(approval)) => Ok(Some(approval)),
            _ => Ok(None),
        }
    }
}

/// Whether a tier did not do its part since it may not, or is not there.
fn is_refusal(error: &TierError) -> bool {
    matches!(error, TierError::Unavailable { .. } | TierError::Image(ImageError::Unpulled { .. }))
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

fn denial_of(tier: Tier) -> Denial {
    Denial {
        kind: DenialKind::Tier,
        asked: tier.name().to_owned(),
        rule: None,
        message: String::new(),
        hint: None,
        flag: None,
    }
}

fn refuse(skill: &Skill, tier: Tier, denial: Denial, trail: Option<&Arc<Trail>>) -> Result<Report, HostError> {
    let denials = vec![denial];
    trail.inspect(|trail| trail.made_in(None));
    trail.map_or(Ok(()), |trail| trail.refused(&denials))?;
    Ok(Report { tier, ..refused(skill, denials) })
}
