//! Everything specific to the runtime `pyodide`, CPython's build for Emscripten: how it boots, how it is entered, which part of its
//! memory is state. Its core runs as it is, without JavaScript; what it imports is in `pyodide/`, over the same
//! [`Wasi`](crate::wasi::Wasi) and file system as the first runtime's.
//!
//! ```text
//!   core, wheels' libraries ──link──▶ one module ──split──▶ code, base image      runtime/linking.rs
//!                                      ⇅ Program: what the linker told
//!   cell ──▶ door.rs, files.rs, descriptors.rs, times.rs, process.rs, libraries.rs, javascript.rs
//! ```
//!
//! All that the host keeps for a guest between its calls is in the guest's own memory (`notes.rs`), so that an image has it and a
//! cell that is put back loses it.

mod descriptors;
pub(crate) mod door;
mod files;
mod guest;
#[cfg(test)]
mod hostile;
pub(crate) mod javascript;
mod libraries;
mod notes;
mod process;
mod program;
mod times;

use std::ops::Range;

use wasmtime::{Linker, Memory, TypedFunc};

pub(crate) use self::javascript::complete;
pub use self::program::Program;
use crate::{Body, Cell, State};

/// What the host calls of the core.
pub(crate) const FUNCTIONS: &[&str] = &[
    ALLOCATOR,
    "sbrk",
    "emscripten_stack_init",
    "emscripten_stack_get_base",
    "emscripten_stack_get_end",
    "__wasm_call_ctors",
    "Py_Initialize",
    "PyRun_SimpleString",
    "PyObject_CallNoArgs",
    "PyImport_AddModule",
    "PyCMethod_New",
    "PyObject_SetAttrString",
    door::NEW_BYTES,
    door::RAISE,
    door::BAD_ARGUMENT,
    "PyThreadState_Get",
    "PyUnstable_ThreadState_SetStackProtection",
];
/// What the host looks at or sets in its memory, in the order of [`program::Addresses`].
pub(crate) const ADDRESSES: &[&str] =
    &["_PyRuntime", "_PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET", "PyBytes_Type", "Py_NoSiteFlag", "PyExc_OSError"];

const ALLOCATOR: &str = "malloc";
/// What of its stack in memory CPython takes for all there is. It then raises `RecursionError` before the native stack, on which
/// WebAssembly's frames lie, is used up: after some 2,000 calls of Python from C and back. What it does not count is a limit of the call.
const STACK_BYTES: u32 = 1 << 20;
/// Where it raises: its own two margins above the end.
pub(crate) const GUARDED_STACK: u32 = STACK_BYTES - (32 << 10);

/// The standard library, as the interpreter looks for it.
pub const STDLIB_FOLDER: &str = "/lib";
pub const STDLIB_NAME: &str = "python314.zip";
/// Packages that the first runtime brings along and this one does not.
pub const PACKAGES_FOLDER: &str = "/usr/local/lib/runtime-packages";

pub const ARGS: &[&str] = &["/usr/local/bin/python.wasm"];
pub const ENV: &[(&str, &str)] = &[
    ("HOME", "/home/skill"),
    ("LANG", "C.UTF-8"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PYTHONHOME", "/"),
    ("PYTHONTZPATH", ""),
    ("SKILLWARE_SCRATCH_DIR", "/tmp"),
    ("TMPDIR", "/tmp"),
    ("TZ", "UTC"),
];
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    files::add_to_linker(linker)?;
    descriptors::add_to_linker(linker)?;
    times::add_to_linker(linker)?;
    process::add_to_linker(linker)?;
    libraries::add_to_linker(linker)?;
    javascript::add_to_linker(linker)?;
    door::add_to_linker(linker)
}

/// What memory for the guest's own use is taken with.
pub(crate) fn guest_allocator(body: &mut Body) -> wasmtime::Result<TypedFunc<u32, u32>> {
    body.typed_function(ALLOCATOR)
}

