//! Every limit: at it modules are linked, one beyond it they are not.

use super::build::{Parts, memory, sizes, table, tag};
use crate::limits::{MAX_MEMORY_BYTES, MAX_SIDES, MAX_TABLE_SLOTS, MAX_TAGS};
use crate::{LinkError, Side, Wanted, link};

fn link_with(main: &Parts, dylink: Vec<u8>) -> Result<(), LinkError> {
    let side = Parts { dylink: Some(dylink), ..Parts::side() };
    link(&main.bytes(), &[Side { name: "side.so", bytes: &side.bytes() }], &Wanted::default()).map(drop)
}

#[track_caller]
fn assert_too_much(linked: Result<(), LinkError>, expected: &str) {
    match linked {
        Err(LinkError::TooMuch { what, .. }) => assert_eq!(what, expected),
        other => panic!("{other:?}"),
    }
}

#[test]
fn memory_is_bounded_whoever_asks_for_it() {
    let room = MAX_MEMORY_BYTES as u32 - 1008;
    link_with(&Parts::main(), sizes([room, 0, 0, 0])).expect("a linked module");
    assert_too_much(link_with(&Parts::main(), sizes([room + 1, 0, 0, 0])), "bytes of memory");
    assert_too_much(link_with(&Parts::main(), sizes([u32::MAX, 16, 0, 0])), "bytes of memory");
    let sized = |pages| {
        Parts::main().with(|main| {
            main.memories = wasm_encoder::MemorySection::new();
            main.memories.memory(memory(pages));
        })
    };
    link_with(&sized(MAX_MEMORY_BYTES / 65536), sizes([0; 4])).expect("a linked module");
    assert_too_much(link_with(&sized(MAX_MEMORY_BYTES / 65536 + 1), sizes([0; 4])), "bytes of memory");
}

#[test]
fn the_table_is_bounded_whoever_asks_for_it() {
    // Main has four slots, and the trampoline takes one.
    let room = MAX_TABLE_SLOTS as u32 - 5;
    link_with(&Parts::main(), sizes([0, 0, room, 0])).expect("a linked module");
    assert_too_much(link_with(&Parts::main(), sizes([0, 0, room + 1, 0])), "table slots");
    assert_too_much(link_with(&Parts::main(), sizes([0, 0, u32::MAX, 16])), "table slots");
    let main = Parts::main().with(|main| {
        main.tables = wasm_encoder::TableSection::new();
        main.tables.table(table(MAX_TABLE_SLOTS + 1));
    });
    assert_too_much(link_with(&main, sizes([0; 4])), "table slots");
}

#[test]
fn sides_are_counted() {
    let (main, bytes) = (Parts::main().bytes(), Parts::side().bytes());
    let sides = vec![Side { name: "side.so", bytes: &bytes }; MAX_SIDES as usize + 1];
    link(&main, &sides[1..], &Wanted::default()).expect("a linked module");
    assert_too_much(link(&main, &sides, &Wanted::default()).map(drop), "side modules");
}

#[test]
fn tags_are_counted() {
    let tagged = |count| Parts::main().with(|main| (0..count).for_each(|_| _ = main.tags.tag(tag(0))));
    link_with(&tagged(MAX_TAGS - 1), sizes([0; 4])).expect("a linked module");
    assert_too_much(link_with(&tagged(MAX_TAGS), sizes([0; 4])), "tags");
}
