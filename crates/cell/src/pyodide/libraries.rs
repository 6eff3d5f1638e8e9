//! Loading the libraries of wheels. They are in the program already (`runtime/linking.rs`): `dlopen` only runs what initializes one, once,
//! after those that it needs, and `dlsym` looks a name up.

use std::sync::Arc;

use wasmtime::{Caller, Extern, Linker};

use super::guest::{Guest, run};
use super::{Program, notes};
use crate::State;
use skillcell_vfs::Errno;

/// Emscripten's record of a library.
/// ```text
/// 8 whether it has memory u8 | 12 memory, 16 bytes, 20 table, 24 slots u32 | 36 path, ended by a zero
/// ```
const RECORD_HAS_MEMORY: u32 = 8;
const RECORD_PLACES: u32 = 12;
const RECORD_PATH: u32 = 36;

pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "_dlopen_js", |mut caller: Caller<'_, State>, record: u32| -> wasmtime::Result<u32> {
        let found = run(&mut caller, |host, guest| Ok(find(host.program, guest, record)?))?;
        let Ok(Some(library)) = found else { return Ok(0) };
        let Some(program) = caller.data().program.clone() else { return Ok(0) };
        load(&mut caller, &program, library)?;
        let written = run(&mut caller, |host, guest| Ok(write_record(host.program, guest, record, library)?))?;
        Ok(if written.is_ok() { record } else { 0 })
    })?;
    linker.func_wrap("env", "_dlsym_js", |mut caller: Caller<'_, State>, record: u32, name: u32, _index: u32| {
        let slot = run(&mut caller, |host, guest| Ok(find_entry(host.program, guest, record, name)?))?;
        Ok(slot.unwrap_or(0))
    })?;
    Ok(())
}

fn place(record: u32, field: u32) -> Result<u32, Errno> {
    record.checked_add(field).ok_or(Errno::Fault)
}

fn find(program: &Program, guest: &Guest<'_>, record: u32) -> Result<Option<usize>, Errno> {
    let path = guest.text(place(record, RECORD_PATH)?)?;
    Ok(program.libraries.iter().position(|library| library.path.as_bytes() == path))
}

fn find_entry(program: &Program, guest: &Guest<'_>, record: u32, name: u32) -> Result<u32, Errno> {
    let Some(library) = find(program, guest, record)? else { return Ok(0) };
    let name = guest.text(name)?;
    let entries = &program.libraries[library].entries;
    Ok(entries.iter().find(|(entry, _)| entry.as_bytes() == name).map_or(0, |(_, slot)| *slot))
}

/// Initializes a library and before it those that it needs. Each is noted first, so that a circle ends, and the depth is bounded
/// by how many there are.
fn load(caller: &mut Caller<'_, State>, program: &Arc<Program>, library: usize) -> wasmtime::Result<()> {
    let is_new = run(caller, |host, guest| Ok(notes::load(guest, host.program, library)?))?;
    if !matches!(is_new, Ok(true)) {
        return Ok(());
    }
    let Some(known) = program.libraries.get(library) else { return Ok(()) };
    for &needed in &known.needed {
        load(caller, program, needed)?;
    }
    for name in &known.loading {
        if let Some(function) = caller.get_export(name).and_then(Extern::into_func) {
            function.typed::<(), ()>(&*caller)?.call(&mut *caller, ())?;
        }
    }
    Ok(())
}

fn write_record(program: &Program, guest: &mut Guest<'_>, record: u32, library: usize) -> Result<(), Errno> {
    let Some(known) = program.libraries.get(library) else { return Err(Errno::Noent) };
    guest.put_bytes(place(record, RECORD_HAS_MEMORY)?, &[1])?;
    let words = [known.memory.0, known.memory.1, known.table.0, known.table.1];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    guest.put_bytes(place(record, RECORD_PLACES)?, &bytes)
}
