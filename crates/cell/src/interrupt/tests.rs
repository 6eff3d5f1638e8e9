//! Real code with real checks: what ends it, and what is not taken for that.

use std::time::{Duration, Instant};

use wasm_encoder::{
    BlockType, CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, ImportSection, MemArg,
    MemoryType, Module, TypeSection, ValType,
};
use wasmtime::{Memory, TypedFunc};

use super::*;
use crate::runtime::checks::{Checks, add_checks};
use crate::watchdog::Watchdog;
use crate::{MEMORY_IMPORT, engine};
use skillcell_limits::cancel::CancelToken;

const BEYOND: i32 = -8;

/// Functions of one argument: `nested` (a loop that never ends in a loop, without a store), `branching` (calls itself twice, as often as
/// it is told), `fault` (reads beyond its memory, and has no check), `nothing`, `once` (a loop that is gone round once).
fn module() -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], []);
    let mut imports = ImportSection::new();
    let memory = MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None };
    imports.import(MEMORY_IMPORT.0, MEMORY_IMPORT.1, EntityType::Memory(memory));
    let (mut functions, mut exports, mut code) = (FunctionSection::new(), ExportSection::new(), CodeSection::new());
    for (index, name) in (0..).zip(["nested", "branching", "fault", "nothing", "once"]) {
        functions.function(0);
        exports.export(name, ExportKind::Func, index);
    }
    let mut nested = Function::new([]);
    nested.instructions().loop_(BlockType::Empty).loop_(BlockType::Empty).br(0).end().end().end();
    let mut branching = Function::new([]);
    branching.instructions().local_get(0).if_(BlockType::Empty);
    for _ in 0..2 {
        branching.instructions().local_get(0).i32_const(1).i32_sub().call(1);
    }
    branching.instructions().end().end();
    let mut fault = Function::new([]);
    let place = MemArg { offset: 0, align: 2, memory_index: 0 };
    fault.instructions().i32_const(BEYOND).i32_load(place).drop().end();
    let mut nothing = Function::new([]);
    nothing.instructions().end();
    let mut once = Function::new([]);
    once.instructions().loop_(BlockType::Empty).end().end();
    for body in [nested, branching, fault, nothing, once] {
        code.function(&body);
    }
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
    add_checks(&module.finish(), Checks::Own).unwrap()
}

struct Running {
    gate: Gate,
    store: Store<State>,
    code: Instance,
}

impl Running {
    fn new() -> Running {
        let engine = engine::running_engine(false).unwrap().0;
        let code = wasmtime::Module::new(&engine, module()).unwrap();
        let mut store = Store::new(&engine, State::at_rest());
        let memory = Memory::new(&mut store, wasmtime::MemoryType::new(1, None)).unwrap();
        let code = Instance::new(&mut store, &code, &[memory.into()]).unwrap();
        Running { gate: Gate::new(&mut store, &code).unwrap(), store, code }
    }

    fn run(&mut self, name: &str) -> wasmtime::Result<()> {
        let function: TypedFunc<i32, ()> = self.code.get_typed_func(&mut self.store, name).unwrap();
        let ran = function.call(&mut self.store, 1000);
        self.gate.explain(ran)
    }

    /// Runs code that is ended at its deadline; how long after.
    fn run_for(&mut self, name: &str, time: Duration) -> (wasmtime::Result<()>, Duration) {
        let watchdog = Watchdog::new().unwrap();
        let turn = self.gate.begin_turn().unwrap();
        let deadline = Instant::now() + time;
        let _watch = watchdog.watch(deadline, &turn);
        (self.run(name), deadline.elapsed())
    }
}

fn stop(ran: &wasmtime::Result<()>) -> Option<&Stop> {
    ran.as_ref().err().and_then(|error| error.downcast_ref())
}

#[test]
fn loops_in_loops_and_recursion_without_loops_end_at_their_deadline_and_the_cell_runs_again() {
    let mut cell = Running::new();
    for name in ["nested", "branching", "nested"] {
        let (ran, late) = cell.run_for(name, Duration::from_millis(30));
        assert!(matches!(stop(&ran), Some(Stop::Exceeded(LimitKind::Deadline))), "{name}: {ran:?}");
        assert!(late < Duration::from_secs(5), "{name}: {late:?}");
        let (ran, _) = cell.run_for("nothing", Duration::from_secs(600));
        assert!(ran.is_ok());
    }
}

#[test]
fn a_cancellation_ends_it_as_such_before_and_while_it_runs() {
    let (mut cell, watchdog) = (Running::new(), Watchdog::new().unwrap());
    for early in [true, false] {
        let token = CancelToken::new();
        if early {
            token.cancel();
        }
        let turn = cell.gate.begin_turn().unwrap();
        let _registered = watchdog.end_on(&token, turn);
        let canceller = std::thread::spawn({
            let token = token.clone();
            move || {
                std::thread::sleep(Duration::from_millis(20));
                token.cancel();
            }
        });
        let ran = cell.run("nested");
        assert!(matches!(stop(&ran), Some(Stop::Cancelled)), "{ran:?}");
        canceller.join().unwrap();
    }
}

#[test]
fn a_real_fault_is_none_of_the_deadline_even_when_that_has_passed() {
    let mut cell = Running::new();
    let turn = cell.gate.begin_turn().unwrap();
    assert!(turn.close(Why::Deadline));
    // It meets no check, so what ends it is its own doing.
    let ran = cell.run("fault");
    assert!(stop(&ran).is_none());
    assert_eq!(ran.unwrap_err().downcast_ref(), Some(&Trap::MemoryOutOfBounds));
    // The same gate, and a check that meets it.
    assert!(stop(&cell.run("nested")).is_some());
    // In a turn that nobody ended, neither.
    cell.gate.begin_turn().unwrap();
    assert!(stop(&cell.run("fault")).is_none());
}

#[test]
fn who_comes_late_ends_no_later_call() {
    let mut cell = Running::new();
    let first = cell.gate.begin_turn().unwrap();
    cell.gate.end_turn();
    assert!(first.close(Why::Deadline));
    let second = cell.gate.begin_turn().unwrap();
    assert!(first.close(Why::Cancelled));
    assert!(cell.run("once").is_ok());
    assert!(second.close(Why::Deadline));
    let slot_is_left_closed = cell;
    drop(slot_is_left_closed);
    // The next instance may get the same slot: its page is open.
    let mut next = Running::new();
    next.gate.begin_turn().unwrap();
    assert!(next.run("nothing").is_ok());
}

#[test]
fn the_time_of_a_call_that_waits_for_the_host_stands_still() {
    let cell = Running::new();
    let turn = cell.gate.begin_turn().unwrap();
    let due = Instant::now();
    assert!(turn.postponed(due).is_none());
    let paused = turn.pause();
    assert!(turn.postponed(due).is_some());
    std::thread::sleep(Duration::from_millis(20));
    let before = Instant::now();
    drop(paused);
    assert!(turn.postponed(before).is_some_and(|later| later >= before + Duration::from_millis(20)));
    // A later call has its own.
    let turn = cell.gate.begin_turn().unwrap();
    assert!(turn.postponed(before).is_none());
}
