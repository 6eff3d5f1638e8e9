//! Globals: those that never change become constants, among them every address that a module asks for (`GOT.mem`, `GOT.func`).
//!
//! In the order in which values become known: bases, then own globals, then addresses of what others have.

use wasmparser::{ExternalKind, GlobalType};

use crate::input::ImportName;
use crate::limits::{MAX_GLOBALS, check_amount};
use crate::symbols::{HostFunctions, Names};
use crate::table::Table;
use crate::unit::{GlobalUse, Unit};
use crate::{LinkError, Refusal};

const STACK_POINTER: &str = "__stack_pointer";

/// Decides about bases and own globals of all units; returns the first values of the output's globals.
pub(crate) fn place_own_globals(units: &mut [Unit<'_>]) -> Result<Vec<i32>, LinkError> {
    let mut variables = Vec::new();
    for unit in units.iter_mut() {
        for (import, kind) in &unit.input.imported_globals {
            // Addresses are not known yet; and as they are mutable imports, no constant expression reads them.
            unit.globals.push(base_of(unit, *import, *kind).unwrap_or(GlobalUse::Constant(0)));
        }
        place_own(unit, &mut variables)?;
    }
    check_amount("globals", variables.len() as u64, MAX_GLOBALS)?;
    Ok(variables)
}

fn base_of(unit: &Unit<'_>, import: ImportName<'_>, kind: GlobalType) -> Option<GlobalUse> {
    match (import.module, import.name, kind.mutable) {
        ("env", "__memory_base", false) => Some(GlobalUse::Constant(unit.space.memory.start as i32)),
        ("env", "__table_base", false) => Some(GlobalUse::Constant(unit.space.table.start as i32)),
        _ => None,
    }
}

fn place_own(unit: &mut Unit<'_>, variables: &mut Vec<i32>) -> Result<(), LinkError> {
    for index in 0..unit.input.globals.len() {
        let global = &unit.input.globals[index];
        let value = unit.constant(&global.init_expr)?;
        unit.globals.push(if global.ty.mutable {
            variables.push(value);
            GlobalUse::Variable(variables.len() as u32 - 1)
        } else {
            GlobalUse::Constant(value)
        });
    }
    Ok(())
}

/// The address that an exported global stands for. A side counts from its own base.
pub(crate) fn address_of(units: &[Unit<'_>], unit: usize, index: u32) -> Option<i32> {
    let owner = units.get(unit)?;
    // An import that is exported again: no address of this module.
    if (index as usize) < owner.input.imported_globals.len() {
        return None;
    }
    match owner.globals.get(index as usize)? {
        GlobalUse::Constant(value) => Some(value.wrapping_add(owner.space.memory.start as i32)),
        GlobalUse::Variable(_) => None,
    }
}

/// Decides about all imported globals; returns the names of addresses that nobody has, which are 0.
pub(crate) fn place_imported_globals(
    units: &mut [Unit<'_>],
    names: &Names<'_>,
    host: &HostFunctions<'_>,
    table: &mut Table,
) -> Result<Vec<String>, LinkError> {
    let mut missing = Vec::new();
    for asking in 0..units.len() {
        for index in 0..units[asking].input.imported_globals.len() {
            let (import, kind) = units[asking].input.imported_globals[index];
            let place = match (import.module, import.name, kind.mutable) {
                ("env", "__memory_base" | "__table_base", false) if asking != 0 => continue,
                ("env", STACK_POINTER, true) if asking != 0 => stack_pointer(units, asking)?,
                ("GOT.mem" | "GOT.func", name, true) => match find_address(units, asking, name, names, host, table)? {
                    Some(address) => GlobalUse::Constant(address),
                    None => {
                        missing.push(skillcell_quote::brief(name));
                        GlobalUse::Constant(0)
                    }
                },
                _ => return units[asking].input.refuse(Refusal::UnknownImport(import.to_string())),
            };
            units[asking].globals[index] = place;
        }
    }
    missing.sort_unstable();
    missing.dedup();
    Ok(missing)
}

fn stack_pointer(units: &[Unit<'_>], asking: usize) -> Result<GlobalUse, LinkError> {
    let main = &units[0];
    let index = match main.input.exports.get(STACK_POINTER) {
        Some(&(ExternalKind::Global, index)) => index,
        _ => return main.input.refuse(Refusal::NoExport(STACK_POINTER.to_owned())),
    };
    match main.globals.get(index as usize) {
        Some(place @ GlobalUse::Variable(_)) => Ok(*place),
        _ => units[asking].input.refuse(Refusal::ImportMismatch(STACK_POINTER.to_owned())),
    }
}

fn find_address(
    units: &[Unit<'_>],
    asking: usize,
    name: &str,
    names: &Names<'_>,
    host: &HostFunctions<'_>,
    table: &mut Table,
) -> Result<Option<i32>, LinkError> {
    let mismatch = || Refusal::ImportMismatch(skillcell_quote::brief(name)).of(units[asking].input.name);
    match names.find(units, asking, name) {
        Some(found) if found.kind == ExternalKind::Func => {
            let function = units[found.unit].function(found.index)?;
            Ok(Some(table.slot_of(function)? as i32))
        }
        Some(found) if found.kind == ExternalKind::Global => {
            Ok(Some(address_of(units, found.unit, found.index).ok_or_else(mismatch)?))
        }
        Some(_) => Err(mismatch()),
        None => match host.find(ImportName { module: "env", name }) {
            Some(function) => Ok(Some(table.slot_of(function)? as i32)),
            None => Ok(None),
        },
    }
}
