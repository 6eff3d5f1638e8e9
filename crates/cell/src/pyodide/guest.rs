//! How Emscripten's host functions get at the guest: its memory checked, the call counted, an error as a negative number.

use wasmtime::Caller;

use super::Program;
use crate::State;
pub use crate::wasi::guest::Guest;
use crate::wasi::{Failure, Stop, Wasi};
use skillcell_vfs::Errno;

/// What a host function sees.
pub struct Host<'a> {
    pub wasi: &'a mut Wasi,
    pub program: &'a Program,
}

pub type Outcome<T = i32> = Result<T, Failure>;

/// Runs one host function with the guest's memory and the cell's state borrowed side by side.
pub fn run<T>(
    caller: &mut Caller<'_, State>,
    call: impl FnOnce(&mut Host<'_>, &mut Guest<'_>) -> Outcome<T>,
) -> wasmtime::Result<Result<T, Errno>> {
    let memory = caller.data().wasi.memory.ok_or_else(|| wasmtime::Error::new(Stop::NoMemory))?;
    let (bytes, state) = memory.data_and_store_mut(&mut *caller);
    state.count_host_call()?;
    let State { wasi, program, .. } = state;
    let program = program.as_deref().ok_or_else(|| wasmtime::Error::msg("no program was linked"))?;
    match call(&mut Host { wasi, program }, &mut Guest::new(bytes)) {
        Ok(value) => Ok(Ok(value)),
        Err(Failure::Errno(errno)) => Ok(Err(errno)),
        Err(Failure::Stop(stop)) => Err(wasmtime::Error::new(stop)),
    }
}

/// The same for a system call: an error is its number below zero.
pub fn answer(
    mut caller: Caller<'_, State>,
    call: impl FnOnce(&mut Host<'_>, &mut Guest<'_>) -> Outcome,
) -> wasmtime::Result<i32> {
    Ok(run(&mut caller, call)?.unwrap_or_else(number))
}

/// An error as system calls give it.
pub fn number(errno: Errno) -> i32 {
    -i32::from(errno as u16)
}

/// Offers functions of `i32`s, and of other types where they are named, in the module `env`.
macro_rules! offer {
    ($linker:ident: $($name:ident($host:ident, $guest:ident $(, $arg:ident: $type:ty)*) $body:block)*) => {
        $($linker.func_wrap("env", stringify!($name), move |caller: wasmtime::Caller<'_, $crate::State> $(, $arg: $type)*| {
            $crate::pyodide::guest::answer(caller, |$host, $guest| $body)
        })?;)*
    };
}
pub(super) use offer;
