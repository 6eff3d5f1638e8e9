//! The tiers behind one interface: `prepare` makes what a call runs on, cached by content; `run` executes the call.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::active_grants::ActiveGrants;
use super::calling::{NotCarriedOut, call_door};
use super::parts::Shared;
use super::{Host, HostError, notes};
use crate::call::{Call, ImageUse, Note, Outcome, Usage};
use crate::entry::WrittenFile;
use crate::plan::{Plan, Preparation, RuledOut, WhyNot};
use crate::scripts::outside;
use crate::session::{Bound, Kept, SessionEnd, Turn};
use skillcell_cell::call_python;
use skillcell_cell::image::{BakeError, Baker, Image, ImportFor, Start, note_of_bake};
use skillcell_cell::{Cell, EngineError, Inputs, NextCall};
use skillcell_door::Denials;
use skillcell_door::audit::Trail;
use skillcell_limits::LimitKind;
use skillcell_packages::skill::Skill;
use skillcell_policy::{Choice, Denial, Tier};
use skillcell_tiers::container::{self, ImageError};
use skillcell_tiers::{self as tier, Job, TierError};

/// Skills whose prepared tiers are kept; beyond that they are looked for again.
const MAX_KEPT: usize = 256;
/// How long a failure to prepare a tier for a skill is remembered.
const FAILURE_LIFETIME: Duration = Duration::from_secs(60);

/// What a call runs on.
pub(super) enum Prepared {
    /// The skill's image, and whether it was baked for this call.
    Image { image: Arc<Image>, baked: bool },
    /// The runtime: the call imports the skill itself.
    Runtime,
    /// The cell that the call's session has.
    Kept,
    /// Something outside of a cell.
    Outside(Arc<tier::Prepared>, Tier),
}

/// What was prepared outside of cells, and what can't be, by tier and skill.
#[derive(Default)]
pub(super) struct PreparedTiers {
    ready: HashMap<(Tier, String), Arc<tier::Prepared>>,
    failed: HashMap<(Tier, String), (Instant, WhyNot)>,
}

/// Everything that one call runs with, once it was decided about.
pub(super) struct CallContext<'a> {
    pub skill: &'a Skill,
    /// With what it was granted of the environment, and its params with the guest's paths.
    pub call: &'a Call,
    pub grants: &'a ActiveGrants,
    pub audit: &'a Arc<Trail>,
    pub denials: Arc<Denials>,
    /// Whether the guest has to check the params.
    pub validate: bool,
    /// The call's session, while it is this call's.
    pub turn: Option<SessionTurn>,
}

/// A call's turn in its session, and what the session is bound to by it if it is the first.
pub(super) struct SessionTurn {
    pub turn: Turn,
    pub bound: Bound,
    pub grants: Arc<ActiveGrants>,
}

/// How a cell is entered, and where it comes from.
struct WayIn {
    entry: u32,
    image: Option<ImageUse>,
}

/// The result of running a call, whatever the tier.
pub(super) struct RunResult {
    pub tier: Tier,
    pub outcome: Outcome,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub files: Vec<WrittenFile>,
    pub usage: Usage,
    pub image: Option<ImageUse>,
    pub denials: Vec<Denial>,
    pub notes: Vec<Note>,
}

impl RunResult {
    /// A call that ended before anything ran.
    pub fn without_output(tier: Tier, outcome: Outcome) -> RunResult {
        let (stdout, stderr, denials, notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let files = Vec::new();
        RunResult { tier, outcome, stdout, stderr, files, usage: Usage::default(), image: None, denials, notes }
    }
}

impl Host {
    /// Gets ready what a call runs on.
    pub(super) fn prepare(&self, skill: &Skill, call: &Call, plan: &Plan) -> Result<Prepared, NotCarriedOut> {
        match &plan.preparation {
            Preparation::ImportInCall => Ok(Prepared::Runtime),
            Preparation::SkillImage => match self.get_or_bake(skill, call.limits.fuel.is_some(), &call.limits) {
                Ok((image, baked)) => Ok(Prepared::Image { image, baked }),
                Err(HostError::Bake(error)) => Err(self.not_imported(error, skill, call)),
                Err(error) => Err(error.into()),
            },
            Preparation::Environment { .. } | Preparation::ContainerImage { .. } => {
                Ok(Prepared::Outside(self.prepare_outside(plan, skill, call)?, plan.tier))
            }
        }
    }

