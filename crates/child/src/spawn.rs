//! Starts a process with resource limits and a fixed set of descriptors, and with Landlock and seccomp where no sandbox
//! program applies them. The only `unsafe` file of this crate: code that runs between `fork` and `exec` may only make
//! system calls.
#![expect(unsafe_code, reason = "`pre_exec` is, and so are system calls that no crate here has")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::io::FdFlags;
use rustix::process::{Resource, Rlimit};
use seccompiler::BpfProgram;

/// Resource limits of a process. Its children inherit them.
pub type Rlimits = Vec<(Resource, u64)>;

/// Restrictions of a process that runs without a sandbox program. They apply from before `exec`, and children inherit them.
pub struct Restrictions {
    /// A Landlock ruleset.
    pub rules: OwnedFd,
    /// Seccomp filters, applied in this order.
    pub filters: Vec<BpfProgram>,
    /// Set after the limits that every process gets, and tighter than those.
    pub limits: Rlimits,
}

/// Starts a command that inherits only its standard streams and `descriptors`, which keep their numbers.
pub fn spawn_with_limits(
    command: &mut Command,
    descriptors: &[OwnedFd],
    limits: Rlimits,
    restrictions: Option<Restrictions>,
) -> io::Result<Child> {
    let numbers: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    let parent = std::process::id();
    let prepare = move || {
        // Descriptors that this program itself inherited may lack close-on-exec.
        // SAFETY: it takes numbers, touches no memory, and closes nothing in this copy of the process before `exec`.
        if unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) } != 0 {
            return Err(io::Error::last_os_error());
        }
        for number in &numbers {
            // SAFETY: `descriptors` is borrowed until the process is started, so that they are open in its copy too.
            let descriptor = unsafe { BorrowedFd::borrow_raw(*number) };
            rustix::io::fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        let narrower = restrictions.as_ref().map_or(&[][..], |restrictions| &restrictions.limits);
        for (resource, limit) in limits.iter().chain(narrower) {
            let limit = Some(*limit);
            rustix::process::setrlimit(*resource, Rlimit { current: limit, maximum: limit })?;
        }
        restrictions.as_ref().map_or(Ok(()), |restrictions| apply_restrictions(restrictions, parent))
    };
    // SAFETY: the closure is run after `fork`, where only what is async-signal-safe may be called. It makes system calls
    // (`close_range`, `fcntl`, `prlimit`, and those of `apply_restrictions`), allocates nothing, takes no lock and touches
    // no memory but what it captured. An `io::Error` made from an errno does not allocate.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// Kills the command's process when the thread that starts it ends, and so when this process is killed.
pub fn end_with_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: as in `spawn_with_limits`: system calls only (`prctl`, `getppid`).
    unsafe { command.pre_exec(move || kill_when_parent_dies(parent)) };
}

/// Runs in the new process: sets the parent-death signal, then checks that the parent is still there, since it may have died
/// before the signal was set.
fn kill_when_parent_dies(parent: u32) -> io::Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, [libc::SIGKILL.unsigned_abs().into(), 0])?;
    if rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs()) != Some(parent) {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Forks now, but runs the command only once the write end of the pipe `wait` is closed, which is when this process is gone.
/// First it kills the process group of the pidfd `held`, if there is one. A byte written to the pipe ends it instead.
pub fn spawn_after_parent_exit(command: &mut Command, wait: OwnedFd, held: Option<OwnedFd>) -> io::Result<Child> {
    const WAIT: RawFd = libc::STDIN_FILENO;
    const HELD: RawFd = libc::STDOUT_FILENO;
    let kills = held.is_some();
    command.stdin(wait).stdout(held.map_or_else(Stdio::null, Stdio::from)).stderr(Stdio::null());
    let prepare = move || {
        // Ctrl-C in a terminal must not reach it.
        rustix::process::setsid()?;
        // This also closes the pipe on which `Command::spawn` waits for `exec`, so `spawn` returns now.
        // SAFETY: it takes numbers and touches no memory. Nothing in this copy of the process uses what it closes, unless
        // `exec` fails, and then it ends.
        if unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: standard input is open, in this copy of the process.
        let wait = unsafe { BorrowedFd::borrow_raw(WAIT) };
        loop {
            match rustix::io::read(wait, &mut [0]) {
                Ok(0) => break,
                Err(rustix::io::Errno::INTR) => {}
                // SAFETY: it takes a number, and runs nothing of this program.
                _ => unsafe { libc::_exit(0) },
            }
        }
        if kills {
            const GROUP: libc::c_uint = 1 << 2; // PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9
            let nothing = std::ptr::null::<libc::siginfo_t>();
            // SAFETY: numbers, and no more about the signal than its number.
            unsafe { libc::syscall(libc::SYS_pidfd_send_signal, HELD, libc::SIGKILL, nothing, GROUP) };
        }
        Ok(())
    };
    // SAFETY: as in `spawn_with_limits`: system calls only (`setsid`, `close_range`, `read`, `_exit`, `pidfd_send_signal`).
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// Runs in the new process, and can't be undone: a new session, the parent-death signal, no capabilities, no new privileges,
/// then Landlock and the seccomp filters.
fn apply_restrictions(restrictions: &Restrictions, parent: u32) -> io::Result<()> {
    rustix::process::setsid()?;
    kill_when_parent_dies(parent)?;
    drop_capabilities()?;
    prctl(libc::PR_SET_NO_NEW_PRIVS, [1, 0])?;
    // SAFETY: a descriptor, which `restrictions` keeps open, and flags.
    check_result(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, restrictions.rules.as_raw_fd(), 0) })?;
    for filter in &restrictions.filters {
        seccompiler::apply_filter(filter).map_err(|error| match error {
            seccompiler::Error::Seccomp(error) | seccompiler::Error::Prctl(error) => error,
            _ => io::Error::from_raw_os_error(libc::EINVAL),
        })?;
    }
    Ok(())
}

