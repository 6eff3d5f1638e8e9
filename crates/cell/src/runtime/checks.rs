//! Puts interrupt checks into a code module: at the head of each loop, and at the entry of each function that calls others
//! or is long, one load from a small memory of their own. What makes such a load end the cell is `interrupt`'s.
//!
//! ```text
//!   (func … (loop …))   ──▶   (memory $checks 1 1)  (export "checks")
//!                             (func … (loop  i32.const 0  i32.load8_u $checks offset=k  drop  …))
//! ```
//!
//! Why these places: code that runs long goes round a loop, or calls. Whatever calls loads first, so recursion and long
//! chains of calls are met without a look at who calls whom; a function without loops that calls nothing ends by itself, after
//! as many instructions as it has.
//!
//! Why each check of a function has an offset of its own: two loads from one address without a store between them are one to
//! Cranelift, if the first dominates the second, and the loop inside would then not be checked. For the same reason
//! functions must not be inlined into each other (`engine.rs` says so).
//!
//! Bytes in, bytes out, for any module with at most one memory. Instructions are copied as they are.

use wasm_encoder::{
    CodeSection, Encode, EntityType, ExportKind, ExportSection, ImportSection, MemorySection, MemoryType, Module,
    RawSection, SectionId,
    reencode::{Reencode, RoundtripReencoder},
};
use wasmparser::{FunctionBody, Operator, Parser, Payload, TypeRef, WasmFeatures};

use super::split::SplitError;
use crate::CHECKS;

/// Bytes of the memory that checks load from.
pub const CHECKS_BYTES: usize = 1 << 16;
/// A function of this many bytes is checked at its entry whether it calls others or not.
const LONG_BODY: usize = 1 << 12;
const MEMORY: MemoryType =
    MemoryType { minimum: 1, maximum: Some(1), memory64: false, shared: false, page_size_log2: None };

/// Where a module gets the memory of its checks from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks<'a> {
    /// It has one, and exports it under [`CHECKS`].
    Own,
    /// It is given one under [`CHECKS`], from this module.
    From(&'a str),
}

/// The same module with checks.
pub fn add_checks(module: &[u8], checks: Checks<'_>) -> Result<Vec<u8>, SplitError> {
    let mut out = Module::new();
    let mut rewriting = Rewriting { checks, memory: 0, defined: false, code: CodeSection::new() };
    let mut parser = Parser::new(0);
    // So that no instruction of the module's own can name the memory that is added to it.
    parser.set_features(WasmFeatures::default() & !WasmFeatures::MULTI_MEMORY);
    for payload in parser.parse_all(module) {
        let payload = payload?;
        if let Payload::CodeSectionEntry(body) = &payload {
            rewriting.code.raw(&rewriting.checked_body(module, body)?);
            continue;
        }
        let Some((id, range)) = payload.as_section() else { continue };
        rewriting.write_until(&mut out, id);
        match payload {
            Payload::ImportSection(section) => {
                let mut imports = ImportSection::new();
                for import in section.clone().into_imports() {
                    rewriting.memory += u32::from(matches!(import?.ty, TypeRef::Memory(_)));
                }
                RoundtripReencoder.parse_import_section(&mut imports, section)?;
                if let Checks::From(module) = checks {
                    imports.import(module, CHECKS, EntityType::Memory(MEMORY));
                }
                out.section(&imports);
            }
            Payload::MemorySection(_) => return Err(SplitError::Unsupported("has code and a memory in one module")),
            Payload::ExportSection(section) => {
                let mut exports = ExportSection::new();
                RoundtripReencoder.parse_export_section(&mut exports, section)?;
                if checks == Checks::Own {
                    exports.export(CHECKS, ExportKind::Memory, rewriting.memory);
                }
                out.section(&exports);
            }
            Payload::CodeSectionStart { .. } => {}
            _ => {
                out.section(&RawSection { id, data: &module[range] });
            }
        }
    }
    rewriting.write_until(&mut out, SectionId::Data as u8);
    Ok(out.finish())
}

struct Rewriting<'a> {
    checks: Checks<'a>,
    /// The index of the checks' memory.
    memory: u32,
    defined: bool,
    code: CodeSection,
}

