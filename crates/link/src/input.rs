//! A module as it came in: valid WebAssembly of known features, with nothing in it that linking does not understand.
//!
//! It is validated as a whole before it is read, so indices in it are in range and instructions are well typed.

use std::collections::HashMap;

use wasmparser::{
    ConstExpr, DataKind, ElementItems, ElementKind, ExternalKind, FuncType, FunctionBody, Global, GlobalType, Import,
    KnownCustom, MemoryType, Parser, Payload, TableType, TypeRef, Validator, WasmFeatures,
};

use crate::dylink::Dylink;
use crate::error::name_parse;
use crate::limits::{MAX_TAGS, check_amount};
use crate::{LinkError, Refusal};

/// What modules may use: what Emscripten's compilers emit without threads. Exceptions may be of either kind.
pub(crate) const FEATURES: WasmFeatures = WasmFeatures::MUTABLE_GLOBAL
    .union(WasmFeatures::SATURATING_FLOAT_TO_INT)
    .union(WasmFeatures::SIGN_EXTENSION)
    .union(WasmFeatures::REFERENCE_TYPES)
    .union(WasmFeatures::MULTI_VALUE)
    .union(WasmFeatures::BULK_MEMORY)
    .union(WasmFeatures::SIMD)
    .union(WasmFeatures::TAIL_CALL)
    .union(WasmFeatures::FLOATS)
    .union(WasmFeatures::EXTENDED_CONST)
    .union(WasmFeatures::EXCEPTIONS)
    .union(WasmFeatures::LEGACY_EXCEPTIONS)
    // `externref` is of these.
    .union(WasmFeatures::GC_TYPES);

/// Something imported, by its two names.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ImportName<'a> {
    pub module: &'a str,
    pub name: &'a str,
}

/// Function indices for the table, from an offset on.
pub(crate) struct Elements<'a> {
    pub offset: ConstExpr<'a>,
    pub functions: Vec<u32>,
}

/// Bytes for memory, from an offset on.
pub(crate) struct Data<'a> {
    pub offset: ConstExpr<'a>,
    pub bytes: &'a [u8],
}

