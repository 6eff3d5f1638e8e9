//! A module that is divided does what it did whole: each function a part, an effect outside in the middle of a call, and parts whose files
//! are not what they were.

use std::path::Path;
use std::time::Duration;

use wasm_encoder::{
    CodeSection, ConstExpr, ElementSection, Elements, EntityType, ExportKind, ExportSection, Function, FunctionSection,
    GlobalSection, GlobalType, ImportSection, MemArg, MemoryType, Module as Wasm, RefType, TableSection, TableType,
    TypeSection, ValType,
};
use wasmtime::{Memory, Store};

use super::*;
use crate::engine;
use crate::interrupt::{Gate, Why};
use crate::runtime::by_host::ByHost;
use crate::runtime::parts::divide_module;

const DIRECT: u32 = 8;
const THROUGH_TABLE: u32 = 9;

/// `enter(n)`, which stays, calls `triple(n, 3)` directly or through the table; that has an effect outside, and calls `add`, which is
/// elsewhere again, and `enter` at the end once more with 0, which ends it.
fn module() -> Vec<u8> {
    let (one, two) = (0, 1);
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], [ValType::I32]);
    types.ty().function([ValType::I32, ValType::I32], [ValType::I32]);
    let mut imports = ImportSection::new();
    imports.import("outside", "effect", EntityType::Function(one));
    let memory = MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None };
    imports.import(MEMORY_IMPORT.0, MEMORY_IMPORT.1, EntityType::Memory(memory));
    let (effect, enter, triple, add, fault) = (0, 1, 2, 3, 4);
    let mut functions = FunctionSection::new();
    for ty in [one, two, two, one] {
        functions.function(ty);
    }
    let mut tables = TableSection::new();
    let table =
        TableType { element_type: RefType::FUNCREF, table64: false, minimum: 2, maximum: Some(2), shared: false };
    tables.table(table);
    let mut globals = GlobalSection::new();
    let counter = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
    globals.global(counter, &ConstExpr::i32_const(0));
    let mut exports = ExportSection::new();
    exports.export("enter", ExportKind::Func, enter).export("counter", ExportKind::Global, 0);
    let mut elements = ElementSection::new();
    elements.active(None, &ConstExpr::i32_const(1), Elements::Functions([triple].as_slice().into()));
    let mut code = CodeSection::new();
    let mut body = Function::new([]);
    let mut write = body.instructions();
    write.local_get(0).i32_eqz().if_(wasm_encoder::BlockType::Empty).i32_const(0).return_().end();
    write.local_get(0).i32_const(THROUGH_TABLE as i32).i32_eq().if_(wasm_encoder::BlockType::Empty);
    write.local_get(0).i32_const(3).i32_const(1).call_indirect(0, two).return_().end();
    write
        .local_get(0)
        .i32_const(7)
        .i32_eq()
        .if_(wasm_encoder::BlockType::Empty)
        .i32_const(0)
        .call(fault)
        .return_()
        .end();
    write.local_get(0).i32_const(3).call(triple).end();
    code.function(&body);
    let mut body = Function::new([(1, ValType::I32)]);
    let mut write = body.instructions();
    write.global_get(0).i32_const(1).i32_add().global_set(0);
    write.local_get(0).call(effect).local_set(2);
    write.local_get(2).local_get(0).call(add).local_get(0).call(add).i32_const(0).call(enter).i32_add().end();
    code.function(&body);
    let mut body = Function::new([]);
    body.instructions().local_get(0).local_get(1).i32_add().end();
    code.function(&body);
    let mut body = Function::new([]);
    let beyond = MemArg { offset: 0xffff_0000, align: 2, memory_index: 0 };
    body.instructions().local_get(0).i32_load(beyond).end();
    code.function(&body);
    let mut module = Wasm::new();
    module.section(&types).section(&imports).section(&functions).section(&tables).section(&globals);
    module.section(&exports).section(&elements).section(&code);
    module.finish()
}

struct Running {
    store: Store<State>,
    code: Instance,
    gate: Gate,
}

