//! Everything that is not understood is refused, by name; and the same modules without it are linked.

use wasm_encoder::Instruction as I;
use wasm_encoder::{ConstExpr, Elements, EntityType, ExportKind, GlobalType, ValType};

use super::build::{Parts, memory, needed, number, sizes, table, tag};
use crate::{LinkError, Refusal, Side, Wanted, link};

fn link_one(main: &Parts, side: &Parts) -> Result<(), LinkError> {
    link(&main.bytes(), &[Side { name: "a/side.so", bytes: &side.bytes() }], &Wanted::default()).map(drop)
}

#[track_caller]
fn assert_refused(main: &Parts, side: &Parts, expected: Refusal) {
    match link_one(main, side) {
        Err(LinkError::Refused { reason, .. }) => assert_eq!(reason, expected),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_side_refused(side: Parts, expected: Refusal) {
    assert_refused(&Parts::main(), &side, expected);
}

#[track_caller]
fn assert_main_refused(main: Parts, expected: Refusal) {
    assert_refused(&main, &Parts::side(), expected);
}

#[test]
fn the_modules_of_these_tests_are_linked_as_they_are() {
    link_one(&Parts::main(), &Parts::side()).expect("a linked module");
}

#[test]
fn segments_that_are_not_active_or_lie_outside_are_refused() {
    assert_main_refused(Parts::main().with(|m| _ = m.data.passive([1])), Refusal::InactiveSegment);
    let outside = Parts::main().with(|m| _ = m.data.active(0, &ConstExpr::i32_const(999), [1, 2]));
    assert_main_refused(outside, Refusal::SegmentOutside { offset: 999, length: 2 });
    let function = || Parts::main().function(0, &[]);
    let declared = function().with(|m| _ = m.elements.declared(Elements::Functions([0].as_slice().into())));
    assert_main_refused(declared, Refusal::InactiveSegment);
    let functions = Elements::Functions([0, 0].as_slice().into());
    let outside = function().with(|m| _ = m.elements.active(None, &ConstExpr::i32_const(3), functions));
    assert_main_refused(outside, Refusal::SegmentOutside { offset: 3, length: 2 });
    let expressions = [ConstExpr::ref_func(0)];
    let expressions = Elements::Expressions(wasm_encoder::RefType::FUNCREF, expressions.as_slice().into());
    let expressions = function().with(|m| _ = m.elements.active(None, &ConstExpr::i32_const(0), expressions));
    assert_main_refused(expressions, Refusal::ElementExpressions);
}

#[test]
fn a_side_has_nothing_that_is_mains() {
    assert_side_refused(Parts::side().with(|s| _ = s.memories.memory(memory(1))), Refusal::OwnMemory);
    assert_side_refused(Parts::side().with(|s| _ = s.tables.table(table(1))), Refusal::OwnTable);
    assert_side_refused(Parts::side().with(|s| _ = s.tags.tag(tag(0))), Refusal::OwnTag);
}

#[test]
fn main_brings_its_own() {
    let without_memory = Parts::main().with(|m| m.memories = wasm_encoder::MemorySection::new());
    assert_main_refused(without_memory, Refusal::NoMemory);
    let without_table = Parts::main().with(|m| m.tables = wasm_encoder::TableSection::new());
    assert_main_refused(without_table, Refusal::NoTable);
    assert_main_refused(Parts::main().function(0, &[]).with(|m| m.start = Some(0)), Refusal::Start);
    let without_base = Parts::main().with(|m| m.exports = wasm_encoder::ExportSection::new());
    assert_main_refused(without_base, Refusal::NoExport("__heap_base".into()));
    let importing = Parts::main().with(|m| _ = m.imports.import("env", "tag", EntityType::Tag(tag(0))));
    assert_main_refused(importing, Refusal::UnknownImport("env.tag".into()));
}

#[test]
fn globals_that_are_not_known_are_refused() {
    let unknown = |module, name, mutable| Parts::side().import_global(module, name, mutable);
    let refused = |name: &str| Refusal::UnknownImport(name.into());
    assert_side_refused(unknown("env", "__tls_base", true), refused("env.__tls_base"));
    // The right name, but mutable, or not.
    assert_side_refused(unknown("env", "__memory_base", true), refused("env.__memory_base"));
    assert_side_refused(unknown("GOT.mem", "x", false), refused("GOT.mem.x"));
    assert_side_refused(unknown("\u{1b}[2J", "x", true), refused("\\u{1b}[2J.x"));
    assert_main_refused(
        Parts::main().with(|m| {
            // Exports of globals by index would be others now.
            m.exports = wasm_encoder::ExportSection::new();
            m.exports.export("__heap_base", ExportKind::Global, 2);
            m.imports.import("env", "__memory_base", EntityType::Global(number(false)));
        }),
        refused("env.__memory_base"),
    );
    let long = GlobalType { val_type: ValType::I64, mutable: false, shared: false };
    let long = Parts::main().with(|m| _ = m.globals.global(long, &ConstExpr::i64_const(1)));
    assert_main_refused(long, Refusal::GlobalType);
    let writing = Parts::side().import_global("GOT.mem", "x", true).function(0, &[I::I32Const(1), I::GlobalSet(0)]);
    assert_side_refused(writing, Refusal::GlobalWrite("GOT.mem.x".into()));
}

#[test]
fn what_is_imported_is_what_it_is() {
    let main = || Parts::main().function(1, &[I::I32Const(1)]).export("f", ExportKind::Func, 0);
    link_one(&main(), &Parts::side().import_function("f", 1)).expect("a linked module");
    let mismatch = Refusal::ImportMismatch("env.f".into());
    assert_refused(&main(), &Parts::side().import_function("f", 0), mismatch.clone());
    // The same function of the host, with two types.
    assert_refused(&Parts::main().import_function("f", 1), &Parts::side().import_function("f", 0), mismatch);
    let tagged =
        |kind| Parts::side().with(|s| _ = s.imports.import("env", "__cpp_exception", EntityType::Tag(tag(kind))));
    link_one(&Parts::main(), &tagged(2)).expect("a linked module");
    assert_side_refused(tagged(0), Refusal::ImportMismatch("env.__cpp_exception".into()));
    let unknown = Parts::side().with(|s| _ = s.imports.import("env", "tag", EntityType::Tag(tag(0))));
    assert_side_refused(unknown, Refusal::UnknownImport("env.tag".into()));
}

#[test]
fn an_import_that_leads_to_itself_is_refused() {
    let side = Parts::side().import_function("f", 0).export("f", ExportKind::Func, 0);
    assert_side_refused(side, Refusal::EndlessImport("env.f".into()));
}

#[test]
fn a_dylink_section_is_known_in_all_its_parts() {
    let side = |dylink: Option<Vec<u8>>| Parts { dylink, ..Parts::side() };
    assert_side_refused(side(None), Refusal::NoDylink);
    assert_side_refused(side(Some(vec![9, 1, 0])), Refusal::Subsection(9));
    assert_side_refused(side(Some([sizes([1, 0, 0, 0]), sizes([2, 0, 0, 0])].concat())), Refusal::SubsectionTwice);
    assert_side_refused(side(Some(sizes([1, 17, 0, 0]))), Refusal::Alignment(17));
    assert_side_refused(side(Some(needed("libz.so"))), Refusal::NoLibrary("libz.so".into()));
    // Export information: one name, `x`, with the flag of thread-local ones (256).
    assert_side_refused(side(Some(vec![3, 5, 1, 1, b'x', 0x80, 2])), Refusal::ThreadLocal("x".into()));
    assert!(matches!(link_one(&Parts::main(), &side(Some(vec![1, 9, 0]))), Err(LinkError::Invalid { .. })));
}

#[test]
fn features_that_are_not_compiled_for_are_invalid() {
    let shared = wasm_encoder::MemoryType { shared: true, maximum: Some(2), ..memory(1) };
    let threads = Parts::main().with(|m| m.memories = wasm_encoder::MemorySection::new());
    let threads = threads.with(|m| _ = m.memories.memory(shared));
    let error = link_one(&threads, &Parts::side()).expect_err("an error");
    assert!(matches!(error, LinkError::Invalid { .. }), "{error}");
}

#[test]
fn a_try_that_takes_parameters_is_refused() {
    let body = [I::I32Const(1), I::Try(wasm_encoder::BlockType::FunctionType(2)), I::Drop, I::End];
    assert_main_refused(Parts::main().function(0, &body), Refusal::TryParameters);
}