    /// Runs a call on what was prepared for it.
    pub(super) fn run(&self, prepared: Prepared, context: CallContext<'_>) -> Result<RunResult, NotCarriedOut> {
        match prepared {
            Prepared::Image { image, baked } => self.run_from_image(&image, baked, context),
            Prepared::Runtime => {
                let known = self.known_facts(context.skill, context.call)?;
                let skill = &context.skill.with_site(known.site_on(context.skill.runtime()));
                self.import_and_run(Start::Boot, CallContext { skill, ..context })
            }
            Prepared::Kept => self.run_kept(context),
            Prepared::Outside(prepared, tier) => self.run_outside(&prepared, tier, context),
        }
    }

    fn run_from_image(
        &self,
        image: &Arc<Image>,
        baked: bool,
        context: CallContext<'_>,
    ) -> Result<RunResult, NotCarriedOut> {
        let CallContext { call, .. } = context;
        let skill = &context.skill.with_site(image.site.clone());
        let context = CallContext { skill, ..context };
        // At import the skill read a variable or imported a module that this call sets or denies, or left files open: the
        // image can't serve it.
        if image.report.must_import(&call.env, &call.grants.deny_imports) {
            return self.import_and_run(Start::Framework, context);
        }
        let about = Some(ImageUse { key: image.key.clone(), baked });
        if !image.memories.fits_within(&call.limits) {
            return Ok(RunResult {
                image: about,
                ..RunResult::without_output(Tier::Wasm, limit_exceeded(LimitKind::Memory))
            });
        }
        let started = Instant::now();
        let baker = self.baker(skill.runtime(), call.limits.fuel.is_some())?;
        let inputs = cell_inputs(&baker, image, &context)?;
        let cell = match image.machine.rested_cell(&image.memories, inputs) {
            Ok(cell) => cell,
            Err(EngineError::NoSlot) => return Ok(RunResult { image: about, ..no_slot(call) }),
            Err(error) => return Err(error.into()),
        };
        let retire = |cell| image.machine.retire(cell, &image.memories);
        let way_in = WayIn { entry: image.state.entry, image: about };
        self.run_and_leave(cell, retire, way_in, started, context)
    }

    /// Goes on in the cell of the call's session.
    fn run_kept(&self, mut context: CallContext<'_>) -> Result<RunResult, NotCarriedOut> {
        let started = Instant::now();
        let call = context.call;
        // Made before the cell is taken: params that are too long don't end the session.
        let door = call_door(call, context.validate)?;
        let machine = self.machine(context.skill.runtime(), call.limits.fuel.is_some())?;
        let Some(SessionTurn { turn, bound, .. }) = &mut context.turn else { return Err(session_lost()) };
        if turn.kept().is_some_and(|kept| kept.cell.memory_bytes() > call.limits.memory_bytes) {
            // As with an image that is too large: nothing runs. The session goes on, with calls that allow for its size.
            return Ok(RunResult::without_output(Tier::Wasm, limit_exceeded(LimitKind::Memory)));
        }
        let Some(kept) = turn.take_kept() else { return Err(session_lost()) };
        let Kept { cell, entry, image, site, bound: first, .. } = *kept;
        let limits = first.narrow_limits(&call.limits);
        // The session stays bound to what its first call came with.
        *bound = first;
        let next = NextCall { door, limits, cancel: call.cancel.clone(), deadline: turn.deadline };
        let cell = machine.rearm_cell(cell, next)?;
        let skill = &context.skill.with_site(site);
        self.run_and_leave(cell, drop, WayIn { entry, image }, started, CallContext { skill, ..context })
    }