/// The divided module with each of its functions in a part but the first, in this cache.
fn running(folder: &Path) -> Running {
    let engine = engine::running_engine(false).unwrap().0;
    let divided = divide_module(&module(), ByHost::default(), |_| false, 1).unwrap();
    assert_eq!(divided.first_functions, [1, 2, 3]);
    let cache = Cache::at(folder).unwrap();
    let pack = cache.make(Bucket::Runtime, "pack", "testing", &Silent, |out| {
        write_pack(&divided, out)?;
        Ok::<_, MakeError>(json!({}))
    });
    let parts = Parts::open(&engine, false, &cache, "code".to_owned(), pack.unwrap()).unwrap();
    let mut linker = Linker::new(&engine);
    add_to_linker(&mut linker).unwrap();
    linker
        .func_wrap("outside", "effect", |mut caller: Caller<'_, State>, value: u32| {
            caller.data_mut().immortal_objects += 1;
            value
        })
        .unwrap();
    let mut store = Store::new(&engine, State::at_rest());
    let memory = Memory::new(&mut store, wasmtime::MemoryType::new(1, None)).unwrap();
    store.data_mut().wasi.memory = Some(memory);
    store.data_mut().parts = Some(Arc::new(parts));
    linker.define(&mut store, MEMORY_IMPORT.0, MEMORY_IMPORT.1, memory).unwrap();
    let main = Module::new(&engine, add_checks(&divided.main, Checks::Own).unwrap()).unwrap();
    let code = linker.instantiate(&mut store, &main).unwrap();
    let gate = Gate::new(&mut store, &code).unwrap();
    store.data_mut().turn = Some(gate.begin_turn().unwrap());
    Running { store, code, gate }
}

impl Running {
    fn enter(&mut self, number: u32) -> wasmtime::Result<u32> {
        self.code.get_typed_func::<u32, u32>(&mut self.store, "enter").unwrap().call(&mut self.store, number)
    }

    fn effects(&self) -> u64 {
        self.store.data().immortal_objects
    }
}

fn compiled(folder: &Path) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(folder.join("v1/code")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "cwasm")).collect();
    files.sort();
    files
}

#[test]
fn a_call_that_meets_a_stub_goes_on_and_nothing_outside_happens_twice() {
    let folder = tempfile::tempdir().unwrap();
    for (number, first) in [(DIRECT, 1), (THROUGH_TABLE, 1), (THROUGH_TABLE, 2)] {
        let mut cell = running(folder.path());
        for count in first..4 {
            assert_eq!(cell.enter(number).unwrap(), number * 3);
            assert_eq!(cell.effects(), count - first + 1);
        }
        let counter = cell.code.get_global(&mut cell.store, "counter").unwrap().get(&mut cell.store).i32();
        assert_eq!(counter, Some(4 - first as i32), "a part's globals are the main module's");
    }
    assert_eq!(compiled(folder.path()).len(), 2, "what is not called is not compiled");
}

#[test]
fn a_part_that_was_tampered_with_does_not_run_and_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    running(folder.path()).enter(DIRECT).unwrap();
    for path in compiled(folder.path()) {
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    assert_eq!(running(folder.path()).enter(DIRECT).unwrap(), DIRECT * 3);
}

#[test]
fn a_part_that_can_not_be_made_is_a_fault_of_the_host_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let mut cell = running(folder.path());
    let parts = cell.store.data_mut().parts.take().unwrap();
    let mut parts = Arc::into_inner(parts).unwrap();
    parts.ranges[0].length = 20;
    cell.store.data_mut().parts = Some(Arc::new(parts));
    let ran = cell.enter(DIRECT).map(drop);
    let ending = crate::Ending::new(cell.gate.explain(ran), cell.store.data_mut(), None);
    let fault = ending.part_fault.expect("it is told").to_string();
    assert!(fault.starts_with("part 0 of the runtime's code can't be had: "), "{fault}");
    assert_eq!(cell.effects(), 0);
}

#[test]
fn a_crash_in_a_part_is_the_cells() {
    let folder = tempfile::tempdir().unwrap();
    let mut cell = running(folder.path());
    let error = cell.enter(7).unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&wasmtime::Trap::MemoryOutOfBounds));
    assert!(error.downcast_ref::<PartFault>().is_none());
}

#[test]
fn what_is_waited_for_a_part_does_not_count_and_a_cancellation_ends_the_wait() {
    let folder = tempfile::tempdir().unwrap();
    let mut cell = running(folder.path());
    let before = cell.store.data().deadline;
    cell.enter(DIRECT).unwrap();
    let state = cell.store.data();
    assert!(state.waited_for_parts > Duration::ZERO);
    assert_eq!(state.deadline, before + state.waited_for_parts);
    let turn = state.turn.clone().unwrap();
    assert!(turn.postponed(before).is_some_and(|later| later > before) || Instant::now() > state.deadline);
    // Cancelled before: its part is made all the same, for whoever comes next.
    let folder = tempfile::tempdir().unwrap();
    let mut cell = running(folder.path());
    let token = skillcell_limits::cancel::CancelToken::new();
    cell.store.data_mut().wasi.cancel = token.clone();
    token.cancel();
    let error = cell.enter(DIRECT).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(Stop::Cancelled)), "{error:#}");
    assert!(turn.close(Why::Cancelled));
}
