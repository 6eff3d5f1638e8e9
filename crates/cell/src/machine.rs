//! The compiled runtime with its host functions resolved: what all cells of one engine share.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::{Engine, Extern, InstancePre, Linker, Module, Store};

use super::rest::{PristineMemory, Rest};
use super::slots::Slots;
use super::wasi_python;
use super::watchdog::{Watch, Watchdog};
use super::{Body, Cell, EngineError, HotPages, MemoryLimit, State, engine, on_epoch};
use crate::image::ModuleSource;
use crate::wasi::{self, Wasi};
use skillcell_cache::{Artefact, Writer};
use skillcell_door::Door;
use skillcell_limits::Limits;
use skillcell_limits::cancel::{CancelToken, Registration};
use skillcell_vfs::{Caps, Mount, Output, Vfs};

/// The module and field under which a code module imports its memory.
pub const MEMORY_IMPORT: (&str, &str) = ("image", "memory");
/// The name under which an image exports its memory.
pub const MEMORY_EXPORT: &str = "memory";
/// A deadline that is never reached, yet can be represented as an `Instant`.
const NEVER: Duration = Duration::from_secs(1 << 32);

pub struct Machine {
    engine: Engine,
    code: Module,
    linker: Linker<State>,
    watchdog: Watchdog,
    slots: Slots,
    cells: u32,
    rest: Rest,
    metered: bool,
    /// The exported names of the code's mutable globals.
    globals: Vec<String>,
    fingerprint: String,
}

/// A memory to start cells from, and the globals that go with it.
pub struct MemoryImage {
    module: InstancePre<State>,
    globals: Vec<i32>,
    hot: HotPages,
    bytes: u64,
    original: Arc<PristineMemory>,
}

impl MemoryImage {
    /// Whether a cell that starts from this is within its limit of memory.
    pub fn fits_within(&self, limits: &Limits) -> bool {
        self.bytes <= limits.memory_bytes
    }
}

/// An image as Wasmtime's compiler made it.
pub struct Precompiled(Vec<u8>);

/// The same in a file of the cache that is not sealed yet.
pub struct NewImage(File);

impl Precompiled {
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Moves it from memory to a file.
    pub fn write_to(self, out: &mut Writer) -> std::io::Result<NewImage> {
        out.write_all(&self.0)?;
        Ok(NewImage(out.file()?))
    }
}

/// What one cell is given.
pub struct Inputs {
    pub mounts: Vec<Mount>,
    pub door: Door,
    pub limits: Limits,
    /// The reading from which the monotonic clock goes on.
    pub monotonic_ns: u64,
    pub cancel: CancelToken,
}

impl Machine {
    /// Loads code that [`compile_module`] made.
    #[allow(unsafe_code)]
    pub fn load(
        engine: Engine,
        cells: u32,
        metered: bool,
        code: Artefact,
        globals: Vec<String>,
    ) -> wasmtime::Result<Machine> {
        // SAFETY: `deserialize_open_file` must be given what Wasmtime's own compiler made, unaltered while it is in use.
        // Only the cache makes an `Artefact`: it opened it in a folder that only this user can write to, and checked the
        // digest that this program recorded through this same open file.
        let code = unsafe { Module::deserialize_open_file(&engine, code.file)? };
        let mut linker = Linker::new(&engine);
        wasi::add_to_linker(&mut linker, |state: &mut State| &mut state.wasi)?;
        wasi_python::add_to_linker(&mut linker)?;
        let watchdog = Watchdog::new(&engine)?;
        let fingerprint = engine::fingerprint(&engine);
        let slots = Slots::new(cells);
        Ok(Machine { engine, code, linker, watchdog, slots, cells, rest: Rest::new(), metered, globals, fingerprint })
    }

    /// Loads an image that [`Machine::precompile_image`] made.
    #[allow(unsafe_code)]
    pub fn load_image(&self, image: Artefact, globals: Vec<i32>, hot: HotPages) -> wasmtime::Result<MemoryImage> {
        // SAFETY: as for `load`.
        let module = unsafe { Module::deserialize_open_file(&self.engine, image.file)? };
        self.memory_image(&module, globals, hot)
    }

    /// The same for an image that was precompiled just now.
    #[allow(unsafe_code)]
    pub fn new_image(&self, image: NewImage, globals: Vec<i32>) -> Result<MemoryImage, EngineError> {
        // SAFETY: only `precompile_image` makes a `Precompiled`, and only that makes a `NewImage`: it was written through this
        // same open file, in a folder that only this user can write to, and nothing alters it.
        let module = unsafe { Module::deserialize_open_file(&self.engine, image.0) }?;
        Ok(self.memory_image(&module, globals, HotPages::default())?)
    }