    /// Runs a cell to its end. In a session it is kept for the next call, if it got there by itself; without one it is
    /// retired.
    fn run_and_leave(
        &self,
        cell: Cell,
        retire: impl FnOnce(Cell),
        way_in: WayIn,
        started: Instant,
        mut context: CallContext<'_>,
    ) -> Result<RunResult, NotCarriedOut> {
        let WayIn { entry, image } = way_in;
        let Some(SessionTurn { mut turn, bound, grants }) = context.turn.take() else {
            return Ok(RunResult { image, ..self.run_cell(cell, retire, entry, started, &context)? });
        };
        turn.start_running();
        let mut left = None;
        let ran = self.run_cell(cell, |cell| left = Some(cell), entry, started, &context)?;
        let site = context.skill.shared_site();
        match (SessionEnd::of_outcome(&ran.outcome), left) {
            (None, Some(cell)) => {
                let cell = self.machine(context.skill.runtime(), context.call.limits.fuel.is_some())?.keep_cell(cell);
                let image = image.clone().map(|image| ImageUse { baked: false, ..image });
                turn.keep(Box::new(Kept { cell, entry, image, site, grants, bound }));
            }
            (end, _) => turn.end(end.unwrap_or(SessionEnd::Crashed)),
        }
        Ok(RunResult { image, ..ran })
    }

    /// Imports the skill in the call's own cell: what it is granted of the environment is there by then.
    fn import_and_run(&self, start: Start, context: CallContext<'_>) -> Result<RunResult, NotCarriedOut> {
        let CallContext { skill, call, validate, .. } = context;
        let baker = self.baker(skill.runtime(), call.limits.fuel.is_some())?;
        let started = Instant::now();
        let import = ImportFor {
            limits: &call.limits,
            cancel: &call.cancel,
            env: &call.env,
            deny_imports: &call.grants.deny_imports,
        };
        let (mut cell, report) = match baker.import_for(skill, &import, start) {
            Ok(imported) => imported,
            Err(error) => return Err(self.not_imported(error, skill, call)),
        };
        cell.store().data_mut().door = call_door(call, validate)?;
        self.run_and_leave(cell, drop, WayIn { entry: report.entry, image: None }, started, context)
    }

    /// Handles a failed import in a cell: it is the outcome of the call, or the call is tried in another tier, or it is an error.
    fn not_imported(&self, error: BakeError, skill: &Skill, call: &Call) -> NotCarriedOut {
        match error {
            BakeError::Ended(ending) => {
                if let Outcome::Raised(raised) = &ending.outcome
                    && let Some(missing) = &raised.missing
                    && call.tier != Choice::Tier(Tier::Wasm)
                {
                    let why = WhyNot::Missing(missing.clone());
                    let runtime = Some(skill.runtime());
                    return NotCarriedOut::RuledOut(RuledOut { tier: Tier::Wasm, runtime, why });
                }
                let notes = note_of_bake(skill, &ending).into_iter().collect();
                let ran = RunResult { notes, ..RunResult::without_output(Tier::Wasm, ending.outcome) };
                NotCarriedOut::Ended(Box::new(RunResult { stdout: ending.stdout, stderr: ending.stderr, ..ran }))
            }
            BakeError::Engine(EngineError::NoSlot) => NotCarriedOut::Ended(Box::new(no_slot(call))),
            BakeError::TooLow(limit) => {
                NotCarriedOut::Ended(Box::new(RunResult::without_output(Tier::Wasm, limit_exceeded(limit))))
            }
            error @ BakeError::Damaged(_) => {
                // This call is lost; what it missed is made again, so that the next one finds it.
                match self.fetch_stdlib() {
                    Ok(()) => HostError::from(error).into(),
                    Err(failed) => failed.into(),
                }
            }
            error => HostError::from(error).into(),
        }
    }

