//! The first look at a body: which `try` there is, what its clauses are, which exceptions are kept, and where delegated ones go.

use wasmparser::{BlockType, FuncType, FunctionBody, Operator};

use crate::Refusal;
use crate::error::RewriteError;

/// Where an exception goes that leaves a `try` by `delegate`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Caller,
    /// Into the body of this `try`.
    Try(usize),
}

/// What is known about one `try`; they are counted in the order in which they open.
pub(super) struct TryFacts {
    /// A tag of the module for each `catch`, none for `catch_all`.
    pub clauses: Vec<Option<u32>>,
    /// Where it delegates to: resolved, so that this has clauses.
    pub delegate: Option<Target>,
    /// Some exception that it caught is thrown again.
    pub rethrown: bool,
    /// Others delegate to it.
    pub is_target: bool,
    /// Of the locals for kept exceptions, the one that is its own.
    pub local: u32,
    /// The next `try` around whose body this one is in.
    around: Target,
    /// The next `try` around, in one of whose clauses this one is.
    clause_of: Option<usize>,
}

/// All of a body.
#[derive(Default)]
pub(super) struct Survey {
    pub tries: Vec<TryFacts>,
    /// Something delegates to the caller.
    pub to_caller: bool,
    /// Locals that are needed for exceptions that are kept.
    pub kept: u32,
}

/// A label that is open: which `try` catches in it, in whose clause it is, and whether it is a `try` itself.
#[derive(Clone, Copy)]
struct Label {
    own: Option<usize>,
    catching: Target,
    clause_of: Option<usize>,
}

impl Survey {
    pub fn take(body: &FunctionBody<'_>, types: &[FuncType]) -> Result<Survey, RewriteError> {
        let mut survey = Survey::default();
        let mut labels = vec![Label { own: None, catching: Target::Caller, clause_of: None }];
        for operator in body.get_operators_reader()? {
            survey.note_operator(&operator?, &mut labels, types)?;
        }
        survey.settle_delegates()?;
        survey.assign_locals()?;
        Ok(survey)
    }

    fn note_operator(
        &mut self,
        operator: &Operator<'_>,
        labels: &mut Vec<Label>,
        types: &[FuncType],
    ) -> Result<(), Refusal> {
        match *operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } | Operator::TryTable { .. } => {
                let around = innermost(labels)?;
                labels.push(Label { own: None, ..*around });
            }
            Operator::Try { blockty } => {
                refuse_parameters(blockty, types)?;
                self.open_try(labels)?;
            }
            Operator::Catch { tag_index } => self.open_clause(labels, Some(tag_index))?,
            Operator::CatchAll => self.open_clause(labels, None)?,
            Operator::Delegate { relative_depth } => {
                let own = labels.pop().and_then(|label| label.own).ok_or(Refusal::Nesting)?;
                // The label counts from outside of this `try`.
                let target = label_at(labels, relative_depth)?.catching;
                self.tries[own].delegate = Some(target);
            }
            Operator::Rethrow { relative_depth } => {
                let caught = label_at(labels, relative_depth)?.own.ok_or(Refusal::Nesting)?;
                self.tries[caught].rethrown = true;
            }
            Operator::End => _ = labels.pop().ok_or(Refusal::Nesting)?,
            _ => {}
        }
        Ok(())
    }

    fn open_try(&mut self, labels: &mut Vec<Label>) -> Result<(), Refusal> {
        let around = *innermost(labels)?;
        let own = self.tries.len();
        labels.push(Label { own: Some(own), catching: Target::Try(own), clause_of: around.clause_of });
        self.tries.push(TryFacts {
            clauses: Vec::new(),
            delegate: None,
            rethrown: false,
            is_target: false,
            local: 0,
            around: around.catching,
            clause_of: around.clause_of,
        });
        Ok(())
    }

    fn open_clause(&mut self, labels: &mut [Label], tag: Option<u32>) -> Result<(), Refusal> {
        let label = labels.last_mut().ok_or(Refusal::Nesting)?;
        let own = label.own.ok_or(Refusal::Nesting)?;
        let facts = &mut self.tries[own];
        facts.clauses.push(tag);
        // What is thrown in a clause is not caught by the same `try`.
        label.catching = facts.around;
        label.clause_of = Some(own);
        Ok(())
    }

    /// Resolves where delegated exceptions are caught: one may delegate to a `try` that itself delegates, or that has no clause.
    fn settle_delegates(&mut self) -> Result<(), Refusal> {
        // Where an exception goes that is thrown in the body of each. Those around opened earlier: theirs is known.
        let mut landing: Vec<Target> = Vec::with_capacity(self.tries.len());
        for own in 0..self.tries.len() {
            let facts = &mut self.tries[own];
            let beyond = |target: Target| match target {
                Target::Caller => Ok(Target::Caller),
                Target::Try(other) => landing.get(other).copied().ok_or(Refusal::Nesting),
            };
            facts.delegate = facts.delegate.map(beyond).transpose()?;
            landing.push(match facts.delegate {
                Some(target) => target,
                None if facts.clauses.is_empty() => beyond(facts.around)?,
                None => Target::Try(own),
            });
            match facts.delegate {
                Some(Target::Caller) => self.to_caller = true,
                Some(Target::Try(other)) => self.tries[other].is_target = true,
                None => {}
            }
        }
        Ok(())
    }

    /// Gives locals to those whose exceptions are kept. Clauses that are not inside of one another share them.
    fn assign_locals(&mut self) -> Result<(), Refusal> {
        for own in 0..self.tries.len() {
            // Behind those of the clauses that this one is in.
            let local = self.tries[own].clause_of.map_or(0, |outer| {
                let outer = &self.tries[outer];
                outer.local + u32::from(outer.rethrown)
            });
            let facts = &mut self.tries[own];
            facts.local = local;
            if facts.rethrown {
                self.kept = self.kept.max(local + 1);
            }
        }
        Ok(())
    }
}

fn innermost(labels: &[Label]) -> Result<&Label, Refusal> {
    labels.last().ok_or(Refusal::Nesting)
}

fn label_at(labels: &[Label], depth: u32) -> Result<&Label, Refusal> {
    labels.iter().nth_back(depth as usize).ok_or(Refusal::Nesting)
}

/// Parameters would have to go through every block that is put around. No compiler emits them.
fn refuse_parameters(kind: BlockType, types: &[FuncType]) -> Result<(), Refusal> {
    match kind {
        BlockType::FuncType(index) => match types.get(index as usize) {
            Some(kind) if kind.params().is_empty() => Ok(()),
            Some(_) => Err(Refusal::TryParameters),
            None => Err(Refusal::Index),
        },
        BlockType::Empty | BlockType::Type(_) => Ok(()),
    }
}
