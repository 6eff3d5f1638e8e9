//! Calls outside of a cell. What a call may do is settled here as it is for a cell, by the same code; the tier does the
//! rest.

use std::sync::Arc;

use serde_json::Value;

use super::calling::{door, ended, refused};
use super::{Host, HostError, params};
use crate::audit::Trail;
use crate::call::{Call, Outcome, Report};
use crate::door::Denials;
use crate::skill::Skill;
use crate::tier::{self, Job, Tier};

impl Host {
    /// Makes a call in a tier that is no cell.
    pub(super) fn in_tier(
        &self,
        tier: Tier,
        skill: &Skill,
        call: &Call,
        trail: Option<&Arc<Trail>>,
    ) -> Result<Report, HostError> {
        // The manifest is read in a cell, whatever the tier: nothing of a skill is interpreted on the host.
        let manifest = self.baker(false)?.manifest(skill)?;
        let held = match manifest.as_ref().map(|manifest| self.held(skill, manifest, call, trail)).transpose()? {
            Some(Ok(held)) => held,
            // Importing it raises, and says why. Should it not, nothing is given to it.
            None => None,
            Some(Err(denials)) => return Ok(Report { tier, ..refused(skill, denials) }),
        };
        let manifest = manifest.unwrap_or_default();
        let granted = held.as_ref().map(|held| held.call(call)).transpose()?;
        let call = granted.as_deref().unwrap_or(call);
        let validate = match params::check(&manifest, call) {
            Ok(left_to_guest) => left_to_guest,
            Err(raised) => return Ok(Report { tier, ..ended(skill, Outcome::Raised(raised)) }),
        };
        if let (Tier::InProcess, Some(held)) = (tier, &held)
            && let Some(denial) = held.needs_isolation()
        {
            let denials = vec![denial];
            trail.map_or(Ok(()), |trail| trail.refused(&denials))?;
            return Ok(Report { tier, ..refused(skill, denials) });
        }
        let denials = Arc::new(trail.map_or_else(Denials::default, |trail| Denials::audited(trail.clone())));
        let venv = self.venv(&requirements(&manifest), &[])?;
        let job = Job {
            skill,
            venv: &venv,
            limits: &call.limits,
            env: &call.env,
            mounts: held.as_ref().map_or(Ok(Vec::new()), |held| held.folders(self))?,
            web: held.as_ref().map_or(Ok(None), |held| held.web(self, &denials, &call.limits))?,
            door: door(call, validate)?,
            denials: denials.clone(),
        };
        let ran = tier::run(tier, job)?;
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
        Ok(report)
    }
}

impl Host {
    /// Whether a skill says that it needs packages.
    pub(super) fn requires_packages(&self, skill: &Skill) -> Result<bool, HostError> {
        let manifest = self.baker(false)?.manifest(skill)?.unwrap_or_default();
        Ok(!requirements(&manifest).is_empty())
    }
}

/// What a manifest says that the skill needs. What is no list of texts is nothing.
fn requirements(manifest: &Value) -> Vec<String> {
    let list = manifest["requirements"].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|line| line.as_str().map(str::to_owned)).collect()
}