    /// Runs a cell to its end. One that got there by itself is retired, any other is thrown away.
    pub(super) fn run_cell(
        &self,
        mut cell: Cell,
        retire: impl FnOnce(Cell),
        entry: u32,
        started: Instant,
        context: &CallContext<'_>,
    ) -> Result<RunResult, HostError> {
        let CallContext { skill, call, grants, audit, denials, .. } = context;
        cell.store().data_mut().door.denials = Some(denials.clone());
        cell.store().data_mut().wasi.vfs.set_stdin(call.entry.input());
        grants.apply_to_cell(self, &mut cell, &call.limits)?;
        if let Some(on_output) = &call.on_output {
            on_output.follow_cell(&mut cell, grants.scrubber());
        }
        if !audit.is_null() {
            cell.store().data_mut().wasi.vfs.watch((*audit).clone());
        }
        let made = Instant::now();
        let entered = call_python(&mut cell, entry);
        let ended_by_itself = entered.is_ok();
        let mut ending = cell.take_ending(entered);
        if let Some(site) = skill.site() {
            site.packages.explain_outcome(&mut ending.outcome);
        }
        let mut notes = notes::on_modules(&cell.state().door.loaded, skill);
        let done = Instant::now();
        // Only a cell that returned normally is reused: after a trap its state is unknown.
        if ended_by_itself {
            retire(cell)
        } else {
            drop(cell)
        }
        let teardown = done.elapsed();
        if let Some(fault) = ending.source_fault {
            self.fetch_stdlib()?;
            return Err(BakeError::Damaged(fault).into());
        }
        if let Some(fault) = ending.part_fault {
            return Err(EngineError::from(fault).into());
        }
        notes.extend(notes::on_parts(ending.waited_for_parts));
        let mut usage = Usage::default();
        usage.setup = made - started;
        usage.guest = done - made;
        usage.teardown = teardown;
        usage.memory_peak_bytes = ending.memory_peak_bytes;
        usage.host_calls = ending.host_calls;
        usage.fuel = call.limits.fuel.zip(ending.fuel_left).map(|(given, left)| given.saturating_sub(left));
        let (stdout, stderr, files) = (ending.stdout, ending.stderr, ending.files);
        let ran = RunResult { stdout, stderr, files, usage, ..RunResult::without_output(Tier::Wasm, ending.outcome) };
        notes.extend(denials.take_notes());
        Ok(RunResult { notes, denials: denials.take(), ..ran })
    }

    fn run_outside(
        &self,
        prepared: &tier::Prepared,
        tier: Tier,
        context: CallContext<'_>,
    ) -> Result<RunResult, NotCarriedOut> {
        let CallContext { skill, call, grants, denials, validate, .. } = context;
        let job = Job {
            skill,
            prepared,
            limits: &call.limits,
            cancel: &call.cancel,
            env: &call.env,
            mounts: grants.real_folders()?,
            sandbox: self.shared.sandbox,
            web: grants.http_session(self, &denials, &call.limits, &call.cancel)?,
            door: call_door(call, validate)?,
            denials: denials.clone(),
            stdin: outside::encode_input(call),
        };
        // Somebody may have removed the image or the environment. Forget it, so that the next call looks again.
        let ran = tier::run(job).inspect_err(|_| {
            self.prepared_tiers().forget_ready(tier, skill);
            tier::forget_tier(tier);
        });
        let ran = ran.map_err(HostError::from)?;
        let (stdout, stderr) = (ran.stdout, ran.stderr);
        let ran = RunResult { stdout, stderr, usage: ran.usage, ..RunResult::without_output(tier, ran.outcome) };
        let ran = outside::take_end(call, ran);
        Ok(RunResult { notes: denials.take_notes(), denials: denials.take(), ..ran })
    }

