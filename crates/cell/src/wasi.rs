//! WASI preview 1 for cells: the host functions a guest imports, over the virtual [`Vfs`] and nothing of the host but
//! its clocks and its random numbers.
//!
//! It is our own, and not the `wasmtime-wasi` crate, so that quotas, deadlines and host allocations are ours: no function here
//! allocates a length the guest chose, waits past the deadline, or panics on a bad pointer. Sockets are refused.
//!
//! Each function is a method of [`Wasi`] named as in the specification, in the file of its group; the list in
//! [`add_to_linker`] says what is offered, with the types of the specification.

mod abi;
mod clock;
mod fd;
pub(crate) mod guest;
mod io;
mod path;
mod practice;
mod process;

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use wasmtime::{Caller, Extern, Linker, Memory};

use self::guest::Guest;
pub use self::practice::Practice;
pub use skillcell_door::Stop;
use skillcell_limits::LimitKind;
use skillcell_limits::cancel::CancelToken;
use skillcell_vfs::{Errno, Vfs, WriteError};

const MODULE: &str = "wasi_snapshot_preview1";

/// One cell's WASI state.
///
/// Defaults of [`Wasi::new`]: no arguments, no environment, no deadline, the monotonic clock starts at zero now.
pub struct Wasi {
    pub vfs: Vfs,
    /// The memory that pointers refer to; without it the caller's export `memory` is used.
    pub memory: Option<Memory>,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Waiting ends here at the latest. Computing has to be stopped by other means (epochs).
    pub deadline: Option<Instant>,
    /// Ends the call at its next host call, and every sleep.
    pub cancel: CancelToken,
    /// When this cell began, for the monotonic and the CPU clocks.
    pub origin: Instant,
    /// What the monotonic clock showed at `origin`: for a cell restored from an image at least what it showed when the
    /// image was taken, or time would seem to run backwards.
    pub monotonic_base: Duration,
    /// Random bytes handed out, by `random_get` and by devices.
    pub entropy_bytes: u64,
    /// Host functions called.
    pub host_calls: u64,
    /// The call ends when this many were called.
    pub host_calls_cap: u64,
    /// Clocks and random numbers of a call that is compared with another; only while an image is baked.
    pub practice: Option<Practice>,
}

impl Wasi {
    pub fn new(vfs: Vfs) -> Wasi {
        Wasi {
            vfs,
            memory: None,
            args: Vec::new(),
            env: Vec::new(),
            deadline: None,
            cancel: CancelToken::default(),
            origin: Instant::now(),
            monotonic_base: Duration::ZERO,
            entropy_bytes: 0,
            host_calls: 0,
            host_calls_cap: u64::MAX,
            practice: None,
        }
    }

    /// Counts one call from the guest, the door's included.
    pub fn count_call(&mut self) -> Result<(), Stop> {
        self.host_calls += 1;
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        if self.host_calls > self.host_calls_cap { Err(Stop::Exceeded(LimitKind::HostCalls)) } else { Ok(()) }
    }

    /// What has passed since the cell began.
    fn elapsed(&self) -> Duration {
        self.practice.as_ref().map_or_else(|| self.origin.elapsed(), Practice::passed)
    }

    /// What the monotonic clock shows now.
    pub fn monotonic_now(&self) -> Duration {
        self.monotonic_base.saturating_add(self.elapsed())
    }
}

/// How a host function fails: with a number for the guest, or for good.
#[derive(Debug)]
pub enum Failure {
    Errno(Errno),
    Stop(Stop),
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Failure {
        Failure::Errno(errno)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        Failure::Stop(stop)
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Failure {
        match error {
            WriteError::Errno(errno) => Failure::Errno(errno),
            WriteError::Overrun(limit) => Failure::Stop(Stop::Exceeded(limit)),
        }
    }
}

pub type Outcome<T = ()> = Result<T, Failure>;

/// Runs one host function with the guest's memory and the cell's state borrowed side by side.
fn call_host_function<T: 'static>(
    mut caller: Caller<'_, T>,
    get: impl Fn(&mut T) -> &mut Wasi,
    call: impl FnOnce(&mut Wasi, &mut Guest<'_>) -> Outcome,
) -> wasmtime::Result<i32> {
    let known = get(caller.data_mut()).memory;
    let memory = known.or_else(|| caller.get_export("memory").and_then(Extern::into_memory));
    let memory = memory.ok_or_else(|| wasmtime::Error::new(Stop::NoMemory))?;
    let (bytes, data) = memory.data_and_store_mut(&mut caller);
    let wasi = get(data);
    wasi.count_call().map_err(wasmtime::Error::new)?;
    match call(wasi, &mut Guest::new(bytes)) {
        Ok(()) => Ok(0),
        Err(Failure::Errno(errno)) => Ok(i32::from(errno as u16)),
        Err(Failure::Stop(stop)) => Err(wasmtime::Error::new(stop)),
    }
}

/// Offers each listed method of [`Wasi`] under its own name.
macro_rules! offer {
    ($linker:ident, $get:ident: $($name:ident($($arg:ident: $type:ty),*);)*) => {
        $($linker.func_wrap(MODULE, stringify!($name), move |caller: Caller<'_, T> $(, $arg: $type)*| {
            call_host_function(caller, $get, |wasi, guest| wasi.$name(guest $(, $arg)*))
        })?;)*
    };
}

