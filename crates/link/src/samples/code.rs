//! Bodies of sample functions. Every byte decides something; when there are none left, blocks end.

use wasm_encoder::{BlockType, Function, Instruction as I, ValType};

use super::{FAIL, FUNCTIONS, Indices, LOG, kinds};

const MAX_DEPTH: usize = 12;
/// Statements of one function.
const MAX_STATEMENTS: u32 = 80;

/// Decisions, from bytes.
pub(super) struct Dice<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl<'a> Dice<'a> {
    pub fn new(bytes: &'a [u8]) -> Dice<'a> {
        Dice { bytes: bytes.iter() }
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.bytes.next().map_or(0, |&byte| usize::from(byte)) % sides.max(1)
    }
}

/// What a branch to a label carries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carries {
    Nothing,
    Number,
    Pair,
    /// A loop's: nothing, and it goes back.
    Back,
}

#[derive(Clone, Copy)]
struct Label {
    carries: Carries,
    is_clause: bool,
}

struct Writer<'d, 'b> {
    dice: &'d mut Dice<'b>,
    indices: Indices,
    own: u32,
    body: Function,
    labels: Vec<Label>,
    left: u32,
}

/// The function that is the `own`th of its program: it may call those after it.
pub(super) fn write_function(dice: &mut Dice<'_>, indices: Indices, own: u32) -> Function {
    let labels = vec![Label { carries: Carries::Number, is_clause: false }];
    let body = Function::new([(1, ValType::I32)]);
    let mut writer = Writer { dice, indices, own, body, labels, left: MAX_STATEMENTS };
    writer.statements();
    writer.push_values(Carries::Number);
    writer.emit(I::End);
    writer.body
}

impl Writer<'_, '_> {
    fn emit(&mut self, instruction: I<'_>) {
        self.body.instruction(&instruction);
    }

    fn statements(&mut self) {
        let count = self.dice.roll(5);
        for _ in 0..count {
            if self.left == 0 || self.labels.len() > MAX_DEPTH {
                return;
            }
            self.left -= 1;
            self.statement();
        }
    }

    fn statement(&mut self) {
        match self.dice.roll(16) {
            0 => self.log_number(),
            1 => self.throw(),
            2 => self.if_odd(Self::throw),
            3..=5 => self.try_catch(),
            6..=8 => self.try_delegate(),
            9 => self.rethrow(),
            10 => self.branch(),
            11 => self.branch_by_table(),
            12 => self.repeat(),
            13 => self.if_odd(Self::statements),
            14 => self.call(),
            _ => self.emit(I::Call(FAIL)),
        }
    }

    fn log_number(&mut self) {
        self.push_values(Carries::Number);
        self.emit(I::Call(LOG));
    }

    fn throw(&mut self) {
        let tag = self.dice.roll(3) as u32;
        let carries = [Carries::Number, Carries::Nothing, Carries::Pair][tag as usize];
        self.push_values(carries);
        self.emit(I::Throw(tag));
    }

    fn try_catch(&mut self) {
        let (carries, kind) = self.block_kind();
        self.open(I::Try(kind), carries);
        self.body_of(carries);
        let first = self.dice.roll(3) as u32;
        // None to three clauses, the last of which may catch all.
        for clause in 0..self.dice.roll(4) as u32 {
            let tag = (first + clause) % 3;
            let catches_all = self.dice.roll(3) == 0;
            self.emit(if catches_all { I::CatchAll } else { I::Catch(tag) });
            self.set_clause();
            if !catches_all {
                self.take_thrown(tag);
            }
            self.body_of(carries);
            if catches_all {
                break;
            }
        }
        self.close(I::End);
        self.take_result(carries);
    }

    fn try_delegate(&mut self) {
        let (carries, kind) = self.block_kind();
        self.open(I::Try(kind), carries);
        self.body_of(carries);
        self.labels.pop();
        let depth = self.dice.roll(self.labels.len()) as u32;
        self.emit(I::Delegate(depth));
        self.take_result(carries);
    }

    fn rethrow(&mut self) {
        let clauses = self.depths(|label| label.is_clause);
        if let Some(&depth) = clauses.get(self.dice.roll(clauses.len())) {
            self.emit(I::Rethrow(depth));
        }
    }