    /// What the skill's calls run on outside of cells, made once.
    fn prepare_outside(&self, plan: &Plan, skill: &Skill, call: &Call) -> Result<Arc<tier::Prepared>, NotCarriedOut> {
        let tier = plan.tier;
        if let Some(ready) = self.prepared_tiers().get(tier, skill)? {
            return Ok(ready);
        }
        match self.make_outside(tier, skill) {
            Ok(ready) => Ok(self.prepared_tiers().keep_ready(tier, skill, ready)),
            Err(HostError::Tier(error @ (TierError::Image(_) | TierError::Unavailable { .. })))
                if call.tier != Choice::Tier(tier) || is_refusal(&error) =>
            {
                let why = WhyNot::Unprepared { message: error.to_string(), hint: error.hint() };
                // A bad manifest or Dockerfile stays bad, so the failure is remembered. But the engine itself may have failed,
                // so its availability is checked again.
                if matches!(error, TierError::Image(_)) {
                    self.prepared_tiers().keep_failure(tier, skill, why.clone());
                    tier::forget_tier(tier);
                }
                Err(NotCarriedOut::RuledOut(RuledOut { tier, runtime: None, why }))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes what a skill's calls run on in a tier, if it is not in the cache.
    pub(super) fn make_outside(&self, tier: Tier, skill: &Skill) -> Result<tier::Prepared, HostError> {
        let manifest = self.known_facts(skill, &Call::default())?.manifest.clone();
        let wanted = skill.wanted(&manifest.requirements);
        match tier {
            Tier::Container => Ok(tier::Prepared::Image(self.container_maker().make(skill, &manifest, &wanted)?)),
            Tier::InProcess => {
                self.shared.progress.note(&format!(
                    "warning: in `{tier}` `{}` can read and change all of your files, use your keys and reach any network",
                    skill.id()
                ));
                Ok(tier::Prepared::Bare(self.venv_with(&wanted)?))
            }
            _ => Ok(tier::Prepared::Environment(self.venv_with(&wanted)?)),
        }
    }

    pub(super) fn container_maker(&self) -> container::Maker<'_> {
        let Shared { cache, fetch, progress, containers, .. } = &*self.shared;
        container::Maker { cache, fetch, progress: &**progress, containers }
    }

    fn prepared_tiers(&self) -> std::sync::MutexGuard<'_, PreparedTiers> {
        self.shared.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call and keeps its cell, for measuring.
    pub fn leave_alive(&self, skill: &Skill, call: &Call) -> Result<Cell, HostError> {
        let skill = &self.on_its_runtime(skill)?;
        let (image, _) = self.get_or_bake(skill, false, &call.limits)?;
        let skill = &skill.with_site(image.site.clone());
        let baker = self.baker(skill.runtime(), false)?;
        let door = call_door(call, false)?;
        let inputs = baker.cell_inputs(skill.mounts(), door, &call.limits, image.state.monotonic_ns);
        let mut cell = image.machine.new_cell(&image.memories, inputs)?;
        let _ = call_python(&mut cell, image.state.entry);
        Ok(cell)
    }
}

impl PreparedTiers {
    /// What is ready, or why it can't be, as far as that is known.
    fn get(&self, tier: Tier, skill: &Skill) -> Result<Option<Arc<tier::Prepared>>, NotCarriedOut> {
        let key = (tier, skill.content_key());
        if let Some((since, why)) = self.failed.get(&key)
            && since.elapsed() < FAILURE_LIFETIME
        {
            return Err(NotCarriedOut::RuledOut(RuledOut { tier, runtime: None, why: why.clone() }));
        }
        Ok(self.ready.get(&key).cloned())
    }

    fn keep_ready(&mut self, tier: Tier, skill: &Skill, ready: tier::Prepared) -> Arc<tier::Prepared> {
        if self.ready.len() >= MAX_KEPT {
            self.ready.clear();
        }
        let ready = Arc::new(ready);
        self.ready.insert((tier, skill.content_key()), ready.clone());
        ready
    }

    fn keep_failure(&mut self, tier: Tier, skill: &Skill, why: WhyNot) {
        if self.failed.len() >= MAX_KEPT {
            self.failed.clear();
        }
        self.failed.insert((tier, skill.content_key()), (Instant::now(), why));
    }

    fn forget_ready(&mut self, tier: Tier, skill: &Skill) {
        self.ready.remove(&(tier, skill.content_key()));
    }
}

fn cell_inputs(baker: &Baker<'_>, image: &Image, context: &CallContext<'_>) -> Result<Inputs, HostError> {
    let door = call_door(context.call, context.validate)?;
    let inputs = baker.cell_inputs(context.skill.mounts(), door, &context.call.limits, image.state.monotonic_ns);
    Ok(Inputs { cancel: context.call.cancel.clone(), ..inputs })
}

/// A call found its session without the cell that was there before.
fn session_lost() -> NotCarriedOut {
    NotCarriedOut::Refused(SessionEnd::Failed.denial())
}

/// No cell could be had for the call until its deadline, or until it was cancelled.
fn no_slot(call: &Call) -> RunResult {
    RunResult::without_output(Tier::Wasm, if call.cancel.is_cancelled() { Outcome::Cancelled } else { Outcome::Busy })
}

/// Whether the failure of a tier that the operator named is a refusal: it is unavailable, or its image may not be pulled.
/// Any other failure is an error then, since no other tier may be used instead.
fn is_refusal(error: &TierError) -> bool {
    matches!(error, TierError::Unavailable { .. } | TierError::Image(ImageError::Unpulled { .. }))
}

fn limit_exceeded(limit: LimitKind) -> Outcome {
    Outcome::Exceeded(limit, None)
}
