//! The second look at a body that has a `try`: writes it.
//!
//! Blocks are added, so labels move: each label of the old code remembers its *height* in the new one, the count of labels
//! that were open before it. A branch's depth is then the distance between two heights.

use wasm_encoder::reencode::Reencode;
use wasm_encoder::{BlockType, Catch, Function, Instruction};
use wasmparser::{BrTable, FunctionBody, Operator, TryTable};

use super::survey::{Survey, Target, TryFacts};
use super::{EXNREF, Landings};
use crate::Refusal;
use crate::error::RewriteError;

/// What an open label of the old code is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// The body of a `try` that has clauses.
    Body,
    Clause,
}

struct Label {
    kind: Kind,
    /// Which `try` it is; of others nothing.
    own: usize,
    height: u32,
}

pub(super) struct Walk<'w, R> {
    rewriter: &'w mut R,
    survey: &'w Survey,
    landings: &'w Landings,
    /// The first local that holds an exception.
    first_local: u32,
    function: Function,
    labels: Vec<Label>,
    /// Labels that are open in the new code.
    height: u32,
    /// The next `try` that opens.
    next: usize,
    /// For each `try` that has opened: the height of the block that takes what is delegated to it.
    entrances: Vec<u32>,
}

/// The height of the block around the function's body: only the function's own label is below it.
const CALLER_ENTRANCE: u32 = 1;

impl<'w, R: Reencode<Error = Refusal>> Walk<'w, R> {
    pub fn new(
        rewriter: &'w mut R,
        survey: &'w Survey,
        landings: &'w Landings,
        first_local: u32,
        function: Function,
    ) -> Self {
        let labels = vec![Label { kind: Kind::Plain, own: 0, height: 0 }];
        Walk {
            rewriter,
            survey,
            landings,
            first_local,
            function,
            labels,
            height: 1,
            next: 0,
            entrances: vec![0; survey.tries.len()],
        }
    }

    pub fn translate(mut self, body: &FunctionBody<'_>) -> Result<Function, RewriteError> {
        if self.survey.to_caller {
            self.open(BlockType::Result(EXNREF));
        }
        for operator in body.get_operators_reader()? {
            self.write_operator(operator?)?;
        }
        Ok(self.function)
    }

