//! Starting a process with limits and with descriptors of its own. The one place of the tiers that is `unsafe`: what runs
//! between `fork` and `exec` may call nothing but the system.
#![expect(unsafe_code, reason = "`pre_exec` is")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::io::FdFlags;
use rustix::process::{Resource, Rlimit};

/// Limits that the kernel holds a process to, and each of its children.
pub type Rlimits = Vec<(Resource, u64)>;

/// Starts a command that inherits `descriptors`, under their own numbers, and nothing else but its standard streams.
pub fn spawn(command: &mut Command, descriptors: &[OwnedFd], limits: Rlimits) -> io::Result<Child> {
    let numbers: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    let prepare = move || {
        // Whoever started this program may have left descriptors open for its children. They are not for this one.
        // SAFETY: it takes numbers, touches no memory, and closes nothing in this copy of the process before `exec`.
        if unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) } != 0 {
            return Err(io::Error::last_os_error());
        }
        for number in &numbers {
            // SAFETY: `descriptors` is borrowed until the process is started, so that they are open in its copy too.
            let descriptor = unsafe { BorrowedFd::borrow_raw(*number) };
            rustix::io::fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        for (resource, limit) in &limits {
            let limit = Some(*limit);
            rustix::process::setrlimit(*resource, Rlimit { current: limit, maximum: limit })?;
        }
        Ok(())
    };
    // SAFETY: the closure is run after `fork`, where only what is async-signal-safe may be called. It makes system calls
    // (`close_range`, `fcntl`, `prlimit`), allocates nothing, takes no lock and touches no memory but what it holds. An `io::Error` from
    // a number of the system's does not allocate.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}
