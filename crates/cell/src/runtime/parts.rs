//! Divides a code module into a main module, of what calls are known to use, and parts that are compiled when they are first needed.
//!
//! ```text
//!   code module            main module                                parts, each a module
//!   ┌──────────────┐       ┌──────────────────────────────┐          ┌────────────────────┐
//!   │ functions    │       │ used functions               │  table   │ other functions,   │
//!   │ table        │ ────▶ │ a stub for each type         │ ◀─────── │ as they lie in the │
//!   │ globals tags │       │ table globals tags  + called │ ───────▶ │ binary             │
//!   └──────────────┘       │ imports + load, digests      │ globals  └────────────────────┘
//!                          └──────────────────────────────┘
//! ```
//!
//! Modules call each other only through the table: a function that is called directly from another module gets a slot, if it has none. A
//! slot whose function is in a part holds the stub of the function's type, until that part is there. Every call through the table
//! writes its slot to the global `called` before; the stub asks the host to `load` what belongs to it, and makes the call again, with the
//! same arguments. The function that was meant runs once, nothing runs twice, and no caller can tell.
//!
//! A part has no state: memory, table, globals and tags are the main module's, under the same indices. With its
//! instance its slots are filled.
//!
//! A function that the host does (`by_host`) is in the main module, with a body that calls what it imports for that.
//!
//! Bytes in, bytes out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{
    CodeSection, ConstExpr, ElementSection, Elements, Encode, EntityType, ExportKind, ExportSection, Function,
    FunctionSection, GlobalSection, GlobalType, ImportSection, Instruction, Module, RawSection, SectionId,
    TableSection, TableType, TypeSection, ValType,
};
use wasmparser::{ElementItems, ElementKind, FunctionBody, Operator, Parser, Payload, TypeRef};

use super::by_host::ByHost;
use super::split::{SplitError, constant_address};
use crate::digests::{self, Digest};
use crate::engine::TABLE_ELEMENTS;
use crate::interrupt::OWN_CHECKS;

/// The module that parts import from.
pub const MAIN: &str = "main";
/// What the main module asks the host for a slot's function with; it also says what the asking cost in fuel, to be given back.
pub const LOAD: (&str, &str) = ("parts", "load");
/// The code of a part, about.
pub const PART_BYTES: usize = 256 << 10;
/// What a stub costs, with its check and without its arguments, in Wasmtime's fuel: one for the function, one for most instructions.
const STUB_FUEL: i32 = 7 + if OWN_CHECKS { 2 } else { 0 };
/// The owner of a slot whose function is in the main module.
pub const NO_PART: u32 = u32::MAX;

const TABLE_EXPORT: &str = "parts:table";
const CALLED_EXPORT: &str = "parts:called";

/// The result of [`divide_module`].
pub struct Divided {
    pub main: Vec<u8>,
    pub parts: Vec<Vec<u8>>,
    /// For each slot of the table the part that its function is in, or [`NO_PART`].
    pub part_of_slot: Vec<u32>,
    /// The place of the first function of each part.
    pub first_functions: Vec<u32>,
    /// As [`Split::functions`](super::split::Split), of the main module.
    pub functions: u64,
}

/// Divides `code`. `is_used` is asked by the place of a function among those with a body.
pub fn divide_module(
    code: &[u8],
    mut by_host: ByHost,
    is_used: impl Fn(u32) -> bool,
    part_bytes: usize,
) -> Result<Divided, SplitError> {
    let source = Source::parse(code)?;
    by_host.retain(|&function, replaced| {
        let ty = source.type_of.get(function as usize).and_then(|ty| source.types.get(*ty as usize));
        function >= source.imported && ty.is_some_and(|ty| replaced.has_type(ty))
    });
    let plan = Plan::new(&source, by_host, is_used, part_bytes)?;
    let mut parts = vec![(CodeSection::new(), Types::new()); plan.first_functions.len()];
    let mut main = (CodeSection::new(), Types::new());
    for (function, body) in (source.imported..).zip(&source.bodies) {
        let (code, types) = match plan.owner[function as usize] {
            Owner::Main => &mut main,
            Owner::Part(part) => &mut parts[part as usize],
        };
        types.insert(source.type_of(function)?);
        match plan.by_host.get(&function) {
            Some(replaced) => code.raw(&replaced.body(plan.digest_import(&source, replaced.digest()))),
            None => code.raw(&plan.body(&source, function, body, types)?),
        };
    }
    let functions = plan.main_functions();
    let parts = (0..)
        .zip(parts)
        .map(|(part, (code, types))| plan.part_module(&source, part, &code, types))
        .collect::<Result<_, _>>()?;
    let main = plan.main_module(&source, main.0, main.1)?;
    Ok(Divided { main, parts, part_of_slot: plan.part_of_slot(), first_functions: plan.first_functions, functions })
}