/// Starts the interpreter in a cell made from the base image.
pub(crate) fn boot_interpreter(cell: &mut Cell) -> wasmtime::Result<()> {
    let Some(program) = cell.state().program.clone() else { return Err(wasmtime::Error::msg("no program was linked")) };
    call::<(), ()>(cell, "emscripten_stack_init", ())?;
    let taken: u32 = call(cell, "sbrk", program.reserved_bytes())?;
    if taken != program.heap_base {
        return Err(wasmtime::Error::msg("the libraries' memory is not where they were linked to"));
    }
    let addresses = program.addresses;
    let slot = read_u32(cell, addresses.trampoline_offset)?;
    write(cell, addresses.runtime.wrapping_add(slot), &program.trampoline.to_le_bytes())?;
    write(cell, addresses.no_site, &1_u32.to_le_bytes())?;
    notes::begin(cell, &program)?;
    call::<(), ()>(cell, "__wasm_call_ctors", ())?;
    call::<(), ()>(cell, "Py_Initialize", ())?;
    protect_stack(cell)?;
    door::install(cell, &program)
}

/// Tells CPython how much of its stack it may use.
fn protect_stack(cell: &mut Cell) -> wasmtime::Result<()> {
    let top: u32 = call(cell, "emscripten_stack_get_base", ())?;
    let thread: u32 = call(cell, "PyThreadState_Get", ())?;
    let words = (thread, top.saturating_sub(STACK_BYTES), STACK_BYTES);
    let failed: i32 = call(cell, "PyUnstable_ThreadState_SetStackProtection", words)?;
    if failed == 0 { Ok(()) } else { Err(wasmtime::Error::msg("the interpreter's stack can't be bounded")) }
}

/// Runs source text in `__main__`. `false` if it raised; the interpreter then printed the traceback to stderr.
pub(crate) fn run_source(cell: &mut Cell, source: &str) -> wasmtime::Result<bool> {
    let place = put_text(cell, source)?;
    Ok(call::<u32, i32>(cell, "PyRun_SimpleString", place)? == 0)
}

/// Calls the Python function at `callable`, an object's address in the image.
pub(crate) fn call_python(cell: &mut Cell, callable: u32) -> wasmtime::Result<()> {
    call::<u32, u32>(cell, "PyObject_CallNoArgs", callable).map(drop)
}

/// The part of memory that holds no state between calls: the stack below its pointer, the first global.
pub(crate) fn dead_memory(cell: &mut Cell, globals: &[i32]) -> wasmtime::Result<Range<usize>> {
    let end: u32 = call(cell, "emscripten_stack_get_end", ())?;
    let pointer = globals.first().map_or(0, |&pointer| pointer as u32);
    Ok(end as usize..pointer.max(end) as usize)
}

fn call<P: wasmtime::WasmParams, R: wasmtime::WasmResults>(
    cell: &mut Cell,
    name: &str,
    params: P,
) -> wasmtime::Result<R> {
    let function: TypedFunc<P, R> = cell.typed_function(name)?;
    function.call(cell.store(), params)
}

/// Text with a zero behind it, in memory that is never given back.
fn put_text(cell: &mut Cell, text: &str) -> wasmtime::Result<u32> {
    let size = u32::try_from(text.len()).ok().and_then(|size| size.checked_add(1));
    let size = size.ok_or_else(|| wasmtime::Error::msg("a text is too long for the guest"))?;
    let place: u32 = call(cell, ALLOCATOR, size)?;
    if place == 0 {
        return Err(wasmtime::Error::new(crate::wasi::Stop::Exceeded(skillcell_limits::LimitKind::Memory)));
    }
    write(cell, place, text.as_bytes())?;
    write(cell, place + size - 1, &[0])?;
    Ok(place)
}

fn write(cell: &mut Cell, place: u32, bytes: &[u8]) -> wasmtime::Result<()> {
    let memory: Memory = cell.memory();
    Ok(memory.write(cell.store(), place as usize, bytes)?)
}

fn read_u32(cell: &mut Cell, place: u32) -> wasmtime::Result<u32> {
    let (memory, mut word) = (cell.memory(), [0; 4]);
    memory.read(cell.store(), place as usize, &mut word)?;
    Ok(u32::from_le_bytes(word))
}
