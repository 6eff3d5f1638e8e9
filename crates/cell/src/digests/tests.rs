//! A binary with names that are known: its functions are the host's then, and only then; and what they are given is checked.

use wasm_encoder::{
    CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, ImportSection, MemorySection,
    MemoryType, Module as Wasm, NameMap, NameSection, RefType, TableSection, TableType, TypeSection, ValType,
};
use wasmtime::{Instance, Memory, Module, Store};

use super::*;
use crate::runtime::split::split_divided;
use crate::{MEMORY_IMPORT, engine, parts};

const SHA256: &str = "sha256_update";
const SHA512: &str = "sha512_update";
const SHA1: &str = "_Py_LibHacl_Hacl_Hash_SHA1_update_multi";
const PAGE: usize = 1 << 16;

/// A function for each of `functions`, by its name and its number of parameters, that is exported by its place and does nothing.
fn binary(functions: &[(&str, u32)]) -> Vec<u8> {
    let mut types = TypeSection::new();
    (0..4).for_each(|params| types.ty().function(vec![ValType::I32; params], []));
    let mut imports = ImportSection::new();
    imports.import("outside", "nothing", EntityType::Function(2));
    let (mut bodies, mut exports, mut code) = (FunctionSection::new(), ExportSection::new(), CodeSection::new());
    let mut names = NameMap::new();
    for (index, (name, params)) in (1..).zip(functions) {
        bodies.function(*params);
        exports.export(&format!("{}", index - 1), ExportKind::Func, index);
        let mut body = Function::new([]);
        body.instructions().end();
        code.function(&body);
        names.append(index, name);
    }
    let mut tables = TableSection::new();
    let none = TableType { element_type: RefType::FUNCREF, table64: false, minimum: 0, maximum: None, shared: false };
    tables.table(none);
    let mut memories = MemorySection::new();
    memories.memory(MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None });
    let mut named = NameSection::new();
    named.functions(&names);
    let mut module = Wasm::new();
    module.section(&types).section(&imports).section(&bodies).section(&tables).section(&memories).section(&exports);
    module.section(&code).section(&named);
    module.finish()
}

struct Running {
    store: Store<State>,
    memory: Memory,
    code: Instance,
    imports: Vec<String>,
}

/// The main module that a binary is divided into.
fn running(binary: &[u8], metered: bool) -> Running {
    let (split, _) = split_divided(binary, &[], |_| true, 1).unwrap();
    let engine = engine::running_engine(metered).unwrap().0;
    let module = Module::new(&engine, &split.code).unwrap();
    let imports = module.imports().map(|import| format!("{}.{}", import.module(), import.name())).collect();
    let mut linker = Linker::new(&engine);
    add_to_linker(&mut linker, metered).unwrap();
    parts::add_to_linker(&mut linker).unwrap();
    linker.func_wrap("outside", "nothing", |_: u32, _: u32| ()).unwrap();
    let mut store = Store::new(&engine, State::at_rest());
    if metered {
        store.set_fuel(10_000).unwrap();
    }
    let memory = Memory::new(&mut store, wasmtime::MemoryType::new(1, None)).unwrap();
    store.data_mut().wasi.memory = Some(memory);
    linker.define(&mut store, MEMORY_IMPORT.0, MEMORY_IMPORT.1, memory).unwrap();
    let code = linker.instantiate(&mut store, &module).unwrap();
    Running { store, memory, code, imports }
}

impl Running {
    fn call(&mut self, function: &str, arguments: impl wasmtime::WasmParams) -> wasmtime::Result<()> {
        self.code.get_typed_func(&mut self.store, function).unwrap().call(&mut self.store, arguments)
    }

    fn trap(&mut self, function: &str, arguments: impl wasmtime::WasmParams) -> Trap {
        *self.call(function, arguments).unwrap_err().downcast_ref().expect("a trap")
    }
}