fn check_result(answer: libc::c_long) -> io::Result<libc::c_long> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

fn prctl(option: libc::c_int, [first, second]: [libc::c_ulong; 2]) -> io::Result<libc::c_long> {
    const NONE: libc::c_ulong = 0;
    // SAFETY: the options used in this file take integers only.
    check_result(unsafe { libc::prctl(option, first, second, NONE, NONE) }.into())
}

/// Clears all capability sets, and as root the bounding set, from which root would regain capabilities on `exec`. Other
/// users can't change the bounding set, and gain nothing from it with `no_new_privs`.
fn drop_capabilities() -> io::Result<()> {
    let root = rustix::process::geteuid().is_root();
    for number in 0..64 {
        match prctl(libc::PR_CAPBSET_READ, [number, 0]) {
            Ok(0) => {}
            Ok(_) if root => drop(prctl(libc::PR_CAPBSET_DROP, [number, 0])?),
            Ok(_) => {}
            Err(_) => break, // past the last capability that this kernel knows
        }
    }
    const CLEAR_ALL: libc::c_ulong = libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong;
    prctl(libc::PR_CAP_AMBIENT, [CLEAR_ALL, 0])?;
    const VERSION_3: u32 = 0x2008_0522;
    let (head, none) = ([VERSION_3, 0], [0u32; 6]);
    // SAFETY: for version 3 the kernel reads a header of two words and two sets of three words; it writes to neither.
    check_result(unsafe { libc::syscall(libc::SYS_capset, head.as_ptr(), none.as_ptr()) }).map(drop)
}

/// The Landlock ABI version of the kernel.
pub fn landlock_version() -> io::Result<i32> {
    const VERSION: libc::c_uint = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel reads no attributes.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0usize, VERSION) };
    i32::try_from(check_result(answer)?).map_err(io::Error::other)
}

/// Waits for the process of a pidfd, which need not be a child. Returns false on a timeout, or early on a signal.
pub fn has_ended_within(process: BorrowedFd<'_>, wait: Duration) -> bool {
    let mut asked = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let wait = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one structure, which lives until the call returns.
    unsafe { libc::poll(&raw mut asked, 1, wait) == 1 }
}

/// Sends a descriptor over a Unix stream (`SCM_RIGHTS`), with one byte of data. Fails instead of blocking.
pub fn send_descriptor(to: BorrowedFd<'_>, what: BorrowedFd<'_>) -> io::Result<()> {
    const SIZE: u32 = size_of::<RawFd>() as u32;
    let mut byte = [0u8];
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    // Aligned as `cmsghdr` requires, with room for one descriptor.
    let mut control = [0u64; 4];
    // SAFETY: a structure of integers and pointers, for which all zeroes is a valid value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    message.msg_control = control.as_mut_ptr().cast();
    // SAFETY: it only computes a size.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(SIZE) } as usize;
    debug_assert!(message.msg_controllen <= size_of_val(&control));
    // SAFETY: `control` has room for the header and for one descriptor behind it, so both writes are within it.
    unsafe {
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        (*head).cmsg_level = libc::SOL_SOCKET;
        (*head).cmsg_type = libc::SCM_RIGHTS;
        (*head).cmsg_len = libc::CMSG_LEN(SIZE) as usize;
        libc::CMSG_DATA(head).cast::<RawFd>().write_unaligned(what.as_raw_fd());
    }
    // SAFETY: everything that `message` points to lives until the call returns.
    let sent = unsafe { libc::sendmsg(to.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
