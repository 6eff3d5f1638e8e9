//! Constant expressions, evaluated: numbers, immutable globals, and their sums.

use wasmparser::{ConstExpr, Operator};

use crate::Refusal;
use crate::error::RewriteError;

/// The value of an expression, where `global` tells those of globals.
pub(crate) fn evaluate_constant(
    expression: &ConstExpr<'_>,
    global: impl Fn(u32) -> Result<i32, Refusal>,
) -> Result<i32, RewriteError> {
    let mut stack: Vec<i32> = Vec::new();
    for operator in expression.get_operators_reader() {
        let value = match operator? {
            Operator::I32Const { value } => value,
            Operator::GlobalGet { global_index } => global(global_index)?,
            Operator::I32Add => pop_two(&mut stack, i32::wrapping_add)?,
            Operator::I32Sub => pop_two(&mut stack, i32::wrapping_sub)?,
            Operator::I32Mul => pop_two(&mut stack, i32::wrapping_mul)?,
            Operator::End => continue,
            other => return Err(Refusal::ConstantExpression(skillcell_quote::brief(&format!("{other:?}"))).into()),
        };
        stack.push(value);
    }
    match stack[..] {
        [value] => Ok(value),
        _ => Err(Refusal::Index.into()),
    }
}

fn pop_two(stack: &mut Vec<i32>, combine: impl Fn(i32, i32) -> i32) -> Result<i32, Refusal> {
    let (right, left) = (stack.pop(), stack.pop());
    left.zip(right).map(|(left, right)| combine(left, right)).ok_or(Refusal::Index)
}
