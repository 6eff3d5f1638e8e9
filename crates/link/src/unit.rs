//! A module that is being linked: what came in, where it goes, and what each of its indices is in the output.

use wasm_encoder::Instruction;
use wasm_encoder::reencode::{self, Reencode};
use wasmparser::Operator;

use crate::constant::evaluate_constant;
use crate::error::{RewriteError, name_rewrite};
use crate::input::Input;
use crate::layout::Space;
use crate::{LinkError, Refusal};

/// What a global of a module is in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobalUse {
    /// Nothing but its value: reading it becomes a constant.
    Constant(i32),
    /// A global of the output.
    Variable(u32),
}

/// A module with its place. The vectors are filled in this order, and have an entry for each index of the module.
pub(crate) struct Unit<'a> {
    pub input: Input<'a>,
    pub space: Space,
    pub types: Vec<u32>,
    pub functions: Vec<u32>,
    pub tags: Vec<u32>,
    pub globals: Vec<GlobalUse>,
}

impl<'a> Unit<'a> {
    pub fn new(input: Input<'a>, space: Space) -> Unit<'a> {
        Unit { input, space, types: Vec::new(), functions: Vec::new(), tags: Vec::new(), globals: Vec::new() }
    }

    /// The value of a constant expression of this module.
    pub fn constant(&self, expression: &wasmparser::ConstExpr<'_>) -> Result<i32, LinkError> {
        let global = |index: u32| match self.globals.get(index as usize) {
            Some(GlobalUse::Constant(value)) => Ok(*value),
            Some(GlobalUse::Variable(_)) => Err(Refusal::ConstantExpression("global.get".to_owned())),
            None => Err(Refusal::Index),
        };
        evaluate_constant(expression, global).map_err(|error| name_rewrite(self.input.name, error))
    }

    /// A function of this module, in the output.
    pub fn function(&self, index: u32) -> Result<u32, LinkError> {
        self.functions.get(index as usize).copied().ok_or_else(|| Refusal::Index.of(self.input.name))
    }

    /// The type of a function of this module, in the output.
    pub fn function_type(&self, index: u32) -> Result<u32, LinkError> {
        let kind = self.input.functions.get(index as usize).and_then(|&kind| self.types.get(kind as usize));
        kind.copied().ok_or_else(|| Refusal::Index.of(self.input.name))
    }
}

/// Rewrites the code of one module.
pub(crate) struct Rewriter<'u, 'a> {
    pub unit: &'u Unit<'a>,
    /// Main may have tables besides that of functions.
    pub is_main: bool,
}

impl Rewriter<'_, '_> {
    /// Tables are state that an image does not have. JavaScript's objects are in main's other tables: there are none, so code
    /// that would put one there ends the call.
    fn write_table(&self, table: u32) -> Result<Instruction<'static>, RewriteError> {
        if self.is_main && table != 0 { Ok(Instruction::Unreachable) } else { Err(Refusal::TableWrite.into()) }
    }

    fn find(&self, indices: &[u32], index: u32) -> Result<u32, RewriteError> {
        indices.get(index as usize).copied().ok_or_else(|| Refusal::Index.into())
    }
}

impl Reencode for Rewriter<'_, '_> {
    type Error = Refusal;

    fn function_index(&mut self, index: u32) -> Result<u32, RewriteError> {
        self.find(&self.unit.functions, index)
    }

    fn type_index(&mut self, index: u32) -> Result<u32, RewriteError> {
        self.find(&self.unit.types, index)
    }

    fn tag_index(&mut self, index: u32) -> Result<u32, RewriteError> {
        self.find(&self.unit.tags, index)
    }

    fn global_index(&mut self, index: u32) -> Result<u32, RewriteError> {
        match self.unit.globals.get(index as usize) {
            Some(GlobalUse::Variable(variable)) => Ok(*variable),
            Some(GlobalUse::Constant(_)) => {
                let name = self.unit.input.imported_globals.get(index as usize).map(|(name, _)| name.to_string());
                Err(Refusal::GlobalWrite(name.unwrap_or_default()).into())
            }
            None => Err(Refusal::Index.into()),
        }
    }

    fn instruction<'o>(&mut self, operator: Operator<'o>) -> Result<Instruction<'o>, RewriteError> {
        match operator {
            Operator::GlobalGet { global_index } => match self.unit.globals.get(global_index as usize) {
                Some(GlobalUse::Constant(value)) => Ok(Instruction::I32Const(*value)),
                _ => reencode::utils::instruction(self, operator),
            },
            Operator::TableSet { table } | Operator::TableGrow { table } | Operator::TableFill { table } => {
                self.write_table(table)
            }
            Operator::TableCopy { dst_table, .. } => self.write_table(dst_table),
            Operator::TableInit { .. } | Operator::ElemDrop { .. } => {
                Err(Refusal::Instruction("segments of elements").into())
            }
            Operator::MemoryInit { .. } | Operator::DataDrop { .. } => {
                Err(Refusal::Instruction("segments of data").into())
            }
            other => reencode::utils::instruction(self, other),
        }
    }
}
