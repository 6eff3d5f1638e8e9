//! Small modules made of any bytes: a main and a side whose functions throw, catch, delegate and rethrow legacy exceptions.
//!
//! All are valid and come to an end. They tell what they do by `host.log(i32)`; `host.fail()` is expected to throw something that
//! has no tag. `run` of main returns a number or throws. A side calls main and is called by nobody, but for its constructor,
//! which runs its code. So two builds of a program can be told apart by what they log: linked or loaded, translated or not.

mod code;

use wasm_encoder::{
    CodeSection, ConstExpr, CustomSection, DataSection, ElementSection, Elements, EntityType, ExportKind,
    ExportSection, FunctionSection, GlobalSection, GlobalType, ImportSection, Instruction, MemorySection, MemoryType,
    Module, RefType, TableSection, TableType, TagKind, TagSection, TagType, TypeSection, ValType,
};

use code::{Dice, write_function};

/// Functions of a program, each of which may call those after it.
const FUNCTIONS: u32 = 4;
/// How often a program may go back or call, in all.
const FUEL: i32 = 60;

/// Types of every sample, by index.
mod kinds {
    pub const LOG: u32 = 0;
    pub const NOTHING: u32 = 1;
    pub const NUMBER: u32 = 2;
    pub const PAIR: u32 = 3;
    pub const TAG_PAIR: u32 = 4;
}

/// Functions by index: two of the host, of a side also main's `run`; then its own.
const LOG: u32 = 0;
const FAIL: u32 = 1;

/// What a body refers to, which differs between a main and a side.
#[derive(Clone, Copy)]
struct Indices {
    fuel: u32,
    first_function: u32,
    /// Functions that may be called beside own ones.
    other: Option<u32>,
}

/// A main module: memory, table, tags, `run`, `__stack_pointer`, `__heap_base` and the datum `counter`.
pub fn main_module(bytes: &[u8]) -> Vec<u8> {
    let mut module = Module::new();
    let mut imports = ImportSection::new();
    import_host(&mut imports);
    let indices = Indices { fuel: 0, first_function: 2, other: None };
    module.section(&types()).section(&imports).section(&functions(&[]));
    let mut tables = TableSection::new();
    tables.table(table_type(4));
    let mut memories = MemorySection::new();
    memories.memory(memory_type());
    let mut tags = TagSection::new();
    for (_, kind) in TAGS {
        tags.tag(tag_type(kind));
    }
    let mut globals = GlobalSection::new();
    // Fuel, the stack pointer, `__heap_base`, `counter`.
    for (value, mutable) in [(FUEL, true), (8192, true), (8200, false), (256, false)] {
        globals.global(GlobalType { val_type: ValType::I32, mutable, shared: false }, &ConstExpr::i32_const(value));
    }
    let mut exports = ExportSection::new();
    exports.export("memory", ExportKind::Memory, 0).export("__indirect_function_table", ExportKind::Table, 0);
    exports.export("run", ExportKind::Func, 2).export("fuel", ExportKind::Global, 0);
    exports.export("__stack_pointer", ExportKind::Global, 1).export("__heap_base", ExportKind::Global, 2);
    exports.export("counter", ExportKind::Global, 3);
    for (index, (name, _)) in (0..).zip(TAGS) {
        exports.export(name, ExportKind::Tag, index);
    }
    module.section(&tables).section(&memories).section(&tags).section(&globals).section(&exports);
    let mut elements = ElementSection::new();
    elements.active(None, &ConstExpr::i32_const(1), Elements::Functions([4, 3].as_slice().into()));
    let mut data = DataSection::new();
    data.active(0, &ConstExpr::i32_const(256), [7, 0, 0, 0]);
    module.section(&elements).section(&code_section(bytes, indices, None)).section(&data);
    module.finish()
}

