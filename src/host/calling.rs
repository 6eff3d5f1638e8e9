//! Calls: the one way to execute a skill. What it may do is settled first, then a cell is made, from the skill's image
//! or by importing it, and run to its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::grants::{self, Held};
use super::tiers::Elsewhere;
use super::{Host, HostError, on_enough_stack, params};
use crate::audit::Trail;
use crate::call::{Call, ImageUse, Outcome, Report, Usage};
use crate::cell::{Cell, Inputs};
use crate::door::{Denials, Door};
use crate::image::{BakeError, Baker, Image, Start, Told};
use crate::limits::LimitKind;
use crate::policy::{Denial, early_denials};
use crate::runtime::wasi_python;
use crate::skill::Skill;
use crate::tier::Tier;

/// The longest params, config and environment together, as JSON.
pub(super) const MAX_PARAMS_BYTES: usize = 64 << 20;

/// A report, or why there is none from a cell.
type InCell = Result<Report, Elsewhere>;

/// What a call may do, and where that is recorded.
type Power<'a> = (Option<&'a Held>, Option<&'a Arc<Trail>>);

impl Host {
    /// Calls a skill in a fresh cell, on this thread if it has enough stack left.
    pub fn call(&self, skill: &Skill, call: &Call) -> Result<Report, HostError> {
        on_enough_stack(|| self.call_here(skill, call))
    }

    fn call_here(&self, skill: &Skill, call: &Call) -> Result<Report, HostError> {
        let Some(log) = &call.audit else { return self.make(skill, call, None) };
        let trail = log.begin(skill.id(), skill.digest(), call)?;
        let done = self.make(skill, call, Some(&trail));
        trail.end(&done)?;
        done
    }

