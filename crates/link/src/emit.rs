//! Writes the linked module, section by section.

use std::collections::HashSet;

use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, ElementSection, Elements, EntityType, ExportKind, ExportSection,
    FunctionSection, GlobalSection, GlobalType, ImportSection, MemorySection, MemoryType, Module, TableSection,
    TagKind, TagSection, TagType, ValType,
};

use crate::error::name_rewrite;
use crate::exceptions::{BodyFacts, translate_body};
use crate::limits::{MAX_SEGMENTS, check_amount};
use crate::plan::Plan;
use crate::unit::Rewriter;
use crate::{LinkError, Refusal, Wanted};

pub(crate) fn emit_module(plan: &Plan<'_>, wanted: &Wanted<'_>) -> Result<Vec<u8>, LinkError> {
    let mut module = Module::new();
    module.section(&plan.types.section()?);
    module.section(&import_section(plan));
    module.section(&function_section(plan)?);
    module.section(&table_section(plan)?);
    module.section(&memory_section(plan));
    module.section(&tag_section(plan)?);
    module.section(&global_section(plan));
    module.section(&export_section(plan, wanted)?);
    module.section(&element_section(plan));
    module.section(&code_section(plan)?);
    module.section(&data_section(plan)?);
    Ok(module.finish())
}

fn import_section(plan: &Plan<'_>) -> ImportSection {
    let mut imports = ImportSection::new();
    for function in &plan.host.list {
        imports.import(function.name.module, function.name.name, EntityType::Function(function.type_index));
    }
    imports
}

fn function_section(plan: &Plan<'_>) -> Result<FunctionSection, LinkError> {
    let mut functions = FunctionSection::new();
    for unit in &plan.units {
        let imported = unit.input.imported_functions.len() as u32;
        for index in imported..unit.input.functions.len() as u32 {
            functions.function(unit.function_type(index)?);
        }
    }
    functions.function(plan.trampoline.type_index);
    Ok(functions)
}

fn table_section(plan: &Plan<'_>) -> Result<TableSection, LinkError> {
    let main = &plan.units[0].input;
    let mut tables = TableSection::new();
    for (place, &kind) in main.tables.iter().enumerate() {
        let mut kind = RoundtripReencoder.table_type(kind).map_err(|_| Refusal::Index.of(main.name))?;
        if place == 0 {
            // It never grows: nothing writes to it.
            kind.minimum = u64::from(plan.table_slots);
            kind.maximum = Some(kind.minimum);
        }
        tables.table(kind);
    }
    Ok(tables)
}

/// Without a maximum: an image's memory has grown, and how far it may is the engine's to say.
fn memory_section(plan: &Plan<'_>) -> MemorySection {
    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: plan.layout.pages,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    memories
}

fn tag_section(plan: &Plan<'_>) -> Result<TagSection, LinkError> {
    let main = &plan.units[0];
    let mut tags = TagSection::new();
    for &tag in &main.input.tags {
        let kind = main.types.get(tag as usize).ok_or_else(|| Refusal::Index.of(main.input.name))?;
        tags.tag(TagType { kind: TagKind::Exception, func_type_idx: *kind });
    }
    Ok(tags)
}

fn global_section(plan: &Plan<'_>) -> GlobalSection {
    let mut globals = GlobalSection::new();
    for &value in &plan.variables {
        let kind = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
        globals.global(kind, &ConstExpr::i32_const(value));
    }
    globals
}

fn export_section(plan: &Plan<'_>, wanted: &Wanted<'_>) -> Result<ExportSection, LinkError> {
    let main = &plan.units[0];
    let mut exports = ExportSection::new();
    exports.export("memory", ExportKind::Memory, 0);
    let mut names = HashSet::from(["memory"]);
    for &name in wanted.functions {
        let function = main.input.exported_function(name);
        let function = function.ok_or_else(|| Refusal::NoExport(skillcell_quote::brief(name)).of(main.input.name))?;
        if names.insert(name) {
            exports.export(name, ExportKind::Func, main.function(function)?);
        }
    }
    for (name, function) in plan.loading.iter().flatten() {
        if !names.insert(name) {
            return main.input.refuse(Refusal::ImportMismatch(name.clone()));
        }
        exports.export(name, ExportKind::Func, *function);
    }
    Ok(exports)
}

fn element_section(plan: &Plan<'_>) -> ElementSection {
    let mut elements = ElementSection::new();
    for segment in &plan.segments {
        let start = ConstExpr::i32_const(segment.start as i32);
        elements.active(None, &start, Elements::Functions(segment.functions.as_slice().into()));
    }
    elements
}

fn code_section(plan: &Plan<'_>) -> Result<CodeSection, LinkError> {
    let mut code = CodeSection::new();
    for (place, unit) in plan.units.iter().enumerate() {
        let imported = unit.input.imported_functions.len() as u32;
        for (index, body) in (imported..).zip(&unit.input.bodies) {
            let params = unit.input.signature(index)?.params().len() as u32;
            let facts = BodyFacts { params, types: &unit.input.types, landings: &plan.landings };
            let mut rewriter = Rewriter { unit, is_main: place == 0 };
            let function = translate_body(&mut rewriter, body, &facts);
            code.function(&function.map_err(|error| name_rewrite(unit.input.name, error))?);
        }
    }
    code.function(&plan.trampoline.body());
    Ok(code)
}

fn data_section(plan: &Plan<'_>) -> Result<DataSection, LinkError> {
    let mut data = DataSection::new();
    for unit in &plan.units {
        for segment in &unit.input.data {
            let (start, length) = (unit.constant(&segment.offset)? as u32, segment.bytes.len() as u64);
            if !unit.space.memory.holds(start, length) {
                return unit.input.refuse(Refusal::SegmentOutside { offset: start, length });
            }
            data.active(0, &ConstExpr::i32_const(start as i32), segment.bytes.iter().copied());
        }
    }
    check_amount("segments of data", u64::from(data.len()), MAX_SEGMENTS)?;
    Ok(data)
}