    fn memory_image(&self, module: &Module, globals: Vec<i32>, hot: HotPages) -> wasmtime::Result<MemoryImage> {
        let memory = module.get_export(MEMORY_EXPORT).and_then(|export| export.memory().cloned());
        let bytes = memory.map_or(u64::MAX, |memory| memory.minimum() * memory.page_size());
        let original = Arc::new(PristineMemory::new(module));
        Ok(MemoryImage { module: self.linker.instantiate_pre(module)?, globals, hot, bytes, original })
    }

    /// Turns an image from WebAssembly into what [`Machine::load_image`] takes.
    pub fn precompile_image(&self, image: &[u8]) -> Result<Precompiled, EngineError> {
        Ok(Precompiled(self.engine.precompile_module(image)?))
    }

    /// The same for one that may be large: its pages are given back as soon as the compiler has a copy, which is before it
    /// begins with the first function. Every image has one, that fills its memory where it can't be mapped.
    pub fn precompile_source(&self, image: &ModuleSource) -> Result<Precompiled, EngineError> {
        let mapped = image.clone();
        let engine = engine::compiling_engine(self.metered, move || mapped.release_pages())?;
        Ok(Precompiled(engine.precompile_module(image.bytes())?))
    }

    /// Names what images for this machine depend on; see [`engine::fingerprint`].
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    pub fn global_names(&self) -> &[String] {
        &self.globals
    }

    /// Makes a cell. It has not run anything yet.
    pub fn new_cell(&self, memories: &MemoryImage, inputs: Inputs) -> Result<Cell, EngineError> {
        // Waiting for a slot counts against the call's deadline.
        let deadline = deadline_from_now(&inputs.limits);
        let slot = self.slots.acquire(deadline, &inputs.cancel).ok_or(EngineError::NoSlot)?;
        let (watch, cancel) = (self.watchdog.watch(deadline), inputs.cancel.clone());
        let body = self.instantiate(memories, inputs, deadline)?;
        Ok(Cell { body, uses: 1, _watch: watch, _cancel: self.interrupt_on(&cancel), _slot: slot })
    }

    /// Like [`new_cell`](Machine::new_cell), but reuses a resting cell if there is one.
    pub fn rested_cell(&self, memories: &MemoryImage, inputs: Inputs) -> Result<Cell, EngineError> {
        let Some((mut body, uses)) = self.rest.take_cell(&memories.original) else {
            return self.new_cell(memories, inputs);
        };
        let deadline = deadline_from_now(&inputs.limits);
        let slot = self.slots.acquire(deadline, &inputs.cancel).ok_or(EngineError::NoSlot)?;
        let (watch, cancel) = (self.watchdog.watch(deadline), inputs.cancel.clone());
        self.bind_call(&mut body, memories, inputs, deadline)?;
        Ok(Cell { body, uses: uses + 1, _watch: watch, _cancel: self.interrupt_on(&cancel), _slot: slot })
    }

    /// How many cells may be alive at once.
    pub fn cells(&self) -> u32 {
        self.cells
    }

    /// Ends whoever computes past this deadline, until the watch is dropped.
    pub(super) fn watch_deadline(&self, deadline: Instant) -> Watch {
        self.watchdog.watch(deadline)
    }

    /// Interrupts guest code when the call is cancelled. To be registered after the epoch deadline is set, so that an earlier
    /// cancellation is noticed too.
    pub(super) fn interrupt_on(&self, cancel: &CancelToken) -> Option<Registration> {
        let engine = self.engine.weak();
        cancel.on_cancel(move || {
            if let Some(engine) = engine.upgrade() {
                engine.increment_epoch();
            }
        })
    }

    /// Ends a cell. One whose call ran to its end is put back as its image has it, and rests until the next call; any
    /// other is thrown away.
    pub fn retire(&self, cell: Cell, memories: &MemoryImage) {
        let Cell { mut body, uses, .. } = cell;
        *body.store.data_mut() = State::at_rest();
        self.rest.put_back(body, uses, &memories.original);
    }