    fn branch(&mut self) {
        let depth = self.dice.roll(self.labels.len()) as u32;
        let carries = self.labels[self.labels.len() - 1 - depth as usize].carries;
        if carries == Carries::Back {
            self.with_fuel(|writer| writer.emit(I::Br(depth + 1)));
        } else {
            self.push_values(carries);
            self.emit(I::Br(depth));
        }
    }

    fn branch_by_table(&mut self) {
        let ends = self.depths(|label| label.carries == Carries::Nothing);
        let Some(&last) = ends.last() else { return };
        self.emit(I::GlobalGet(self.indices.fuel));
        self.emit(I::BrTable(ends.into(), last));
    }

    fn repeat(&mut self) {
        self.open(I::Loop(BlockType::Empty), Carries::Back);
        self.statements();
        self.with_fuel(|writer| writer.emit(I::Br(1)));
        self.close(I::End);
    }

    fn call(&mut self) {
        let later = FUNCTIONS - 1 - self.own;
        let choices = later + u32::from(self.indices.other.is_some());
        if choices == 0 {
            return;
        }
        let choice = self.dice.roll(choices as usize) as u32;
        let own = self.indices.first_function + self.own + 1 + choice;
        let callee = if choice < later { own } else { self.indices.other.unwrap_or(own) };
        self.with_fuel(|writer| {
            writer.emit(I::Call(callee));
            writer.emit(I::Call(LOG));
        });
    }

    /// Something that is done only while there is fuel, of which it takes one.
    fn with_fuel(&mut self, work: impl FnOnce(&mut Self)) {
        let fuel = self.indices.fuel;
        for step in [I::GlobalGet(fuel), I::I32Const(0), I::I32GtS] {
            self.emit(step);
        }
        self.open(I::If(BlockType::Empty), Carries::Nothing);
        for step in [I::GlobalGet(fuel), I::I32Const(1), I::I32Sub, I::GlobalSet(fuel)] {
            self.emit(step);
        }
        work(self);
        self.close(I::End);
    }

    fn if_odd(&mut self, work: impl FnOnce(&mut Self)) {
        for step in [I::GlobalGet(self.indices.fuel), I::I32Const(1), I::I32And] {
            self.emit(step);
        }
        self.open(I::If(BlockType::Empty), Carries::Nothing);
        work(self);
        self.emit(I::Else);
        self.statements();
        self.close(I::End);
    }

    fn block_kind(&mut self) -> (Carries, BlockType) {
        match self.dice.roll(3) {
            0 => (Carries::Nothing, BlockType::Empty),
            1 => (Carries::Number, BlockType::Result(ValType::I32)),
            _ => (Carries::Pair, BlockType::FunctionType(kinds::PAIR)),
        }
    }

    fn body_of(&mut self, carries: Carries) {
        self.statements();
        self.push_values(carries);
    }

    fn push_values(&mut self, carries: Carries) {
        let value = self.dice.roll(100) as i32;
        if matches!(carries, Carries::Number | Carries::Pair) {
            self.emit(I::I32Const(value));
        }
        if carries == Carries::Pair {
            self.emit(I::I64Const(i64::from(value) + 1000));
        }
    }

    fn take_result(&mut self, carries: Carries) {
        if carries == Carries::Pair {
            self.emit(I::I32WrapI64);
            self.emit(I::Call(LOG));
        }
        if matches!(carries, Carries::Number | Carries::Pair) {
            self.emit(I::Call(LOG));
        }
    }

    fn take_thrown(&mut self, tag: u32) {
        self.take_result([Carries::Number, Carries::Nothing, Carries::Pair][tag as usize]);
    }

    fn open(&mut self, block: I<'_>, carries: Carries) {
        self.emit(block);
        self.labels.push(Label { carries, is_clause: false });
    }

    fn set_clause(&mut self) {
        if let Some(label) = self.labels.last_mut() {
            label.is_clause = true;
        }
    }

    fn close(&mut self, end: I<'_>) {
        self.emit(end);
        self.labels.pop();
    }

    fn depths(&self, is_wanted: impl Fn(&Label) -> bool) -> Vec<u32> {
        (0..).zip(self.labels.iter().rev()).filter(|(_, label)| is_wanted(label)).map(|(depth, _)| depth).collect()
    }
}
