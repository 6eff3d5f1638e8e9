//! Names, and what they stand for: main's, the module's own, those of other sides in their order, then the host's.
//!
//! Main asks only itself and the host, so that it means the same with every set of sides.

use std::collections::HashMap;

use wasmparser::ExternalKind;

use crate::input::{ImportName, Input};
use crate::limits::{MAX_FUNCTIONS, MAX_REEXPORTS, check_amount};
use crate::types::TypePool;
use crate::unit::Unit;
use crate::{LinkError, Refusal};

/// Something that a module exports, by its own index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub unit: usize,
    pub kind: ExternalKind,
    pub index: u32,
}

/// What sides offer one another; main's and own names come first.
pub(crate) struct Names<'a> {
    shared: HashMap<&'a str, Definition>,
}

impl<'a> Names<'a> {
    pub fn collect(units: &[Unit<'a>]) -> Names<'a> {
        let mut shared = HashMap::new();
        for (unit, side) in units.iter().enumerate().skip(1) {
            for (&name, &(kind, index)) in &side.input.exports {
                // Only the first side counts; within one, names differ. So the order of this map plays no part.
                if !is_private(name) {
                    shared.entry(name).or_insert(Definition { unit, kind, index });
                }
            }
        }
        Names { shared }
    }

    /// What `name` stands for in a module.
    pub fn find(&self, units: &[Unit<'a>], asking: usize, name: &str) -> Option<Definition> {
        let of = |unit: usize| -> Option<Definition> {
            let &(kind, index) = units.get(unit)?.input.exports.get(name)?;
            Some(Definition { unit, kind, index })
        };
        let own = || if is_private(name) { None } else { of(asking) };
        let others = || if asking == 0 { None } else { self.shared.get(name).copied() };
        of(0).or_else(own).or_else(others)
    }
}

/// Every module has its own of these: they are for its loader.
fn is_private(name: &str) -> bool {
    matches!(name, "__wasm_call_ctors" | "__wasm_apply_data_relocs" | "__wasm_apply_global_relocs" | "__dso_handle")
        || name.starts_with("__em_js__")
        || name.starts_with("__start_em_")
        || name.starts_with("__stop_em_")
}

/// A function that the linked module imports.
pub(crate) struct HostFunction<'a> {
    pub name: ImportName<'a>,
    pub type_index: u32,
    pub for_main: bool,
}

/// The imports of the output, each name once.
#[derive(Default)]
pub(crate) struct HostFunctions<'a> {
    pub list: Vec<HostFunction<'a>>,
    indices: HashMap<ImportName<'a>, u32>,
}

impl<'a> HostFunctions<'a> {
    /// Adds an import; none, if there is one of this name and another type.
    pub fn add(&mut self, name: ImportName<'a>, type_index: u32, for_main: bool) -> Option<u32> {
        if let Some(&index) = self.indices.get(&name) {
            let known = self.list.get_mut(index as usize)?;
            known.for_main |= for_main;
            return (known.type_index == type_index).then_some(index);
        }
        let index = self.list.len() as u32;
        self.list.push(HostFunction { name, type_index, for_main });
        self.indices.insert(name, index);
        Some(index)
    }

    pub fn find(&self, name: ImportName<'_>) -> Option<u32> {
        self.indices.get(&name).copied()
    }
}

/// What a function import leads to.
#[derive(Clone, Copy)]
enum Route {
    Host(u32),
    Export(Definition),
}

/// Gives every function of every unit its index in the output: imports first, then those of main and of each side. `callbacks` are
/// imported too. Returns the first index that is free.
pub(crate) fn place_functions<'a>(
    units: &mut [Unit<'a>],
    names: &Names<'a>,
    host: &mut HostFunctions<'a>,
) -> Result<u32, LinkError> {
    let mut routes = Vec::with_capacity(units.len());
    for asking in 0..units.len() {
        routes.push(route_imports(units, asking, names, host)?);
    }
    let mut starts = Vec::with_capacity(units.len());
    let mut next = host.list.len() as u64;
    for unit in units.iter() {
        starts.push(next as u32);
        next += unit.input.bodies.len() as u64;
        check_amount("functions", next, MAX_FUNCTIONS)?;
    }
    for asking in 0..units.len() {
        let count = units[asking].input.functions.len() as u32;
        let placed = (0..count).map(|index| place_function(units, &routes, &starts, asking, index));
        units[asking].functions = placed.collect::<Result<_, _>>()?;
    }
    Ok(next as u32)
}

fn route_imports<'a>(
    units: &[Unit<'a>],
    asking: usize,
    names: &Names<'a>,
    host: &mut HostFunctions<'a>,
) -> Result<Vec<Route>, LinkError> {
    let (unit, is_main) = (&units[asking], asking == 0);
    let mut routes = Vec::new();
    for (index, &import) in (0..).zip(&unit.input.imported_functions) {
        let wanted = unit.function_type(index)?;
        let mismatch = || Refusal::ImportMismatch(import.to_string()).of(unit.input.name);
        let found = if is_main || import.module != "env" { None } else { names.find(units, asking, import.name) };
        routes.push(match found {
            Some(found) if found.kind == ExternalKind::Func => {
                if units[found.unit].function_type(found.index)? != wanted {
                    return Err(mismatch());
                }
                Route::Export(found)
            }
            Some(_) => return Err(mismatch()),
            None => Route::Host(host.add(import, wanted, is_main).ok_or_else(mismatch)?),
        });
    }
    Ok(routes)
}

fn place_function(
    units: &[Unit<'_>],
    routes: &[Vec<Route>],
    starts: &[u32],
    asking: usize,
    index: u32,
) -> Result<u32, LinkError> {
    let (mut unit, mut at) = (asking, index);
    // An export may be an import itself.
    for _ in 0..=MAX_REEXPORTS {
        let imported = routes[unit].len() as u32;
        match routes[unit].get(at as usize) {
            None => return Ok(starts[unit] + (at - imported)),
            Some(Route::Host(function)) => return Ok(*function),
            Some(Route::Export(found)) => (unit, at) = (found.unit, found.index),
        }
    }
    let Input { name, imported_functions, .. } = &units[asking].input;
    let import = imported_functions.get(index as usize).map(ToString::to_string).unwrap_or_default();
    Err(Refusal::EndlessImport(import).of(name))
}

/// Adds the types of every unit to the output's.
pub(crate) fn place_types(units: &mut [Unit<'_>], types: &mut TypePool) -> Result<(), LinkError> {
    for unit in units {
        unit.types = types.add_all(unit.input.name, &unit.input.types)?;
    }
    Ok(())
}

/// Main's tags are the output's; sides import them by name.
pub(crate) fn place_tags(units: &mut [Unit<'_>]) -> Result<(), LinkError> {
    let Some((main, sides)) = units.split_first_mut() else { return Ok(()) };
    main.tags = (0..main.input.tags.len() as u32).collect();
    for side in sides {
        for &(import, kind) in &side.input.imported_tags {
            let Some(&(ExternalKind::Tag, tag)) = main.input.exports.get(import.name) else {
                return side.input.refuse(Refusal::UnknownImport(import.to_string()));
            };
            let offered = main.input.tags.get(tag as usize).and_then(|&kind| main.types.get(kind as usize));
            if offered.is_none() || offered != side.types.get(kind as usize) {
                return side.input.refuse(Refusal::ImportMismatch(import.to_string()));
            }
            side.tags.push(tag);
        }
    }
    Ok(())
}
