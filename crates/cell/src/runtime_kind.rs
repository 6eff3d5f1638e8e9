//! The one place where what differs between runtimes is chosen, by what a machine runs.
//!
//! Each runtime is a file with the same functions: `wasi_python` and `pyodide`.

use std::ops::Range;

use wasmtime::{Linker, Module, TypedFunc};

use crate::{Body, Cell, State, pyodide, wasi_python};
pub use skillcell_limits::RuntimeKind;

/// Command line and environment that an interpreter boots with.
pub(crate) const fn start_words(
    kind: RuntimeKind,
) -> (&'static [&'static str], &'static [(&'static str, &'static str)]) {
    match kind {
        RuntimeKind::WasiPython => (wasi_python::ARGS, wasi_python::ENV),
        RuntimeKind::Pyodide => (pyodide::ARGS, pyodide::ENV),
    }
}

/// Offers what the runtime's code imports besides WASI.
pub(crate) fn add_to_linker(kind: RuntimeKind, linker: &mut Linker<State>, code: &Module) -> wasmtime::Result<()> {
    match kind {
        RuntimeKind::WasiPython => wasi_python::add_to_linker(linker),
        RuntimeKind::Pyodide => {
            pyodide::add_to_linker(linker)?;
            pyodide::complete(linker, code)
        }
    }
}

/// What the host takes memory of the guest with.
pub(crate) fn guest_allocator(body: &mut Body) -> wasmtime::Result<TypedFunc<u32, u32>> {
    match body.kind {
        RuntimeKind::WasiPython => wasi_python::guest_allocator(body),
        RuntimeKind::Pyodide => pyodide::guest_allocator(body),
    }
}

/// How much of its stack in memory the interpreter lets be used before it raises `RecursionError`.
pub(crate) const fn guarded_stack(kind: RuntimeKind) -> u32 {
    match kind {
        RuntimeKind::WasiPython => wasi_python::GUARDED_STACK,
        RuntimeKind::Pyodide => pyodide::GUARDED_STACK,
    }
}

/// The part of memory that holds no state between calls.
pub(crate) fn dead_memory(cell: &mut Cell, globals: &[i32]) -> wasmtime::Result<Range<usize>> {
    match cell.kind() {
        RuntimeKind::WasiPython => Ok(wasi_python::dead_memory(globals)),
        RuntimeKind::Pyodide => pyodide::dead_memory(cell, globals),
    }
}

/// Starts the interpreter in a cell made from the base image.
pub fn boot_interpreter(cell: &mut Cell) -> wasmtime::Result<()> {
    match cell.kind() {
        RuntimeKind::WasiPython => wasi_python::boot_interpreter(cell),
        RuntimeKind::Pyodide => pyodide::boot_interpreter(cell),
    }
}

/// Runs source text in `__main__`. `false` if it raised; the interpreter then printed the traceback to stderr.
pub fn run_source(cell: &mut Cell, source: &str) -> wasmtime::Result<bool> {
    match cell.kind() {
        RuntimeKind::WasiPython => wasi_python::run_source(cell, source),
        RuntimeKind::Pyodide => pyodide::run_source(cell, source),
    }
}

/// Calls the Python function at `callable`, an object's address in the image.
pub fn call_python(cell: &mut Cell, callable: u32) -> wasmtime::Result<()> {
    match cell.kind() {
        RuntimeKind::WasiPython => wasi_python::call_python(cell, callable),
        RuntimeKind::Pyodide => pyodide::call_python(cell, callable),
    }
}
