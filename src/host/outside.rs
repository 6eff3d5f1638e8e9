//! Calls outside of a cell. What a call may do is settled here as it is for a cell, by the same code; the tier does the
//! rest.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, MutexGuard, PoisonError};

use serde_json::Value;

use super::calling::{door, ended, refused};
use super::grounds::Grounds;
use super::parts::Shared;
use super::{Host, HostError, params};
use crate::audit::Trail;
use crate::call::{Call, Outcome, Report};
use crate::door::Denials;
use crate::policy::{Denial, DenialKind, MountGrant};
use crate::skill::Skill;
use crate::tier::{self, Ground, Job, Tier, Unkept, container};

impl Host {
    /// Makes a call in a tier that is no cell; or says which mount it can't have there.
    pub(super) fn in_tier(
        &self,
        tier: Tier,
        skill: &Skill,
        call: &Call,
        trail: Option<&Arc<Trail>>,
    ) -> Result<Result<Report, Denial>, HostError> {
        trail.inspect(|trail| trail.made_in(Some(tier)));
        // The manifest is read in a cell, whatever the tier: nothing of a skill is interpreted on the host.
        let manifest = self.manifest(skill)?;
        // What is no use in a cell may well be of use here.
        let held = match self.held(skill, (&manifest, &BTreeMap::new()), call, trail)? {
            Ok(held) => held,
            Err(denials) => return Ok(Ok(Report { tier, ..refused(skill, denials) })),
        };
        let granted = held.as_ref().map(|held| held.call(call)).transpose()?;
        let call = granted.as_deref().unwrap_or(call);
        let validate = match params::check(&manifest, call) {
            Ok(left_to_guest) => left_to_guest,
            Err(raised) => return Ok(Ok(Report { tier, ..ended(skill, Outcome::Raised(raised)) })),
        };
        if let (Tier::InProcess, Some(held)) = (tier, &held)
            && let Some(denial) = held.needs_isolation()
        {
            let denials = vec![denial];
            trail.map_or(Ok(()), |trail| trail.refused(&denials))?;
            return Ok(Ok(Report { tier, ..refused(skill, denials) }));
        }
        let folders = held.as_ref().map_or(Ok(Vec::new()), |held| held.folders(self))?;
        if let Some(denial) = unkept_mount(tier, &folders)? {
            return Ok(Err(denial));
        }
        let denials = Arc::new(trail.map_or_else(Denials::default, |trail| Denials::audited(trail.clone())));
        let ground = self.kept_ground(tier, skill, &manifest)?;
        let job = Job {
            skill,
            ground: &ground,
            limits: &call.limits,
            env: &call.env,
            mounts: folders,
            web: held.as_ref().map_or(Ok(None), |held| held.web(self, &denials, &call.limits))?,
            door: door(call, validate)?,
            denials: denials.clone(),
        };
        // What failed may be gone: an image or an environment that somebody removed. The next call looks again.
        let ran = tier::run(job).inspect_err(|_| self.grounds().forget(tier, skill))?;
        let mut report = Report {
            denials: denials.take(),
            usage: ran.usage,
            stdout: ran.stdout,
            stderr: ran.stderr,
            tier,
            ..ended(skill, ran.outcome)
        };
        if let Some(held) = &held {
            held.map_back(&mut report, &call.limits);
            held.scrub(&mut report);
        }
        Ok(Ok(report))
    }

    /// The manifest, which is read once: a skill is its content.
    pub(super) fn manifest(&self, skill: &Skill) -> Result<Arc<Value>, HostError> {
        if let Some(manifest) = self.grounds().manifests.get(skill.digest()) {
            return Ok(manifest.clone());
        }
        let manifest = Arc::new(self.baker(false)?.told(skill)?.manifest_or_none_granted());
        self.grounds().keep_manifest(skill, manifest.clone());
        Ok(manifest)
    }

    /// What the skill's calls run on, looked for once.
    fn kept_ground(&self, tier: Tier, skill: &Skill, manifest: &Value) -> Result<Arc<Ground>, HostError> {
        if let Some(ground) = self.grounds().grounds.get(&(tier, skill.digest().to_owned())) {
            return Ok(ground.clone());
        }
        let ground = Arc::new(self.ground(tier, skill, manifest)?);
        self.grounds().keep(tier, skill, ground.clone());
        Ok(ground)
    }

    pub(super) fn grounds(&self) -> MutexGuard<'_, Grounds> {
        self.shared.grounds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gets ready what the skill's calls run on, if it is not yet.
    pub(super) fn ground(&self, tier: Tier, skill: &Skill, manifest: &Value) -> Result<Ground, HostError> {
        let requirements = requirements(manifest);
        match tier {
            Tier::Container => {
                let Shared { cache, fetch, progress, containers, .. } = &*self.shared;
                let maker = container::Maker { cache, fetch, progress: &**progress, containers };
                Ok(Ground::Image(maker.make(skill, manifest, &requirements)?))
            }
            Tier::InProcess => {
                self.shared.progress.note(&format!(
                    "warning: in `{tier}` `{}` can read and change all of your files, use your keys and reach any network",
                    skill.id()
                ));
                Ok(Ground::Bare(self.venv(&requirements, &[])?))
            }
            _ => Ok(Ground::Environment(self.venv(&requirements, &[])?)),
        }
    }
}

/// A mount that was granted and that the tier's sandbox can't make on this machine.
fn unkept_mount(tier: Tier, mounts: &[(PathBuf, MountGrant)]) -> Result<Option<Denial>, HostError> {
    let unkept = tier::unkept_mount(tier, mounts)?;
    Ok(unkept.map(|Unkept { grant, why, instead, remedy }| {
        let hint = instead.as_ref().map_or(remedy.to_owned(), |flag| format!("`{flag}`, or {remedy}"));
        let asked = format!("{}:{}", grant.host, grant.guest);
        Denial { kind: DenialKind::Tier, asked, rule: None, message: why, hint: Some(hint), flag: instead }
    }))
}

/// What a manifest says that the skill needs. What is no list of texts is nothing.
pub(super) fn requirements(manifest: &Value) -> Vec<String> {
    let list = manifest["requirements"].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|line| line.as_str().map(str::to_owned)).collect()
}
