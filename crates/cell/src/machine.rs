//! The compiled runtime with its host functions resolved: what all cells of one engine share.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::{Engine, Extern, InstancePre, Linker, Module, Store};

use super::interrupt::{Gate, Turn};
use super::parts::{self, Parts};
use super::rest::{PristineMemory, Rest};
use super::slots::{Slot, Slots};
use super::watchdog::{Watch, Watchdog};
use super::{Body, Cell, EngineError, HotPages, MemoryLimit, Pool, RuntimeKind, State, digests, engine, runtime_kind};
use crate::image::ModuleSource;
use crate::pyodide::Program;
use crate::wasi::{self, Wasi};
use skillcell_cache::progress::Progress;
use skillcell_cache::{Artefact, Writer};
use skillcell_door::Door;
use skillcell_limits::Limits;
use skillcell_limits::cancel::CancelToken;
use skillcell_vfs::{Caps, Mount, Output, Vfs};

/// The module and field under which a code module imports its memory.
pub const MEMORY_IMPORT: (&str, &str) = ("image", "memory");
/// The name under which an image exports its memory.
pub const MEMORY_EXPORT: &str = "memory";
/// The name of the memory that interrupt checks load from.
pub const CHECKS: &str = "checks";
/// A deadline that is never reached, yet can be represented as an `Instant`.
const NEVER: Duration = Duration::from_secs(1 << 32);

pub struct Machine {
    kind: RuntimeKind,
    engine: Engine,
    code: Module,
    linker: Linker<State>,
    watchdog: Arc<Watchdog>,
    slots: Slots,
    cells: u32,
    rest: Arc<Rest>,
    metered: bool,
    /// The exported names of the code's mutable globals.
    globals: Vec<String>,
    /// What a linked runtime's host functions have to know of it.
    program: Option<Arc<Program>>,
    parts: Option<Arc<Parts>>,
    fingerprint: Arc<str>,
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