/// A side module for such a main: asks for addresses, calls `run`, has data, a table slot and `PyInit_side`.
pub fn side_module(bytes: &[u8]) -> Vec<u8> {
    let mut module = Module::new();
    // One subsection: 16 bytes of memory aligned to 4, two slots.
    module.section(&CustomSection { name: "dylink.0".into(), data: [1, 4, 16, 2, 2, 0].as_slice().into() });
    let mut imports = ImportSection::new();
    import_host(&mut imports);
    imports.import("env", "run", EntityType::Function(kinds::NUMBER));
    for (from, name, mutable) in SIDE_GLOBALS {
        let kind = GlobalType { val_type: ValType::I32, mutable, shared: false };
        imports.import(from, name, EntityType::Global(kind));
    }
    for (name, kind) in TAGS {
        imports.import("env", name, EntityType::Tag(tag_type(kind)));
    }
    imports.import("env", "memory", EntityType::Memory(memory_type()));
    imports.import("env", "__indirect_function_table", EntityType::Table(table_type(0)));
    let own_globals = SIDE_GLOBALS.len() as u32;
    let indices = Indices { fuel: own_globals, first_function: 3, other: Some(2) };
    module.section(&types()).section(&imports).section(&functions(&[kinds::NOTHING]));
    let mut globals = GlobalSection::new();
    for (value, mutable) in [(FUEL, true), (8, false)] {
        globals.global(GlobalType { val_type: ValType::I32, mutable, shared: false }, &ConstExpr::i32_const(value));
    }
    let mut exports = ExportSection::new();
    exports.export("PyInit_side", ExportKind::Func, 3).export("own", ExportKind::Global, own_globals + 1);
    exports.export("__wasm_call_ctors", ExportKind::Func, 3 + FUNCTIONS);
    let mut elements = ElementSection::new();
    elements.active(None, &ConstExpr::global_get(2), Elements::Functions([4, 5].as_slice().into()));
    let mut data = DataSection::new();
    data.active(0, &ConstExpr::global_get(1), [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    module.section(&globals).section(&exports).section(&elements);
    module.section(&code_section(bytes, indices, Some(constructor()))).section(&data);
    module.finish()
}

const TAGS: [(&str, u32); 3] = [("tag0", kinds::LOG), ("tag1", kinds::NOTHING), ("tag2", kinds::TAG_PAIR)];
/// Imported by a side: their indices are used below and by its constructor.
const SIDE_GLOBALS: [(&str, &str, bool); 8] = [
    ("env", "__stack_pointer", true),
    ("env", "__memory_base", false),
    ("env", "__table_base", false),
    ("GOT.func", "run", true),
    ("GOT.mem", "counter", true),
    ("GOT.mem", "own", true),
    ("GOT.func", "PyInit_side", true),
    ("GOT.func", "nobody_has_this", true),
];

/// Logs what is at every address that was asked for, then runs the code.
fn constructor() -> wasm_encoder::Function {
    use Instruction as I;
    let mut body = wasm_encoder::Function::new([]);
    let at_once = wasm_encoder::MemArg { offset: 0, align: 2, memory_index: 0 };
    for address in [4, 5] {
        body.instruction(&I::GlobalGet(address)).instruction(&I::I32Load(at_once)).instruction(&I::Call(LOG));
    }
    body.instruction(&I::GlobalGet(7)).instruction(&I::Call(LOG));
    body.instruction(&I::GlobalGet(0)).instruction(&I::Call(LOG));
    for slot in [2, 3, 6] {
        body.instruction(&I::GlobalGet(slot));
        body.instruction(&I::CallIndirect { type_index: kinds::NUMBER, table_index: 0 });
        body.instruction(&I::Call(LOG));
    }
    body.instruction(&I::End);
    body
}

fn types() -> TypeSection {
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], []);
    types.ty().function([], []);
    types.ty().function([], [ValType::I32]);
    types.ty().function([], [ValType::I32, ValType::I64]);
    types.ty().function([ValType::I32, ValType::I64], []);
    types
}

fn import_host(imports: &mut ImportSection) {
    imports.import("host", "log", EntityType::Function(kinds::LOG));
    imports.import("host", "fail", EntityType::Function(kinds::NOTHING));
}

fn functions(more: &[u32]) -> FunctionSection {
    let mut functions = FunctionSection::new();
    for &kind in [kinds::NUMBER; FUNCTIONS as usize].iter().chain(more) {
        functions.function(kind);
    }
    functions
}

fn code_section(bytes: &[u8], indices: Indices, last: Option<wasm_encoder::Function>) -> CodeSection {
    let mut dice = Dice::new(bytes);
    let mut code = CodeSection::new();
    for own in 0..FUNCTIONS {
        code.function(&write_function(&mut dice, indices, own));
    }
    if let Some(last) = last {
        code.function(&last);
    }
    code
}

fn memory_type() -> MemoryType {
    MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None }
}

fn table_type(minimum: u64) -> TableType {
    TableType { element_type: RefType::FUNCREF, minimum, maximum: None, table64: false, shared: false }
}

fn tag_type(func_type_idx: u32) -> TagType {
    TagType { kind: TagKind::Exception, func_type_idx }
}
