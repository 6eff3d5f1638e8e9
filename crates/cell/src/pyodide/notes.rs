//! What the host has to remember for a guest: its working folder, and which libraries are loaded. It is kept in the guest's
//! memory, before its heap, so that images have it and a cell that is put back does not; and as it is the guest's, it is
//! read like anything else of the guest's.
//!
//! ```text
//!   heap_base ─── libraries' data ─── notes() ── working folder, ended by a zero ── one byte for each library ── FAULT, ended by a zero ── heap
//! ```

use super::Program;
use super::guest::Guest;
use crate::Cell;
use skillcell_vfs::Errno;

/// The longest path, with its zero.
pub const MAX_PATH: u32 = 4096;
const LOADED: u8 = 1;
/// What the guest is told of a frame that the door does not take.
const FAULT: &[u8] = b"the host faulted while answering the door\0";

/// The bytes that notes take with so many libraries.
pub fn size(libraries: usize) -> u32 {
    let libraries = u32::try_from(libraries).unwrap_or(u32::MAX);
    MAX_PATH.saturating_add(libraries).saturating_add(FAULT.len() as u32)
}

/// Sets the working folder to the root; nothing is loaded.
pub fn begin(cell: &mut Cell, program: &Program) -> wasmtime::Result<()> {
    super::write(cell, program.notes(), b"/\0")?;
    super::write(cell, fault(program), FAULT)
}

/// Where the text of a fault is.
pub fn fault(program: &Program) -> u32 {
    program.notes().saturating_add(MAX_PATH).saturating_add(program.libraries.len() as u32)
}

/// The working folder. It always begins with `/`, and always has a zero, unless the guest wrote over it.
pub fn folder(guest: &Guest<'_>, program: &Program) -> Result<Vec<u8>, Errno> {
    guest.text(program.notes())
}

pub fn set_folder(guest: &mut Guest<'_>, program: &Program, folder: &[u8]) -> Result<(), Errno> {
    if folder.len() as u32 >= MAX_PATH || folder.contains(&0) {
        return Err(Errno::Nametoolong);
    }
    guest.put_bytes(program.notes(), folder)?;
    guest.put_bytes(program.notes() + folder.len() as u32, &[0])
}

/// Notes that a library is loaded; `false` if it was already.
pub fn load(guest: &mut Guest<'_>, program: &Program, library: usize) -> Result<bool, Errno> {
    let place = program.notes() + MAX_PATH + library as u32;
    let [loaded] = guest.read_array(place)?;
    guest.put_bytes(place, &[LOADED])?;
    Ok(loaded != LOADED)
}
