//! The filters of a process that has no namespaces, only Landlock: what namespaces would keep apart, and what Landlock does
//! not look at, is refused here.
//!
//! ```text
//!   sockets      none is made, connected or addressed; only pairs that are streams
//!   files        modes, owners, times and attributes are nobody's to change: Landlock does not see that, so a file
//!                that may only be read, or that is out of reach, could be changed so
//!   processes    no group or session of its own, no child for its parent, nothing about another process
//!   the machine  no System V or POSIX messages, no watching of folders, no list of mounts
//! ```

use libc::{c_int, c_long};
use seccompiler::{BackendError, BpfProgram, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use super::{EPERM, NAMESPACES, Rules, base_program, compare_argument, compile_rules, has_bit, refuse_calls_from};

const ENOSYS: u32 = libc::ENOSYS as u32;
const ENOTSUP: u32 = libc::EOPNOTSUPP as u32;

/// The first system call that did not exist when this list was made: what it does is not known here. From 424 on the
/// numbers are the same on every kind of machine.
const FIRST_UNKNOWN: u32 = 470;
const QUOTACTL_FD: c_long = 443;
const STATMOUNT: c_long = 457;
const LISTMOUNT: c_long = 458;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_SETATTR: c_long = 469;
/// The calls on extended attributes that take a folder: set, get, list, remove.
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
    // Processes. They all stay in the group that is killed at the end.
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

/// Extended attributes are not supported, as on some file systems: `shutil` knows that.
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

/// Calls about a process, and which argument says which: only about the caller, by 0.
const ABOUT_PROCESS: &[(c_long, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 0),
    (libc::SYS_setpriority, 1),
];

/// Refused of `clone` besides namespaces. A child of its parent would be the host's.
const DENIED_CLONE_FLAGS: [c_int; 2] = [libc::CLONE_PARENT, libc::CLONE_NEWTIME];

/// What may be asked of a descriptor: whether it is a terminal and its size, what can be read, whether it blocks, whether
/// it is closed by `exec`. Others change a file's flags, even through one that was opened for reading.
const ALLOWED_IOCTLS: [u64; 6] =
    [libc::TCGETS, libc::TIOCGWINSZ, libc::FIONREAD, libc::FIONBIO, libc::FIOCLEX, libc::FIONCLEX];

/// The filters, in the order that they are to be put on.
pub fn filters() -> Result<Vec<BpfProgram>, BackendError> {
    let mut newer = refuse_calls_from(FIRST_UNKNOWN, ENOSYS);
    // Its flags are in memory, where no filter sees them; the C library then takes `clone`.
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
    // It ends with its host; and stays open to whoever counts the files that it holds.
    let kept = [libc::PR_SET_PDEATHSIG, libc::PR_SET_DUMPABLE];
    rules.insert(libc::SYS_prctl, any_of(kept.map(|option| compare_argument(0, SeccompCmpOp::Eq, option)))?);
    // To whom, if it is said: a pointer.
    let named = SeccompCondition::new(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0);
    rules.insert(libc::SYS_sendto, any_of([named])?);
    let no_other =
        ALLOWED_IOCTLS.map(|request| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, request));
    rules.insert(libc::SYS_ioctl, vec![SeccompRule::new(no_other.into_iter().collect::<Result<_, _>>()?)?]);
    Ok(rules)
}

/// A rule for each condition, of which one is enough.
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
