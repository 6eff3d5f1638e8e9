//! The seccomp filter: system calls that reach into other processes, into kernel internals or out of the namespaces fail with
//! `EPERM`. It is a deny list, since it is not known what native packages need.
//!
//! Bubblewrap reads it from a file. Without namespaces it is the first of several filters: see [`without_namespaces`].

pub mod without_namespaces;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;

use rustix::fs::MemfdFlags;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

/// Refused system calls by number. An empty list refuses the call whatever its arguments are.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

const EPERM: u32 = libc::EPERM as u32;

/// A system call by name, for the profiles of container engines, and by number.
pub type NamedCall = (&'static str, i64);

macro_rules! call {
    ($call:ident) => {
        (stringify!($call), libc::$call)
    };
}

macro_rules! calls {
    ($($(#[$when:meta])? $call:ident,)*) => { &[$($(#[$when])? call!($call),)*] };
}

/// Every kind of namespace that `clone` makes.
pub const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Refused whatever their arguments are.
pub const DENIED: &[NamedCall] = calls![
    // Other processes.
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_kcmp,
    SYS_pidfd_getfd,
    // Namespaces and mounts.
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    SYS_quotactl,
    SYS_fanotify_init,
    // Links would stay in a granted folder for others to follow. A cell can't make them either.
    SYS_linkat,
    SYS_symlinkat,
    #[cfg(target_arch = "x86_64")]
    SYS_link,
    #[cfg(target_arch = "x86_64")]
    SYS_symlink,
    // Memory that belongs to no file system and no process, so that no limit counts it.
    SYS_memfd_create,
    SYS_memfd_secret,
    SYS_shmget,
    SYS_shmat,
    // Its mode is behind a pointer, which seccomp can't follow; see `SET_ID`.
    SYS_openat2,
    // The kernel.
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_syslog,
    SYS_acct,
    SYS_vhangup,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
];

/// Calls that could create a set-id file: one in a granted folder would give the operator's rights to whoever runs it. With
/// the argument that has the mode, and the one with the flags that decide whether the mode is used.
pub const SET_ID: &[(NamedCall, u8, Option<u8>)] = &[
    #[cfg(target_arch = "x86_64")]
    (call!(SYS_chmod), 1, None),
    (call!(SYS_fchmod), 1, None),
    (call!(SYS_fchmodat), 2, None),
    (call!(SYS_fchmodat2), 2, None),
    #[cfg(target_arch = "x86_64")]
    (call!(SYS_mknod), 1, None),
    (call!(SYS_mknodat), 2, None),
    #[cfg(target_arch = "x86_64")]
    (call!(SYS_creat), 1, None),
    #[cfg(target_arch = "x86_64")]
    (call!(SYS_open), 2, Some(1)),
    (call!(SYS_openat), 3, Some(2)),
];
/// Flags with which the mode is used. `O_TMPFILE` includes `O_DIRECTORY`, which alone creates nothing.
pub const CREATE_FLAGS: [i32; 2] = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];

/// Allowed socket families. Network namespaces don't isolate all others: `AF_VSOCK` reaches a virtual machine's host.
pub const SOCKET_FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Allowed types of socket pairs. A datagram socket could send to any named socket.
const PAIR_KINDS: [i32; 2] = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];

/// Calls that create any type of file, and the argument that has the type.
const NODES: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];
/// Pipes, sockets and devices, which a cell can't create either.
const SPECIAL_FILES: [libc::mode_t; 4] = [libc::S_IFIFO, libc::S_IFSOCK, libc::S_IFCHR, libc::S_IFBLK];

/// `fcntl` commands that lock a file.
const LOCKS: [i32; 4] = [libc::F_SETLK, libc::F_SETLKW, libc::F_OFD_SETLK, libc::F_OFD_SETLKW];
/// `fcntl` commands that delay others who open a file, or that report what they do in a folder.
const WATCHES: [i32; 2] = [libc::F_SETLEASE, libc::F_NOTIFY];

/// The filter in an anonymous file, in the format that bubblewrap reads.
pub fn filter_file() -> io::Result<OwnedFd> {
    let program = base_program().map_err(|error| io::Error::other(error.to_string()))?;
    let mut bytes = Vec::with_capacity(8 * program.len());
    for sock_filter { code, jt, jf, k } in program {
        bytes.extend_from_slice(&code.to_ne_bytes());
        bytes.extend_from_slice(&[jt, jf]);
        bytes.extend_from_slice(&k.to_ne_bytes());
    }
    let mut file = File::from(rustix::fs::memfd_create("skillcell-filter", MemfdFlags::CLOEXEC)?);
    file.write_all(&bytes)?;
    file.rewind()?;
    Ok(file.into())
}

fn base_program() -> Result<BpfProgram, BackendError> {
    let mut rules: Rules = DENIED.iter().map(|(_, call)| (*call, Vec::new())).collect();
    // A Unix socket's address is behind a pointer, which seccomp can't follow, and a granted folder may contain a service's
    // socket. So no Unix socket can be created that could connect.
    let may_be_made = SOCKET_FAMILIES.iter().filter(|family| **family != libc::AF_UNIX);
    let others =
        may_be_made.map(|family| compare_argument(0, SeccompCmpOp::Ne, *family)).collect::<Result<Vec<_>, _>>()?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(others)?]);
    rules.insert(libc::SYS_socketpair, socketpair_rules()?);
    // A socket of a pair could be bound to a path, which creates a file.
    rules.insert(libc::SYS_bind, Vec::new());
    for ((_, call), mode, flags) in SET_ID {
        rules.insert(*call, set_id_rules(*mode, *flags)?);
    }
    for (call, mode) in NODES {
        rules.entry(*call).or_default().extend(special_file_rules(*mode)?);
    }
    rules.insert(libc::SYS_fcntl, refuse_values(1, WATCHES)?);
    let mut program = refuse_other_abi();
    program.extend(ignore_file_locks());
    program.extend(compile_rules(rules, EPERM)?);
    Ok(program)
}