    fn instantiate(&self, memories: &MemoryImage, inputs: Inputs, deadline: Instant) -> wasmtime::Result<Body> {
        let mut store = Store::new(&self.engine, State::at_rest());
        store.limiter(|state| &mut state.memory);
        store.epoch_deadline_callback(|context| on_epoch(context.data()));
        store.data_mut().memory.cap = inputs.limits.memory_bytes;
        if self.metered {
            store.set_fuel(u64::MAX)?;
        }
        let image = memories.module.instantiate(&mut store)?;
        let memory = image
            .get_memory(&mut store, MEMORY_EXPORT)
            .ok_or_else(|| wasmtime::Error::msg("an image exports no memory"))?;
        memories.hot.prefault(memory.data_mut(&mut store));
        let imports = self.resolve_imports(&mut store, memory.into())?;
        let code = wasmtime::Instance::new(&mut store, &self.code, &imports)?;
        let mut body = Body { store, memory, code };
        self.bind_call(&mut body, memories, inputs, deadline)?;
        Ok(body)
    }

    /// Sets an instance up for one call: its state, epoch deadline, fuel and globals.
    fn bind_call(
        &self,
        body: &mut Body,
        memories: &MemoryImage,
        inputs: Inputs,
        deadline: Instant,
    ) -> wasmtime::Result<()> {
        let fuel = inputs.limits.fuel;
        let mut state = call_state(inputs, deadline);
        state.wasi.memory = Some(body.memory);
        state.memory.peak = body.memory.data_size(&body.store) as u64;
        *body.store.data_mut() = state;
        body.store.set_epoch_deadline(1);
        self.refuel(&mut body.store, fuel)?;
        body.set_globals(&self.globals, &memories.globals)?;
        body.store.data_mut().alloc = Some(wasi_python::guest_allocator(body)?);
        Ok(())
    }

    /// Gives a call its fuel, where that is counted.
    pub(super) fn refuel(&self, store: &mut Store<State>, fuel: Option<u64>) -> wasmtime::Result<()> {
        if self.metered { store.set_fuel(fuel.unwrap_or(u64::MAX)) } else { Ok(()) }
    }

    fn resolve_imports(&self, store: &mut Store<State>, memory: Extern) -> wasmtime::Result<Vec<Extern>> {
        let mut imports = Vec::with_capacity(64);
        for import in self.code.imports() {
            if (import.module(), import.name()) == MEMORY_IMPORT {
                imports.push(memory.clone());
                continue;
            }
            let found = self.linker.get_by_import(&mut *store, &import);
            imports.push(found.ok_or_else(|| {
                wasmtime::Error::msg(format!("the runtime wants `{}.{}`", import.module(), import.name()))
            })?);
        }
        Ok(imports)
    }
}

/// Compiles code ahead of time. `progress` gets the number of functions begun.
pub fn compile_module(
    code: &[u8],
    metered: bool,
    progress: impl Fn(u64) + Send + Sync + 'static,
) -> wasmtime::Result<Vec<u8>> {
    let begun = std::sync::atomic::AtomicU64::new(0);
    let engine = engine::compiling_engine(metered, move || {
        progress(begun.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
    })?;
    engine.precompile_module(code)
}

fn deadline_from_now(limits: &Limits) -> Instant {
    let now = Instant::now();
    now.checked_add(limits.deadline).unwrap_or(now + NEVER)
}

pub(super) fn call_caps(limits: &Limits) -> Caps {
    Caps { open_files: limits.open_files, scratch_bytes: limits.scratch_bytes, scratch_files: limits.scratch_files }
}

pub(super) fn capped_output(cap: u64) -> Output {
    Output::new(usize::try_from(cap).unwrap_or(usize::MAX))
}

fn call_state(inputs: Inputs, deadline: Instant) -> State {
    let limits = &inputs.limits;
    let (stdout, stderr) = (capped_output(limits.stdout_bytes), capped_output(limits.stderr_bytes));
    let vfs = Vfs::new(inputs.mounts, call_caps(limits), stdout, stderr);
    let mut wasi = Wasi::new(vfs);
    wasi.args = wasi_python::ARGS.iter().map(|&arg| arg.into()).collect();
    wasi.env = wasi_python::ENV.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    wasi.deadline = Some(deadline);
    wasi.cancel = inputs.cancel;
    wasi.host_calls_cap = limits.host_calls;
    wasi.monotonic_base = Duration::from_nanos(inputs.monotonic_ns);
    State {
        wasi,
        door: inputs.door,
        alloc: None,
        memory: MemoryLimit { cap: limits.memory_bytes, peak: 0, denied: false },
        deadline,
        immortal_objects: 0,
    }
}