    /// The same in a file that has it already, and no name.
    pub fn into_image(self, file: File) -> NewImage {
        NewImage(file)
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
    /// Loads code that [`compile_module`] made, whose parts are these if it has some.
    pub fn load(
        kind: RuntimeKind,
        pool: &Pool,
        code: Artefact,
        globals: Vec<String>,
        parts: Option<Parts>,
        program: Option<Program>,
    ) -> wasmtime::Result<Machine> {
        let Pool { engine, metered, cells, watchdog, slots, rest, fingerprint } = pool.clone();
        let code = load_code(&engine, code)?;
        let mut linker = Linker::new(&engine);
        wasi::add_to_linker(&mut linker, |state: &mut State| &mut state.wasi)?;
        parts::add_to_linker(&mut linker)?;
        digests::add_to_linker(&mut linker, metered)?;
        runtime_kind::add_to_linker(kind, &mut linker, &code)?;
        Ok(Machine {
            kind,
            engine,
            code,
            linker,
            watchdog,
            slots,
            cells,
            rest,
            metered,
            globals,
            program: program.map(Arc::new),
            fingerprint,
            parts: parts.map(Arc::new),
        })
    }

    /// Loads an image that [`Machine::precompile_image`] made.
    #[allow(unsafe_code)]
    pub fn load_image(&self, image: Artefact, globals: Vec<i32>, hot: HotPages) -> wasmtime::Result<MemoryImage> {
        // SAFETY: as for `load_code`.
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

    /// Has this told when code is compiled while a call waits for it.
    pub fn tell_of_parts(&self, progress: impl FnOnce() -> Arc<dyn Progress + Send + Sync>) {
        if let Some(parts) = &self.parts {
            parts.tell(progress);
        }
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

    pub fn is_metered(&self) -> bool {
        self.metered
    }

    pub fn kind(&self) -> RuntimeKind {
        self.kind
    }

    pub fn global_names(&self) -> &[String] {
        &self.globals
    }

    /// Makes a cell. It has not run anything yet.
    pub fn new_cell(&self, memories: &MemoryImage, inputs: Inputs) -> Result<Cell, EngineError> {
        // Waiting for a slot counts against the call's deadline.
        let deadline = deadline_from_now(&inputs.limits);
        let slot = self.slots.acquire(deadline, &inputs.cancel).ok_or(EngineError::NoSlot)?;
        let cancel = inputs.cancel.clone();
        let (body, turn) = self.instantiate(memories, inputs, deadline)?;
        Ok(self.cell_of_call(body, 1, slot, turn, deadline, &cancel))
    }

    /// Like [`new_cell`](Machine::new_cell), but reuses a resting cell if there is one.
    pub fn rested_cell(&self, memories: &MemoryImage, inputs: Inputs) -> Result<Cell, EngineError> {
        let Some((mut body, uses)) = self.rest.take_cell(&memories.original) else {
            return self.new_cell(memories, inputs);
        };
        let deadline = deadline_from_now(&inputs.limits);
        let slot = self.slots.acquire(deadline, &inputs.cancel).ok_or(EngineError::NoSlot)?;
        let cancel = inputs.cancel.clone();
        let turn = self.bind_call(&mut body, memories, inputs, deadline)?;
        Ok(self.cell_of_call(body, uses + 1, slot, turn, deadline, &cancel))
    }

    /// A cell that is ended at its deadline, or when its call is cancelled.
    pub(super) fn cell_of_call(
        &self,
        body: Body,
        uses: u32,
        slot: Slot,
        turn: Turn,
        deadline: Instant,
        cancel: &CancelToken,
    ) -> Cell {
        let watch = self.watchdog.watch(deadline, &turn);
        Cell { body, uses, _watch: watch, _cancel: self.watchdog.end_on(cancel, turn.clone()), turn, _slot: slot }
    }

    /// How many cells may be alive at once.
    pub fn cells(&self) -> u32 {
        self.cells
    }

    /// Ends what the cell computes at this deadline, until the watch is dropped.
    pub(super) fn watch_deadline(&self, cell: &Cell, deadline: Instant) -> Watch {
        self.watchdog.watch(deadline, &cell.turn)
    }

    /// Has the cell's call ended by this token too.
    pub(super) fn end_on(&self, cell: &mut Cell, cancel: &CancelToken) {
        cell._cancel = self.watchdog.end_on(cancel, cell.turn.clone());
    }

    /// Ends a cell. One whose call ran to its end is put back as its image has it, and rests until the next call; any
    /// other is thrown away.
    pub fn retire(&self, cell: Cell, memories: &MemoryImage) {
        let Cell { mut body, uses, .. } = cell;
        body.gate.end_turn();
        *body.store.data_mut() = State::at_rest();
        self.rest.put_back(body, uses, &memories.original);
    }

    fn instantiate(&self, memories: &MemoryImage, inputs: Inputs, deadline: Instant) -> wasmtime::Result<(Body, Turn)> {
        let mut store = Store::new(&self.engine, State::at_rest());
        store.limiter(|state| &mut state.memory);
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
        let gate = Gate::new(&mut store, &code)?;
        let mut body = Body { gate, kind: self.kind, store, memory, code };
        let turn = self.bind_call(&mut body, memories, inputs, deadline)?;
        Ok((body, turn))
    }

    /// Sets an instance up for one call: its state, fuel, globals and gate.
    fn bind_call(
        &self,
        body: &mut Body,
        memories: &MemoryImage,
        inputs: Inputs,
        deadline: Instant,
    ) -> wasmtime::Result<Turn> {
        let fuel = inputs.limits.fuel;
        let mut state = call_state(self.kind, inputs, deadline);
        state.parts = self.parts.clone();
        state.wasi.memory = Some(body.memory);
        state.program = self.program.clone();
        state.memory.peak = body.memory.data_size(&body.store) as u64;
        *body.store.data_mut() = state;
        self.refuel(&mut body.store, fuel)?;
        body.set_globals(&self.globals, &memories.globals)?;
        let pointer = self.globals.first().and_then(|name| body.code.get_global(&mut body.store, name));
        body.store.data_mut().stack = pointer.zip(memories.globals.first().map(|&top| top as u32));
        body.store.data_mut().alloc = Some(runtime_kind::guest_allocator(body)?);
        let turn = body.gate.begin_turn()?;
        body.store.data_mut().turn = Some(turn.clone());
        Ok(turn)
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

/// Loads code that [`compile_module`] made.
#[allow(unsafe_code)]
pub(super) fn load_code(engine: &Engine, code: Artefact) -> wasmtime::Result<Module> {
    // SAFETY: `deserialize_open_file` must be given what Wasmtime's own compiler made, unaltered while it is in use.
    // Only the cache makes an `Artefact`: it opened it in a folder that only this user can write to, and checked the
    // digest that this program recorded through this same open file.
    unsafe { Module::deserialize_open_file(engine, code.file) }
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

fn call_state(kind: RuntimeKind, inputs: Inputs, deadline: Instant) -> State {
    let limits = &inputs.limits;
    let (stdout, stderr) = (capped_output(limits.stdout_bytes), capped_output(limits.stderr_bytes));
    let vfs = Vfs::new(inputs.mounts, call_caps(limits), stdout, stderr);
    let mut wasi = Wasi::new(vfs);
    let (args, env) = runtime_kind::start_words(kind);
    wasi.args = args.iter().map(|&arg| arg.into()).collect();
    wasi.env = env.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    wasi.deadline = Some(deadline);
    wasi.cancel = inputs.cancel;
    wasi.host_calls_cap = limits.host_calls;
    wasi.monotonic_base = Duration::from_nanos(inputs.monotonic_ns);
    State {
        wasi,
        door: inputs.door,
        alloc: None,
        program: None,
        memory: MemoryLimit { cap: limits.memory_bytes, peak: 0, denied: false },
        deadline,
        immortal_objects: 0,
        parts: None,
        turn: None,
        waited_for_parts: Duration::ZERO,
        stack: None,
    }
}