/// The types that a module uses. The others keep their places, as functions of nothing: Wasmtime compiles a trampoline for each that it sees.
type Types = BTreeSet<u32>;

/// A code module, as far as dividing it needs to know it.
struct Source<'a> {
    bytes: &'a [u8],
    types: Vec<wasmparser::FuncType>,
    /// How many functions are imported.
    imported: u32,
    imports: wasmparser::ImportSectionReader<'a>,
    exports: wasmparser::ExportSectionReader<'a>,
    globals: Vec<wasmparser::Global<'a>>,
    tags: Vec<wasmparser::TagType>,
    raw_tags: Option<&'a [u8]>,
    memories: Vec<(&'a str, &'a str, wasmparser::MemoryType)>,
    /// The type of each function, imported ones first.
    type_of: Vec<u32>,
    bodies: Vec<FunctionBody<'a>>,
    /// The table's slots: which function each holds.
    slots: Vec<Option<u32>>,
}

impl<'a> Source<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Source<'a>, SplitError> {
        let missing = || SplitError::Unsupported("lacks a section that code has");
        let (mut types, mut tags, mut raw_tags) = (Vec::new(), Vec::new(), None);
        let (mut imports, mut exports, mut globals) = (None, None, Vec::new());
        let (mut type_of, mut bodies, mut slots, mut memories) = (Vec::new(), Vec::new(), None, Vec::new());
        let mut imported = 0;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::TypeSection(section) => {
                    types = section.into_iter_err_on_gc_types().collect::<Result<_, _>>()?;
                }
                Payload::ImportSection(section) => {
                    imports = Some(section.clone());
                    for import in section.into_imports() {
                        let import = import?;
                        match import.ty {
                            TypeRef::Func(ty) => type_of.push(ty),
                            TypeRef::Memory(memory) => memories.push((import.module, import.name, memory)),
                            _ => return Err(SplitError::Unsupported("imports more than functions and a memory")),
                        }
                    }
                    imported = type_of.len() as u32;
                }
                Payload::FunctionSection(section) => {
                    for ty in section {
                        type_of.push(ty?);
                    }
                }
                Payload::TableSection(section) => {
                    let mut tables = section.into_iter();
                    let (Some(table), None) = (tables.next(), tables.next()) else {
                        return Err(SplitError::Unsupported("must have exactly one table"));
                    };
                    let size = usize::try_from(table?.ty.initial).ok().filter(|size| *size <= TABLE_ELEMENTS);
                    slots = Some(vec![None; size.ok_or(SplitError::Unsupported("has a table that is too large"))?]);
                }
                Payload::TagSection(section) => {
                    raw_tags = Some(&bytes[section.range()]);
                    tags = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::GlobalSection(section) => globals = section.into_iter().collect::<Result<_, _>>()?,
                Payload::ExportSection(section) => exports = Some(section),
                Payload::ElementSection(section) => {
                    let slots = slots.as_mut().ok_or_else(missing)?;
                    for element in section {
                        fill_slots(slots, &element?)?;
                    }
                }
                Payload::CodeSectionEntry(body) => bodies.push(body),
                _ => {}
            }
        }
        Ok(Source {
            bytes,
            types,
            imported,
            imports: imports.ok_or_else(missing)?,
            exports: exports.ok_or_else(missing)?,
            globals,
            tags,
            raw_tags,
            memories,
            type_of,
            bodies,
            slots: slots.ok_or_else(missing)?,
        })
    }

    fn type_of(&self, function: u32) -> Result<u32, SplitError> {
        self.type_of.get(function as usize).copied().ok_or(SplitError::Unsupported("calls a function that it lacks"))
    }

    /// The types of a module that uses these, and those of tags.
    fn types_used(&self, mut used: Types) -> Result<TypeSection, SplitError> {
        used.extend(self.tags.iter().map(|tag| tag.func_type_idx));
        let mut section = TypeSection::new();
        for (index, ty) in (0..).zip(&self.types) {
            if used.contains(&index) {
                section.ty().func_type(&RoundtripReencoder.func_type(ty.clone())?);
            } else {
                section.ty().function([], []);
            }
        }
        Ok(section)
    }

    fn params_of(&self, ty: u32) -> u32 {
        self.types.get(ty as usize).map_or(0, |ty| ty.params().len() as u32)
    }
}

