//! A cell: one instance of the runtime for one call, with the memory of an image and nothing of any other call.
//!
//! ```text
//!   Machine ── code, host functions ──┐
//!                                     ├──▶ Cell ── enter ──▶ Ending ──▶ Outcome
//!   Image ── memory, globals ─────────┘      ⇅
//!                                        WASI, door
//! ```
//!
//! Life cycle: `Machine::new_cell` maps the image's memory copy-on-write and instantiates the code over it; the runtime's
//! own file (`wasi_python.rs`, `pyodide.rs`) boots or enters it; `take_ending` takes what is worth keeping. `Machine::retire` puts
//! the instance back as the image has it (`rest`), or it is dropped. In a session it is kept for the session's next call
//! instead (`keep`), and dropped at its end.
//! Invariant: nothing that a cell wrote is reachable after that.

mod digests;
mod ending;
pub mod engine;
pub mod image;
mod immortal;
mod interrupt;
mod keep;
mod machine;
mod machines;
mod pagemap;
mod parts;
mod pool;
mod prefault;
pub mod pyodide;
mod rest;
pub mod runtime;
mod runtime_kind;
mod slots;
pub mod wasi;
pub mod wasi_python;
mod watchdog;

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::{Global, Instance, Memory, ResourceLimiter, Store, TypedFunc, Val, WasmParams, WasmResults};

pub use self::ending::Ending;
pub use self::interrupt::before_interrupts;
use self::interrupt::{Gate, Turn};
pub use self::keep::{KeptCell, NextCall};
pub use self::machine::{
    CHECKS, Inputs, MEMORY_EXPORT, MEMORY_IMPORT, Machine, MemoryImage, NewImage, Precompiled, compile_module,
};
pub use self::machines::Machines;
use self::parts::Parts;
pub use self::parts::{NOTED, PartFault};
pub use self::pool::Pool;
pub use self::prefault::HotPages;
pub use self::runtime_kind::{RuntimeKind, boot_interpreter, call_python, run_source};
use self::slots::Slot;
use self::watchdog::Watch;
use crate::pyodide::Program;
use crate::wasi::{Stop, Wasi};
use skillcell_door::Door;
use skillcell_limits::LimitKind;
use skillcell_limits::cancel::{CancelToken, Registration};
use skillcell_vfs::{Caps, Output, Vfs};

/// The engine's version, for people.
pub const WASMTIME_VERSION: &str = "48.0.8";

/// What host functions see of a cell.
pub struct State {
    pub wasi: Wasi,
    pub door: Door,
    /// The guest's own allocator, once there is an instance.
    pub alloc: Option<TypedFunc<u32, u32>>,
    /// What the host functions of a linked runtime know of its code.
    pub program: Option<Arc<Program>>,
    pub memory: MemoryLimit,
    pub deadline: Instant,
    /// Objects made immortal, while an image is baked.
    pub immortal_objects: u64,
    /// The parts of the code that its main module lacks.
    parts: Option<Arc<Parts>>,
    /// The call's, whose time stops while a part is made.
    turn: Option<Turn>,
    /// What was waited for parts, which no deadline counts.
    pub waited_for_parts: Duration,
    /// The pointer into the stack in the guest's memory, and where it is between calls.
    stack: Option<(Global, u32)>,
}

impl State {
    /// The state of a cell that has no call.
    fn at_rest() -> State {
        let nothing = Caps { open_files: 0, scratch_bytes: 0, scratch_files: 0 };
        State {
            wasi: Wasi::new(Vfs::new(Vec::new(), nothing, Output::new(0), Output::new(0))),
            door: Door::default(),
            alloc: None,
            program: None,
            memory: MemoryLimit { cap: 0, peak: 0, denied: false },
            deadline: Instant::now(),
            immortal_objects: 0,
            parts: None,
            turn: None,
            waited_for_parts: Duration::ZERO,
            stack: None,
        }
    }

    pub fn count_host_call(&mut self) -> wasmtime::Result<()> {
        self.wasi.count_call().map_err(wasmtime::Error::new)
    }
}

/// Bounds a cell's memory and remembers that the bound was met.
pub struct MemoryLimit {
    pub cap: u64,
    pub peak: u64,
    pub denied: bool,
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired as u64 > self.cap {
            self.denied = true;
            return Ok(false);
        }
        self.peak = self.peak.max(desired as u64);
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= engine::TABLE_ELEMENTS)
    }
}

