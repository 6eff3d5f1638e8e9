//! The host: what a program that runs skills holds on to. One way to call, from any thread.
//!
//! ```no_run
//! use skillcell::{Call, Host, Outcome};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let host = Host::builder().build()?;
//! let skill = host.skill("optimization/prompt_rewriter")?;
//! let report = host.call(&skill, &Call::new(serde_json::json!({"raw_text": "Could you please help"})))?;
//! match report.outcome {
//!     Outcome::Returned(result) => println!("{result}"),
//!     other => eprintln!("{}", other.name()),
//! }
//! # Ok(())
//! # }
//! ```

mod approved;
mod builder;
mod command;
mod environment;
mod grants;
mod json_strings;
mod map_paths;
mod params;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

pub use self::builder::HostBuilder;
pub use self::grants::GrantError;
use self::grants::Held;
use crate::approvals::{ApprovalError, Approvals};
use crate::audit::{AuditError, Trail};
use crate::cache::{Cache, Pack};
use crate::call::{Call, ImageUse, Outcome, Report, Usage};
use crate::cell::engine::STACK_NEEDED;
use crate::cell::{Cell, EngineError, Inputs, Machine};
use crate::door::{Denials, Door};
use crate::http::{ClientSettings, HttpClient, Lookup};
use crate::image::{BakeError, BakeReport, Baker, Image, Start, WarmUp};
use crate::limits::{LimitKind, Limits};
use crate::policy::Denial;
use crate::progress::Progress;
use crate::provision::{self, Fetch};
use crate::runtime::files::CommonFiles;
use crate::runtime::{Runtime, RuntimeError, wasi_python};
use crate::skill::{Roots, Skill, SkillError};
use crate::venv::VenvError;
use crate::vfs::Mount;

/// Runs skills in cells. Clones share everything.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
}

struct Shared {
    cache: Cache,
    fetch: Fetch,
    progress: Arc<dyn Progress + Send + Sync>,
    roots: Roots,
    ca_files: Vec<PathBuf>,
    approvals: Option<Approvals>,
    lookup: Option<Arc<dyn Lookup>>,
    /// Made for the first call that is granted something of the web.
    http: OnceLock<Arc<HttpClient>>,
    registry: OnceLock<Pack>,
    files: OnceLock<CommonFiles>,
    /// The plain machine, and the one that counts fuel.
    machines: [OnceLock<Machine>; 2],
    /// Held while something of the above is made, so that it is made once.
    making: Mutex<()>,
    images: Mutex<HashMap<(String, bool), Arc<Image>>>,
}

/// Why the host could not do its part. What a skill does is never an error: see [`Outcome`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Skill(#[from] SkillError),
    #[error(transparent)]
    Bake(#[from] BakeError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Cache(#[from] crate::cache::Error),
    #[error(transparent)]
    Provision(#[from] provision::Error),
    #[error(transparent)]
    Venv(#[from] VenvError),
    #[error(transparent)]
    Grant(#[from] GrantError),
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[error("the params are {got} bytes as JSON, and may be {cap}")]
    ParamsTooLarge { got: usize, cap: usize },
}

impl HostError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            HostError::Cache(error) | HostError::Runtime(RuntimeError::Cache(error)) => error.hint(),
            HostError::Bake(BakeError::Cache(error) | BakeError::Runtime(RuntimeError::Cache(error))) => error.hint(),
            HostError::Provision(error) | HostError::Runtime(RuntimeError::Provision(error)) => error.hint(),
            HostError::Bake(BakeError::Runtime(RuntimeError::Provision(error))) => error.hint(),
            HostError::Audit(error) => error.hint(),
            HostError::Venv(error) => error.hint(),
            HostError::Bake(BakeError::Damaged(_)) => {
                Some("call again: what was damaged was removed and is made anew".into())
            }
            HostError::Approval(error) => error.hint(),
            HostError::Grant(error) => error.hint(),
            HostError::Skill(SkillError::Find(_)) => Some(
                "a skill is a folder with a `skill.py`, or an id in SKILLWARE_SKILL_PATH, ./skills or the registry"
                    .into(),
            ),
            _ => None,
        }
    }
}

