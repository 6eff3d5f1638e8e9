//! Splits a runtime's WebAssembly binary in two: code without memory, and memory without code.
//!
//! ```text
//!   python.wasm                      code module                     base image
//!   ┌───────────────┐                ┌────────────────────────┐      ┌──────────────────┐
//!   │ types imports │                │ types imports          │      │                  │
//!   │ functions     │    split       │  + import image.memory │      │                  │
//!   │ table globals │ ─────────────▶ │ functions table globals│  +   │ memory (exported)│
//!   │ memory        │                │ exports + globals      │      │ data             │
//!   │ elements code │                │          + entry       │      │                  │
//!   │ data  names   │                │ elements code          │      │                  │
//!   └───────────────┘                └────────────────────────┘      └──────────────────┘
//! ```
//!
//! The code module is compiled once and serves every image; an image is only a memory, so making one
//! costs milliseconds. Instructions are copied as they are, but for interrupt checks that are put between them (`checks`), and a few
//! functions that the host does (`by_host`);
//! `refuse_table_writes` makes sure that a module's only state is its memory and its globals.

use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{
    ConstExpr, DataSection, Encode, EntityType, ExportKind, ExportSection, ImportSection, MemorySection, Module,
    RawSection, SectionId,
};
use wasmparser::{DataKind, KnownCustom, Name, Operator, OperatorsReader, Parser, Payload, SectionLimited, TypeRef};

use super::by_host::{ByHost, find_replaced};
use super::checks::{Checks, add_checks};
use super::parts::{Divided, divide_module};
use crate::interrupt::OWN_CHECKS;
use crate::{MEMORY_EXPORT, MEMORY_IMPORT};

/// Names what is made of a binary here: raise it when that changes.
pub const FORMAT: &str = "4: digests";

/// The result of [`split_module`].
pub struct Split {
    /// The code module, as WebAssembly.
    pub code: Vec<u8>,
    /// The memory that the code starts from, as WebAssembly.
    pub base_image: Vec<u8>,
    /// The exported names of the code module's mutable globals, in index order.
    pub globals: Vec<String>,
    /// About how many functions a compiler will make of it: each function, and a trampoline for each that can be
    /// reached through a table or from outside.
    pub functions: u64,
}

