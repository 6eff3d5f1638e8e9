//! The call trampoline of CPython on Emscripten, in WebAssembly: calls a C function with as many of three arguments as its
//! type takes. CPython's own is a module that JavaScript makes; this is the same, inside the linked module.
//!
//! `trampoline(ok, function, one, two, three) -> i32`: writes at `ok` whether the function has one of the four types.

use wasm_encoder::{BlockType, FuncType, Function, HeapType, Instruction, MemArg, ValType};

use crate::types::TypePool;

/// The most arguments that are passed on.
const MOST: u32 = 3;
const OK: u32 = 0;
const FUNCTION: u32 = 1;
const FIRST_ARGUMENT: u32 = 2;

pub(crate) struct Trampoline {
    pub type_index: u32,
    /// Types of functions with no argument, one, two and three.
    callees: Vec<u32>,
}

impl Trampoline {
    pub fn new(types: &mut TypePool) -> Trampoline {
        let callees = (0..=MOST).map(|count| types.add(numbers(count))).collect();
        Trampoline { type_index: types.add(numbers(FIRST_ARGUMENT + MOST)), callees }
    }

    pub fn body(&self) -> Function {
        let mut body = Function::new([]);
        write_ok(&mut body, 1);
        for (count, &callee) in self.callees.iter().enumerate().rev() {
            body.instruction(&Instruction::LocalGet(FUNCTION));
            body.instruction(&Instruction::TableGet(0));
            body.instruction(&Instruction::RefTestNonNull(HeapType::Concrete(callee)));
            body.instruction(&Instruction::If(BlockType::Empty));
            for argument in 0..count as u32 {
                body.instruction(&Instruction::LocalGet(FIRST_ARGUMENT + argument));
            }
            body.instruction(&Instruction::LocalGet(FUNCTION));
            body.instruction(&Instruction::CallIndirect { type_index: callee, table_index: 0 });
            body.instruction(&Instruction::Return);
            body.instruction(&Instruction::End);
        }
        write_ok(&mut body, 0);
        body.instruction(&Instruction::I32Const(0));
        body.instruction(&Instruction::End);
        body
    }
}

fn numbers(count: u32) -> FuncType {
    FuncType::new((0..count).map(|_| ValType::I32), [ValType::I32])
}

fn write_ok(body: &mut Function, value: i32) {
    body.instruction(&Instruction::LocalGet(OK));
    body.instruction(&Instruction::I32Const(value));
    body.instruction(&Instruction::I32Store(MemArg { offset: 0, align: 2, memory_index: 0 }));
}