    fn make(&self, skill: &Skill, call: &Call, trail: Option<&Arc<Trail>>) -> Result<Report, HostError> {
        let started = Instant::now();
        grants::check_env(call)?;
        let called = match self.approved(skill, call)? {
            Ok(call) => self.in_some_tier(skill, &call, trail),
            Err(denial) => {
                let denials = vec![denial];
                trail.map_or(Ok(()), |trail| trail.refused(&denials))?;
                Ok(refused(skill, denials))
            }
        };
        let mut report = match called {
            Ok(report) => report,
            // A skill that fails or overruns while it is imported is an outcome like any other.
            Err(HostError::Bake(BakeError::Ended(ending))) => {
                Report { stdout: ending.stdout, stderr: ending.stderr, ..ended(skill, ending.outcome) }
            }
            Err(HostError::Bake(BakeError::TooLow(limit))) => ended(skill, Outcome::Exceeded(limit, None)),
            Err(error @ HostError::Bake(BakeError::Damaged(_))) => {
                // This call is lost; what it missed is made again, so that the next one finds it.
                self.fetch_stdlib()?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        report.usage.wall = started.elapsed();
        Ok(report)
    }

    /// In a cell; or elsewhere, where that can't be and the operator did not insist.
    pub(super) fn in_cell(&self, skill: &Skill, call: &Call, trail: Option<&Arc<Trail>>) -> Result<Report, HostError> {
        let called =
            if call.use_image { self.with_image(skill, call, trail) } else { self.without_image(skill, call, trail) };
        match called {
            Ok(Ok(report)) => Ok(report),
            Ok(Err(elsewhere)) => self.elsewhere(&elsewhere, skill, call, trail),
            Err(HostError::Bake(BakeError::Ended(ending))) => match Elsewhere::lacking(&ending.outcome, call) {
                Some(why) => self.elsewhere(&why, skill, call, trail),
                None => Err(BakeError::Ended(ending).into()),
            },
            Err(error) => Err(error),
        }
    }

    fn with_image(&self, skill: &Skill, call: &Call, trail: Option<&Arc<Trail>>) -> Result<InCell, HostError> {
        let metered = call.limits.fuel.is_some();
        let (image, baked) = self.image(skill, metered, &call.limits)?;
        if let Some(elsewhere) = Elsewhere::asked_by(&image.report.manifest, skill, call) {
            return Ok(Err(elsewhere));
        }
        if let Some(elsewhere) = self.better_elsewhere(image.site.as_deref(), skill, call)? {
            return Ok(Err(elsewhere));
        }
        trail.inspect(|trail| trail.made_in(Some(Tier::Wasm)));
        let skill = &skill.furnished(image.site.clone());
        let about = Some(ImageUse { key: image.key.clone(), baked });
        let held = match self.held(skill, (&image.report.manifest, &image.report.early_imports), call, trail)? {
            Ok(held) => held,
            Err(denials) => return Ok(Ok(Report { image: about, ..refused(skill, denials) })),
        };
        let granted = held.as_ref().map(|held| held.call(call)).transpose()?;
        let call = granted.as_deref().unwrap_or(call);
        let left_to_guest = match params::check(&image.report.manifest, call) {
            Ok(left_to_guest) => left_to_guest,
            Err(raised) => return Ok(Ok(Report { image: about, ..ended(skill, Outcome::Raised(raised)) })),
        };
        if image.report.must_import(&call.env, &call.grants.deny_imports) {
            return self.import_and_run(skill, call, Start::Framework, (held.as_ref(), trail)).map(Ok);
        }
        if !image.memories.fits(&call.limits) {
            return Ok(Ok(Report { image: about, ..ended(skill, Outcome::Exceeded(LimitKind::Memory, None)) }));
        }
        let started = Instant::now();
        let (baker, inputs) = self.inputs(skill, &image, call, left_to_guest)?;
        let cell = baker.machine.rested_cell(&image.memories, inputs)?;
        let retire = |cell| baker.machine.retire(cell, &image.memories);
        let power = (held.as_ref(), trail);
        let report = self.run(skill, (cell, retire), (image.state.entry, started), call, power)?;
        Ok(Ok(Report { image: about, ..report }))
    }

    /// What the manifest asks for is read before the skill is run, in a cell of its own: what it is granted of the
    /// environment is there when it is imported.
    fn without_image(&self, skill: &Skill, call: &Call, trail: Option<&Arc<Trail>>) -> Result<InCell, HostError> {
        let baker = self.baker(call.limits.fuel.is_some())?;
        let Told { manifest, early_imports } = baker.told(skill)?;
        trail.inspect(|trail| trail.made_in(Some(Tier::Wasm)));
        let Some(manifest) = manifest else {
            // Importing it raises, and says why. Should it not, nothing is given to it.
            return self.import_and_run(skill, call, Start::Boot, (None, trail)).map(Ok);
        };
        if let Some(elsewhere) = Elsewhere::asked_by(&manifest, skill, call) {
            return Ok(Err(elsewhere));
        }
        let skill = &baker.furnished(skill, Some(&manifest))?;
        let report = match self.held(skill, (&manifest, &early_imports), call, trail)? {
            Err(denials) => Ok(refused(skill, denials)),
            Ok(None) => self.import_and_run(skill, call, Start::Boot, (None, trail)),
            Ok(Some(held)) => self.import_and_run(skill, &*held.call(call)?, Start::Boot, (Some(&held), trail)),
        };
        report.map(Ok)
    }

    /// Imports the skill in the call's own cell.
    fn import_and_run(
        &self,
        skill: &Skill,
        call: &Call,
        start: Start,
        (held, trail): Power<'_>,
    ) -> Result<Report, HostError> {
        let baker = self.baker(call.limits.fuel.is_some())?;
        let started = Instant::now();
        let (mut cell, report) = baker.import_for(skill, call, start)?;
        match params::check(&report.manifest, call) {
            Ok(leave_to_guest) => cell.store().data_mut().door = door(call, leave_to_guest)?,
            Err(raised) => return Ok(ended(skill, Outcome::Raised(raised))),
        }
        self.run(skill, (cell, drop), (report.entry, started), call, (held, trail))
    }

    /// What a call holds of what its skill asks for, ready to be given; or what it lacks.
    pub(super) fn held(
        &self,
        skill: &Skill,
        (manifest, early_imports): (&serde_json::Value, &BTreeMap<String, String>),
        call: &Call,
        trail: Option<&Arc<Trail>>,
    ) -> Result<Result<Option<Held>, Vec<Denial>>, HostError> {
        let approve = self.shared.approvals.as_ref().map(|approvals| approvals.command(skill));
        let mut decided = grants::decide(skill, manifest, call, approve.as_deref());
        if call.refuse_imports {
            let early = early_denials(skill.id(), early_imports, &call.grants.allow_imports);
            decided = match decided {
                Ok(_) if !early.is_empty() => Err(early),
                Err(denials) => Err(early.into_iter().chain(denials).collect()),
                fine => fine,
            };
        }
        match decided {
            Err(denials) => {
                trail.map_or(Ok(()), |trail| trail.refused(&denials))?;
                Ok(Err(denials))
            }
            Ok(None) => Ok(Ok(None)),
            Ok(Some(effective)) => {
                // The secrets are read first, so that no line has their values.
                let mut held = Held::new(effective.grants.clone(), call.map_paths)?;
                trail.map_or(Ok(()), |trail| trail.grants(&call.grants, &effective, held.scrubber()))?;
                held.unused = effective.unused;
                Ok(Ok(Some(held)))
            }
        }
    }

    /// Runs a cell to its end. One that got there by itself is retired, any other is thrown away.
    pub(super) fn run(
        &self,
        skill: &Skill,
        (mut cell, retire): (Cell, impl FnOnce(Cell)),
        (entry, started): (u32, Instant),
        call: &Call,
        (held, trail): Power<'_>,
    ) -> Result<Report, HostError> {
        if let Some(trail) = trail {
            cell.store().data_mut().door.denials = Some(Arc::new(Denials::audited(trail.clone())));
        }
        if let Some(held) = held {
            held.give(self, &mut cell, &call.limits)?;
        }
        if let Some(trail) = trail {
            cell.store().data_mut().wasi.vfs.watch(trail.clone());
        }
        let made = Instant::now();
        let ran = wasi_python::enter(&mut cell, entry);
        let whole = ran.is_ok();
        let mut ending = cell.ending(ran);
        if let Some(site) = skill.site() {
            site.packages.explain_outcome(&mut ending.outcome);
        }
        let denials = cell.state().door.denials.as_ref().map(|denials| denials.take()).unwrap_or_default();
        let done = Instant::now();
        if whole {
            retire(cell)
        } else {
            drop(cell)
        }
        let teardown = done.elapsed();
        if let Some(fault) = ending.source_fault {
            return Err(BakeError::Damaged(fault).into());
        }
        let usage = Usage {
            setup: made - started,
            guest: done - made,
            teardown,
            memory_peak_bytes: ending.memory_peak_bytes,
            host_calls: ending.host_calls,
            fuel: call.limits.fuel.zip(ending.fuel_left).map(|(given, left)| given.saturating_sub(left)),
            ..Usage::default()
        };
        let (stdout, stderr) = (ending.stdout, ending.stderr);
        let mut report = Report { denials, usage, stdout, stderr, ..ended(skill, ending.outcome) };
        if let Some(held) = held {
            held.map_back(&mut report, &call.limits);
            held.scrub(&mut report);
        }
        Ok(report)
    }

    /// Makes a call and keeps its cell, for measuring.
    pub(crate) fn leave_alive(&self, skill: &Skill, call: &Call) -> Result<Cell, HostError> {
        let (image, _) = self.image(skill, false, &call.limits)?;
        let skill = &skill.furnished(image.site.clone());
        let (baker, inputs) = self.inputs(skill, &image, call, false)?;
        let mut cell = baker.machine.cell(&image.memories, inputs)?;
        let _ = wasi_python::enter(&mut cell, image.state.entry);
        Ok(cell)
    }

    fn inputs(
        &self,
        skill: &Skill,
        image: &Image,
        call: &Call,
        validate: bool,
    ) -> Result<(Baker<'_>, Inputs), HostError> {
        let baker = self.baker(call.limits.fuel.is_some())?;
        let inputs = baker.inputs(skill.mounts(), door(call, validate)?, &call.limits, image.state.monotonic_ns);
        Ok((baker, inputs))
    }
}

/// A report of a call that no cell was made for, to be completed.
pub(super) fn ended(skill: &Skill, outcome: Outcome) -> Report {
    Report {
        skill: skill.id().to_owned(),
        outcome,
        denials: Vec::new(),
        unused_grants: Vec::new(),
        stdout: Vec::new(),
        stderr: Vec::new(),
        usage: Usage::default(),
        image: None,
        tier: Tier::Wasm,
        tier_reason: None,
    }
}

pub(super) fn refused(skill: &Skill, denials: Vec<Denial>) -> Report {
    Report { denials, ..ended(skill, Outcome::Refused) }
}

pub(super) fn door(call: &Call, validate: bool) -> Result<Door, HostError> {
    let packed = params::pack(call, validate);
    if packed.len() > MAX_PARAMS_BYTES {
        return Err(HostError::ParamsTooLarge { got: packed.len(), cap: MAX_PARAMS_BYTES });
    }
    Ok(Door { call: packed, result_cap: call.limits.result_bytes, ..Door::default() })
}