fn fill_slots(slots: &mut [Option<u32>], element: &wasmparser::Element<'_>) -> Result<(), SplitError> {
    let unsupported = || SplitError::Unsupported("fills its table in a way that is not known here");
    let ElementKind::Active { table_index: None | Some(0), offset_expr } = &element.kind else {
        return Err(unsupported());
    };
    let ElementItems::Functions(functions) = &element.items else { return Err(unsupported()) };
    let start = constant_address(offset_expr)? as u32;
    for (slot, function) in (start as usize..).zip(functions.clone()) {
        *slots.get_mut(slot).ok_or_else(unsupported)? = Some(function?);
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Main,
    Part(u32),
}

/// Where everything goes.
struct Plan {
    by_host: ByHost,
    /// What those call, as it is imported.
    digests: BTreeSet<Digest>,
    /// The place of the first function of each part.
    first_functions: Vec<u32>,
    /// Of each function, imported ones included.
    owner: Vec<Owner>,
    /// Of each function, its index in the module that owns it.
    index: Vec<u32>,
    /// Functions that the main module has, without stubs.
    in_main: u32,
    /// The table, with the slots that calls between modules need.
    slots: Vec<Option<u32>>,
    slot_of: Vec<Option<u32>>,
    /// The types that have a stub, with its index in the main module.
    stubs: BTreeMap<u32, u32>,
    /// The index of the global `called`, everywhere.
    called: u32,
}

impl Plan {
    fn new(
        source: &Source<'_>,
        by_host: ByHost,
        is_used: impl Fn(u32) -> bool,
        part_bytes: usize,
    ) -> Result<Plan, SplitError> {
        let functions = source.type_of.len();
        let mut plan = Plan {
            digests: by_host.values().map(|replaced| replaced.digest()).collect(),
            by_host,
            first_functions: Vec::new(),
            owner: vec![Owner::Main; functions],
            index: vec![0; functions],
            in_main: 0,
            slots: source.slots.clone(),
            slot_of: vec![None; functions],
            stubs: BTreeMap::new(),
            called: source.globals.len() as u32,
        };
        plan.choose_owners(source, is_used, part_bytes)?;
        for (slot, function) in (0..).zip(&source.slots) {
            if let Some(place) = function.and_then(|function| plan.slot_of.get_mut(function as usize)) {
                place.get_or_insert(slot);
            }
        }
        plan.give_slots(source)?;
        if plan.slots.len() > TABLE_ELEMENTS {
            return Err(SplitError::Unsupported("has a table that is too large"));
        }
        let mut next = plan.in_main;
        for function in &plan.slots {
            let Some(function) = *function else { continue };
            let owner = plan.owner.get(function as usize).ok_or(SplitError::Unsupported("has a bad table"))?;
            if *owner != Owner::Main {
                plan.stubs.entry(source.type_of(function)?).or_insert_with(|| {
                    next += 1;
                    next - 1
                });
            }
        }
        Ok(plan)
    }

    fn choose_owners(
        &mut self,
        source: &Source<'_>,
        is_used: impl Fn(u32) -> bool,
        part_bytes: usize,
    ) -> Result<(), SplitError> {
        let mut exported = vec![false; self.owner.len()];
        for export in source.exports.clone() {
            let export = export?;
            if export.kind == wasmparser::ExternalKind::Func
                && let Some(exported) = exported.get_mut(export.index as usize)
            {
                *exported = true;
            }
        }
        // After the imported functions come `load` and the digests.
        let (mut part, mut size, mut in_part) = (0, 0, 0);
        self.in_main = source.imported + 1 + self.digests.len() as u32;
        (0..source.imported).for_each(|function| self.index[function as usize] = function);
        for (place, body) in (0..).zip(&source.bodies) {
            let function = (source.imported + place) as usize;
            if exported[function] || is_used(place) || self.by_host.contains_key(&(function as u32)) {
                self.index[function] = self.in_main;
                self.in_main += 1;
                continue;
            }
            let bytes = body.range().len();
            if in_part > 0 && size + bytes > part_bytes {
                (part, size, in_part) = (part + 1, 0, 0);
            }
            if in_part == 0 {
                self.first_functions.push(place);
            }
            self.owner[function] = Owner::Part(part);
            self.index[function] = in_part;
            (size, in_part) = (size + bytes, in_part + 1);
        }
        Ok(())
    }

    /// Gives a slot to each function that another module calls directly.
    fn give_slots(&mut self, source: &Source<'_>) -> Result<(), SplitError> {
        for (function, body) in (source.imported..).zip(&source.bodies) {
            let owner = self.owner[function as usize];
            let mut operators = body.get_operators_reader()?;
            while !operators.eof() {
                let (Operator::Call { function_index: callee } | Operator::ReturnCall { function_index: callee }) =
                    operators.read()?
                else {
                    continue;
                };
                source.type_of(callee)?;
                let callee = callee as usize;
                if self.owner[callee] != owner && self.slot_of[callee].is_none() {
                    self.slot_of[callee] = Some(self.slots.len() as u32);
                    self.slots.push(Some(callee as u32));
                }
            }
        }
        Ok(())
    }

    fn digest_import(&self, source: &Source<'_>, digest: Digest) -> u32 {
        source.imported + 1 + self.digests.range(..digest).count() as u32
    }

    fn main_functions(&self) -> u64 {
        let escaping =
            self.slot_of.iter().zip(&self.owner).filter(|(slot, owner)| slot.is_some() && **owner == Owner::Main);
        u64::from(self.in_main) + 2 * self.stubs.len() as u64 + escaping.count() as u64
    }

    fn part_of_slot(&self) -> Vec<u32> {
        let part = |function: &Option<u32>| match function.map(|function| self.owner[function as usize]) {
            Some(Owner::Part(part)) => part,
            _ => NO_PART,
        };
        self.slots.iter().map(part).collect()
    }

    /// A function's body with its calls as its module has to make them.
    fn body(
        &self,
        source: &Source<'_>,
        function: u32,
        body: &FunctionBody<'_>,
        types: &mut Types,
    ) -> Result<Vec<u8>, SplitError> {
        let owner = self.owner[function as usize];
        let mut patches: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
        let mut operators = body.get_operators_reader()?;
        let start = operators.original_position();
        let scratch = self.scratch_local(source, function, body)?;
        let mut needs_scratch = false;
        while !operators.eof() {
            use Operator as O;
            let at = operators.original_position();
            let mut new = Vec::new();
            match operators.read()? {
                O::Call { function_index } => {
                    types.insert(source.type_of(function_index)?);
                    self.call(source, owner, function_index, false, &mut new)?;
                }
                O::ReturnCall { function_index } => {
                    types.insert(source.type_of(function_index)?);
                    self.call(source, owner, function_index, true, &mut new)?;
                }
                O::CallIndirect { table_index: 0, type_index }
                | O::ReturnCallIndirect { table_index: 0, type_index } => {
                    types.insert(type_index);
                    needs_scratch = true;
                    Instruction::LocalTee(scratch).encode(&mut new);
                    Instruction::GlobalSet(self.called).encode(&mut new);
                    Instruction::LocalGet(scratch).encode(&mut new);
                    new.extend_from_slice(&source.bytes[at..operators.original_position()]);
                }
                O::CallIndirect { .. }
                | O::ReturnCallIndirect { .. }
                | O::RefFunc { .. }
                | O::CallRef { .. }
                | O::ReturnCallRef { .. } => {
                    return Err(SplitError::Unsupported("calls functions in a way that is not known here"));
                }
                O::Block { blockty } | O::Loop { blockty } | O::If { blockty } | O::Try { blockty } => {
                    types.extend(type_of_block(blockty));
                    continue;
                }
                O::TryTable { try_table } => {
                    types.extend(type_of_block(try_table.ty));
                    continue;
                }
                _ => continue,
            }
            patches.push((at..operators.original_position(), new));
        }
        let range = body.range();
        let mut written = Vec::with_capacity(range.len() + patches.len() * 8);
        if needs_scratch {
            let groups = body.get_locals_reader()?;
            (groups.get_count() + 1).encode(&mut written);
            written.extend_from_slice(&source.bytes[groups.original_position()..start]);
            1u32.encode(&mut written);
            ValType::I32.encode(&mut written);
        } else {
            written.extend_from_slice(&source.bytes[range.start..start]);
        }
        let mut copied = start;
        for (place, new) in patches {
            written.extend_from_slice(&source.bytes[copied..place.start]);
            written.extend_from_slice(&new);
            copied = place.end;
        }
        written.extend_from_slice(&source.bytes[copied..range.end]);
        Ok(written)
    }

    /// The index that one more local has.
    fn scratch_local(&self, source: &Source<'_>, function: u32, body: &FunctionBody<'_>) -> Result<u32, SplitError> {
        let mut locals = source.params_of(source.type_of(function)?);
        for group in body.get_locals_reader()? {
            locals = locals.saturating_add(group?.0);
        }
        Ok(locals)
    }

    fn call(
        &self,
        source: &Source<'_>,
        from: Owner,
        to: u32,
        returns: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), SplitError> {
        let index = self.index[to as usize];
        if self.owner[to as usize] == from {
            match returns {
                true => Instruction::ReturnCall(index).encode(out),
                false => Instruction::Call(index).encode(out),
            }
            return Ok(());
        }
        let slot = self.slot_of[to as usize].unwrap_or_default() as i32;
        let type_index = source.type_of(to)?;
        Instruction::I32Const(slot).encode(out);
        Instruction::GlobalSet(self.called).encode(out);
        Instruction::I32Const(slot).encode(out);
        match returns {
            true => Instruction::ReturnCallIndirect { type_index, table_index: 0 }.encode(out),
            false => Instruction::CallIndirect { type_index, table_index: 0 }.encode(out),
        }
        Ok(())
    }

    fn table_type(&self) -> TableType {
        let size = self.slots.len() as u64;
        TableType {
            element_type: wasm_encoder::RefType::FUNCREF,
            table64: false,
            minimum: size,
            maximum: Some(size),
            shared: false,
        }
    }

    /// The slots that a module fills, in runs.
    fn elements(&self, index_in: impl Fn(u32) -> Option<u32>) -> ElementSection {
        let mut section = ElementSection::new();
        let mut run: Vec<u32> = Vec::new();
        let mut write = |start: usize, run: &mut Vec<u32>| {
            if !run.is_empty() {
                let start = ConstExpr::i32_const(start as i32);
                section.active(None, &start, Elements::Functions(run.as_slice().into()));
                run.clear();
            }
        };
        for (slot, function) in self.slots.iter().enumerate() {
            match function.and_then(&index_in) {
                Some(index) => run.push(index),
                None => write(slot - run.len(), &mut run),
            }
        }
        write(self.slots.len() - run.len(), &mut run);
        section
    }

    fn main_module(&self, source: &Source<'_>, mut code: CodeSection, mut used: Types) -> Result<Vec<u8>, SplitError> {
        used.extend(source.type_of.iter().take(source.imported as usize));
        used.extend(self.stubs.keys());
        let mut types = source.types_used(used)?;
        // Of `load` and of the digests.
        let two_numbers = source.types.len() as u32;
        types.ty().function([ValType::I32, ValType::I32], []);
        let mut imports = ImportSection::new();
        // Functions first, so that ours have the indices that are left for them.
        let mut others = Vec::new();
        for import in source.imports.clone().into_imports() {
            let import = import?;
            match import.ty {
                TypeRef::Func(_) => RoundtripReencoder.parse_import(&mut imports, import)?,
                _ => others.push(import),
            }
        }
        imports.import(LOAD.0, LOAD.1, EntityType::Function(two_numbers));
        for digest in &self.digests {
            imports.import(digests::MODULE, digest.name(), EntityType::Function(two_numbers));
        }
        for import in others {
            RoundtripReencoder.parse_import(&mut imports, import)?;
        }
        let mut functions = FunctionSection::new();
        for (function, ty) in (0..).zip(&source.type_of).skip(source.imported as usize) {
            if self.owner[function as usize] == Owner::Main {
                functions.function(*ty);
            }
        }
        let mut by_index: Vec<(u32, u32)> = self.stubs.iter().map(|(ty, index)| (*index, *ty)).collect();
        by_index.sort_unstable();
        for (_, ty) in by_index {
            functions.function(ty);
            code.function(&self.stub(source, ty));
        }
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions);
        module.section(TableSection::new().table(self.table_type()));
        if let Some(tags) = source.raw_tags {
            module.section(&RawSection { id: SectionId::Tag as u8, data: tags });
        }
        module.section(&self.globals(source)?).section(&self.exports(source)?);
        let in_main = |function: u32| match self.owner[function as usize] {
            Owner::Main => Some(self.index[function as usize]),
            Owner::Part(_) => self.stubs.get(&source.type_of[function as usize]).copied(),
        };
        module.section(&self.elements(in_main)).section(&code);
        Ok(module.finish())
    }

    fn globals(&self, source: &Source<'_>) -> Result<GlobalSection, SplitError> {
        let mut globals = GlobalSection::new();
        for global in &source.globals {
            let mut operators = global.init_expr.get_operators_reader();
            if matches!(operators.read()?, Operator::RefFunc { .. }) {
                return Err(SplitError::Unsupported("has a global that refers to a function"));
            }
            RoundtripReencoder.parse_global(&mut globals, global.clone())?;
        }
        globals.global(called_type(), &ConstExpr::i32_const(0));
        Ok(globals)
    }

    fn exports(&self, source: &Source<'_>) -> Result<ExportSection, SplitError> {
        let mut exports = ExportSection::new();
        for export in source.exports.clone() {
            let mut export = export?;
            if export.kind == wasmparser::ExternalKind::Func {
                export.index = self.index.get(export.index as usize).copied().unwrap_or_default();
            }
            RoundtripReencoder.parse_export(&mut exports, export)?;
        }
        exports.export(TABLE_EXPORT, ExportKind::Table, 0);
        exports.export(CALLED_EXPORT, ExportKind::Global, self.called);
        for index in 0..self.called {
            exports.export(&format!("parts:global:{index}"), ExportKind::Global, index);
        }
        for index in 0..source.tags.len() as u32 {
            exports.export(&format!("parts:tag:{index}"), ExportKind::Tag, index);
        }
        Ok(exports)
    }

    /// Stands for every function of a type that is not there: has it loaded, and calls it.
    fn stub(&self, source: &Source<'_>, ty: u32) -> Function {
        let slot = source.params_of(ty);
        let mut stub = Function::new([(1, ValType::I32)]);
        let mut code = stub.instructions();
        code.global_get(self.called).local_tee(slot).i32_const(STUB_FUEL + slot as i32).call(source.imported);
        (0..slot).for_each(|param| {
            code.local_get(param);
        });
        // What it loads may call through the table while it is made ready, in principle: the slot is the stub's own.
        code.local_get(slot).call_indirect(0, ty).end();
        stub
    }

    fn part_module(
        &self,
        source: &Source<'_>,
        part: u32,
        code: &CodeSection,
        used: Types,
    ) -> Result<Vec<u8>, SplitError> {
        let mut imports = ImportSection::new();
        for (module, name, memory) in &source.memories {
            imports.import(module, name, EntityType::Memory(RoundtripReencoder.memory_type(*memory)?));
        }
        imports.import(MAIN, TABLE_EXPORT, EntityType::Table(self.table_type()));
        for (index, tag) in source.tags.iter().enumerate() {
            imports.import(MAIN, &format!("parts:tag:{index}"), EntityType::Tag(RoundtripReencoder.tag_type(*tag)?));
        }
        for (index, global) in source.globals.iter().enumerate() {
            let ty = RoundtripReencoder.global_type(global.ty)?;
            imports.import(MAIN, &format!("parts:global:{index}"), EntityType::Global(ty));
        }
        imports.import(MAIN, CALLED_EXPORT, EntityType::Global(called_type()));
        let mut functions = FunctionSection::new();
        for (owner, ty) in self.owner.iter().zip(&source.type_of) {
            if *owner == Owner::Part(part) {
                functions.function(*ty);
            }
        }
        let mine = |function: u32| {
            (self.owner[function as usize] == Owner::Part(part)).then_some(self.index[function as usize])
        };
        let mut module = Module::new();
        module
            .section(&source.types_used(used)?)
            .section(&imports)
            .section(&functions)
            .section(&self.elements(mine))
            .section(code);
        Ok(module.finish())
    }
}

fn type_of_block(block: wasmparser::BlockType) -> Option<u32> {
    match block {
        wasmparser::BlockType::FuncType(ty) => Some(ty),
        _ => None,
    }
}

fn called_type() -> GlobalType {
    GlobalType { val_type: ValType::I32, mutable: true, shared: false }
}