/// Defines all of `wasi_snapshot_preview1`. `get` finds the cell's state in the store's data.
pub fn add_to_linker<T: 'static>(
    linker: &mut Linker<T>,
    get: impl Fn(&mut T) -> &mut Wasi + Send + Sync + Copy + 'static,
) -> wasmtime::Result<()> {
    offer! { linker, get:
        args_get(argv: u32, text: u32);
        args_sizes_get(count: u32, size: u32);
        environ_get(environ: u32, text: u32);
        environ_sizes_get(count: u32, size: u32);
        clock_res_get(id: u32, out: u32);
        clock_time_get(id: u32, precision_ns: u64, out: u32);
        fd_advise(fd: u32, offset: u64, len: u64, advice: u32);
        fd_allocate(fd: u32, offset: u64, len: u64);
        fd_close(fd: u32);
        fd_datasync(fd: u32);
        fd_fdstat_get(fd: u32, out: u32);
        fd_fdstat_set_flags(fd: u32, flags: u32);
        fd_fdstat_set_rights(fd: u32, base: u64, inheriting: u64);
        fd_filestat_get(fd: u32, out: u32);
        fd_filestat_set_size(fd: u32, size: u64);
        fd_filestat_set_times(fd: u32, accessed_ns: u64, modified_ns: u64, flags: u32);
        fd_pread(fd: u32, iovs: u32, count: u32, offset: u64, out: u32);
        fd_prestat_get(fd: u32, out: u32);
        fd_prestat_dir_name(fd: u32, name: u32, len: u32);
        fd_pwrite(fd: u32, iovs: u32, count: u32, offset: u64, out: u32);
        fd_read(fd: u32, iovs: u32, count: u32, out: u32);
        fd_readdir(fd: u32, buf: u32, len: u32, cookie: u64, out: u32);
        fd_renumber(from: u32, to: u32);
        fd_seek(fd: u32, by: i64, whence: u32, out: u32);
        fd_sync(fd: u32);
        fd_tell(fd: u32, out: u32);
        fd_write(fd: u32, iovs: u32, count: u32, out: u32);
        path_create_directory(dir: u32, path: u32, len: u32);
        path_filestat_get(dir: u32, lookup: u32, path: u32, len: u32, out: u32);
        path_filestat_set_times(dir: u32, lookup: u32, path: u32, len: u32, accessed_ns: u64, modified_ns: u64, flags: u32);
        path_link(dir: u32, lookup: u32, path: u32, len: u32, new_dir: u32, new_path: u32, new_len: u32);
        path_open(dir: u32, lookup: u32, path: u32, len: u32, how: u32, base: u64, inheriting: u64, flags: u32, out: u32);
        path_readlink(dir: u32, path: u32, len: u32, buf: u32, buf_len: u32, out: u32);
        path_remove_directory(dir: u32, path: u32, len: u32);
        path_rename(dir: u32, path: u32, len: u32, new_dir: u32, new_path: u32, new_len: u32);
        path_symlink(target: u32, target_len: u32, dir: u32, path: u32, len: u32);
        path_unlink_file(dir: u32, path: u32, len: u32);
        poll_oneoff(subscriptions: u32, events: u32, count: u32, out: u32);
        proc_raise(signal: u32);
        random_get(buf: u32, len: u32);
        sched_yield();
        sock_accept(fd: u32, flags: u32, out: u32);
        sock_recv(fd: u32, iovs: u32, count: u32, flags: u32, out: u32, out_flags: u32);
        sock_send(fd: u32, iovs: u32, count: u32, flags: u32, out: u32);
        sock_shutdown(fd: u32, how: u32);
    }
    // The only function without a result: it never returns to the guest.
    linker.func_wrap(MODULE, "proc_exit", |_: Caller<'_, T>, status: i32| -> wasmtime::Result<()> {
        Err(wasmtime::Error::new(Stop::Exit(status)))
    })?;
    Ok(())
}
