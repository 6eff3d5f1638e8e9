//! Legacy exception instructions (`try`, `catch`, `delegate`, `rethrow`) become those of the standard (`try_table`, `throw_ref`),
//! function by function, while indices are rewritten.
//!
//! ```text
//!   try R                          block $end R
//!     BODY                           block $all (exnref)
//!   catch t                            block $t (params of t, exnref)
//!     ONE             ────▶              try_table R (catch_ref t $t) (catch_all_ref $all)
//!   catch_all                              BODY
//!     OTHER                              end
//!   end                                  br $end
//!                                      end
//!                                      local.set e   ONE   br $end
//!                                    end
//!                                    local.set e   OTHER
//!                                  end
//!
//!   rethrow                        local.get e   throw_ref
//!
//!   try R BODY delegate T          try_table R (catch_all_ref $in) BODY end
//!   and in T, inside of its        block $in (exnref)   T's BODY   br $end   end   throw_ref
//!   own try_table:
//! ```
//!
//! What is delegated to the caller lands in such a block around the whole function. Only an exception that is rethrown is kept
//! (`catch_ref`, a local); else the clause is a plain `catch`. The stack of operands needs no look: it is as
//! it was at every place where code was, since blocks begin with none of it.
//!
//! Two passes over a body: `survey` finds out what is caught, kept and delegated, `walk` writes. A body without any `try` is
//! written at once. Work and output are linear in the input, but for one thing: a branch's depth may take a byte more.

mod survey;
mod walk;

use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{AbstractHeapType, BlockType, FuncType, Function, HeapType, RefType, ValType};
use wasmparser::FunctionBody;

use crate::Refusal;
use crate::error::RewriteError;
use crate::limits::{MAX_FUNCTION_BYTES, MAX_LOCALS};
use crate::types::TypePool;
use survey::Survey;
use walk::Walk;

/// A reference to an exception, or none.
pub(crate) const EXNREF: ValType = ValType::Ref(RefType {
    nullable: true,
    heap_type: HeapType::Abstract { shared: false, ty: AbstractHeapType::Exn },
});

/// For each tag, by its index in the output: the types of the block that a clause for it lands in.
#[derive(Default)]
pub(crate) struct Landings {
    plain: Vec<BlockType>,
    with_reference: Vec<BlockType>,
}

impl Landings {
    /// Adds the next tag, whose parameters are these.
    pub fn add(&mut self, params: &[ValType], types: &mut TypePool) {
        self.plain.push(block_of(params.to_vec(), types));
        self.with_reference.push(block_of([params, &[EXNREF]].concat(), types));
    }

    fn landing(&self, tag: u32, with_reference: bool) -> Result<BlockType, Refusal> {
        let blocks = if with_reference { &self.with_reference } else { &self.plain };
        blocks.get(tag as usize).copied().ok_or(Refusal::Index)
    }
}

fn block_of(results: Vec<ValType>, types: &mut TypePool) -> BlockType {
    match results[..] {
        [] => BlockType::Empty,
        [only] => BlockType::Result(only),
        _ => BlockType::FunctionType(types.add(FuncType::new([], results))),
    }
}

/// What a body's translation has to know of its module.
pub(crate) struct BodyFacts<'m> {
    /// How many locals the parameters are.
    pub params: u32,
    /// The module's own types, by its own indices.
    pub types: &'m [wasmparser::FuncType],
    pub landings: &'m Landings,
}

/// Writes a body anew: every instruction by way of `rewriter`, exceptions in the standard's form.
pub(crate) fn translate_body(
    rewriter: &mut impl Reencode<Error = Refusal>,
    body: &FunctionBody<'_>,
    facts: &BodyFacts<'_>,
) -> Result<Function, RewriteError> {
    let survey = Survey::take(body, facts.types)?;
    let mut locals = read_locals(body)?;
    let first = u64::from(facts.params) + locals.iter().map(|&(count, _)| u64::from(count)).sum::<u64>();
    if survey.kept > 0 {
        locals.push((survey.kept, EXNREF));
    }
    if first + u64::from(survey.kept) > MAX_LOCALS {
        return Err(Refusal::FunctionSize.into());
    }
    let function = Function::new(locals);
    let function = if survey.tries.is_empty() {
        copy_body(rewriter, body, function)?
    } else {
        Walk::new(rewriter, &survey, facts.landings, first as u32, function).translate(body)?
    };
    if function.byte_len() > MAX_FUNCTION_BYTES {
        return Err(Refusal::FunctionSize.into());
    }
    Ok(function)
}

fn read_locals(body: &FunctionBody<'_>) -> Result<Vec<(u32, ValType)>, RewriteError> {
    let mut locals = Vec::new();
    for group in body.get_locals_reader()? {
        let (count, kind) = group?;
        // Value types name no index: those that do are of features that are not allowed.
        let kind = RoundtripReencoder.val_type(kind).map_err(|_| Refusal::Index)?;
        locals.push((count, kind));
    }
    Ok(locals)
}

fn copy_body(
    rewriter: &mut impl Reencode<Error = Refusal>,
    body: &FunctionBody<'_>,
    mut function: Function,
) -> Result<Function, RewriteError> {
    for operator in body.get_operators_reader()? {
        function.instruction(&rewriter.instruction(operator?)?);
    }
    Ok(function)
}
