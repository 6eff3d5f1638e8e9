//! Links Pyodide's core and WebAssembly wheels into one module, once, so that a call does no linking: pure and deterministic.
//!
//! ```text
//!   pyodide.asm.wasm (main)     a.so, b.so (sides, `dylink.0`)            one module
//!   ┌──────────────────┐   ┌────────────────────────────────┐        ┌───────────────────────────────┐
//!   │ memory  table    │   │ imports: memory, table, bases, │        │ imports: functions of the host│
//!   │ tags    globals  │ + │  GOT.mem.x, GOT.func.f, env.f  │ ─────▶ │ main's code, a's, b's         │
//!   │ code    data     │   │ code  data  elements           │        │ memory  table  data           │
//!   └──────────────────┘   └────────────────────────────────┘        └───────────────────────────────┘
//!
//!   memory   0 ─────────────────────── heap_base ────────┬──────────┬──────── heap_start ─────────▶
//!            main's data and stack     │ a's data, bss   │ b's      │ (page)  │ what malloc gets
//!                                      └── the host's first `sbrk(reserved_bytes)` ──┘
//!   table    0 ──────────────┬───────────┬───────────┬────────────────────────────────
//!            main's slots    │ a's       │ b's       │ functions that had none: of GOT.func, PyInit_*, the
//!                            │           │           │ host's callbacks, the trampoline
//! ```
//!
//! A name is looked up in main, in the side itself, in other sides in their order, then it is the host's. Main asks only itself and
//! the host. An address that nobody has is 0, as weak symbols are; a function that the host does not offer is the host's to refuse.
//! All addresses are constants in the code, so no global of a `GOT` is left; exceptions are translated on the way
//! (`exceptions.rs`).
//!
//! What it is not: a loader. Running a side's start function, relocations and constructors, in the order of what it needs, is
//! the host's; [`Side`]s are exported for it by name. Nor does it take code and memory apart: `runtime/split.rs` of
//! `skillcell-cell` does, and takes what comes out here: one memory, constant offsets, no start function, no write to a table.
//!
//! Every input is validated first; what is valid and not understood is refused by name. Nothing is allocated but in proportion to
//! the inputs' length; what they only claim (memory, table) is bounded by `limits.rs`.

mod constant;
mod dylink;
mod emit;
mod error;
mod exceptions;
mod globals;
mod input;
mod layout;
mod limits;
mod plan;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
mod shape;
mod symbols;
mod table;
#[cfg(test)]
mod tests;
mod trampoline;
mod translate;
mod types;
mod unit;

pub use error::{LinkError, Refusal};
pub use limits::{MAX_INPUT_BYTES, MAX_MEMORY_BYTES, MAX_SIDES, MAX_TABLE_SLOTS};
pub use translate::translate_exceptions;

use limits::check_amount;
use plan::Plan;

/// Part of the identity of what was linked: raise it when the same inputs give another output.
pub const VERSION: u32 = 1;

/// A side module: a shared library of a wheel.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Its path; the last part is the name by which others need it.
    pub name: &'a str,
    pub bytes: &'a [u8],
}

/// A function of the host that is given to the guest as a pointer. Parameters and result are `i32`.
#[derive(Clone, Copy, Debug)]
pub struct Callback<'a> {
    pub module: &'a str,
    pub name: &'a str,
    pub params: u8,
    pub has_result: bool,
}

/// What the host calls and looks at. Nothing else is exported.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Functions of main, exported under their names.
    pub functions: &'a [&'a str],
    /// Data of main whose addresses are told.
    pub addresses: &'a [&'a str],
    pub callbacks: &'a [Callback<'a>],
}

/// The linked module and what the host has to know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Linked {
    pub module: Vec<u8>,
    /// Where the guest's first `sbrk` begins, and what it has to take: the data of sides.
    pub heap_base: u32,
    pub reserved_bytes: u32,
    /// In the order of [`Wanted::addresses`].
    pub addresses: Vec<u32>,
    /// Table slots, in the order of [`Wanted::callbacks`].
    pub callbacks: Vec<u32>,
    /// The table slot of CPython's call trampoline.
    pub trampoline: u32,
    /// In the order of the sides.
    pub libraries: Vec<Library>,
    /// Functions that the module imports.
    pub imports: Vec<HostImport>,
    /// Addresses that nobody has, sorted; they are 0.
    pub missing: Vec<String>,
}

/// A side in the linked module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Library {
    pub name: String,
    /// Those of the sides, by their place, that have to be loaded before.
    pub needed: Vec<usize>,
    /// Exported functions without parameters that load it, in the order in which they are called.
    pub loading: Vec<String>,
    /// Names that Python looks for (`PyInit_…`) and their table slots.
    pub entries: Vec<(String, u32)>,
}

/// A function that the linked module imports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostImport {
    pub module: String,
    pub name: String,
    /// Main wants it. What only sides want may be missing: they were made for more than one host.
    pub for_main: bool,
}

/// Links main and sides.
pub fn link(main: &[u8], sides: &[Side<'_>], wanted: &Wanted<'_>) -> Result<Linked, LinkError> {
    let bytes = sides.iter().map(|side| side.bytes.len() as u64).sum::<u64>() + main.len() as u64;
    check_amount("bytes of input", bytes, MAX_INPUT_BYTES)?;
    check_amount("side modules", sides.len() as u64, MAX_SIDES)?;
    let plan = Plan::make(main, sides, wanted)?;
    let module = emit::emit_module(&plan, wanted)?;
    plan.describe(module, wanted)
}