/// Compiles rules into a program that refuses with this errno what they match.
fn compile_rules(rules: Rules, errno: u32) -> Result<BpfProgram, BackendError> {
    let arch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch)?.try_into()
}

/// Rules that refuse these values of an argument.
fn refuse_values<const N: usize>(argument: u8, values: [i32; N]) -> Result<Vec<SeccompRule>, BackendError> {
    values
        .into_iter()
        .map(|value| SeccompRule::new(vec![compare_argument(argument, SeccompCmpOp::Eq, value)?]))
        .collect()
}

/// Compares the lower 32 bits of an argument, which is all that the kernel uses of an `int`.
fn compare_argument(argument: u8, is: SeccompCmpOp, value: i32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, is, u64::try_from(value).unwrap_or_default())
}

/// Matches an argument that has this bit.
fn has_bit(argument: u8, bit: i32) -> Result<SeccompCondition, BackendError> {
    compare_argument(argument, SeccompCmpOp::MaskedEq(u64::try_from(bit).unwrap_or_default()), bit)
}

fn set_id_rules(mode: u8, flags: Option<u8>) -> Result<Vec<SeccompRule>, BackendError> {
    let mut rules = Vec::new();
    for bit in [libc::S_ISUID, libc::S_ISGID] {
        let bit = i32::try_from(bit).unwrap_or_default();
        match flags {
            None => rules.push(SeccompRule::new(vec![has_bit(mode, bit)?])?),
            Some(flags) => {
                for making in CREATE_FLAGS {
                    rules.push(SeccompRule::new(vec![has_bit(mode, bit)?, has_bit(flags, making)?])?);
                }
            }
        }
    }
    Ok(rules)
}

fn special_file_rules(mode: u8) -> Result<Vec<SeccompRule>, BackendError> {
    let of_kind = SeccompCmpOp::MaskedEq(u64::from(libc::S_IFMT));
    let is = |kind| SeccompCondition::new(mode, SeccompCmpArgLen::Dword, of_kind.clone(), u64::from(kind));
    SPECIAL_FILES.into_iter().map(|kind| SeccompRule::new(vec![is(kind)?])).collect()
}

fn socketpair_rules() -> Result<Vec<SeccompRule>, BackendError> {
    let mut rules = vec![SeccompRule::new(vec![compare_argument(0, SeccompCmpOp::Ne, libc::AF_UNIX)?])?];
    for kind in (0..16).filter(|kind| !PAIR_KINDS.contains(kind)) {
        rules.push(SeccompRule::new(vec![compare_argument(1, SeccompCmpOp::MaskedEq(0xf), kind)?])?);
    }
    Ok(rules)
}

/// On x86_64 every call has a second number in the x32 ABI, from 2^30 on. All of these are refused.
fn refuse_other_abi() -> BpfProgram {
    if cfg!(target_arch = "x86_64") { refuse_calls_from(0x4000_0000, EPERM) } else { Vec::new() }
}

/// Part of a program: file locks succeed without locking anything. Read access is enough to lock a file, so a skill could
/// block its owner, and a filter can't see which file it is. Success rather than an error, as in a cell, lets a database in
/// a scratch folder work.
fn ignore_file_locks() -> BpfProgram {
    const COMMAND: u32 = 16 + 8; // the second argument in `seccomp_data`, its lower half
    let number = |call: i64| u32::try_from(call).unwrap_or(u32::MAX);
    let load = |place| sock_filter { code: 0x20, jt: 0, jf: 0, k: place };
    let is = |value, then, otherwise| sock_filter { code: 0x15, jt: then, jf: otherwise, k: value };
    let mut program =
        vec![load(0), is(number(libc::SYS_flock), 6, 0), is(number(libc::SYS_fcntl), 0, 6), load(COMMAND)];
    for (place, lock) in (0u8..).zip(LOCKS) {
        // Jumps to the `return 0` below; if the last comparison fails too, skips it.
        let last = usize::from(place) + 1 == LOCKS.len();
        program.push(is(lock.unsigned_abs(), 3 - place, u8::from(last)));
    }
    program.push(sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 });
    program
}

/// Start of a program: refuses every call with this number or a higher one.
fn refuse_calls_from(number: u32, errno: u32) -> BpfProgram {
    let load_number = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    let if_below_skip = sock_filter { code: 0x35, jt: 0, jf: 1, k: number };
    let refuse = sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | errno };
    vec![load_number, if_below_skip, refuse]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_can_be_made() {
        let file = File::from(filter_file().unwrap());
        let length = file.metadata().unwrap().len();
        assert!(length > 8 * DENIED.len() as u64 && length % 8 == 0, "{length}");
    }
}
