//! Which tier a call is made in. A cell comes first; what can't run in one goes to the strongest other tier that policy
//! allows and this machine has, and what finds none is refused, with what would help.

use std::sync::Arc;

use serde_json::Value;

use super::calling::refused;
use super::{Host, HostError};
use crate::approvals::{Approval, Standing as Approved};
use crate::audit::Trail;
use crate::call::{Call, Outcome, Report};
use crate::packages::{Package, Site, Standing};
use crate::policy::{Denial, DenialKind, TierDenial, Vouched};
use crate::skill::{Origin, Skill};
use crate::tier::{self, Choice, Tier, TierError};

/// Of what is known of a package, as much goes into a message: characters.
const MOST_EXPLAINED: usize = 600;

/// Why a call is not made in a cell.
pub(super) enum Elsewhere {
    /// The manifest asks for this tier.
    Asks(Tier),
    /// A module that it needs is not there; and what is known of its package.
    Lacks(String, Option<String>),
    /// A package that it requires is native.
    Requires(String),
    /// What the manifest asks for makes no sense.
    Unreadable(String),
}

impl Elsewhere {
    /// What a manifest has to say about it. The operator's own choice of a cell comes first.
    pub fn asked_by(manifest: &Value, call: &Call) -> Option<Elsewhere> {
        if call.tier == Choice::Tier(Tier::Wasm) {
            return None;
        }
        match Choice::of_manifest(manifest) {
            // Whoever asks for isolation is not talked out of it by a manifest.
            Ok(Some(Choice::Tier(tier))) if !tier.is_isolated() && call.tier == Choice::Isolated => None,
            Ok(Some(Choice::Tier(tier))) if tier != Tier::Wasm => Some(Elsewhere::Asks(tier)),
            Ok(_) => None,
            Err(bad) => Some(Elsewhere::Unreadable(format!("the manifest's `execution`: {bad}"))),
        }
    }

    /// A skill that could not be imported for want of a package.
    pub fn lacking(outcome: &Outcome, call: &Call) -> Option<Elsewhere> {
        let Outcome::Raised(raised) = outcome else { return None };
        let (module, rest) = raised.message.split("\nMissing module: ").nth(1)?.split_once(' ')?;
        let plain = module.chars().all(|c| c.is_alphanumeric() || "._".contains(c));
        let why = rest.split_once('\n').map(|(_, why)| why.chars().take(MOST_EXPLAINED).collect());
        (call.tier != Choice::Tier(Tier::Wasm) && plain)
            .then(|| Elsewhere::Lacks(module.chars().take(80).collect(), why))
    }

    fn reason(&self) -> String {
        match self {
            Elsewhere::Asks(tier) => format!("its manifest asks for `{tier}`"),
            Elsewhere::Lacks(module, _) => format!("it imports `{module}`, which a cell does not have"),
            Elsewhere::Requires(way) => format!("it requires `{way}`, which exists only as native code"),
            Elsewhere::Unreadable(why) => why.clone(),
        }
    }

    /// What a refusal adds to that.
    fn explained(&self) -> Option<String> {
        match self {
            Elsewhere::Lacks(_, why) => why.clone(),
            _ => None,
        }
    }
}

impl Host {
    /// Makes a call in the tier that the operator named.
    pub(super) fn in_named_tier(
        &self,
        tier: Tier,
        skill: &Skill,
        call: &Call,
        trail: Option<&Arc<Trail>>,
    ) -> Result<Report, HostError> {
        match self.may_use(tier, skill, call, true)? {
            Ok(()) => match self.in_tier(tier, skill, call, trail)? {
                Ok(report) => Ok(report),
                Err(denial) => refuse(skill, tier, denial, trail),
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
        let candidates = match why {
            Elsewhere::Asks(tier) => vec![*tier],
            Elsewhere::Lacks(..) | Elsewhere::Requires(_) => vec![Tier::Container, Tier::Subprocess],
            Elsewhere::Unreadable(_) => Vec::new(),
        };
        let (mut lacks, mut hint) = (Vec::new(), None);
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
        let hint = hint.or_else(|| Some("`skillcell doctor` says what each tier lacks on this machine".to_owned()));
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
    trail.map_or(Ok(()), |trail| trail.refused(&denials))?;
    Ok(Report { tier, ..refused(skill, denials) })
}
