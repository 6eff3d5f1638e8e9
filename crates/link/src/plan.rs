//! Everything that is decided before a byte is written: places, names, slots and values.

use std::collections::HashMap;

use skillcell_quote::brief;
use wasm_encoder::{FuncType, ValType};
use wasmparser::ExternalKind;

use crate::exceptions::Landings;
use crate::globals::{address_of, place_imported_globals, place_own_globals};
use crate::input::{ImportName, Input};
use crate::layout::Layout;
use crate::shape::{check_main, check_side};
use crate::symbols::{HostFunctions, Names, place_functions, place_tags, place_types};
use crate::table::{Segment, Table};
use crate::trampoline::Trampoline;
use crate::types::{TypePool, encode_type};
use crate::unit::Unit;
use crate::{Callback, HostImport, Library, LinkError, Linked, Refusal, Side, Wanted};

const HEAP_BASE: &str = "__heap_base";
/// What a loader calls of a side, after its start function.
const LOADING: [&str; 2] = ["__wasm_apply_data_relocs", "__wasm_call_ctors"];

/// A linked module that is not written yet. Main is the first unit.
pub(crate) struct Plan<'a> {
    pub units: Vec<Unit<'a>>,
    pub layout: Layout,
    pub types: TypePool,
    pub landings: Landings,
    pub host: HostFunctions<'a>,
    /// First values of the mutable globals that are left.
    pub variables: Vec<i32>,
    pub segments: Vec<Segment>,
    pub table_slots: u32,
    pub trampoline: Trampoline,
    /// For each side: the exports that load it, with functions of the output.
    pub loading: Vec<Vec<(String, u32)>>,
    heap_base: u32,
    missing: Vec<String>,
    callback_slots: Vec<u32>,
    trampoline_slot: u32,
    entries: Vec<Vec<(String, u32)>>,
    needed: Vec<Vec<usize>>,
}

impl<'a> Plan<'a> {
    pub fn make(main: &'a [u8], sides: &[Side<'a>], wanted: &Wanted<'a>) -> Result<Plan<'a>, LinkError> {
        let (mut units, layout, heap_base) = read_units(main, sides)?;
        let mut types = TypePool::default();
        place_types(&mut units, &mut types)?;
        place_tags(&mut units)?;
        let landings = tag_landings(&units[0].input, &mut types)?;
        let trampoline = Trampoline::new(&mut types);

        // Functions: imports come before all others, so callbacks have to be known first.
        let names = Names::collect(&units);
        let mut host = HostFunctions::default();
        let callbacks = add_callbacks(wanted.callbacks, &mut types, &mut host)?;
        let trampoline_function = place_functions(&mut units, &names, &mut host)?;

        // Addresses: own ones are needed to place elements, which give functions their slots, which are addresses too.
        let variables = place_own_globals(&mut units)?;
        let mut table = Table::fill(&units, &layout)?;
        let missing = place_imported_globals(&mut units, &names, &host, &mut table)?;
        let entries = units[1..].iter().map(|side| entry_slots(side, &mut table)).collect::<Result<_, _>>()?;
        let callback_slots = callbacks.iter().map(|&function| table.slot_of(function)).collect::<Result<_, _>>()?;
        let trampoline_slot = table.slot_of(trampoline_function)?;
        let (table_slots, segments) = table.finish();
        Ok(Plan {
            loading: loading_functions(&units[1..])?,
            needed: needed_sides(&units[1..])?,
            units,
            layout,
            types,
            landings,
            host,
            variables,
            segments,
            table_slots,
            trampoline,
            heap_base,
            missing,
            callback_slots,
            trampoline_slot,
            entries,
        })
    }

    /// What the host is told.
    pub fn describe(self, module: Vec<u8>, wanted: &Wanted<'_>) -> Result<Linked, LinkError> {
        let addresses = wanted.addresses.iter().map(|name| self.address(name)).collect::<Result<_, _>>()?;
        let imports = self.host.list.iter().map(|function| HostImport {
            module: function.name.module.to_owned(),
            name: function.name.name.to_owned(),
            for_main: function.for_main,
        });
        let sides = self.units[1..].iter().zip(self.needed).zip(self.loading).zip(self.entries);
        let libraries = sides.map(|(((side, needed), loading), entries)| Library {
            name: side.input.name.to_owned(),
            needed,
            loading: loading.into_iter().map(|(name, _)| name).collect(),
            entries,
        });
        Ok(Linked {
            module,
            heap_base: self.heap_base,
            reserved_bytes: (self.layout.heap_start - u64::from(self.heap_base)) as u32,
            addresses,
            callbacks: self.callback_slots,
            trampoline: self.trampoline_slot,
            libraries: libraries.collect(),
            imports: imports.collect(),
            missing: self.missing,
        })
    }

