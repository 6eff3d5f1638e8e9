//! What a plan is made of, gathered: the manifest, read in a cell that runs nothing of the skill; what its requirements
//! resolve to; what was approved of it; what this machine has.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::{Host, HostError, on_enough_stack};
use crate::approvals::{Approval, ApprovalState, Approvals, Difference};
use crate::call::Call;
use crate::plan::{self, ApprovedAs, Decision, MachineFacts, Refused, RuledOut, SkillFacts};
use skillcell_cell::image::Image;
use skillcell_packages::skill::{Origin, Skill};
use skillcell_packages::{Package, PackageStatus, SitePackages};
use skillcell_policy::manifest::{BadManifest, Manifest, StaticManifest};
use skillcell_policy::{Denial, DenialKind, MountGrant, Permissions, Tier, Vouched};
use skillcell_tiers::{self as tier, SandboxChoice};

/// Skills whose facts are kept; beyond that they are read again.
const MAX_KEPT: usize = 256;
/// How long unresolved requirements are remembered. An index may be reachable again later.
const FAILURE_LIFETIME: Duration = Duration::from_secs(300);

/// What is known of a skill's content.
pub(super) struct KnownFacts {
    pub manifest: Arc<Manifest>,
    pub bad: Option<BadManifest>,
    pub early_imports: BTreeMap<String, String>,
    /// A package that it requires and that exists only as native code, with who requires it.
    pub native_requirement: Option<String>,
    pub site: Option<Arc<SitePackages>>,
    read: Instant,
}

/// Facts by the skill's digest.
pub(super) type FactsByDigest = HashMap<String, Arc<KnownFacts>>;

impl KnownFacts {
    fn new(read: &StaticManifest, site: Option<Arc<SitePackages>>) -> KnownFacts {
        let is_native = |package: &&Package| matches!(package.standing, PackageStatus::Native { .. });
        let native = site.as_ref().and_then(|site| site.packages.missing().find(is_native));
        let (manifest, bad) = match read.manifest_or_empty() {
            Ok(manifest) => (manifest, None),
            Err(bad) => (Manifest::default(), Some(bad.clone())),
        };
        KnownFacts {
            manifest: Arc::new(manifest),
            bad,
            early_imports: read.early_imports.clone(),
            native_requirement: native.map(Package::requirement_chain),
            site: site.clone(),
            read: Instant::now(),
        }
    }

    fn of_image(image: &Image) -> KnownFacts {
        KnownFacts::new(&image.report.static_manifest(), image.site.clone())
    }

    fn is_stale(&self) -> bool {
        let complete = self.site.as_ref().is_none_or(|site| site.packages.is_complete());
        !complete && self.read.elapsed() > FAILURE_LIFETIME
    }
}

impl Host {
    /// Decides about a call, as if what was ruled out were not there.
    pub(super) fn plan_without(
        &self,
        skill: &Skill,
        call: &Call,
        ruled_out: &[RuledOut],
    ) -> Result<Decision, HostError> {
        match self.approval_standing(skill)? {
            ApprovalState::Changed(approval) => Ok(Decision::Refused(self.refuse_changed(&approval, skill, call)?)),
            ApprovalState::Approved(approval) => self.plan_as(skill, call, Some(approved_as(&approval)), ruled_out),
            ApprovalState::Unknown => self.plan_as(skill, call, None, ruled_out),
        }
    }

    /// What a call would do if the skill were approved now, as it is, for these tiers besides a cell.
    pub fn plan_if_approved(&self, skill: &Skill, call: &Call, tiers: &[Tier]) -> Result<Decision, HostError> {
        on_enough_stack(|| {
            let permissions = self.known_facts(skill, call)?.manifest.permissions.clone().unwrap_or_default();
            self.plan_as(skill, call, Some(ApprovedAs { permissions: &permissions, tiers }), &[])
        })
    }

    /// Decides about a call of a skill of which this was approved.
    fn plan_as(
        &self,
        skill: &Skill,
        call: &Call,
        approval: Option<ApprovedAs<'_>>,
        ruled_out: &[RuledOut],
    ) -> Result<Decision, HostError> {
        let known = self.known_facts(skill, call)?;
        if let Some(bad) = &known.bad {
            return Ok(Decision::Refused(plan::refuse_manifest(skill.id(), bad)));
        }
        let facts = SkillFacts {
            native_requirement: known.native_requirement.clone(),
            ruled_out: ruled_out.to_vec(),
            ..self.skill_facts(skill, approval, &known.early_imports)
        };
        Ok(plan::plan_call(&facts, &known.manifest, call, &ThisMachine { sandbox: self.shared.sandbox }).into())
    }

