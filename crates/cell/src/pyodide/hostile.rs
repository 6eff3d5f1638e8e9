//! The host functions, called with whatever a guest may hand over: bad pointers, lengths, descriptors.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::{Engine, Func, Memory, MemoryType, Store, Val, ValType};

use super::*;
use crate::State;
use crate::wasi::{Stop, Wasi};
use skillcell_vfs::{Caps, Mount, Output, Vfs};

const MEMORY_BYTES: u32 = 2 << 16;
const ROUNDS: usize = 400;
/// What ends the call, whatever it is given.
const LAST: [&str; 3] = ["exit", "_abort_js", "__assert_fail"];

/// Numbers of a generator by Marsaglia; the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Often a number that is near a border of something.
    fn word(&mut self) -> i32 {
        let edges =
            [0, 1, 3, 4, 36, 280, 4096, MEMORY_BYTES - 1, MEMORY_BYTES, u32::MAX, i32::MAX as u32, -100_i32 as u32];
        let edge = edges[self.next() as usize % edges.len()];
        match self.next() % 4 {
            0 => self.next() as i32,
            1 => (self.next() % u64::from(MEMORY_BYTES)) as i32,
            2 => edge.wrapping_sub((self.next() % 9) as u32) as i32,
            _ => edge as i32,
        }
    }

    fn value(&mut self, kind: &ValType) -> Val {
        match kind {
            ValType::I32 => Val::I32(self.word()),
            ValType::I64 => Val::I64((i64::from(self.word()) << 32).wrapping_add(self.next() as i64)),
            ValType::F64 => Val::F64(self.next()),
            _ => Val::ExternRef(None),
        }
    }
}

fn store(engine: &Engine) -> Store<State> {
    let caps = Caps { open_files: 16, scratch_bytes: 1 << 16, scratch_files: 50 };
    let mounts = [Mount::scratch("/tmp"), Mount::devices("/dev")].into_iter().flatten().collect();
    let mut state = State::at_rest();
    state.wasi = Wasi::new(Vfs::new(mounts, caps, Output::new(10), Output::new(10)));
    // Nothing waits.
    state.wasi.deadline = Some(Instant::now());
    let library = program::Library {
        path: "/tmp/a.so".to_owned(),
        memory: (0x100, 0x100),
        table: (1, 1),
        needed: vec![0],
        loading: Vec::new(),
        entries: vec![("PyInit_a".to_owned(), 7)],
    };
    let program = Program { heap_base: 0x1000, data_bytes: 0x100, libraries: vec![library], ..Program::default() };
    state.program = Some(Arc::new(program));
    let mut store = Store::new(engine, state);
    let memory = Memory::new(&mut store, MemoryType::new(2, Some(2))).unwrap();
    store.data_mut().wasi.memory = Some(memory);
    store
}

#[test]
fn no_argument_makes_a_host_function_panic_and_every_call_is_counted() {
    let engine = Engine::default();
    let mut linker = Linker::new(&engine);
    crate::wasi::add_to_linker(&mut linker, |state: &mut State| &mut state.wasi).unwrap();
    add_to_linker(&mut linker).unwrap();
    let mut store = store(&engine);
    let functions: Vec<(String, Func)> = linker
        .iter(&mut store)
        .filter(|(module, name, _)| *module != "wasi_snapshot_preview1" || *name == "fd_seek")
        .map(|(_, name, item)| (name.to_owned(), item.into_func().unwrap()))
        .collect::<Vec<_>>();
    assert!(functions.len() > 200, "{}", functions.len());
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for (name, function) in functions {
        let kind = function.ty(&store);
        for _ in 0..ROUNDS {
            // What the memory holds is the guest's too: paths, records, tables.
            let memory = store.data().wasi.memory.unwrap();
            for _ in 0..8 {
                let (place, byte) = (numbers.next() as usize % MEMORY_BYTES as usize, numbers.next() as u8);
                memory.data_mut(&mut store)[place] = byte;
            }
            let args: Vec<Val> = kind.params().map(|kind| numbers.value(&kind)).collect();
            let mut results: Vec<Val> = kind.results().map(|kind| Val::default_for_ty(&kind).unwrap()).collect();
            let before = store.data().wasi.host_calls;
            let ran = function.call(&mut store, &args, &mut results);
            let stopped = ran.as_ref().is_err_and(|error| error.downcast_ref::<Stop>().is_some());
            assert!(stopped || LAST.contains(&&*name) || store.data().wasi.host_calls > before, "{name}");
        }
    }
}

#[test]
fn the_working_folder_is_a_note_in_the_guests_memory_and_only_a_path() {
    let engine = Engine::default();
    let mut store = store(&engine);
    let program = store.data().program.clone().unwrap();
    let memory = store.data().wasi.memory.unwrap();
    let mut guest = guest::Guest::new(memory.data_mut(&mut store));
    notes::set_folder(&mut guest, &program, b"/tmp").unwrap();
    assert_eq!(notes::folder(&guest, &program).unwrap(), b"/tmp");
    assert!(notes::set_folder(&mut guest, &program, &[b'x'; 4096]).is_err());
    assert!(notes::set_folder(&mut guest, &program, b"a\0b").is_err());
    assert_eq!(notes::load(&mut guest, &program, 0), Ok(true));
    assert_eq!(notes::load(&mut guest, &program, 0), Ok(false));
}