#[test]
fn functions_with_known_names_and_types_are_the_hosts() {
    let mut running = running(&binary(&[(SHA512, 2), ("other", 2), (SHA1, 3), (SHA256, 2)]), false);
    assert!(running.imports.contains(&"digests.sha512".to_owned()), "{:?}", running.imports);
    let block: Vec<u8> = (0..192).collect();
    running.memory.write(&mut running.store, 5000, &block).unwrap();
    running.call("0", (5000, 1000)).unwrap();
    running.call("1", (5000, 1200)).unwrap();
    running.call("2", (1400, 5000, 3)).unwrap();
    running.call("2", (1600, 5000, 0)).unwrap();
    running.call("3", (5000, 1800)).unwrap();
    let (mut long, mut short, mut first) = ([0; 64], [0; 32], [0; 20]);
    sha512_block(&mut long, block[..128].try_into().unwrap());
    sha256_block(&mut short, block[..64].try_into().unwrap());
    block.chunks(64).for_each(|block| sha1_block(&mut first, block.try_into().unwrap()));
    let data = running.memory.data(&running.store);
    assert_eq!(data[1000..1064], long);
    assert_eq!(data[1200..1264], [0; 64]);
    assert_eq!(data[1400..1420], first);
    assert_eq!(data[1420..1800], [0; 380]);
    assert_eq!(data[1800..1832], short);
}

#[test]
fn a_function_of_another_type_or_a_name_that_two_have_stays_as_it_is() {
    for functions in
        [&[(SHA256, 3), (SHA1, 2), (SHA512, 1)][..], &[(SHA256, 2), (SHA256, 2)], &[("sha256_update.1", 2), ("", 2)]]
    {
        let running = running(&binary(functions), false);
        assert!(!running.imports.iter().any(|name| name.starts_with(MODULE)), "{functions:?}");
    }
}

#[test]
fn names_of_what_is_not_there_or_is_imported_replace_nothing() {
    for index in [0, 2, u32::MAX] {
        let mut names = NameMap::new();
        names.append(index, SHA256);
        let mut named = NameSection::new();
        named.functions(&names);
        let mut module = Wasm::new();
        module.section(&named);
        // Another name section: the last one counts.
        let binary = [&binary(&[("other", 2)])[..], &module.finish()[8..]].concat();
        let running = running(&binary, false);
        assert!(!running.imports.iter().any(|name| name.starts_with(MODULE)), "{index}");
    }
}

#[test]
fn addresses_beyond_memory_are_the_traps_that_they_are_in_code() {
    let mut running = running(&binary(&[(SHA256, 2), (SHA512, 2), (SHA1, 3)]), false);
    let end = PAGE as i32;
    running.call("0", (end - 64, end - 32)).unwrap();
    running.call("1", (end - 128, end - 64)).unwrap();
    for (block, state) in [(end - 63, 0), (0, end - 31), (-1, 0), (0, -1), (i32::MIN, i32::MIN), (end, end)] {
        assert_eq!(running.trap("0", (block, state)), Trap::MemoryOutOfBounds, "{block} {state}");
        assert_eq!(running.trap("1", (block, state)), Trap::MemoryOutOfBounds, "{block} {state}");
    }
    assert_eq!(running.trap("2", (0, 0, -1)), Trap::MemoryOutOfBounds, "more blocks than there is memory");
    assert_eq!(running.trap("2", (end - 19, 0, 1)), Trap::MemoryOutOfBounds);
    // The block is read before the state is written, whatever they share.
    running.memory.write(&mut running.store, 0, &[9; 64]).unwrap();
    let mut state = [9; 32];
    sha256_block(&mut state, &[9; 64]);
    running.call("0", (0, 16)).unwrap();
    assert_eq!(running.memory.data(&running.store)[16..48], state);
}

#[test]
fn blocks_burn_fuel_where_it_is_counted() {
    let mut running = running(&binary(&[(SHA256, 2), (SHA1, 3)]), true);
    running.call("0", (0, 0)).unwrap();
    let left = running.store.get_fuel().unwrap();
    assert!((1_000..6_000).contains(&left), "{left}");
    assert_eq!(running.trap("1", (0, 0, 5)), Trap::OutOfFuel);
}