/// What a call may do, and where that is recorded.
type Power<'a> = (Option<&'a Held>, Option<&'a Arc<Trail>>);

/// Images that a host keeps mapped; another one is opened again when it is needed.
const MAX_IMAGES: usize = 64;
/// The longest params, config and environment together, as JSON.
const MAX_PARAMS_BYTES: usize = 64 << 20;

impl Host {
    /// Settings, all of which have defaults.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Finds a skill by path or id, and reads its files.
    pub fn skill(&self, name: &str) -> Result<Skill, HostError> {
        Ok(Skill::find(name, &self.shared.roots, self.registry()?)?)
    }

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
            Ok(call) if call.use_image => self.with_image(skill, &call, trail),
            Ok(call) => self.without_image(skill, &call, trail),
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
                let Shared { cache, fetch, progress, .. } = &*self.shared;
                provision::stdlib_bytes(cache, fetch, &**progress)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        report.usage.wall = started.elapsed();
        Ok(report)
    }

    fn with_image(&self, skill: &Skill, call: &Call, trail: Option<&Arc<Trail>>) -> Result<Report, HostError> {
        let metered = call.limits.fuel.is_some();
        let (image, baked) = self.image(skill, metered, &call.limits)?;
        let about = Some(ImageUse { key: image.key.clone(), baked });
        let held = match self.held(skill, &image.report.manifest, call, trail)? {
            Ok(held) => held,
            Err(denials) => return Ok(Report { image: about, ..refused(skill, denials) }),
        };
        let granted = held.as_ref().map(|held| held.call(call)).transpose()?;
        let call = granted.as_deref().unwrap_or(call);
        let left_to_guest = match params::check(&image.report, call) {
            Ok(left_to_guest) => left_to_guest,
            Err(raised) => return Ok(Report { image: about, ..ended(skill, Outcome::Raised(raised)) }),
        };
        if image.report.must_import(&call.env, &call.grants.deny_imports) {
            return self.import_and_run(skill, call, Start::Framework, (held.as_ref(), trail));
        }
        if !image.memories.fits(&call.limits) {
            return Ok(Report { image: about, ..ended(skill, Outcome::Exceeded(LimitKind::Memory, None)) });
        }
        let started = Instant::now();
        let (baker, inputs) = self.inputs(skill, &image, call, left_to_guest)?;
        let cell = baker.machine.rested_cell(&image.memories, inputs)?;
        let retire = |cell| baker.machine.retire(cell, &image.memories);
        let power = (held.as_ref(), trail);
        let report = self.run(skill, (cell, retire), (image.state.entry, started), call, power)?;
        Ok(Report { image: about, ..report })
    }

    /// What the manifest asks for is read before the skill is run, in a cell of its own: what it is granted of the
    /// environment is there when it is imported.
    fn without_image(&self, skill: &Skill, call: &Call, trail: Option<&Arc<Trail>>) -> Result<Report, HostError> {
        let look = self.baker(call.limits.fuel.is_some())?.look(skill)?;
        match self.held(skill, &look["manifest"], call, trail)? {
            Err(denials) => Ok(refused(skill, denials)),
            Ok(None) => self.import_and_run(skill, call, Start::Boot, (None, trail)),
            Ok(Some(held)) => self.import_and_run(skill, &*held.call(call)?, Start::Boot, (Some(&held), trail)),
        }
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
        match params::check(&report, call) {
            Ok(leave_to_guest) => cell.store().data_mut().door = door(call, leave_to_guest)?,
            Err(raised) => return Ok(ended(skill, Outcome::Raised(raised))),
        }
        self.run(skill, (cell, drop), (report.entry, started), call, (held, trail))
    }

    /// What a call holds of what its skill asks for, ready to be given; or what it lacks.
    fn held(
        &self,
        skill: &Skill,
        manifest: &serde_json::Value,
        call: &Call,
        trail: Option<&Arc<Trail>>,
    ) -> Result<Result<Option<Held>, Vec<Denial>>, HostError> {
        let approve = self.shared.approvals.as_ref().map(|approvals| approvals.command(skill));
        match grants::decide(skill, manifest, call, approve.as_deref()) {
            Err(denials) => {
                trail.map_or(Ok(()), |trail| trail.refused(&denials))?;
                Ok(Err(denials))
            }
            Ok(None) => Ok(Ok(None)),
            Ok(Some(effective)) => {
                // The secrets are read first, so that no line has their values.
                let held = Held::new(effective.grants.clone(), call.map_paths)?;
                trail.map_or(Ok(()), |trail| trail.grants(&call.grants, &effective, held.scrubber()))?;
                Ok(Ok(Some(held)))
            }
        }
    }

    /// Runs a cell to its end. One that got there by itself is retired, any other is thrown away.
    fn run(
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
        let ending = cell.ending(ran);
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

    /// Bakes a skill's image ahead, replacing one that is there.
    pub fn build(&self, skill: &Skill, warm_up: &WarmUp, limits: &Limits) -> Result<(ImageUse, BakeReport), HostError> {
        on_enough_stack(|| self.build_here(skill, warm_up, limits))
    }

    fn build_here(
        &self,
        skill: &Skill,
        warm_up: &WarmUp,
        limits: &Limits,
    ) -> Result<(ImageUse, BakeReport), HostError> {
        let baker = self.baker(limits.fuel.is_some())?;
        let image = self.repairing(|| Ok(baker.rebake(skill, warm_up, limits)?))?;
        let about = (ImageUse { key: image.key.clone(), baked: true }, image.report.clone());
        let key = (image.key.clone(), limits.fuel.is_some());
        self.keep(key, Arc::new(image));
        Ok(about)
    }

    /// The report of a skill's image, if it is baked.
    pub fn baked(&self, skill: &Skill) -> Result<Option<(ImageUse, BakeReport)>, HostError> {
        let image = self.baker(false)?.find(skill)?;
        Ok(image.map(|image| (ImageUse { key: image.key.clone(), baked: false }, image.report)))
    }

    /// What a skill's files say, without running them: its manifest and its imports.
    pub fn look(&self, skill: &Skill) -> Result<serde_json::Value, HostError> {
        on_enough_stack(|| Ok(self.baker(false)?.look(skill)?))
    }

    /// Gets everything ready that a first call would need.
    pub fn install(&self) -> Result<(), HostError> {
        self.registry()?;
        self.baker(false)?.prepare()?;
        Ok(())
    }

    /// Makes a call and keeps its cell, for measuring.
    pub(crate) fn leave_alive(&self, skill: &Skill, call: &Call) -> Result<Cell, HostError> {
        let (image, _) = self.image(skill, false, &call.limits)?;
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
        let mount = Mount::tree(&skill.guest_folder(), skill.tree());
        let inputs = baker.inputs(mount, door(call, validate)?, &call.limits, image.state.monotonic_ns);
        Ok((baker, inputs))
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.shared.cache
    }

    fn image(&self, skill: &Skill, metered: bool, limits: &Limits) -> Result<(Arc<Image>, bool), HostError> {
        let baker = self.baker(metered)?;
        let key = (baker.key(skill), metered);
        if let Some(image) = self.images().get(&key).filter(|image| !image.is_expired()) {
            return Ok((image.clone(), false));
        }
        let (image, baked) = match baker.find(skill)? {
            Some(image) => (image, false),
            None => self.repairing(|| Ok(baker.bake(skill, limits)?))?,
        };
        let image = Arc::new(image);
        self.keep(key, image.clone());
        Ok((image, baked))
    }

    /// A file of ours that turns out to be damaged is discarded; here it is fetched again, and the work done once more.
    fn repairing<T>(&self, work: impl Fn() -> Result<T, HostError>) -> Result<T, HostError> {
        match work() {
            Err(HostError::Bake(BakeError::Damaged(_))) => {
                let Shared { cache, fetch, progress, .. } = &*self.shared;
                provision::stdlib_bytes(cache, fetch, &**progress)?;
                work()
            }
            done => done,
        }
    }

    fn keep(&self, key: (String, bool), image: Arc<Image>) {
        let mut images = self.images();
        if images.len() >= MAX_IMAGES
            && let Some(other) = images.keys().find(|other| **other != key).cloned()
        {
            images.remove(&other);
        }
        images.insert(key, image);
    }

    fn images(&self) -> std::sync::MutexGuard<'_, HashMap<(String, bool), Arc<Image>>> {
        self.shared.images.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn baker(&self, metered: bool) -> Result<Baker<'_>, HostError> {
        Ok(Baker { runtime: self.runtime(), machine: self.machine(metered)?, files: self.files()? })
    }

    fn runtime(&self) -> Runtime<'_> {
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        Runtime { cache, fetch, progress: &**progress }
    }

    /// The pinned registry's skills.
    pub(crate) fn registry(&self) -> Result<&Pack, HostError> {
        self.made(&self.shared.registry, || {
            let Shared { cache, fetch, progress, .. } = &*self.shared;
            Ok(provision::registry(cache, fetch, &**progress)?)
        })
    }

    pub(crate) fn machine(&self, metered: bool) -> Result<&Machine, HostError> {
        self.made(&self.shared.machines[usize::from(metered)], || Ok(self.runtime().machine(metered)?))
    }

    fn http_client(&self) -> Result<&Arc<HttpClient>, HostError> {
        self.made(&self.shared.http, || {
            let mut settings = ClientSettings::with_ca_files(self.shared.ca_files.clone());
            settings.lookup = self.shared.lookup.clone();
            Ok(Arc::new(HttpClient::new(&settings).map_err(GrantError::from)?))
        })
    }

    fn files(&self) -> Result<&CommonFiles, HostError> {
        self.made(&self.shared.files, || {
            let (cache, progress) = (self.shared.cache.clone(), self.shared.progress.clone());
            let stdlib = move || {
                let found = provision::stdlib(&cache, &*progress).map_err(std::io::Error::other)?;
                found.ok_or_else(|| std::io::Error::other("the standard library is no longer in the cache"))
            };
            Ok(CommonFiles::open(&self.runtime(), Box::new(stdlib))?)
        })
    }

    fn made<'a, T>(
        &self,
        slot: &'a OnceLock<T>,
        make: impl FnOnce() -> Result<T, HostError>,
    ) -> Result<&'a T, HostError> {
        if let Some(made) = slot.get() {
            return Ok(made);
        }
        let _one_at_a_time = self.shared.making.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.get().is_none() {
            let _ = slot.set(make()?);
        }
        Ok(slot.get().expect("it was just set"))
    }
}

/// A cell runs on the stack of the thread that called for it. Running out of that would end the process, where running
/// out of the cell's share of it ends the call. So a thread with little left gets more, elsewhere.
fn on_enough_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK_NEEDED, 2 * STACK_NEEDED, work)
}

/// A report of a call that no cell was made for, to be completed.
fn ended(skill: &Skill, outcome: Outcome) -> Report {
    Report {
        skill: skill.id().to_owned(),
        outcome,
        denials: Vec::new(),
        stdout: Vec::new(),
        stderr: Vec::new(),
        usage: Usage::default(),
        image: None,
    }
}

fn refused(skill: &Skill, denials: Vec<Denial>) -> Report {
    Report { denials, ..ended(skill, Outcome::Refused) }
}

fn door(call: &Call, validate: bool) -> Result<Door, HostError> {
    let packed = params::pack(call, validate);
    if packed.len() > MAX_PARAMS_BYTES {
        return Err(HostError::ParamsTooLarge { got: packed.len(), cap: MAX_PARAMS_BYTES });
    }
    Ok(Door { call: packed, result_cap: call.limits.result_bytes, ..Door::default() })
}