/// A module, parsed. Index spaces begin with what is imported, as in WebAssembly.
#[derive(Default)]
pub(crate) struct Input<'a> {
    pub name: &'a str,
    pub types: Vec<FuncType>,
    /// The type of each function; the first ones are imported.
    pub functions: Vec<u32>,
    pub imported_functions: Vec<ImportName<'a>>,
    pub imported_globals: Vec<(ImportName<'a>, GlobalType)>,
    pub imported_tags: Vec<(ImportName<'a>, u32)>,
    pub imported_memory: Option<(ImportName<'a>, MemoryType)>,
    pub imported_table: Option<(ImportName<'a>, TableType)>,
    pub tables: Vec<TableType>,
    pub memory: Option<MemoryType>,
    pub tags: Vec<u32>,
    pub globals: Vec<Global<'a>>,
    pub exports: HashMap<&'a str, (ExternalKind, u32)>,
    /// Names of exported functions in the order of the section: a map has none.
    pub exported_functions: Vec<(&'a str, u32)>,
    pub start: Option<u32>,
    pub elements: Vec<Elements<'a>>,
    pub data: Vec<Data<'a>>,
    pub bodies: Vec<FunctionBody<'a>>,
    pub dylink: Option<Dylink<'a>>,
}

impl<'a> Input<'a> {
    /// Validates and reads a module.
    pub fn parse(name: &'a str, bytes: &'a [u8]) -> Result<Input<'a>, LinkError> {
        Validator::new_with_features(FEATURES).validate_all(bytes).map_err(|source| name_parse(name, source))?;
        let mut input = Input { name, ..Input::default() };
        for (position, payload) in Parser::new(0).parse_all(bytes).enumerate() {
            let payload = payload.map_err(|source| name_parse(name, source))?;
            input.read_payload(position, payload)?;
        }
        check_amount("tags", (input.tags.len() + input.imported_tags.len()) as u64, MAX_TAGS)?;
        Ok(input)
    }

    /// A refusal of this module.
    pub fn refuse<T>(&self, reason: Refusal) -> Result<T, LinkError> {
        Err(reason.of(self.name))
    }

    /// The exported function of this name.
    pub fn exported_function(&self, name: &str) -> Option<u32> {
        self.exports.get(name).filter(|(kind, _)| *kind == ExternalKind::Func).map(|&(_, index)| index)
    }

    /// The signature of a function.
    pub fn signature(&self, function: u32) -> Result<&FuncType, LinkError> {
        let kind = self.functions.get(function as usize).and_then(|&kind| self.types.get(kind as usize));
        kind.ok_or_else(|| Refusal::Index.of(self.name))
    }

    fn read_payload(&mut self, position: usize, payload: Payload<'a>) -> Result<(), LinkError> {
        let name = self.name;
        let named = |source| name_parse(name, source);
        match payload {
            Payload::TypeSection(section) => {
                for kind in section.into_iter_err_on_gc_types() {
                    self.types.push(kind.map_err(named)?);
                }
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    self.read_import(import.map_err(named)?)?;
                }
            }
            Payload::FunctionSection(section) => extend(&mut self.functions, section).map_err(named)?,
            Payload::TableSection(section) => {
                for table in section {
                    self.tables.push(table.map_err(named)?.ty);
                }
            }
            Payload::MemorySection(section) => {
                for memory in section {
                    self.memory = Some(memory.map_err(named)?);
                }
            }
            Payload::TagSection(section) => {
                for tag in section {
                    self.tags.push(tag.map_err(named)?.func_type_idx);
                }
            }
            Payload::GlobalSection(section) => extend(&mut self.globals, section).map_err(named)?,
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export.map_err(named)?;
                    self.exports.insert(export.name, (export.kind, export.index));
                    if export.kind == ExternalKind::Func {
                        self.exported_functions.push((export.name, export.index));
                    }
                }
            }
            Payload::StartSection { func, .. } => self.start = Some(func),
            Payload::ElementSection(section) => {
                for element in section {
                    self.read_element(element.map_err(named)?)?;
                }
            }
            Payload::DataSection(section) => {
                for segment in section {
                    self.read_data(segment.map_err(named)?)?;
                }
            }
            Payload::CodeSectionEntry(body) => self.bodies.push(body),
            Payload::CustomSection(section) => {
                // Only in front, where loaders look for it: the payload before it is the header.
                if let KnownCustom::Dylink0(reader) = section.as_known()
                    && position == 1
                {
                    self.dylink = Some(Dylink::read(name, reader)?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn read_import(&mut self, import: Import<'a>) -> Result<(), LinkError> {
        let name = ImportName { module: import.module, name: import.name };
        match import.ty {
            TypeRef::Func(kind) => {
                self.functions.push(kind);
                self.imported_functions.push(name);
            }
            TypeRef::Global(kind) => self.imported_globals.push((name, kind)),
            TypeRef::Tag(kind) => self.imported_tags.push((name, kind.func_type_idx)),
            TypeRef::Memory(kind) => self.imported_memory = Some((name, kind)),
            TypeRef::Table(kind) if self.imported_table.is_none() => self.imported_table = Some((name, kind)),
            _ => return self.refuse(Refusal::UnknownImport(name.to_string())),
        }
        Ok(())
    }

    fn read_element(&mut self, element: wasmparser::Element<'a>) -> Result<(), LinkError> {
        let ElementKind::Active { table_index, offset_expr } = element.kind else {
            return self.refuse(Refusal::InactiveSegment);
        };
        if let Some(table) = table_index
            && table != 0
        {
            return self.refuse(Refusal::SegmentOfOtherTable(table));
        }
        let ElementItems::Functions(items) = element.items else { return self.refuse(Refusal::ElementExpressions) };
        let mut functions = Vec::new();
        extend(&mut functions, items).map_err(|source| name_parse(self.name, source))?;
        self.elements.push(Elements { offset: offset_expr, functions });
        Ok(())
    }

    fn read_data(&mut self, segment: wasmparser::Data<'a>) -> Result<(), LinkError> {
        let DataKind::Active { offset_expr, .. } = segment.kind else { return self.refuse(Refusal::InactiveSegment) };
        self.data.push(Data { offset: offset_expr, bytes: segment.data });
        Ok(())
    }
}

impl std::fmt::Display for ImportName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", skillcell_quote::brief(self.module), skillcell_quote::brief(self.name))
    }
}

/// Adds the items of a section, one by one: their count is the module's word.
fn extend<'a, T: wasmparser::FromReader<'a>>(
    into: &mut Vec<T>,
    section: wasmparser::SectionLimited<'a, T>,
) -> Result<(), wasmparser::BinaryReaderError> {
    for item in section {
        into.push(item?);
    }
    Ok(())
}
