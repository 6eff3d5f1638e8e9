//! Starting a process with limits, with descriptors of its own, and held by Landlock and seccomp where nothing else does
//! it. The one place here that is `unsafe`: what runs between `fork` and `exec` may call nothing but the system.
#![expect(unsafe_code, reason = "`pre_exec` is, and so are system calls that no crate here has")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::io::FdFlags;
use rustix::process::{Resource, Rlimit};
use seccompiler::BpfProgram;

/// Limits that the kernel holds a process to, and each of its children.
pub type Rlimits = Vec<(Resource, u64)>;

/// What holds a process that no sandbox is around, from before its program starts, and all that it starts.
pub struct Hold {
    /// A set of Landlock's rules.
    pub rules: OwnedFd,
    /// Put on in this order.
    pub filters: Vec<BpfProgram>,
    /// Narrower than what every process has.
    pub limits: Rlimits,
}

/// Starts a command that inherits `descriptors`, under their own numbers, and nothing else but its standard streams.
pub fn spawn(command: &mut Command, descriptors: &[OwnedFd], limits: Rlimits, hold: Option<Hold>) -> io::Result<Child> {
    let numbers: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    let parent = std::process::id();
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
        let narrower = hold.as_ref().map_or(&[][..], |hold| &hold.limits);
        for (resource, limit) in limits.iter().chain(narrower) {
            let limit = Some(*limit);
            rustix::process::setrlimit(*resource, Rlimit { current: limit, maximum: limit })?;
        }
        hold.as_ref().map_or(Ok(()), |hold| put_on(hold, parent))
    };
    // SAFETY: the closure is run after `fork`, where only what is async-signal-safe may be called. It makes system calls
    // (`close_range`, `fcntl`, `prlimit`, and those of `put_on`), allocates nothing, takes no lock and touches no memory
    // but what it holds. An `io::Error` from a number of the system's does not allocate.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// The command's process is killed when the thread that starts it ends, and so when this process is killed.
pub fn end_with_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: as in `spawn`: system calls only (`prctl`, `getppid`).
    unsafe { command.pre_exec(move || die_with(parent)) };
}

/// In the new process: an end with the thread that started it, which may have come already.
fn die_with(parent: u32) -> io::Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, [libc::SIGKILL.unsigned_abs().into(), 0])?;
    if rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs()) != Some(parent) {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Starts a command, but only when nobody can write to the other end of `wait` any more, and kills the group of the process
/// that is held first, if one is. A byte on `wait` ends it before that.
pub fn spawn_when_alone(command: &mut Command, wait: OwnedFd, held: Option<OwnedFd>) -> io::Result<Child> {
    const WAIT: RawFd = libc::STDIN_FILENO;
    const HELD: RawFd = libc::STDOUT_FILENO;
    let kills = held.is_some();
    command.stdin(wait).stdout(held.map_or_else(Stdio::null, Stdio::from)).stderr(Stdio::null());
    let prepare = move || {
        // Not in reach of a terminal's signals.
        rustix::process::setsid()?;
        // With the others goes the one by which `spawn` is told that the command was started: it returns now.
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
    // SAFETY: as in `spawn`: system calls only (`setsid`, `close_range`, `read`, `_exit`, `pidfd_send_signal`).
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// A session of its own, an end with the thread that started it, no capability and no way to get one, the rules, the
/// filters. In the new process, which can't go back.
fn put_on(hold: &Hold, parent: u32) -> io::Result<()> {
    rustix::process::setsid()?;
    die_with(parent)?;
    drop_capabilities()?;
    prctl(libc::PR_SET_NO_NEW_PRIVS, [1, 0])?;
    // SAFETY: a descriptor, which `hold` keeps open, and flags.
    call(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, hold.rules.as_raw_fd(), 0) })?;
    for filter in &hold.filters {
        seccompiler::apply_filter(filter).map_err(|error| match error {
            seccompiler::Error::Seccomp(error) | seccompiler::Error::Prctl(error) => error,
            _ => io::Error::from_raw_os_error(libc::EINVAL),
        })?;
    }
    Ok(())
}

fn call(answer: libc::c_long) -> io::Result<libc::c_long> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

fn prctl(option: libc::c_int, [first, second]: [libc::c_ulong; 2]) -> io::Result<libc::c_long> {
    const NONE: libc::c_ulong = 0;
    // SAFETY: the options that this file has take numbers only.
    call(unsafe { libc::prctl(option, first, second, NONE, NONE) }.into())
}

/// All sets of them, the bounding set too: root would get from it what it has not. An ordinary user can't change that one,
/// and gets nothing from it once there are no new privileges.
fn drop_capabilities() -> io::Result<()> {
    let root = rustix::process::geteuid().is_root();
    for number in 0..64 {
        match prctl(libc::PR_CAPBSET_READ, [number, 0]) {
            Ok(0) => {}
            Ok(_) if root => drop(prctl(libc::PR_CAPBSET_DROP, [number, 0])?),
            Ok(_) => {}
            Err(_) => break, // there is no such one, nor any after it
        }
    }
    const CLEAR_ALL: libc::c_ulong = libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong;
    prctl(libc::PR_CAP_AMBIENT, [CLEAR_ALL, 0])?;
    const VERSION_3: u32 = 0x2008_0522;
    let (head, none) = ([VERSION_3, 0], [0u32; 6]);
    // SAFETY: the kernel reads two numbers, and, for this version, two times three; it writes to neither.
    call(unsafe { libc::syscall(libc::SYS_capset, head.as_ptr(), none.as_ptr()) }).map(drop)
}

/// Which version of Landlock the kernel has.
pub fn landlock_version() -> io::Result<i32> {
    const VERSION: libc::c_uint = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag there is nothing to be read.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0usize, VERSION) };
    i32::try_from(call(answer)?).map_err(io::Error::other)
}

/// Waits for a process that is held, whoever's child it is. A signal may break it off.
pub fn has_ended_within(process: BorrowedFd<'_>, wait: Duration) -> bool {
    let mut asked = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let wait = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one structure, which lives until the call returns.
    unsafe { libc::poll(&raw mut asked, 1, wait) == 1 }
}

/// Gives a process at the other end of a stream a descriptor, with one byte around it. Does not wait for room.
pub fn hand_over(to: BorrowedFd<'_>, what: BorrowedFd<'_>) -> io::Result<()> {
    const SIZE: u32 = size_of::<RawFd>() as u32;
    let mut byte = [0u8];
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    // As `cmsghdr` wants it: aligned, and with room for one descriptor.
    let mut control = [0u64; 4];
    // SAFETY: a structure of numbers and pointers, of which none is a valid value for each.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    message.msg_control = control.as_mut_ptr().cast();
    // SAFETY: it computes with a number.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(SIZE) } as usize;
    debug_assert!(message.msg_controllen <= size_of_val(&control));
    // SAFETY: `message` has room for a head, which is then within `control`, and for the number behind it.
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
