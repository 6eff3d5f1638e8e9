//! Makes images: boots the runtime, imports the framework, then the skill, and takes the memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::reading::InspectedFiles;
use super::snapshot::Snapshot;
use super::warming::{Imported, Warmed};
use super::{BakeReport, FORMAT, Image, Meta};
use crate::runtime::files::{CommonFiles, GUEST_FOLDER, PACKAGES_FOLDER};
use crate::runtime::{Runtime, RuntimeError};
use crate::runtime_kind::{boot_interpreter, call_python, run_source};
use crate::wasi::Stop;
use crate::{
    Cell, Ending, EngineError, HotPages, Inputs, Machine, Machines, NewImage, Precompiled, RuntimeKind, pyodide,
};
use skillcell_cache::{self as cache, Bucket};
use skillcell_door::Door;
use skillcell_limits::cancel::CancelToken;
use skillcell_limits::outcome::{Note, NoteKind, Outcome};
use skillcell_limits::{LimitKind, Limits};
use skillcell_packages::skill::Skill;
use skillcell_packages::{self as packages, Packages, SITE_FOLDER, SitePackages, SitePackagesStore};
use skillcell_policy::manifest::Manifest;
use skillcell_quote::{self as quote, ascii_json};
use skillcell_vfs::Mount;

/// What a bake report keeps of what was printed.
const MAX_REPORTED_OUTPUT: usize = 16 << 10;

/// Where images come from: the cache, or a bake.
pub struct Baker<'a> {
    pub runtime: Runtime<'a>,
    pub machine: Arc<Machine>,
    pub machines: &'a Machines,
    pub files: &'a CommonFiles,
}

/// Example params that a skill is called with before its image is taken.
#[derive(Debug, Clone, Default)]
#[deny(missing_docs)]
pub enum WarmUp {
    /// What the manifest has under `warm_up`, if anything.
    #[default]
    Manifest,
    /// These, whatever the manifest has. Traces of them may stay in the image, so nothing secret belongs here.
    Params(Value),
}

/// What a call starts from that imports its skill itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The interpreter's own start.
    Boot,
    /// An interpreter that has the framework.
    Framework,
}

