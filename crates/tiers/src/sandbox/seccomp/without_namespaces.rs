//! The filters of a process without namespaces, only with Landlock: they refuse what namespaces would isolate, and what
//! Landlock does not cover.
//!
//! ```text
//!   sockets      none is made, connected or addressed; only pairs that are streams
//!   files        modes, owners, times and attributes can't be changed: Landlock does not check these, so that files
//!                which are read-only or out of reach could be changed
//!   processes    no group or session of its own, no child for its parent, nothing about another process
//!   the machine  no System V or POSIX messages, no watching of folders, no list of mounts
//! ```

use libc::{c_int, c_long};
use seccompiler::{BackendError, BpfProgram, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use super::{EPERM, NAMESPACES, Rules, base_program, compare_argument, compile_rules, has_bit, refuse_calls_from};

const ENOSYS: u32 = libc::ENOSYS as u32;
const ENOTSUP: u32 = libc::EOPNOTSUPP as u32;

/// The first system call that did not exist when this list was written; it and later ones are refused. From 424 on, numbers
/// are the same on all architectures.
const FIRST_UNKNOWN: u32 = 470;
const QUOTACTL_FD: c_long = 443;
const STATMOUNT: c_long = 457;
const LISTMOUNT: c_long = 458;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_SETATTR: c_long = 469;
/// `setxattrat`, `getxattrat`, `listxattrat`, `removexattrat`.
const XATTR_AT: [c_long; 4] = [463, 464, 465, 466];

/// Refused whatever their arguments are.
const DENIED: &[c_long] = &[
    // Sockets.
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Files.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    FILE_SETATTR,
    QUOTACTL_FD,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    // Processes. All must stay in the group that is killed at the end.
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_ioprio_set,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_process_mrelease,
    // The machine.
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    STATMOUNT,
    LISTMOUNT,
    OPEN_TREE_ATTR,
];

/// Refused as not supported, as on some file systems, which `shutil` handles.
const XATTR: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Calls about a process, and the argument with its id, which must be 0: the caller.
const ABOUT_PROCESS: &[(c_long, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 0),
    (libc::SYS_setpriority, 1),
];

/// Flags of `clone` that are refused, besides namespaces. With `CLONE_PARENT` the child would be the host's.
const DENIED_CLONE_FLAGS: [c_int; 2] = [libc::CLONE_PARENT, libc::CLONE_NEWTIME];

/// Allowed `ioctl` requests: terminal queries, readable bytes, blocking mode, close-on-exec. Others could change a file's
/// attributes, even through a descriptor that is open for reading.
const ALLOWED_IOCTLS: [u64; 6] =
    [libc::TCGETS, libc::TIOCGWINSZ, libc::FIONREAD, libc::FIONBIO, libc::FIOCLEX, libc::FIONCLEX];

/// The filters, in the order in which they must be applied.
pub fn filters() -> Result<Vec<BpfProgram>, BackendError> {
    let mut newer = refuse_calls_from(FIRST_UNKNOWN, ENOSYS);
    // Its flags are behind a pointer, which seccomp can't follow. On ENOSYS the C library falls back to `clone`.
    newer.extend(compile_rules([(libc::SYS_clone3, Vec::new())].into(), ENOSYS)?);
    let attributes: Rules = XATTR.iter().chain(&XATTR_AT).map(|call| (*call, Vec::new())).collect();
    Ok(vec![base_program()?, compile_rules(attributes, ENOTSUP)?, compile_rules(argument_rules()?, EPERM)?, newer])
}

fn argument_rules() -> Result<Rules, BackendError> {
    let mut rules: Rules = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    for (call, argument) in ABOUT_PROCESS {
        let other = compare_argument(*argument, SeccompCmpOp::Ne, 0)?;
        rules.entry(*call).or_default().push(SeccompRule::new(vec![other])?);
    }
    rules.insert(
        libc::SYS_clone,
        any_of(DENIED_CLONE_FLAGS.into_iter().chain(NAMESPACES).map(|flag| has_bit(0, flag)))?,
    );
    // It must keep its parent-death signal, and stay dumpable, so that the host can read its `/proc/PID/fd`.
    let kept = [libc::PR_SET_PDEATHSIG, libc::PR_SET_DUMPABLE];
    rules.insert(libc::SYS_prctl, any_of(kept.map(|option| compare_argument(0, SeccompCmpOp::Eq, option)))?);
    // `sendto` with a destination address.
    let named = SeccompCondition::new(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0);
    rules.insert(libc::SYS_sendto, any_of([named])?);
    let no_other =
        ALLOWED_IOCTLS.map(|request| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, request));
    rules.insert(libc::SYS_ioctl, vec![SeccompRule::new(no_other.into_iter().collect::<Result<_, _>>()?)?]);
    Ok(rules)
}

/// One rule for each condition: any of them refuses the call.
fn any_of(
    conditions: impl IntoIterator<Item = Result<SeccompCondition, BackendError>>,
) -> Result<Vec<SeccompRule>, BackendError> {
    conditions.into_iter().map(|condition| SeccompRule::new(vec![condition?])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_can_be_made() {
        assert!(filters().unwrap().iter().all(|filter| (3..4096).contains(&filter.len())));
    }
}
