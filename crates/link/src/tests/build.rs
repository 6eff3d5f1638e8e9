//! Small modules for tests, section by section.

use wasm_encoder::{
    CodeSection, ConstExpr, CustomSection, DataSection, ElementSection, EntityType, ExportKind, ExportSection,
    Function, FunctionSection, GlobalSection, GlobalType, ImportSection, Instruction, MemorySection, MemoryType,
    Module, RefType, StartSection, TableSection, TableType, TagKind, TagSection, TagType, TypeSection, ValType,
};

/// Sections of a module. Type 0 is `() -> ()`, type 1 `() -> i32`, type 2 `(i32) -> ()`.
pub struct Parts {
    pub dylink: Option<Vec<u8>>,
    pub types: TypeSection,
    pub imports: ImportSection,
    pub functions: FunctionSection,
    pub tables: TableSection,
    pub memories: MemorySection,
    pub tags: TagSection,
    pub globals: GlobalSection,
    pub exports: ExportSection,
    pub start: Option<u32>,
    pub elements: ElementSection,
    pub code: CodeSection,
    pub data: DataSection,
}

/// A subsection with sizes: memory, its alignment, table, its alignment.
pub fn sizes(numbers: [u32; 4]) -> Vec<u8> {
    use wasm_encoder::Encode;
    let mut body = Vec::new();
    numbers.iter().for_each(|number| number.encode(&mut body));
    [vec![1, body.len() as u8], body].concat()
}

/// A subsection with one library that is needed.
pub fn needed(name: &str) -> Vec<u8> {
    [vec![2, name.len() as u8 + 2, 1, name.len() as u8], name.as_bytes().to_vec()].concat()
}

pub fn number(mutable: bool) -> GlobalType {
    GlobalType { val_type: ValType::I32, mutable, shared: false }
}

pub fn memory(minimum: u64) -> MemoryType {
    MemoryType { minimum, maximum: None, memory64: false, shared: false, page_size_log2: None }
}

pub fn table(minimum: u64) -> TableType {
    TableType { element_type: RefType::FUNCREF, minimum, maximum: None, table64: false, shared: false }
}

pub fn tag(func_type_idx: u32) -> TagType {
    TagType { kind: TagKind::Exception, func_type_idx }
}

impl Parts {
    fn empty() -> Parts {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        types.ty().function([], [ValType::I32]);
        types.ty().function([ValType::I32], []);
        Parts {
            dylink: None,
            types,
            imports: ImportSection::new(),
            functions: FunctionSection::new(),
            tables: TableSection::new(),
            memories: MemorySection::new(),
            tags: TagSection::new(),
            globals: GlobalSection::new(),
            exports: ExportSection::new(),
            start: None,
            elements: ElementSection::new(),
            code: CodeSection::new(),
            data: DataSection::new(),
        }
    }

    /// A main with a memory of one page, four slots, a stack pointer (global 0), `__heap_base` at 1000 (global 1), a tag of
    /// a number (`__cpp_exception`) and no function.
    pub fn main() -> Parts {
        let mut main = Parts::empty();
        main.tables.table(table(4));
        main.memories.memory(memory(1));
        main.tags.tag(tag(2));
        main.globals.global(number(true), &ConstExpr::i32_const(900));
        main.globals.global(number(false), &ConstExpr::i32_const(1000));
        main.exports.export("__stack_pointer", ExportKind::Global, 0);
        main.exports.export("__heap_base", ExportKind::Global, 1);
        main.exports.export("__cpp_exception", ExportKind::Tag, 0);
        main
    }

    /// A side of 32 bytes and 2 slots without anything in it.
    pub fn side() -> Parts {
        Parts { dylink: Some(sizes([32, 3, 2, 0])), ..Parts::empty() }
    }

    /// Imports a number.
    pub fn import_global(mut self, module: &str, name: &str, mutable: bool) -> Parts {
        self.imports.import(module, name, EntityType::Global(number(mutable)));
        self
    }

    /// Imports a function of type `kind`.
    pub fn import_function(mut self, name: &str, kind: u32) -> Parts {
        self.imports.import("env", name, EntityType::Function(kind));
        self
    }

    /// Adds a function of type `kind`.
    pub fn function(mut self, kind: u32, body: &[Instruction<'_>]) -> Parts {
        self.functions.function(kind);
        let mut function = Function::new([]);
        for instruction in body.iter().chain([&Instruction::End]) {
            function.instruction(instruction);
        }
        self.code.function(&function);
        self
    }

    pub fn export(mut self, name: &str, kind: ExportKind, index: u32) -> Parts {
        self.exports.export(name, kind, index);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Parts)) -> Parts {
        change(&mut self);
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut module = Module::new();
        if let Some(dylink) = &self.dylink {
            module.section(&CustomSection { name: "dylink.0".into(), data: dylink.as_slice().into() });
        }
        module.section(&self.types).section(&self.imports).section(&self.functions).section(&self.tables);
        module.section(&self.memories).section(&self.tags).section(&self.globals).section(&self.exports);
        if let Some(function_index) = self.start {
            module.section(&StartSection { function_index });
        }
        module.section(&self.elements).section(&self.code).section(&self.data);
        module.finish()
    }
}