/// What of a call there is while it imports its skill itself.
#[derive(Debug, Clone, Copy)]
pub struct ImportFor<'a> {
    pub limits: &'a Limits,
    pub cancel: &'a CancelToken,
    pub env: &'a BTreeMap<String, String>,
    pub deny_imports: &'a [String],
}

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum BakeError {
    /// Importing the skill ended like a call might: it raised, or went over a limit.
    #[error("{}", .0.outcome.describe())]
    Ended(Box<Ending>),
    #[error("a limit is too low to begin with: {0}")]
    TooLow(LimitKind),
    #[error("a file of the cache was damaged while it was used: {0}")]
    Damaged(String),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Cache(#[from] cache::Error),
    #[error(transparent)]
    Packages(#[from] packages::Error),
    #[error("an image can't be written")]
    Io(#[from] std::io::Error),
}

impl Baker<'_> {
    /// The key of a skill's image: everything that its content depends on.
    pub fn image_key(&self, skill: &Skill) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [&self.framework_key(), &skill.content_key(), &skill.package(), packages::resolution_basis()] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    pub(super) fn framework_key(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let (format, runtime) = (FORMAT.to_string(), self.runtime.id());
        for part in [&format, &runtime, self.machine.fingerprint(), &self.files.digest] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// A skill's image, from the cache.
    pub fn find_image(&self, skill: &Skill) -> Result<Option<Image>, BakeError> {
        self.open_image(&self.image_key(skill))
    }

    /// Whether a skill's image is in the cache and can still be used, by its seal alone.
    pub fn is_baked(&self, skill: &Skill) -> Result<bool, BakeError> {
        let meta = self.runtime.cache.meta(Bucket::Image, &file_name(&self.image_key(skill)))?;
        let meta = meta.and_then(|meta| serde_json::from_value::<Meta>(meta).ok());
        Ok(meta.is_some_and(|meta| !meta.is_expired()))
    }

    /// Bakes a skill's image, unless another process just did: then it is that one, and `false`. `recorded` finds params that its
    /// tests call it with.
    pub fn bake(
        &self,
        skill: &Skill,
        limits: &Limits,
        recorded: impl FnOnce(&Skill) -> Vec<Value>,
    ) -> Result<(Image, bool), BakeError> {
        let key = self.image_key(skill);
        let _guard = self.lock_bake(&key)?;
        match self.open_image(&key)? {
            Some(image) => Ok((image, false)),
            None => Ok((self.bake_now(skill, &key, &WarmUp::Manifest, limits, recorded)?, true)),
        }
    }

    /// Bakes a skill's image whether there is one or not.
    pub fn rebake(
        &self,
        skill: &Skill,
        warm_up: &WarmUp,
        limits: &Limits,
        recorded: impl FnOnce(&Skill) -> Vec<Value>,
    ) -> Result<Image, BakeError> {
        let key = self.image_key(skill);
        let _guard = self.lock_bake(&key)?;
        self.bake_now(skill, &key, warm_up, limits, recorded)
    }

    pub(super) fn lock_bake(&self, key: &str) -> Result<cache::Guard, BakeError> {
        self.runtime.cache.check_writable()?;
        Ok(self.runtime.cache.lock(&format!("bake-{key}"), "baking an image", self.runtime.progress)?)
    }

    fn bake_now(
        &self,
        skill: &Skill,
        key: &str,
        warm_up: &WarmUp,
        limits: &Limits,
        recorded: impl FnOnce(&Skill) -> Vec<Value>,
    ) -> Result<Image, BakeError> {
        self.runtime.progress.step(&format!("baking the image of {}", skill.id()));
        let read = self.inspect_files(skill)?;
        let skill = &match read.static_manifest().manifest {
            Ok(manifest) => self.with_packages(skill, &manifest)?,
            // The import below raises, with the reason.
            Err(_) => skill.clone(),
        };
        self.with_libraries_of(skill.site())?.bake_with_packages(skill, key, read, warm_up, limits, recorded)
    }

    fn bake_with_packages(
        &self,
        skill: &Skill,
        key: &str,
        read: InspectedFiles,
        warm_up: &WarmUp,
        limits: &Limits,
        recorded: impl FnOnce(&Skill) -> Vec<Value>,
    ) -> Result<Image, BakeError> {
        let framework = self.framework_image()?;
        let recorded = recorded(skill);
        // Time spent in pip, and in the skill's tests, does not count against it.
        let started = Instant::now();
        let limits = &bake_limits(limits);
        let Warmed { snapshot, mut report, hot } =
            self.skill_snapshot(&framework, skill, warm_up, &recorded, limits).map_err(mark_as_baking)?;
        // The skill's cell is untrusted and could report another manifest, so the host's reading replaces it.
        report.manifest = read.manifest;
        report.manifest_error = read.manifest_error;
        report.early_imports = read.early_imports;
        report.skill = skill.id().to_owned();
        report.digest = skill.digest().to_owned();
        report.image_bytes = snapshot.image_bytes;
        report.immortal_objects = snapshot.immortal_objects;
        let compiled = snapshot.precompile(&self.machine)?;
        let meta = Meta::new(snapshot.state, report, skill.site());
        self.store_image(key, compiled, meta, |image, meta| {
            let rest = limits.deadline.saturating_sub(started.elapsed());
            let mut limits = limits.clone();
            limits.deadline = rest;
            meta.state.hot = match hot {
                Some(hot) => hot,
                None => self.rehearse(image, meta, skill, &limits)?,
            };
            meta.report.total_ms = started.elapsed().as_secs_f64() * 1e3;
            Ok(())
        })
    }

    fn skill_snapshot(
        &self,
        framework: &Image,
        skill: &Skill,
        warm_up: &WarmUp,
        recorded: &[Value],
        limits: &Limits,
    ) -> Result<Warmed, BakeError> {
        let mut cell = self.cell_from(framework, skill.mounts(), limits)?;
        let drawn_before = cell.state().wasi.entropy_bytes;
        let ran = run_source(&mut cell, &load_source(skill, true));
        report_of(&mut cell, ran).map_err(|error| explain_import(error, skill))?;
        let entropy_bytes = cell.state().wasi.entropy_bytes - drawn_before;
        let ran = run_source(&mut cell, &practise_source(skill, warm_up, recorded));
        let practised = report_of(&mut cell, ran)?;
        // A skill that ran into a limit may be in a degraded state, which must not become the image.
        if cell.state().memory.denied || cell.state().wasi.vfs.limits_hit().is_some() {
            let limit = cell.state().wasi.vfs.limits_hit().unwrap_or(LimitKind::Memory);
            return Err(ending_error(&mut cell, Err(wasmtime::Error::new(Stop::Exceeded(limit)))));
        }
        let (open_files, scratch_files) = cell.state().wasi.vfs.left_behind();
        let (stdout, stderr) = (practised.stdout.clone(), practised.stderr.clone());
        let warmed = self.complete_image(cell, skill, practised, limits, (open_files, scratch_files) == (0, 0))?;
        let report = BakeReport { entropy_bytes, open_files, scratch_files, stdout, stderr, ..warmed.report };
        Ok(Warmed { report, ..warmed })
    }

    /// Makes an image of a cell that has imported its skill: by calls if there are any, and if the image is to serve any.
    fn complete_image(
        &self,
        mut cell: Cell,
        skill: &Skill,
        practised: BakeReport,
        limits: &Limits,
        is_used: bool,
    ) -> Result<Warmed, BakeError> {
        if skill.script().is_some() {
            let snapshot = self.take_snapshot(&mut cell, practised.entry)?;
            return Ok(Warmed { snapshot, report: practised, hot: None });
        }
        if practised.calls.is_empty() || !is_used {
            let (snapshot, report) = self.settle(&mut cell)?;
            return Ok(Warmed { snapshot, report, hot: None });
        }
        let snapshot = self.take_snapshot(&mut cell, practised.entry)?;
        drop(cell);
        let memories = self.unsealed_image(&snapshot)?;
        let (calls, entry) = (&*practised.calls, practised.entry);
        self.warm_image(&Imported { skill, limits, calls, snapshot: &snapshot, memories, entry })
    }

    pub(super) fn take_snapshot(&self, cell: &mut Cell, entry: u32) -> Result<Snapshot, BakeError> {
        Snapshot::take(&self.machine, cell, entry, self.runtime.cache)
    }

    /// One call in a cell of the new image without the skill, to learn which pages every call writes to.
    fn rehearse(&self, image: NewImage, meta: &Meta, skill: &Skill, limits: &Limits) -> Result<HotPages, BakeError> {
        let Meta { state, report, .. } = meta;
        let memories = self.machine.new_image(image, state.globals.clone())?;
        let door = Door { call: Door::pack(b"{}", None), result_cap: 1 << 24, ..Door::default() };
        let inputs = self.cell_inputs(skill.mounts(), door, limits, state.monotonic_ns);
        let mut cell = self.machine.new_cell(&memories, inputs)?;
        // The outcome does not matter, only which pages were written.
        let _ = call_python(&mut cell, report.rehearsal);
        let memory = cell.memory();
        Ok(HotPages::written_pages(memory.data(&mut *cell.store())).unwrap_or_default())
    }

    /// The image of an interpreter that is ready for skills.
    pub(super) fn framework_image(&self) -> Result<Image, BakeError> {
        let key = self.framework_key();
        if let Some(image) = self.open_image(&key)? {
            return Ok(image);
        }
        let _guard = self.lock_bake(&key)?;
        if let Some(image) = self.open_image(&key)? {
            return Ok(image);
        }
        self.runtime.progress.step("baking the framework's image");
        let mut cell = self.boot_cell(None, &Limits::default())?;
        let ran = run_source(&mut cell, &self.boot_source());
        let report = report_of(&mut cell, ran)?;
        let snapshot = self.take_snapshot(&mut cell, report.entry)?;
        drop(cell);
        let compiled = snapshot.precompile(&self.machine)?;
        self.store_image(&key, compiled, Meta::new(snapshot.state, report, None), |_, _| Ok(()))
    }

    /// Gets the framework's image ready.
    pub fn prepare_framework(&self) -> Result<(), BakeError> {
        self.framework_image().map(drop)
    }

    /// A cell that imports the skill itself, for one call, with that call's environment. Gives its report.
    pub fn import_for(
        &self,
        skill: &Skill,
        call: &ImportFor<'_>,
        start: Start,
    ) -> Result<(Cell, BakeReport), BakeError> {
        let baker = self.with_libraries_of(skill.site())?;
        let mut cell = match start {
            Start::Boot => baker.boot_cell(skill.mounts(), call.limits)?,
            Start::Framework => baker.cell_from(&baker.framework_image()?, skill.mounts(), call.limits)?,
        };
        cell.cancel_by(call.cancel, &self.machine);
        let mut source = if start == Start::Boot { self.boot_source() + "\n" } else { String::new() };
        let values = json!([serde_json::to_string(&call.env).unwrap_or_default()]).to_string();
        source += &format!("bake.environment(*{})\n", ascii_json(&values));
        if !call.deny_imports.is_empty() {
            let denied = json!([json!(call.deny_imports).to_string()]).to_string();
            source += &format!("bake.deny_imports(*{})\n", ascii_json(&denied));
        }
        source += &load_source(skill, false);
        let ran = run_source(&mut cell, &source);
        let report = report_of(&mut cell, ran).map_err(|error| explain_import(error, skill))?;
        Ok((cell, report))
    }

    /// What a cell of this skill is given.
    pub fn cell_inputs(
        &self,
        skill: impl IntoIterator<Item = Mount>,
        door: Door,
        limits: &Limits,
        monotonic_ns: u64,
    ) -> Inputs {
        let cancel = CancelToken::default();
        Inputs { mounts: self.files.mounts_with(skill), door, limits: limits.clone(), monotonic_ns, cancel }
    }

    fn boot_cell(&self, skill: impl IntoIterator<Item = Mount>, limits: &Limits) -> Result<Cell, BakeError> {
        let base = self.runtime.base_image(&self.machine)?;
        if !base.fits_within(limits) {
            return Err(BakeError::TooLow(LimitKind::Memory));
        }
        let mut cell = self.machine.new_cell(&base, self.cell_inputs(skill, baking_door(), limits, 0))?;
        match boot_interpreter(&mut cell) {
            Ok(()) => Ok(cell),
            Err(error) => Err(ending_error(&mut cell, Err(error))),
        }
    }

    fn boot_source(&self) -> String {
        let mut folders = vec![GUEST_FOLDER, PACKAGES_FOLDER];
        if self.runtime.kind == RuntimeKind::Pyodide {
            folders.push(pyodide::PACKAGES_FOLDER);
        }
        format!("import sys; sys.path[:0] = {folders:?}\nfrom skillcell_guest import bake; bake.framework()")
    }

    pub(super) fn cell_from(
        &self,
        image: &Image,
        skill: impl IntoIterator<Item = Mount>,
        limits: &Limits,
    ) -> Result<Cell, BakeError> {
        if !image.memories.fits_within(limits) {
            return Err(BakeError::TooLow(LimitKind::Memory));
        }
        let inputs = self.cell_inputs(skill, baking_door(), limits, image.state.monotonic_ns);
        Ok(self.machine.new_cell(&image.memories, inputs)?)
    }

    /// The skill with its packages: fetched if they have to be, recorded as missing if they can't be had.
    pub fn with_packages(&self, skill: &Skill, manifest: &Manifest) -> Result<Skill, BakeError> {
        let site = self.site_store().get_or_make(skill.runtime(), &skill.wanted(&manifest.requirements))?;
        Ok(skill.with_site(site.map(Arc::new)))
    }

    /// This baker on the runtime that has the native libraries of these packages, if there are any.
    pub fn with_libraries_of(&self, site: Option<&SitePackages>) -> Result<Baker<'_>, BakeError> {
        let sides = match self.runtime.kind {
            RuntimeKind::Pyodide => self.runtime.libraries_of(site)?,
            RuntimeKind::WasiPython => Arc::default(),
        };
        let (machines, files) = (self.machines, self.files);
        if sides.is_empty() {
            return Ok(Baker { runtime: self.runtime.clone(), machine: self.machine.clone(), machines, files });
        }
        let runtime = Runtime { sides, ..self.runtime.clone() };
        let machine = machines.get(&runtime, self.machine.is_metered())?;
        Ok(Baker { runtime, machine, machines, files })
    }

    pub fn site_store(&self) -> SitePackagesStore<'_> {
        let Runtime { cache, fetch, progress, .. } = self.runtime;
        SitePackagesStore { cache, fetch, progress }
    }

    fn load_image(&self, key: &str, artefact: cache::Artefact) -> Result<Option<Image>, BakeError> {
        let kind = self.runtime.kind;
        let site = |packages: Packages, pack| Ok(self.site_store().reopen_site(kind, packages, pack)?);
        let machine = |site: Option<&SitePackages>| Ok(self.with_libraries_of(site)?.machine);
        Image::load_artefact(machine, key, artefact, !self.runtime.cache.is_writable(), site)
    }

    pub(super) fn open_image(&self, key: &str) -> Result<Option<Image>, BakeError> {
        let found = self.runtime.cache.open(Bucket::Image, &file_name(key), self.runtime.progress)?;
        Ok(match found {
            Some(artefact) => self.load_image(key, artefact)?,
            None => None,
        })
    }

    /// Keeps an image in the cache; `finish` completes what is said of it, with the image at hand.
    pub(super) fn store_image(
        &self,
        key: &str,
        compiled: Precompiled,
        mut meta: Meta,
        finish: impl FnOnce(NewImage, &mut Meta) -> Result<(), BakeError>,
    ) -> Result<Image, BakeError> {
        let purpose = "keeping an image";
        let artefact =
            self.runtime.cache.replace(Bucket::Image, &file_name(key), purpose, self.runtime.progress, |out| {
                finish(compiled.write_to(out)?, &mut meta)?;
                serde_json::to_value(&meta).map_err(|error| BakeError::Io(error.into()))
            })?;
        self.load_image(key, artefact)?.ok_or_else(|| BakeError::Io(std::io::Error::other("a new image does not load")))
    }
}

/// Reads what the guest reported, or how it ended without.
pub(super) fn report_of(cell: &mut Cell, ran: wasmtime::Result<bool>) -> Result<BakeReport, BakeError> {
    let state = cell.store().data_mut();
    let report = state.door.report.take();
    if ran.is_err() || state.door.raised.is_some() || state.wasi.vfs.source_fault().is_some() {
        return Err(ending_error(cell, ran.map(|_| ())));
    }
    let report = report.and_then(|report| serde_json::from_value::<BakeReport>(report).ok());
    let Some(mut report) = report else { return Err(ending_error(cell, Ok(()))) };
    report.stdout = reported_output(&cell.state().wasi.vfs.stdout.bytes);
    report.stderr = reported_output(&cell.state().wasi.vfs.stderr.bytes);
    Ok(report)
}

/// Says which package a failed import missed.
fn explain_import(mut error: BakeError, skill: &Skill) -> BakeError {
    if let (BakeError::Ended(ending), Some(site)) = (&mut error, skill.site()) {
        site.packages.explain_outcome(&mut ending.outcome);
    }
    error
}

/// Marks an ending as that of a bake.
fn mark_as_baking(mut error: BakeError) -> BakeError {
    if let BakeError::Ended(ending) = &mut error {
        ending.while_baking = true;
    }
    error
}

/// What to say of a call that a limit ended before it began: while its skill's image was made, which is the first call's
/// part and not that of later ones.
pub fn note_of_bake(skill: &Skill, ending: &Ending) -> Option<Note> {
    let Outcome::Exceeded(limit, _) = &ending.outcome else { return None };
    let (name, subject) = (quote::shell_word(&skill.as_given()), skill.id().to_owned());
    let advice = match limit {
        LimitKind::Deadline => {
            format!(
                "`skillcell build {name}` makes it ahead and has longer for it, or give the first call more `--timeout`"
            )
        }
        LimitKind::Memory => {
            format!("`skillcell build {name} --memory SIZE` makes it with more, or give the call more `--memory`")
        }
        _ => "`--no-image` imports the skill in each call, within that call's limits".to_owned(),
    };
    let message =
        format!("the limit was reached while the skill was imported for its image, before the call; {advice}");
    ending.while_baking.then(|| Note::new(NoteKind::Bake, subject, message))
}

pub(super) fn ending_error(cell: &mut Cell, ran: wasmtime::Result<()>) -> BakeError {
    let ending = cell.take_ending(ran);
    match (&ending.source_fault, &ending.part_fault) {
        (Some(fault), _) => BakeError::Damaged(fault.clone()),
        (None, Some(fault)) => BakeError::Engine(fault.clone().into()),
        (None, None) => BakeError::Ended(Box::new(ending)),
    }
}

/// What a report keeps of a skill's output.
fn reported_output(output: &[u8]) -> String {
    String::from_utf8_lossy(&output[..output.len().min(MAX_REPORTED_OUTPUT)]).into_owned()
}

/// An image serves calls of all limits, so those of the one that happens to bake it don't show in it. Only its deadline
/// counts, and a memory limit above the default.
fn bake_limits(call: &Limits) -> Limits {
    let mut limits = Limits::default();
    limits.deadline = call.deadline;
    limits.memory_bytes = limits.memory_bytes.max(call.memory_bytes);
    limits
}

/// The door of a cell that is being baked: it rehearses calls, with empty params.
pub(super) fn baking_door() -> Door {
    Door { baking: true, result_cap: 1 << 16, call: Door::pack(b"{}", None), ..Door::default() }
}

/// `preload`: import ahead what a script imports; a skill is imported in any case.
fn load_source(skill: &Skill, preload: bool) -> String {
    let stand_ins = skill.site().map(|site| site.packages.stand_in_modules()).unwrap_or_default();
    let watched: Vec<&String> = stand_ins.keys().collect();
    if let Some(script) = skill.script() {
        let preload = if preload { "yes" } else { "no" };
        let words = json!([skill.guest_folder(), script, json!(watched).to_string(), preload]);
        return format!("{}bake.script(*{})", path_source(skill), ascii_json(&words.to_string()));
    }
    let words = json!([skill.guest_folder(), skill.package(), json!(watched).to_string()]);
    format!("{}bake.skill(*{})", path_source(skill), ascii_json(&words.to_string()))
}

/// Puts a skill's packages on the path.
pub(super) fn path_source(skill: &Skill) -> String {
    match skill.site().and_then(SitePackages::mount) {
        Some(_) => format!("import sys; sys.path.append({SITE_FOLDER:?})\n"),
        None => String::new(),
    }
}

fn practise_source(skill: &Skill, warm_up: &WarmUp, recorded: &[Value]) -> String {
    if skill.script().is_some() {
        return "bake.finish_script()".to_owned();
    }
    let params = match warm_up {
        WarmUp::Manifest => Value::Null,
        WarmUp::Params(params) => params.clone(),
    };
    let words = json!([params.to_string(), json!(recorded).to_string()]);
    format!("bake.practise(*{})", ascii_json(&words.to_string()))
}

pub fn file_name(key: &str) -> String {
    format!("{key}.cwasm")
}