pub struct Cell {
    body: Body,
    /// Calls that its instance has served, this one included.
    uses: u32,
    /// Dropped after the body (fields drop in order): the watchdog's entry outlives the cell's last instruction, and the
    /// slot is released only after its memory.
    turn: Turn,
    _watch: Watch,
    _cancel: Option<Registration>,
    _slot: Slot,
}

/// An instance of the runtime over a memory.
pub struct Body {
    /// Dropped before the store, which has its page.
    gate: Gate,
    kind: RuntimeKind,
    store: Store<State>,
    memory: Memory,
    code: Instance,
}

impl Body {
    pub fn typed_function<P: WasmParams, R: WasmResults>(&mut self, name: &str) -> wasmtime::Result<TypedFunc<P, R>> {
        self.code.get_typed_func(&mut self.store, name)
    }

    fn set_globals(&mut self, names: &[String], values: &[i32]) -> wasmtime::Result<()> {
        for (name, value) in names.iter().zip(values) {
            if let Some(global) = self.code.get_global(&mut self.store, name) {
                global.set(&mut self.store, Val::I32(*value))?;
            }
        }
        Ok(())
    }
}

impl Cell {
    pub fn store(&mut self) -> &mut Store<State> {
        &mut self.body.store
    }

    pub fn kind(&self) -> RuntimeKind {
        self.body.kind
    }

    pub fn state(&self) -> &State {
        self.body.store.data()
    }

    pub fn memory(&self) -> Memory {
        self.body.memory
    }

    pub fn typed_function<P: WasmParams, R: WasmResults>(&mut self, name: &str) -> wasmtime::Result<TypedFunc<P, R>> {
        self.body.typed_function(name)
    }

    /// The values of the code's mutable globals.
    pub fn global_values(&mut self, names: &[String]) -> wasmtime::Result<Vec<i32>> {
        let Body { store, code, .. } = &mut self.body;
        names
            .iter()
            .map(|name| {
                let global = code.get_global(&mut *store, name);
                let value = global.and_then(|global| global.get(&mut *store).i32());
                value.ok_or_else(|| wasmtime::Error::msg(format!("`{name}` is not an i32 global of the runtime")))
            })
            .collect()
    }

    /// Replaces the cancel token that the cell was made with.
    pub fn cancel_by(&mut self, cancel: &CancelToken, machine: &Machine) {
        self.store().data_mut().wasi.cancel = cancel.clone();
        machine.end_on(self, cancel);
    }

    /// Goes on after a part of the call had a deadline of its own.
    pub(crate) fn go_on(&mut self) -> wasmtime::Result<()> {
        self.body.gate.go_on_until(self.state().deadline)
    }

    /// What the cell leaves behind; `ran` is what came of running it.
    pub fn take_ending(&mut self, ran: wasmtime::Result<()>) -> Ending {
        let fuel = self.body.store.get_fuel().ok();
        let ran = self.body.gate.explain(ran);
        let is_stop = |error: &wasmtime::Error| error.is::<Stop>() || error.is::<PartFault>();
        let ran = match ran {
            Err(error) if !is_stop(&error) && self.has_no_stack_left() => {
                Err(wasmtime::Error::new(Stop::Exceeded(LimitKind::Recursion)))
            }
            ran => ran,
        };
        Ending::new(ran, self.body.store.data_mut(), fuel)
    }

    /// Whether the interpreter is where its own guard no longer lets calls through. C code that asks nobody gets there, and the next one
    /// that asks finds that it can't be undone, and aborts.
    fn has_no_stack_left(&mut self) -> bool {
        let Some((pointer, top)) = self.state().stack else { return false };
        let now = pointer.get(self.store()).i32().unwrap_or_default() as u32;
        !self.state().memory.denied && top.saturating_sub(now) >= runtime_kind::guarded_stack(self.kind())
    }
}

/// What the engine could not do. Not for what a guest does: that ends in an [`Ending`].
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("the WebAssembly engine failed: {0}")]
    Wasmtime(String),
    /// Every slot was taken until the deadline, or the call was cancelled while it waited for one.
    #[error("no slot for another cell came free in time")]
    NoSlot,
    /// Code that a cell needed can't be compiled or loaded.
    #[error(transparent)]
    Part(#[from] PartFault),
}

impl From<wasmtime::Error> for EngineError {
    fn from(error: wasmtime::Error) -> EngineError {
        EngineError::Wasmtime(format!("{error:#}"))
    }
}