/// Why a binary can't be split.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    #[error("the runtime's binary is not valid WebAssembly")]
    Malformed(#[from] wasmparser::BinaryReaderError),
    #[error("the runtime's binary can't be rewritten")]
    Rewrite(#[from] wasm_encoder::reencode::Error),
    #[error("the runtime's binary {0}")]
    Unsupported(&'static str),
    #[error("the runtime's binary has no function named `{0}`")]
    NoSuchFunction(String),
}

/// Splits `binary`, exporting the internal functions that `entries` names (they are found in the binary's
/// name section) beside what it exports already.
pub fn split_module(binary: &[u8], entries: &[&str]) -> Result<Split, SplitError> {
    let (mut split, _) = split_unchecked(binary, entries)?;
    if OWN_CHECKS {
        split.code = add_checks(&split.code, Checks::Own)?;
    }
    Ok(split)
}

/// The same, with the code divided: what is used stays in `Split::code`, the rest is in parts, without checks yet.
pub fn split_divided(
    binary: &[u8],
    entries: &[&str],
    is_used: impl Fn(u32) -> bool,
    part_bytes: usize,
) -> Result<(Split, Divided), SplitError> {
    let (mut split, by_host) = split_unchecked(binary, entries)?;
    let mut divided = divide_module(&split.code, by_host, is_used, part_bytes)?;
    split.code = std::mem::take(&mut divided.main);
    split.functions = divided.functions;
    if OWN_CHECKS {
        split.code = add_checks(&split.code, Checks::Own)?;
    }
    Ok((split, divided))
}

fn split_unchecked(binary: &[u8], entries: &[&str]) -> Result<(Split, ByHost), SplitError> {
    let sections = Sections::parse(binary)?;
    let mut globals = Vec::new();
    let mut exports = ExportSection::new();
    for export in sections.exports.clone() {
        let export = export?;
        RoundtripReencoder.parse_export(&mut exports, export)?;
    }
    for index in sections.mutable_globals()? {
        let name = format!("global:{index}");
        exports.export(&name, ExportKind::Global, index);
        globals.push(name);
    }
    for entry in entries {
        let index = sections.function_named(entry)?;
        exports.export(entry, ExportKind::Func, index);
    }
    let functions = sections.functions + sections.elements;
    let by_host = sections.names.clone().map(find_replaced).transpose()?.unwrap_or_default();
    let split = Split { code: sections.code_module(&exports)?, base_image: sections.base_image()?, globals, functions };
    Ok((split, by_host))
}

/// The sections of a binary that the split has to understand, and the rest as they are.
struct Sections<'a> {
    raw: Vec<(u8, &'a [u8])>,
    imports: SectionLimited<'a, wasmparser::Imports<'a>>,
    exports: SectionLimited<'a, wasmparser::Export<'a>>,
    globals: Option<SectionLimited<'a, wasmparser::Global<'a>>>,
    memory: wasmparser::MemoryType,
    data: Vec<wasmparser::Data<'a>>,
    names: Option<wasmparser::NameSectionReader<'a>>,
    functions: u64,
    elements: u64,
}

impl<'a> Sections<'a> {
    fn parse(binary: &'a [u8]) -> Result<Sections<'a>, SplitError> {
        let (mut raw, mut data) = (Vec::new(), Vec::new());
        let (mut imports, mut exports, mut globals, mut memory, mut names) = (None, None, None, None, None);
        let (mut functions, mut elements) = (0, 0);
        for payload in Parser::new(0).parse_all(binary) {
            let payload = payload?;
            if let Some((id, range)) = payload.as_section()
                && is_copied(id)
            {
                raw.push((id, &binary[range]));
            }
            match payload {
                Payload::ImportSection(section) => imports = Some(section),
                Payload::ExportSection(section) => exports = Some(section),
                Payload::GlobalSection(section) => globals = Some(section),
                Payload::MemorySection(section) => memory = Some(single_item(section)?),
                Payload::DataSection(section) => data = section.into_iter().collect::<Result<_, _>>()?,
                Payload::CodeSectionStart { count, .. } => functions = u64::from(count),
                Payload::ElementSection(section) => elements = element_count(section)?,
                // It would run again in every cell that starts from an image.
                Payload::StartSection { .. } => return Err(SplitError::Unsupported("has a start function")),
                Payload::CustomSection(section) => {
                    if let KnownCustom::Name(reader) = section.as_known() {
                        names = Some(reader);
                    }
                }
                Payload::CodeSectionEntry(body) => refuse_table_writes(body.get_operators_reader()?)?,
                _ => {}
            }
        }
        Ok(Sections {
            raw,
            data,
            names,
            globals,
            functions,
            elements,
            imports: imports.ok_or(SplitError::Unsupported("imports nothing"))?,
            exports: exports.ok_or(SplitError::Unsupported("exports nothing"))?,
            memory: memory.ok_or(SplitError::Unsupported("has no memory of its own"))?,
        })
    }

    fn mutable_globals(&self) -> Result<Vec<u32>, SplitError> {
        for import in self.imports.clone().into_imports() {
            if matches!(import?.ty, TypeRef::Global(_)) {
                return Err(SplitError::Unsupported("imports a global"));
            }
        }
        let Some(globals) = self.globals.clone() else { return Ok(Vec::new()) };
        let mut mutable = Vec::new();
        for (index, global) in (0..).zip(globals) {
            if global?.ty.mutable {
                mutable.push(index);
            }
        }
        Ok(mutable)
    }

    fn function_named(&self, wanted: &str) -> Result<u32, SplitError> {
        let missing = || SplitError::NoSuchFunction(wanted.to_owned());
        for name in self.names.clone().ok_or_else(missing)? {
            let Name::Function(functions) = name? else { continue };
            for naming in functions {
                let naming = naming?;
                if naming.name == wanted {
                    return Ok(naming.index);
                }
            }
        }
        Err(missing())
    }

    fn code_module(&self, exports: &ExportSection) -> Result<Vec<u8>, SplitError> {
        let mut imports = ImportSection::new();
        RoundtripReencoder.parse_import_section(&mut imports, self.imports.clone())?;
        let memory = RoundtripReencoder.memory_type(self.memory)?;
        // The memory may be larger than the runtime declares: an image has grown.
        imports.import(MEMORY_IMPORT.0, MEMORY_IMPORT.1, EntityType::Memory(memory));
        let mut module = Module::new();
        let mut imported = false;
        let mut exported = false;
        for &(id, data) in &self.raw {
            // Sections come in a fixed order: imports follow types, exports follow globals.
            if !imported && id != SectionId::Type as u8 {
                module.section(&imports);
                imported = true;
            }
            if !exported && (id == SectionId::Element as u8 || id == SectionId::Code as u8) {
                module.section(exports);
                exported = true;
            }
            module.section(&RawSection { id, data });
        }
        Ok(module.finish())
    }

    fn base_image(&self) -> Result<Vec<u8>, SplitError> {
        let mut data = DataSection::new();
        for segment in &self.data {
            let DataKind::Active { memory_index: 0, offset_expr } = &segment.kind else {
                return Err(SplitError::Unsupported("has a passive data segment"));
            };
            data.active(0, &ConstExpr::i32_const(constant_address(offset_expr)?), segment.data.iter().copied());
        }
        Ok(memory_module(RoundtripReencoder.memory_type(self.memory)?, Some(&data)))
    }
}

/// The beginning of an image: a module of one memory of `pages` pages that holds, from `start` on, the `len` bytes that are to
/// follow.
pub fn image_head(pages: u64, start: u32, len: usize) -> Vec<u8> {
    let memory = wasm_encoder::MemoryType {
        minimum: pages,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    // The data section by hand: the encoder would have to be given the bytes, which may be hundreds of megabytes.
    let mut head = Vec::new();
    1u32.encode(&mut head); // one segment
    0u32.encode(&mut head); // active, of the first memory
    ConstExpr::i32_const(start as i32).encode(&mut head);
    len.encode(&mut head);
    let mut module = memory_module(memory, None);
    module.push(SectionId::Data as u8);
    (head.len() + len).encode(&mut module);
    module.extend_from_slice(&head);
    module
}

fn memory_module(memory: wasm_encoder::MemoryType, data: Option<&DataSection>) -> Vec<u8> {
    let mut memories = MemorySection::new();
    memories.memory(memory);
    let mut exports = ExportSection::new();
    exports.export(MEMORY_EXPORT, ExportKind::Memory, 0);
    let mut module = Module::new();
    module.section(&memories).section(&exports);
    if let Some(data) = data {
        module.section(data);
    }
    module.finish()
}

/// Sections that a code module takes over byte for byte. The rest is rewritten or left out: the memory and its
/// data go into the image, custom sections are not needed to run.
fn is_copied(id: u8) -> bool {
    use SectionId as S;
    [S::Type, S::Function, S::Table, S::Tag, S::Global, S::Element, S::Code].iter().any(|&copied| copied as u8 == id)
}

fn single_item<T>(section: SectionLimited<'_, T>) -> Result<T, SplitError>
where
    T: for<'b> wasmparser::FromReader<'b> + Copy,
{
    let mut items = section.into_iter();
    match (items.next(), items.next()) {
        (Some(item), None) => Ok(item?),
        _ => Err(SplitError::Unsupported("must have exactly one memory")),
    }
}

fn element_count(section: SectionLimited<'_, wasmparser::Element<'_>>) -> Result<u64, SplitError> {
    let mut count = 0;
    for element in section {
        count += match element?.items {
            wasmparser::ElementItems::Functions(items) => u64::from(items.count()),
            wasmparser::ElementItems::Expressions(_, items) => u64::from(items.count()),
        };
    }
    Ok(count)
}

/// Where a segment of data or of the table lies.
pub(super) fn constant_address(expr: &wasmparser::ConstExpr<'_>) -> Result<i32, SplitError> {
    let mut operators = expr.get_operators_reader();
    match operators.read()? {
        Operator::I32Const { value } => Ok(value),
        _ => Err(SplitError::Unsupported("places data at an address that is not a constant")),
    }
}

/// A code module's state must be its memory and its globals, since an image holds nothing else.
fn refuse_table_writes(operators: OperatorsReader<'_>) -> Result<(), SplitError> {
    for operator in operators {
        use Operator as O;
        match operator? {
            O::TableSet { .. }
            | O::TableGrow { .. }
            | O::TableFill { .. }
            | O::TableCopy { .. }
            | O::TableInit { .. }
            | O::ElemDrop { .. } => return Err(SplitError::Unsupported("writes to a table")),
            O::MemoryInit { .. } | O::DataDrop { .. } => {
                return Err(SplitError::Unsupported("uses passive data segments"));
            }
            _ => {}
        }
    }
    Ok(())
}
