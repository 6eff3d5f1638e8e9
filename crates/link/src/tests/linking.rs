//! Where things go, what names stand for, and what is exported.

use wasm_encoder::Instruction as I;
use wasm_encoder::{ConstExpr, Elements, ExportKind, HeapType, RefType, TableType};
use wasmparser::{Parser, Payload};

use super::build::{Parts, needed, sizes};
use super::{assert_valid, body_text, for_each_operator};
use crate::{Callback, Linked, Refusal, Side, Wanted, link};

fn link_parts(main: &Parts, sides: &[(&str, Parts)], wanted: &Wanted<'_>) -> Linked {
    let bytes: Vec<Vec<u8>> = sides.iter().map(|(_, side)| side.bytes()).collect();
    let sides: Vec<Side<'_>> = sides.iter().zip(&bytes).map(|(&(name, _), bytes)| Side { name, bytes }).collect();
    let linked = link(&main.bytes(), &sides, wanted).expect("a linked module");
    assert_valid(&linked.module);
    linked
}

/// A side whose function reads these addresses.
fn asking_side(names: &[(&str, &str)]) -> Parts {
    let body: Vec<I<'_>> = (0..names.len() as u32).flat_map(|global| [I::GlobalGet(global), I::Drop]).collect();
    let side = names.iter().fold(Parts::side(), |side, (module, name)| {
        let mutable = module.starts_with("GOT") || *name == "__stack_pointer";
        side.import_global(module, name, mutable)
    });
    side.function(0, &body)
}

/// The constants of the first body of a side, in its order; `main` has so many bodies.
fn constants(linked: &Linked, body: usize) -> Vec<i32> {
    let text = body_text(&linked.module, body);
    let number = |line: &String| line.strip_prefix("I32Const { value: ")?.strip_suffix(" }")?.parse().ok();
    text.iter().filter_map(number).collect()
}

#[test]
fn sides_lie_behind_the_heap_base_and_their_addresses_are_constants() {
    let datum = |side: Parts| {
        side.with(|side| {
            side.data.active(0, &ConstExpr::global_get(0), [1, 2, 3]);
        })
    };
    let importing = |side: Parts| {
        side.with(|side| {
            side.imports.import("env", "memory", wasm_encoder::EntityType::Memory(super::build::memory(0)));
        })
    };
    let asked = [("env", "__memory_base"), ("env", "__table_base")];
    let one = importing(datum(asking_side(&asked)));
    let mut two = importing(datum(asking_side(&asked)));
    two.dylink = Some(sizes([8, 6, 1, 1]));
    let linked = link_parts(&Parts::main(), &[("one.so", one), ("two.so", two)], &Wanted::default());
    // 1000 aligned to 16, then 1008 + 32 aligned to 64; 4 slots, then 6 aligned to 2.
    assert_eq!(constants(&linked, 0), [1008, 4]);
    assert_eq!(constants(&linked, 1), [1088, 6]);
    assert_eq!((linked.heap_base, linked.reserved_bytes), (1000, 65536 - 1000));
    let mut offsets = Vec::new();
    for payload in Parser::new(0).parse_all(&linked.module) {
        if let Payload::DataSection(section) = payload.expect("a payload") {
            for segment in section {
                let wasmparser::DataKind::Active { offset_expr, .. } = segment.expect("a segment").kind else {
                    panic!()
                };
                offsets.push(format!("{:?}", offset_expr.get_operators_reader().read().expect("an operator")));
            }
        }
    }
    assert_eq!(offsets, ["I32Const { value: 1008 }", "I32Const { value: 1088 }"]);
}

#[test]
fn a_name_is_mains_then_its_own_then_another_sides() {
    let main = Parts::main().function(1, &[I::I32Const(10)]).export("both", ExportKind::Func, 0);
    // `both` is main's too; `own` and `other` are each other's.
    let side = |value| {
        Parts::side()
            .import_function("both", 1)
            .import_function("own", 1)
            .import_function("last", 1)
            .function(1, &[I::I32Const(value), I::Drop, I::Call(0), I::Drop, I::Call(1), I::Drop, I::Call(2)])
            .export("both", ExportKind::Func, 3)
            .export("own", ExportKind::Func, 3)
    };
    let first = side(1);
    let second = side(2).export("last", ExportKind::Func, 3);
    let linked = link_parts(&main, &[("1.so", first), ("2.so", second)], &Wanted::default());
    assert!(linked.imports.is_empty(), "nothing is the host's: {:?}", linked.imports);
    let calls = |body| -> Vec<String> {
        body_text(&linked.module, body).into_iter().filter(|line| line.starts_with("Call")).collect()
    };
    let call = |function| format!("Call {{ function_index: {function} }}");
    assert_eq!(calls(1), [call(0), call(1), call(2)], "main's, own, the other side's");
    assert_eq!(calls(2), [call(0), call(2), call(2)]);
}