    fn write_operator(&mut self, operator: Operator<'_>) -> Result<(), RewriteError> {
        match operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => {
                self.write_as_is(operator)?;
                self.push_label(Kind::Plain, 0);
                self.height += 1;
            }
            Operator::Try { blockty } => {
                let result = self.rewriter.block_type(blockty)?;
                self.open_try(result)?;
            }
            Operator::Catch { .. } | Operator::CatchAll => self.open_clause()?,
            Operator::Delegate { .. } => {
                self.labels.pop().ok_or(Refusal::Nesting)?;
                self.close();
            }
            Operator::Rethrow { relative_depth } => {
                let own = self.label_at(relative_depth)?.own;
                let local = self.first_local + self.facts(own)?.local;
                self.emit(Instruction::LocalGet(local));
                self.emit(Instruction::ThrowRef);
            }
            Operator::End => self.end_label()?,
            Operator::Br { relative_depth } => {
                let depth = self.new_depth(relative_depth)?;
                self.emit(Instruction::Br(depth));
            }
            Operator::BrIf { relative_depth } => {
                let depth = self.new_depth(relative_depth)?;
                self.emit(Instruction::BrIf(depth));
            }
            Operator::BrTable { targets } => self.branch_by_table(&targets)?,
            Operator::TryTable { try_table } => self.open_try_table(try_table)?,
            // Of features that are not allowed: their labels would have to move too.
            Operator::BrOnNull { .. } | Operator::BrOnNonNull { .. } => {
                return Err(Refusal::Instruction("br_on").into());
            }
            Operator::BrOnCast { .. } | Operator::BrOnCastFail { .. } => {
                return Err(Refusal::Instruction("br_on_cast").into());
            }
            other => self.write_as_is(other)?,
        }
        Ok(())
    }

    fn open_try(&mut self, result: BlockType) -> Result<(), RewriteError> {
        let own = self.next;
        self.next += 1;
        let survey = self.survey;
        let facts = survey.tries.get(own).ok_or(Refusal::Nesting)?;
        match facts.delegate {
            Some(target) => self.open_delegating(own, target, result),
            // Nothing is caught: a block.
            None if facts.clauses.is_empty() => {
                self.push_label(Kind::Plain, own);
                self.open(result);
            }
            None => self.open_catching(own, facts, result)?,
        }
        Ok(())
    }

    fn open_delegating(&mut self, own: usize, target: Target, result: BlockType) {
        let entrance = match target {
            Target::Caller => CALLER_ENTRANCE,
            Target::Try(other) => self.entrances[other],
        };
        // A clause's label counts from outside of its `try_table`.
        let clause = Catch::AllRef { label: self.height - 1 - entrance };
        self.push_label(Kind::Plain, own);
        self.emit(Instruction::TryTable(result, vec![clause].into()));
        self.height += 1;
    }

    fn open_catching(&mut self, own: usize, facts: &TryFacts, result: BlockType) -> Result<(), RewriteError> {
        self.push_label(Kind::Body, own);
        self.open(result);
        // The first clause lands in the innermost block.
        for &clause in facts.clauses.iter().rev() {
            let landing = match clause {
                Some(tag) => self.landings.landing(self.rewriter.tag_index(tag)?, facts.rethrown)?,
                None if facts.rethrown => BlockType::Result(EXNREF),
                None => BlockType::Empty,
            };
            self.open(landing);
        }
        let mut clauses = Vec::with_capacity(facts.clauses.len());
        for (label, &clause) in (0..).zip(&facts.clauses) {
            let tag = clause.map(|tag| self.rewriter.tag_index(tag)).transpose()?;
            clauses.push(match (tag, facts.rethrown) {
                (Some(tag), true) => Catch::OneRef { tag, label },
                (Some(tag), false) => Catch::One { tag, label },
                (None, true) => Catch::AllRef { label },
                (None, false) => Catch::All { label },
            });
        }
        self.emit(Instruction::TryTable(result, clauses.into()));
        self.height += 1;
        if facts.is_target {
            self.entrances[own] = self.height;
            self.open(BlockType::Result(EXNREF));
        }
        Ok(())
    }

    /// Ends the body or the clause before, and begins the next clause.
    fn open_clause(&mut self) -> Result<(), RewriteError> {
        let survey = self.survey;
        let label = self.labels.last_mut().ok_or(Refusal::Nesting)?;
        let (kind, own, end) = (label.kind, label.own, label.height);
        label.kind = Kind::Clause;
        let facts = survey.tries.get(own).ok_or(Refusal::Nesting)?;
        if kind == Kind::Body {
            if facts.is_target {
                self.leave_for(end);
                self.close();
                self.emit(Instruction::ThrowRef);
            }
            // The `try_table`.
            self.close();
        }
        self.leave_for(end);
        // The block that this clause lands in.
        self.close();
        if facts.rethrown {
            self.emit(Instruction::LocalSet(self.first_local + facts.local));
        }
        Ok(())
    }

    fn end_label(&mut self) -> Result<(), RewriteError> {
        self.labels.pop().ok_or(Refusal::Nesting)?;
        if self.labels.is_empty() && self.survey.to_caller {
            self.emit(Instruction::Return);
            self.close();
            self.emit(Instruction::ThrowRef);
        }
        self.close();
        Ok(())
    }

    fn open_try_table(&mut self, table: TryTable) -> Result<(), RewriteError> {
        let result = self.rewriter.block_type(table.ty)?;
        let mut clauses = Vec::with_capacity(table.catches.len());
        for clause in table.catches {
            let mut clause = self.rewriter.catch(clause)?;
            let (Catch::One { label, .. }
            | Catch::OneRef { label, .. }
            | Catch::All { label }
            | Catch::AllRef { label }) = &mut clause;
            *label = self.new_depth(*label)?;
            clauses.push(clause);
        }
        self.push_label(Kind::Plain, 0);
        self.emit(Instruction::TryTable(result, clauses.into()));
        self.height += 1;
        Ok(())
    }

    fn branch_by_table(&mut self, targets: &BrTable<'_>) -> Result<(), RewriteError> {
        let mut depths = Vec::new();
        for target in targets.targets() {
            depths.push(self.new_depth(target?)?);
        }
        let default = self.new_depth(targets.default())?;
        self.emit(Instruction::BrTable(depths.into(), default));
        Ok(())
    }

    fn write_as_is(&mut self, operator: Operator<'_>) -> Result<(), RewriteError> {
        let instruction = self.rewriter.instruction(operator)?;
        self.function.instruction(&instruction);
        Ok(())
    }

    fn emit(&mut self, instruction: Instruction<'_>) {
        self.function.instruction(&instruction);
    }

    fn open(&mut self, kind: BlockType) {
        self.emit(Instruction::Block(kind));
        self.height += 1;
    }

    fn close(&mut self) {
        self.emit(Instruction::End);
        self.height -= 1;
    }

    fn leave_for(&mut self, height: u32) {
        self.emit(Instruction::Br(self.height - 1 - height));
    }

    fn push_label(&mut self, kind: Kind, own: usize) {
        self.labels.push(Label { kind, own, height: self.height });
    }

    fn label_at(&self, depth: u32) -> Result<&Label, Refusal> {
        self.labels.iter().nth_back(depth as usize).ok_or(Refusal::Nesting)
    }

    fn new_depth(&self, depth: u32) -> Result<u32, Refusal> {
        Ok(self.height - 1 - self.label_at(depth)?.height)
    }

    fn facts(&self, own: usize) -> Result<&'w TryFacts, Refusal> {
        self.survey.tries.get(own).ok_or(Refusal::Nesting)
    }
}
