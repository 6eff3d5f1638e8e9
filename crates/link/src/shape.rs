//! What a main module and side modules must look like, before anything is decided about them.

use wasmparser::{RefType, ValType};

use crate::input::{ImportName, Input};
use crate::{LinkError, Refusal};

const MEMORY: ImportName<'static> = ImportName { module: "env", name: "memory" };
const TABLE: ImportName<'static> = ImportName { module: "env", name: "__indirect_function_table" };

/// Main brings memory, table and tags; it needs no code to be run for it to be complete.
pub(crate) fn check_main(main: &Input<'_>) -> Result<(), LinkError> {
    if let Some((name, _)) = &main.imported_memory {
        return main.refuse(Refusal::UnknownImport(name.to_string()));
    }
    if let Some((name, _)) = &main.imported_table {
        return main.refuse(Refusal::UnknownImport(name.to_string()));
    }
    if let Some((name, _)) = main.imported_tags.first() {
        return main.refuse(Refusal::UnknownImport(name.to_string()));
    }
    if main.start.is_some() {
        return main.refuse(Refusal::Start);
    }
    if main.memory.is_none() {
        return main.refuse(Refusal::NoMemory);
    }
    match main.tables.first() {
        Some(table) if table.element_type == RefType::FUNCREF => {}
        _ => return main.refuse(Refusal::NoTable),
    }
    check_globals(main)
}

/// A side brings code and data, and takes everything else from main.
pub(crate) fn check_side(side: &Input<'_>) -> Result<(), LinkError> {
    if side.dylink.is_none() {
        return side.refuse(Refusal::NoDylink);
    }
    if side.memory.is_some() {
        return side.refuse(Refusal::OwnMemory);
    }
    if !side.tables.is_empty() {
        return side.refuse(Refusal::OwnTable);
    }
    if !side.tags.is_empty() {
        return side.refuse(Refusal::OwnTag);
    }
    match &side.imported_memory {
        Some((name, _)) if *name != MEMORY => return side.refuse(Refusal::UnknownImport(name.to_string())),
        _ => {}
    }
    match &side.imported_table {
        Some((name, _)) if *name != TABLE => return side.refuse(Refusal::UnknownImport(name.to_string())),
        Some((name, table)) if table.element_type != RefType::FUNCREF => {
            return side.refuse(Refusal::ImportMismatch(name.to_string()));
        }
        _ => {}
    }
    check_globals(side)
}

fn check_globals(module: &Input<'_>) -> Result<(), LinkError> {
    let own = module.globals.iter().map(|global| global.ty);
    let mut all = module.imported_globals.iter().map(|(_, kind)| *kind).chain(own);
    if all.any(|kind| kind.content_type != ValType::I32) { module.refuse(Refusal::GlobalType) } else { Ok(()) }
}