#[test]
fn main_asks_no_side() {
    let main = Parts::main()
        .import_function("side_has_it", 1)
        .import_global("GOT.func", "side_has_it_too", true)
        .with(|main| main.exports = wasm_encoder::ExportSection::new())
        .export("__heap_base", ExportKind::Global, 2)
        .function(1, &[I::Call(0), I::Drop, I::GlobalGet(0)]);
    let side = Parts::side().function(1, &[I::I32Const(1)]).export("side_has_it", ExportKind::Func, 0).export(
        "side_has_it_too",
        ExportKind::Func,
        0,
    );
    let linked = link_parts(&main, &[("1.so", side)], &Wanted::default());
    assert_eq!(linked.imports.len(), 1);
    assert!(linked.imports[0].for_main && linked.imports[0].name == "side_has_it");
    assert_eq!(constants(&linked, 0), [0]);
    assert_eq!(linked.missing, ["side_has_it_too"]);
}

#[test]
fn addresses_of_functions_are_slots_and_each_function_has_one() {
    let main = Parts::main()
        .function(0, &[])
        .function(0, &[])
        .export("in_table", ExportKind::Func, 0)
        .export("not_in_table", ExportKind::Func, 1)
        .with(|main| {
            main.elements.active(None, &ConstExpr::i32_const(2), Elements::Functions([0, 0].as_slice().into()));
        });
    let asked = [("GOT.func", "in_table"), ("GOT.func", "not_in_table"), ("GOT.mem", "not_in_table")];
    let linked = link_parts(&main, &[("1.so", asking_side(&asked))], &Wanted::default());
    // Main has 4 slots, the side 2: new ones begin at 6.
    assert_eq!(constants(&linked, 2), [2, 6, 6]);
    assert_eq!(linked.trampoline, 7);
}

#[test]
fn data_of_a_side_counts_from_its_base_for_others_and_for_itself() {
    let owner = asking_side(&[("GOT.mem", "datum")])
        .with(|side| {
            side.globals.global(super::build::number(false), &ConstExpr::i32_const(12));
        })
        .export("datum", ExportKind::Global, 1);
    let user = asking_side(&[("GOT.mem", "datum"), ("GOT.mem", "nobody")]);
    let linked = link_parts(&Parts::main(), &[("1.so", owner), ("2.so", user)], &Wanted::default());
    assert_eq!(constants(&linked, 0), [1008 + 12]);
    assert_eq!(constants(&linked, 1), [1008 + 12, 0]);
    assert_eq!(linked.missing, ["nobody"]);
}

#[test]
fn only_what_is_wanted_is_exported_and_loading_is_told_by_name() {
    let main =
        Parts::main().function(0, &[]).export("wanted", ExportKind::Func, 0).export("other", ExportKind::Func, 0);
    let mut side = Parts::side()
        .function(0, &[])
        .export("PyInit_one", ExportKind::Func, 0)
        .export("hidden", ExportKind::Func, 0)
        .export("__wasm_call_ctors", ExportKind::Func, 0)
        .export("__wasm_apply_data_relocs", ExportKind::Func, 0)
        .with(|side| side.start = Some(0));
    side.dylink = Some([sizes([0, 0, 0, 0]), needed("two.so")].concat());
    let callbacks = [Callback { module: "host", name: "door", params: 2, has_result: true }];
    let wanted = Wanted { functions: &["wanted"], addresses: &["__heap_base"], callbacks: &callbacks };
    let linked = link_parts(&main, &[("x/one.so", side), ("y/two.so", Parts::side())], &wanted);
    let mut names = Vec::new();
    for payload in Parser::new(0).parse_all(&linked.module) {
        match payload.expect("a payload") {
            Payload::ExportSection(section) => {
                names.extend(section.into_iter().map(|export| export.expect("an export").name));
            }
            Payload::StartSection { .. } => panic!("a start function"),
            _ => {}
        }
    }
    let loading = ["0:start", "0:__wasm_apply_data_relocs", "0:__wasm_call_ctors"];
    assert_eq!(names, [&["memory", "wanted"][..], &loading[..]].concat());
    assert_eq!(linked.libraries[0].loading, loading);
    assert_eq!(linked.libraries[0].needed, [1]);
    assert_eq!(linked.libraries[0].entries.len(), 1);
    assert_eq!(linked.addresses, [1000]);
    assert_eq!(linked.imports[0].name, "door");
    assert_eq!(linked.callbacks.len(), 1);
}

#[test]
fn what_main_would_put_into_a_table_of_javascript_ends_the_call() {
    let objects =
        TableType { element_type: RefType::EXTERNREF, minimum: 0, maximum: None, table64: false, shared: false };
    let null = I::RefNull(HeapType::EXTERN);
    let main = Parts::main()
        .with(|main| {
            main.tables.table(objects);
        })
        .function(1, &[null, I::I32Const(1), I::TableGrow(1)]);
    let linked = link_parts(&main, &[], &Wanted::default());
    assert_eq!(body_text(&linked.module, 0)[2], "Unreachable");
    for_each_operator(&linked.module, |_, operator| {
        assert!(!matches!(operator, wasmparser::Operator::TableGrow { .. }));
    });
    // Into the functions' own table nothing is put.
    let null = I::RefNull(HeapType::FUNC);
    let main = Parts::main().function(0, &[I::I32Const(1), null, I::TableSet(0)]);
    let refused = link(&main.bytes(), &[], &Wanted::default()).expect_err("a refusal");
    assert_eq!(refused.to_string(), format!("`main` {}", Refusal::TableWrite));
}
