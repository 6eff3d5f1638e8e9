//! What the linker told of a program, kept in the seal of its code: places in memory and in the table.

use serde::{Deserialize, Serialize};
use skillcell_link::Linked;

use super::notes;

/// A linked program: the core with the libraries of one set of wheels.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Where the heap begins, with the libraries' data, and how much of it that is.
    pub heap_base: u32,
    pub data_bytes: u32,
    pub addresses: Addresses,
    /// Slots of the function table: CPython's call trampoline, the door.
    pub trampoline: u32,
    pub door: u32,
    pub libraries: Vec<Library>,
}

/// Addresses of the core's data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    pub runtime: u32,
    /// Of a number: where in `_PyRuntime` the trampoline's slot is kept.
    pub trampoline_offset: u32,
    pub bytes_type: u32,
    pub no_site: u32,
    pub os_error: u32,
}

/// A wheel's library, as `dlopen` finds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library {
    pub path: String,
    /// Memory and table slots, each as start and length.
    pub memory: (u32, u32),
    pub table: (u32, u32),
    pub needed: Vec<usize>,
    /// Exports that load it, in order.
    pub loading: Vec<String>,
    /// What `dlsym` finds.
    pub entries: Vec<(String, u32)>,
}

impl Program {
    /// `None` if the linker did not tell all that was asked for.
    pub fn of_linked(linked: &Linked) -> Option<Program> {
        let &[runtime, trampoline_offset, bytes_type, no_site, os_error] = linked.addresses.as_slice() else {
            return None;
        };
        let &[door] = linked.callbacks.as_slice() else { return None };
        let libraries = linked.libraries.iter().map(|library| Library {
            path: library.name.clone(),
            memory: (library.memory_base, library.memory_bytes),
            table: (library.table_base, library.table_slots),
            needed: library.needed.clone(),
            loading: library.loading.clone(),
            entries: library.entries.clone(),
        });
        Some(Program {
            heap_base: linked.heap_base,
            data_bytes: linked.reserved_bytes,
            addresses: Addresses { runtime, trampoline_offset, bytes_type, no_site, os_error },
            trampoline: linked.trampoline,
            door,
            libraries: libraries.collect(),
        })
    }

    /// What is taken of the heap before the guest gets any: the libraries' data, then the host's notes.
    pub fn reserved_bytes(&self) -> u32 {
        let notes = notes::size(self.libraries.len());
        self.data_bytes.saturating_add(notes).next_multiple_of(16)
    }

    /// Where the host's notes are.
    pub fn notes(&self) -> u32 {
        self.heap_base.saturating_add(self.data_bytes)
    }
}
