//! The door as this runtime has it: a Python function of one argument in the module `_host`, made without any C of ours. Its code is
//! an import of the program that the linker puts into the function table; its `PyMethodDef` is written into memory.

use wasmtime::{Caller, Extern, Linker, TypedFunc};

use super::guest::{Guest, run};
use super::{Program, call, notes, put_text, write};
use crate::digests::burn_fuel;
use crate::immortal::make_immortal;
use crate::wasi::Stop;
use crate::{Cell, State};
use skillcell_door::{Answer, Fault};
use skillcell_limits::LimitKind;
use skillcell_link::Callback;

pub const NEW_BYTES: &str = "PyBytes_FromStringAndSize";
pub const RAISE: &str = "PyErr_SetString";
pub const BAD_ARGUMENT: &str = "PyErr_BadArgument";
/// `call(self, frame)`.
pub const CALLBACK: Callback<'static> = Callback { module: "host", name: "door", params: 2, has_result: true };

/// `METH_O`: one argument.
const ONE_ARGUMENT: u32 = 8;
const METHOD_BYTES: u32 = 16;
/// A bytes object: its type, its length, its bytes.
const TYPE_AT: u32 = 4;
const LENGTH_AT: u32 = 8;
const BYTES_AT: u32 = 16;
/// An exception is set.
const NULL: u32 = 0;

/// Makes the module `_host`.
pub fn install(cell: &mut Cell, program: &Program) -> wasmtime::Result<()> {
    let (name, module_name) = (put_text(cell, "call")?, put_text(cell, "_host")?);
    let method: u32 = call(cell, super::ALLOCATOR, METHOD_BYTES)?;
    let words = [name, program.door, ONE_ARGUMENT, 0];
    write(cell, method, &words.map(u32::to_le_bytes).concat())?;
    let function: u32 = call(cell, "PyCMethod_New", (method, 0_u32, 0_u32, 0_u32))?;
    let module: u32 = call(cell, "PyImport_AddModule", module_name)?;
    let failed: i32 = call(cell, "PyObject_SetAttrString", (module, name, function))?;
    if failed == 0 { Ok(()) } else { Err(wasmtime::Error::msg("the door can't be made")) }
}

pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap(CALLBACK.module, CALLBACK.name, |mut caller: Caller<'_, State>, _this: u32, frame: u32| {
        caller.data_mut().count_host_call()?;
        let Some(memory) = caller.data().wasi.memory else { return Err(wasmtime::Error::new(Stop::NoMemory)) };
        let (bytes, state) = memory.data_and_store_mut(&mut caller);
        let Some(range) = bytes_object(bytes, state, frame) else { return refuse(&mut caller) };
        let deadline = state.deadline;
        let answer = match state.door.receive(&bytes[range], deadline) {
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
            Err(Fault::Malformed) => return fault(&mut caller),
            Err(Fault::Stop(stop)) => return Err(wasmtime::Error::new(stop)),
        };
        give(&mut caller, &answer)
    })?;
    Ok(())
}

/// Where the bytes of a bytes object are; none if it is no such object.
fn bytes_object(bytes: &mut [u8], state: &State, object: u32) -> Option<std::ops::Range<usize>> {
    let guest = Guest::new(bytes);
    let kind = guest.read_u32(object.checked_add(TYPE_AT)?).ok()?;
    let length = guest.read_u32(object.checked_add(LENGTH_AT)?).ok()?;
    let start = object.checked_add(BYTES_AT)?;
    guest.check_range(start, length).ok()?;
    let is_bytes = state.program.as_ref().is_some_and(|program| program.addresses.bytes_type == kind);
    is_bytes.then(|| start as usize..start as usize + length as usize)
}

/// Hands an answer over as a new bytes object.
fn give(caller: &mut Caller<'_, State>, answer: &[u8]) -> wasmtime::Result<u32> {
    let size = u32::try_from(answer.len()).map_err(|_| wasmtime::Error::new(Stop::Exceeded(LimitKind::Memory)))?;
    let object = export::<(u32, u32), u32>(caller, NEW_BYTES)?.call(&mut *caller, (0, size))?;
    if object == NULL {
        return Err(wasmtime::Error::new(Stop::Exceeded(LimitKind::Memory)));
    }
    let Some(memory) = caller.data().wasi.memory else { return Err(wasmtime::Error::new(Stop::NoMemory)) };
    // An empty one is shared, and not to be written to.
    if size > 0 {
        memory.write(&mut *caller, object as usize + BYTES_AT as usize, answer)?;
    }
    Ok(object)
}

/// Raises `OSError`: the frame was not accepted.
fn fault(caller: &mut Caller<'_, State>) -> wasmtime::Result<u32> {
    let Some(program) = caller.data().program.clone() else { return Ok(NULL) };
    // The variable holds the exception's type.
    let kind = run(caller, |_, guest| Ok(guest.read_u32(program.addresses.os_error)?))?.unwrap_or(NULL);
    export::<(u32, u32), ()>(caller, RAISE)?.call(&mut *caller, (kind, notes::fault(&program)))?;
    Ok(NULL)
}

/// Raises `TypeError`: it is no frame.
fn refuse(caller: &mut Caller<'_, State>) -> wasmtime::Result<u32> {
    export::<(), i32>(caller, BAD_ARGUMENT)?.call(&mut *caller, ())?;
    Ok(NULL)
}

fn export<P: wasmtime::WasmParams, R: wasmtime::WasmResults>(
    caller: &mut Caller<'_, State>,
    name: &str,
) -> wasmtime::Result<TypedFunc<P, R>> {
    let function = caller.get_export(name).and_then(Extern::into_func);
    function.ok_or_else(|| wasmtime::Error::msg(format!("the program does not export `{name}`")))?.typed(&*caller)
}
