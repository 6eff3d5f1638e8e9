//! The process that a guest takes itself for: memory, identity, its end. There is one, it has no signals and starts no other.

use wasmtime::{Caller, Linker};

use super::guest::{offer, run};
use crate::State;
use crate::wasi::Stop;
use skillcell_limits::LimitKind;
use skillcell_vfs::Errno;

const WASM_PAGE: u64 = 65_536;
/// Where 32-bit sizes would turn negative.
const HEAP_MAX: i32 = i32::MAX - 65_535;
const UMASK: i32 = 0o22;
/// What `getaddrinfo` and `getnameinfo` say of every name; the stand-ins for sockets have their own.
const NO_NAME: i32 = -2;
const RUNTIME_NAME: &[u8] = b"skillcell\0";

pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    offer! { linker:
        __syscall_getuid32_js(_host, _guest) { Ok(0) }
        __syscall_umask_js(_host, _guest, _mode: u32) { Ok(UMASK) }
        _Py_CheckEmscriptenSignals_Helper(_host, _guest) { Ok(0) }
        emscripten_asm_const_int(_host, _guest, _code: u32, _signature: u32, _words: u32) { Ok(0) }
        emscripten_get_heap_max(_host, _guest) { Ok(HEAP_MAX) }
        emscripten_set_up_async_input_device_js(_host, _guest) { Ok(0) }
        // There is no shell: `system` then is -1.
        _emscripten_system(_host, _guest, _command: u32) { Err(Errno::Nosys.into()) }
        getaddrinfo(_host, _guest, _name: u32, _service: u32, _hints: u32, _out: u32) { Ok(NO_NAME) }
        getnameinfo(_host, _guest, _a: u32, _b: u32, _c: u32, _d: u32, _e: u32, _f: u32, _g: u32) { Ok(NO_NAME) }
        getprotobyname(_host, _guest, _name: u32) { Ok(0) }
        _emscripten_lookup_name(_host, _guest, _name: u32) { Ok(0) }
    }
    linker.func_wrap("env", "emscripten_resize_heap", resize_heap)?;
    linker.func_wrap("env", "_Py_emscripten_runtime", runtime_name)?;
    linker.func_wrap("env", "_emscripten_get_progname", |mut caller: Caller<'_, State>, out: u32, len: u32| {
        run(&mut caller, |_, guest| {
            let name = b"python\0";
            if len as usize >= name.len() {
                guest.put_bytes(out, name)?;
            }
            Ok(())
        })
        .map(drop)
    })?;
    for name in
        ["emscripten_runtime_keepalive_push", "emscripten_runtime_keepalive_pop", "_emscripten_runtime_keepalive_clear"]
    {
        linker.func_wrap("env", name, |mut caller: Caller<'_, State>| caller.data_mut().count_host_call())?;
    }
    linker.func_wrap("env", "exit", |_: Caller<'_, State>, status: i32| -> wasmtime::Result<()> {
        Err(wasmtime::Error::new(Stop::Exit(status)))
    })?;
    linker.func_wrap("env", "_abort_js", |_: Caller<'_, State>| -> wasmtime::Result<()> { Err(aborted()) })?;
    linker.func_wrap(
        "env",
        "__assert_fail",
        |_: Caller<'_, State>, _: u32, _: u32, _: u32, _: u32| -> wasmtime::Result<()> { Err(aborted()) },
    )?;
    Ok(())
}

fn aborted() -> wasmtime::Error {
    wasmtime::Error::msg("it aborted")
}

/// Grows memory to at least `bytes`, exactly: what a cell has beyond its image it can't rest with.
fn resize_heap(mut caller: Caller<'_, State>, bytes: u32) -> wasmtime::Result<i32> {
    caller.data_mut().count_host_call()?;
    let Some(memory) = caller.data().wasi.memory else { return Ok(0) };
    let missing = u64::from(bytes).saturating_sub(memory.data_size(&caller) as u64).div_ceil(WASM_PAGE);
    Ok(i32::from(missing == 0 || memory.grow(&mut caller, missing).is_ok()))
}

/// What `sys._emscripten_info` names, in memory that the guest takes for its own.
fn runtime_name(mut caller: Caller<'_, State>) -> wasmtime::Result<u32> {
    caller.data_mut().count_host_call()?;
    let Some(alloc) = caller.data().alloc.clone() else { return Ok(0) };
    let place = alloc.call(&mut caller, RUNTIME_NAME.len() as u32)?;
    if place == 0 {
        return Err(wasmtime::Error::new(Stop::Exceeded(LimitKind::Memory)));
    }
    let written = run(&mut caller, |_, guest| Ok(guest.put_bytes(place, RUNTIME_NAME)?))?;
    Ok(if written.is_ok() { place } else { 0 })
}