    /// The facts that come from a skill's files and from its approval.
    fn skill_facts<'a>(
        &self,
        skill: &'a Skill,
        approval: Option<ApprovedAs<'a>>,
        early_imports: &'a BTreeMap<String, String>,
    ) -> SkillFacts<'a> {
        let vouched = match (skill.origin(), &approval) {
            (Origin::Registry, _) => Vouched::Bundled,
            (_, Some(_)) => Vouched::Approved,
            (_, None) => Vouched::Unknown,
        };
        let approvals = self.approvals().filter(|_| self.shared.approvals_grant);
        SkillFacts {
            id: skill.id(),
            vouched,
            approval,
            approve_command: approvals.map(|approvals| approvals.command(skill)),
            has_dockerfile: skill.files().iter().any(|(path, _)| path == "Dockerfile"),
            early_imports,
            native_requirement: None,
            ruled_out: Vec::new(),
        }
    }

    /// What is known of a skill: kept in memory, or from its image, or read now.
    pub(super) fn known_facts(&self, skill: &Skill, call: &Call) -> Result<Arc<KnownFacts>, HostError> {
        let kept = || self.shared.facts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().get(&skill.content_key()).filter(|known| !known.is_stale()) {
            return Ok(known.clone());
        }
        let known = Arc::new(match self.found_image(skill, call.limits.fuel.is_some())? {
            Some(image) => KnownFacts::of_image(&image),
            None => self.read_facts(skill)?,
        });
        let mut facts = kept();
        if facts.len() >= MAX_KEPT {
            facts.clear();
        }
        facts.insert(skill.content_key(), known.clone());
        Ok(known)
    }

    fn read_facts(&self, skill: &Skill) -> Result<KnownFacts, HostError> {
        let read = self.static_manifest(skill)?;
        // An unreadable manifest requires nothing.
        let with_packages = match &read.manifest {
            Ok(manifest) => self.baker(false)?.with_packages(skill, manifest)?,
            Err(_) => skill.clone(),
        };
        Ok(KnownFacts::new(&read, with_packages.shared_site()))
    }

    /// The approvals that calls go by; see [`HostBuilder::approvals`](crate::HostBuilder::approvals) and
    /// [`HostBuilder::allow_changed_skills`](crate::HostBuilder::allow_changed_skills).
    pub fn approvals(&self) -> Option<&Approvals> {
        self.shared.approvals.as_ref()
    }

    /// Whether a skill is approved, as far as that matters to this host's calls.
    pub fn approval_standing(&self, skill: &Skill) -> Result<ApprovalState, HostError> {
        let Some(approvals) = self.approvals() else { return Ok(ApprovalState::Unknown) };
        Ok(match approvals.standing(skill)? {
            ApprovalState::Approved(_) if !self.shared.approvals_grant => ApprovalState::Unknown,
            ApprovalState::Changed(_) if self.shared.allow_changed_skills => ApprovalState::Unknown,
            standing => standing,
        })
    }

    fn refuse_changed(&self, approval: &Approval, skill: &Skill, call: &Call) -> Result<Refused, HostError> {
        // The manifest may be unreadable now; that files changed can still be reported.
        let manifest = self.baker(false)?.static_manifest(skill)?.manifest;
        let asked = match &manifest {
            Ok(manifest) => manifest.permissions.clone(),
            Err(_) => Some(approval.permissions.clone()),
        };
        let command = self.approvals().map(|approvals| approvals.command(skill));
        let denial = denial_of_change(approval, skill, &asked.clone().unwrap_or_default(), command);
        let no_imports = BTreeMap::new();
        Ok(plan::refuse_changed(&self.skill_facts(skill, None, &no_imports), asked.as_ref(), call, denial))
    }
}

fn approved_as(approval: &Approval) -> ApprovedAs<'_> {
    ApprovedAs { permissions: &approval.permissions, tiers: &approval.tiers }
}

fn denial_of_change(approval: &Approval, skill: &Skill, asked: &Permissions, command: Option<String>) -> Denial {
    let difference = Difference::between(approval, skill, asked);
    let command = command.unwrap_or_else(|| "skillcell approve".to_owned());
    Denial {
        kind: DenialKind::Approval,
        asked: skill.digest().to_owned(),
        rule: Some(approval.digest.clone()),
        message: format!("it was approved in another state: {}", difference.summarize()),
        hint: Some(format!(
            "`{command}` shows what differs, and approves it as it is now if you agree; with `--revoke` the approval is \
             forgotten, and flags decide"
        )),
        flag: None,
    }
}

/// This machine, as a plan asks about it.
struct ThisMachine {
    sandbox: SandboxChoice,
}

impl MachineFacts for ThisMachine {
    fn unavailable(&self, tier: Tier) -> Option<String> {
        tier::available(tier, self.sandbox).err().map(|error| error.to_string())
    }

    fn mount_denial(&self, tier: Tier, mounts: &[MountGrant]) -> Option<Denial> {
        if tier == Tier::Wasm || mounts.is_empty() {
            return None;
        }
        // A missing folder is reported later, when the grant is activated.
        let real = |grant: &MountGrant| Some((Path::new(&grant.host).canonicalize().ok()?, grant.clone()));
        let folders: Vec<_> = mounts.iter().map(real).collect::<Option<_>>()?;
        let unsupported_mount = tier::first_unsupported_mount(tier, self.sandbox, &folders).ok()??;
        let remedy = unsupported_mount.remedy;
        let hint =
            unsupported_mount.instead.as_ref().map_or(remedy.to_owned(), |flag| format!("`{flag}`, or {remedy}"));
        Some(Denial {
            kind: DenialKind::Tier,
            asked: format!("{}:{}", unsupported_mount.grant.host, unsupported_mount.grant.guest),
            rule: None,
            message: unsupported_mount.why,
            hint: Some(hint),
            flag: unsupported_mount.instead,
        })
    }
}
