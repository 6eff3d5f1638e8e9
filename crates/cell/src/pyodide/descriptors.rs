//! Open files by descriptor, and waiting for them. Files are always ready; a cell has no pipes and no sockets, and who asks for
//! one is told so.

use wasmtime::{Caller, Linker};

use super::files::APPEND;
use super::guest::{Guest, Host, Outcome, offer};
use crate::State;
use skillcell_vfs::{Access, Errno};
use std::time::Duration;

/// Commands of `fcntl`.
const GET_FLAGS: u32 = 3;
const SET_FLAGS: u32 = 4;
const DUPLICATE: u32 = 0;
const DUPLICATE_CLOSE_ON_EXEC: u32 = 1030;
const GET_CLOSE_ON_EXEC: u32 = 1;
const SET_CLOSE_ON_EXEC: u32 = 2;
/// Of locks on files: who holds one, take or give it, wait for it. `UNLOCKED` is what stands in a lock that nobody holds.
const GET_LOCK: u32 = 12;
const SET_LOCK: u32 = 13;
const WAIT_FOR_LOCK: u32 = 14;
const UNLOCKED: [u8; 2] = [2, 0];

const WINDOW_SIZE: u32 = 0x5413;
const TERMINAL_SETTINGS: u32 = 0x5401;

/// Of `poll`: what may be asked, and that there is no such descriptor.
const READABLE: u16 = 1;
const WRITABLE: u16 = 4;
const NO_DESCRIPTOR: u16 = 0x20;
const MAX_POLLED: u32 = 1024;

pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    offer! { linker:
        __syscall_fcntl64(host, guest, fd: u32, command: u32, varargs: u32) { host.control(guest, fd, command, varargs) }
        __syscall_ioctl(host, guest, fd: u32, operation: u32, varargs: u32) { host.ask_terminal(guest, fd, operation, varargs) }
        __syscall_poll(host, guest, table: u32, count: u32, timeout_ms: i32) { host.poll(guest, table, count, timeout_ms) }
        __syscall_ftruncate64(host, _guest, fd: u32, size: i64) {
            host.wasi.vfs.set_size(fd, u64::try_from(size).map_err(|_| Errno::Inval)?)?;
            Ok(0)
        }
        __syscall_fallocate(host, _guest, fd: u32, _mode: u32, offset: i64, len: i64) {
            let (offset, len) = (u64::try_from(offset), u64::try_from(len));
            host.wasi.vfs.allocate(fd, offset.map_err(|_| Errno::Inval)?, len.map_err(|_| Errno::Inval)?)?;
            Ok(0)
        }
        __syscall_fadvise64(host, _guest, fd: u32, _offset: i64, _len: i64, _advice: u32) { host.check(fd) }
        __syscall_dup(host, _guest, fd: u32) { Ok(host.wasi.vfs.reopen_directory(fd)? as i32) }
        __syscall_fdatasync(host, _guest, fd: u32) { host.check(fd) }
        __syscall_fchmod(host, _guest, fd: u32, _mode: u32) { host.check(fd) }
        // Pyodide asks JavaScript first: 0 is "nothing to say".
        _try_fcntl64(_host, _guest, _fd: u32, _command: u32, _varargs: u32, _result: u32) { Ok(0) }
        _try_shutdown(_host, _guest, _fd: u32, _how: u32, _result: u32) { Ok(0) }
        __syscall_socket(_host, _guest, _family: u32, _kind: u32, _protocol: u32, _a: u32, _b: u32, _c: u32) {
            Err(Errno::Afnosupport.into())
        }
    }
    // WASI's own, but that a directory's place is the host's here.
    linker.allow_shadowing(true);
    linker.func_wrap(
        "wasi_snapshot_preview1",
        "fd_seek",
        |caller: Caller<'_, State>, fd: u32, by: i64, whence: u32, out: u32| {
            super::guest::answer(caller, |host, guest| host.seek(guest, fd, by, whence, out)).map(|number| -number)
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

impl Host<'_> {
    fn check(&self, fd: u32) -> Outcome {
        self.wasi.vfs.access(fd)?;
        Ok(0)
    }

    fn seek(&mut self, guest: &mut Guest<'_>, fd: u32, by: i64, whence: u32, out: u32) -> Outcome {
        if whence == 0 && self.wasi.vfs.listing_place(fd).is_ok() {
            let place = u64::try_from(by).map_err(|_| Errno::Inval)?;
            guest.put_u64(out, place)?;
            self.wasi.vfs.set_listing_place(fd, place)?;
            return Ok(0);
        }
        self.wasi.fd_seek(guest, fd, by, whence, out)?;
        Ok(0)
    }

    fn control(&mut self, guest: &mut Guest<'_>, fd: u32, command: u32, varargs: u32) -> Outcome {
        let access = self.wasi.vfs.access(fd)?;
        match command {
            GET_FLAGS => Ok(flags_of(access)),
            SET_FLAGS => {
                let flags = guest.read_u32(varargs)?;
                self.wasi.vfs.set_append(fd, flags & APPEND != 0)?;
                Ok(0)
            }
            GET_CLOSE_ON_EXEC | SET_CLOSE_ON_EXEC => Ok(0),
            // A process's own locks are never in its way, and a cell is the only one there is. As on the first runtime, nobody
            // outside learns of them. SQLite takes one before it reads a page.
            SET_LOCK | WAIT_FOR_LOCK => Ok(0),
            GET_LOCK => {
                let lock = guest.read_u32(varargs)?;
                guest.put_bytes(lock, &UNLOCKED)?;
                Ok(0)
            }
            // `os.scandir` and `shutil.rmtree` list a copy of the directory's descriptor.
            DUPLICATE | DUPLICATE_CLOSE_ON_EXEC => Ok(self.wasi.vfs.reopen_directory(fd)? as i32),
            _ => Err(Errno::Inval.into()),
        }
    }

    /// There is one terminal, if any: standard input.
    fn ask_terminal(&self, guest: &mut Guest<'_>, fd: u32, operation: u32, varargs: u32) -> Outcome {
        self.wasi.vfs.access(fd)?;
        if !self.wasi.vfs.is_terminal(fd) || !matches!(operation, WINDOW_SIZE | TERMINAL_SETTINGS) {
            return Err(Errno::Notty.into());
        }
        if operation == WINDOW_SIZE {
            let place = guest.read_u32(varargs)?;
            guest.put_bytes(place, &[24, 0, 80, 0, 0, 0, 0, 0])?;
        }
        Ok(0)
    }

    /// ```text
    /// 0 descriptor i32 | 4 asked u16 | 6 found u16      of each
    /// ```
    fn poll(&mut self, guest: &mut Guest<'_>, table: u32, count: u32, timeout_ms: i32) -> Outcome {
        if count > MAX_POLLED {
            return Err(Errno::Inval.into());
        }
        guest.check_range(table, count * 8)?;
        let mut ready = 0;
        for place in (0..count).map(|index| table + index * 8) {
            let [f0, f1, f2, f3, a0, a1] = guest.read_array(place)?;
            let (fd, asked) = (i32::from_le_bytes([f0, f1, f2, f3]), u16::from_le_bytes([a0, a1]));
            let found = match u32::try_from(fd).map(|fd| self.wasi.vfs.access(fd)) {
                Err(_) => 0,
                Ok(Ok(_)) => asked & (READABLE | WRITABLE),
                Ok(Err(_)) => NO_DESCRIPTOR,
            };
            guest.put_bytes(place + 6, &found.to_le_bytes())?;
            ready += i32::from(found != 0);
        }
        if ready == 0 {
            let forever = Duration::from_secs(u64::MAX);
            let wait = u64::try_from(timeout_ms).map_or(forever, Duration::from_millis);
            self.wasi.sleep_until_deadline(wait)?;
        }
        Ok(ready)
    }
}

fn flags_of(access: Access) -> i32 {
    let way = match (access.read, access.write) {
        (_, false) => 0,
        (false, true) => 1,
        (true, true) => 2,
    };
    way | if access.append { APPEND as i32 } else { 0 }
}
