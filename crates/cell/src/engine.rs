//! Wasmtime's settings, in one place: what code is compiled for, and the pool that cells are taken from.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::interrupt::OWN_CHECKS;
use super::rest::MAX_RESTING;
use skillcell_cache::has_rayon_threads;
use wasmtime::{CacheStore, Config, Engine, Inlining, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

/// Cells that may be alive at once. A slot costs address space, not memory; where address space is limited, fewer do.
const MAX_CELLS: [u32; 4] = [256, 64, 16, 2];
/// Images that cells can be put back from. Cells of another are thrown away.
const MAX_ORIGINALS: u32 = 80;
/// Native stack that a cell may use. CPython stops itself where it counts its own stack, in the cell's memory. What it does not count takes
/// about 250 bytes here for each level: the frames of a traceback of 100,000 that are freed in a row, say. Only what is touched is memory.
const STACK_BYTES: usize = 32 << 20;
/// Stack that a thread must have left to run a cell on: the cell's own, and the host functions' that it calls.
pub const STACK_NEEDED: usize = STACK_BYTES + (512 << 10);
/// Stack for a thread that makes calls.
pub const CALLER_STACK: usize = STACK_NEEDED + (2 << 20);
/// More than the runtime's function table holds.
pub(super) const TABLE_ELEMENTS: usize = 128 << 10;
/// An instance of the runtime's code is mostly references to the functions of its table.
const INSTANCE_BYTES: usize = 16 << 20;
/// A table is cleared by writing zeros, up to this size, instead of giving its pages back: the next cell needs them.
const TABLE_KEPT_BYTES: usize = TABLE_ELEMENTS * 8;

/// An engine that runs cells, and how many at once. `metered` code counts fuel and is slower.
pub fn running_engine(metered: bool) -> wasmtime::Result<(Engine, u32)> {
    let mut failed = None;
    for cells in MAX_CELLS {
        match with_pool(metered, cells) {
            Ok(engine) => return Ok((engine, cells)),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(|| wasmtime::Error::msg("no pool of cells was tried")))
}

fn with_pool(metered: bool, cells: u32) -> wasmtime::Result<Engine> {
    let mut pool = PoolingAllocationConfig::new();
    // Besides cells with a call: those at rest, and an original of each image that they are put back from.
    let (places, originals) = (cells + cells.min(MAX_RESTING), cells.min(MAX_ORIGINALS));
    // A cell has an instance of its image, of its code, and of each part of the code that it needs: these cost only what they are.
    pool.total_core_instances(u32::MAX)
        // A cell's own memory, that of its interrupt checks, and one for the exceptions that cross WebAssembly frames.
        .total_memories(3 * places + originals)
        // Of functions, and two for objects of JavaScript, which stay empty.
        .max_tables_per_module(3)
        .total_tables(3 * places)
        .total_gc_heaps(places)
        .max_unused_warm_slots(cells)
        .max_memory_size(4 << 30)
        .max_core_instance_size(INSTANCE_BYTES)
        .table_elements(TABLE_ELEMENTS)
        .table_keep_resident(TABLE_KEPT_BYTES);
    let mut config = common_config(metered);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config)
}

/// An engine that only compiles; `on_function` is called when the compilation of a function begins.
pub fn compiling_engine(metered: bool, on_function: impl Fn() + Send + Sync + 'static) -> wasmtime::Result<Engine> {
    let mut config = common_config(metered);
    config.enable_incremental_compilation(Arc::new(ProgressStore(Box::new(on_function))))?;
    Engine::new(&config)
}

/// Installs Wasmtime's handlers of the signals that traps show themselves as, if they are not installed. Making an engine
/// does; this is for who has to know that they are there before one is needed.
pub fn install_trap_handlers() -> wasmtime::Result<()> {
    Engine::new(&Config::new()).map(drop)
}

/// Names everything that compiled code depends on besides its source: Wasmtime, its settings, the processor.
pub fn fingerprint(engine: &Engine) -> String {
    let mut hasher = Blake3Hasher(blake3::Hasher::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.0.finalize().to_hex()[..16].to_owned()
}

fn common_config(metered: bool) -> Config {
    let mut config = Config::new();
    config
        .wasm_exceptions(true)
        .epoch_interruption(!OWN_CHECKS)
        // Two checks that become one function's might be merged: see `runtime/checks.rs`.
        .compiler_inlining(Inlining::No)
        .consume_fuel(metered)
        .cranelift_opt_level(OptLevel::Speed)
        // Wasm offsets of traps are of no use: skills are Python, and have tracebacks of their own.
        .generate_address_map(false)
        .native_unwind_info(false)
        .memory_init_cow(true)
        // An image is one long stretch of data; it is to be mapped, never copied.
        .memory_guaranteed_dense_image_size(4 << 30)
        .max_wasm_stack(STACK_BYTES)
        // Nothing runs asynchronously, but this may not be less.
        .async_stack_size(STACK_BYTES)
        .parallel_compilation(has_rayon_threads());
    config
}

/// Wasmtime asks its incremental cache for each function before it compiles it. This one is always empty: it is here
/// to see the compilation go forward.
struct ProgressStore(Box<dyn Fn() + Send + Sync>);

impl CacheStore for ProgressStore {
    fn get(&self, _: &[u8]) -> Option<Cow<'_, [u8]>> {
        (self.0)();
        None
    }

    fn insert(&self, _: &[u8], _: Vec<u8>) -> bool {
        true
    }
}

impl fmt::Debug for ProgressStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressStore")
    }
}

struct Blake3Hasher(blake3::Hasher);

impl Hasher for Blake3Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        u64::from_le_bytes(self.0.finalize().as_bytes()[..8].try_into().unwrap_or_default())
    }
}