impl Rewriting<'_> {
    /// Writes what has its place before the section `id`: the memory, and the code once it is whole.
    fn write_until(&mut self, out: &mut Module, id: u8) {
        use SectionId as S;
        let before = [S::Type, S::Import, S::Function, S::Table].iter().any(|&section| section as u8 == id);
        if !self.defined && !before && id != S::Custom as u8 {
            self.defined = true;
            if self.checks == Checks::Own {
                out.section(MemorySection::new().memory(MEMORY));
            }
        }
        if id == S::Data as u8 && !self.code.is_empty() {
            out.section(&std::mem::take(&mut self.code));
        }
    }

    fn checked_body(&self, module: &[u8], body: &FunctionBody<'_>) -> Result<Vec<u8>, SplitError> {
        let range = body.range();
        let mut operators = body.get_operators_reader()?;
        let entry = operators.original_position();
        let mut places = Vec::new();
        let mut calls = range.len() >= LONG_BODY;
        while !operators.eof() {
            use Operator as O;
            match operators.read()? {
                O::Loop { .. } => places.push(operators.original_position()),
                O::Call { .. }
                | O::CallIndirect { .. }
                | O::CallRef { .. }
                | O::ReturnCall { .. }
                | O::ReturnCallIndirect { .. }
                | O::ReturnCallRef { .. } => calls = true,
                _ => {}
            }
        }
        if calls {
            places.insert(0, entry);
        }
        if places.len() > CHECKS_BYTES {
            return Err(SplitError::Unsupported("has a function with too many loops"));
        }
        let mut checked = Vec::with_capacity(range.len() + places.len() * 9);
        let mut copied = range.start;
        for (offset, place) in (0..).zip(places) {
            checked.extend_from_slice(&module[copied..place]);
            self.write_check(offset, &mut checked);
            copied = place;
        }
        checked.extend_from_slice(&module[copied..range.end]);
        Ok(checked)
    }

    fn write_check(&self, offset: u64, out: &mut Vec<u8>) {
        use wasm_encoder::Instruction as I;
        let place = wasm_encoder::MemArg { offset, align: 0, memory_index: self.memory };
        I::I32Const(0).encode(out);
        I::I32Load8U(place).encode(out);
        I::Drop.encode(out);
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{BlockType, Function, FunctionSection, MemArg, TypeSection};
    use wasmparser::Validator;

    use super::*;

    fn module(memories: u32, body: &Function) -> Vec<u8> {
        let (mut types, mut functions, mut imports) =
            (TypeSection::new(), FunctionSection::new(), ImportSection::new());
        types.ty().function([], []);
        functions.function(0);
        for _ in 0..memories {
            imports.import("image", "memory", EntityType::Memory(MEMORY));
        }
        let mut code = CodeSection::new();
        code.function(body);
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&ExportSection::new()).section(&code);
        module.finish()
    }

    /// Offsets that a module's functions load from in memory 1.
    fn offsets(module: &[u8]) -> Vec<u64> {
        let mut offsets = Vec::new();
        for payload in Parser::new(0).parse_all(module) {
            let Payload::CodeSectionEntry(body) = payload.unwrap() else { continue };
            for operator in body.get_operators_reader().unwrap() {
                if let Operator::I32Load8U { memarg } = operator.unwrap() {
                    assert_eq!(memarg.memory, 1);
                    offsets.push(memarg.offset);
                }
            }
        }
        offsets
    }

    #[test]
    fn each_check_of_a_function_has_its_own_offset() {
        let mut body = Function::new([]);
        body.instructions().loop_(BlockType::Empty).loop_(BlockType::Empty).call(0).end().end().end();
        for checks in [Checks::Own, Checks::From("image")] {
            let checked = add_checks(&module(1, &body), checks).unwrap();
            Validator::new().validate_all(&checked).unwrap();
            assert_eq!(offsets(&checked), [0, 1, 2]);
        }
    }

    #[test]
    fn what_ends_by_itself_is_not_checked_unless_it_is_long() {
        for (instructions, checks) in [(10, 0), (LONG_BODY, 1)] {
            let mut body = Function::new([]);
            (0..instructions).for_each(|_| _ = body.instructions().nop());
            body.instructions().end();
            assert_eq!(offsets(&add_checks(&module(1, &body), Checks::Own).unwrap()).len(), checks);
        }
    }

    #[test]
    fn a_module_that_names_a_second_memory_is_refused() {
        let mut body = Function::new([]);
        body.instructions().i32_const(0).i32_load(MemArg { offset: 0, align: 0, memory_index: 1 }).drop().end();
        add_checks(&module(1, &body), Checks::Own).unwrap_err();
        let mut body = Function::new([]);
        body.instructions().memory_size(1).drop().end();
        add_checks(&module(1, &body), Checks::Own).unwrap_err();
    }
}