    fn address(&self, name: &str) -> Result<u32, LinkError> {
        let main = &self.units[0].input;
        let address = match main.exports.get(name) {
            Some(&(ExternalKind::Global, index)) => address_of(&self.units, 0, index),
            _ => None,
        };
        address.map(|address| address as u32).ok_or_else(|| Refusal::NoExport(brief(name)).of(main.name))
    }
}

fn read_units<'a>(main: &'a [u8], sides: &[Side<'a>]) -> Result<(Vec<Unit<'a>>, Layout, u32), LinkError> {
    let main = Input::parse("main", main)?;
    check_main(&main)?;
    let mut inputs = Vec::with_capacity(sides.len());
    for side in sides {
        let input = Input::parse(side.name, side.bytes)?;
        check_side(&input)?;
        inputs.push(input);
    }
    let heap_base = heap_base(&main)?;
    let layout = Layout::plan(&main, &inputs, heap_base)?;
    let inputs = std::iter::once(main).chain(inputs);
    let units = inputs.zip(&layout.spaces).map(|(input, &space)| Unit::new(input, space)).collect();
    Ok((units, layout, heap_base))
}

/// It has to be known before anything is placed, so it has to be a plain number.
fn heap_base(main: &Input<'_>) -> Result<u32, LinkError> {
    let own = match main.exports.get(HEAP_BASE) {
        Some(&(ExternalKind::Global, index)) => (index as usize).checked_sub(main.imported_globals.len()),
        _ => None,
    };
    let global = own.and_then(|own| main.globals.get(own)).filter(|global| !global.ty.mutable);
    let Some(global) = global else { return main.refuse(Refusal::NoExport(HEAP_BASE.to_owned())) };
    let value = crate::constant::evaluate_constant(&global.init_expr, |_| Err(Refusal::Index));
    value.map(|value| value as u32).map_err(|error| crate::error::name_rewrite(main.name, error))
}

fn tag_landings(main: &Input<'_>, types: &mut TypePool) -> Result<Landings, LinkError> {
    let mut landings = Landings::default();
    for &tag in &main.tags {
        let kind = main.types.get(tag as usize).ok_or_else(|| Refusal::Index.of(main.name))?;
        landings.add(encode_type(main.name, kind)?.params(), types);
    }
    Ok(landings)
}

fn add_callbacks<'a>(
    callbacks: &[Callback<'a>],
    types: &mut TypePool,
    host: &mut HostFunctions<'a>,
) -> Result<Vec<u32>, LinkError> {
    let mut functions = Vec::new();
    for callback in callbacks {
        let params = (0..callback.params).map(|_| ValType::I32);
        let kind = types.add(FuncType::new(params, callback.has_result.then_some(ValType::I32)));
        let name = ImportName { module: callback.module, name: callback.name };
        let function = host.add(name, kind, true);
        functions.push(function.ok_or_else(|| Refusal::ImportMismatch(name.to_string()).of("the host"))?);
    }
    Ok(functions)
}

/// Slots for what Python looks up in a library. Other names are found by those who import them.
fn entry_slots(side: &Unit<'_>, table: &mut Table) -> Result<Vec<(String, u32)>, LinkError> {
    let mut entries = Vec::new();
    for &(name, function) in &side.input.exported_functions {
        if name.starts_with("PyInit_") {
            entries.push((name.to_owned(), table.slot_of(side.function(function)?)?));
        }
    }
    Ok(entries)
}

fn loading_functions(sides: &[Unit<'_>]) -> Result<Vec<Vec<(String, u32)>>, LinkError> {
    let mut all = Vec::with_capacity(sides.len());
    for (place, side) in sides.iter().enumerate() {
        let start = side.input.start.map(|function| ("start", function));
        let others = LOADING.iter().filter_map(|&name| Some((name, side.input.exported_function(name)?)));
        let mut loading = Vec::new();
        for (name, function) in start.into_iter().chain(others) {
            let kind = side.input.signature(function)?;
            if !kind.params().is_empty() || !kind.results().is_empty() {
                return side.input.refuse(Refusal::ImportMismatch(name.to_owned()));
            }
            loading.push((format!("{place}:{name}"), side.function(function)?));
        }
        all.push(loading);
    }
    Ok(all)
}

fn needed_sides(sides: &[Unit<'_>]) -> Result<Vec<Vec<usize>>, LinkError> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, side) in sides.iter().enumerate() {
        places.entry(file_name(side.input.name)).or_insert(place);
    }
    let mut all = Vec::with_capacity(sides.len());
    for side in sides {
        let names = side.input.dylink.iter().flat_map(|dylink| &dylink.needed);
        let found = names.map(|name| {
            let place = places.get(file_name(name)).copied();
            place.ok_or_else(|| Refusal::NoLibrary(brief(name)).of(side.input.name))
        });
        all.push(found.collect::<Result<_, _>>()?);
    }
    Ok(all)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
