//! What a process sees in `/proc`: its own processes, and a few figures that programs ask for. The rest is of the host, for
//! all users of it or for its root, and is covered: the keys that the kernel holds for the operator, the kernel's command
//! line and settings, disks, locks, interrupts.
//!
//! Covered is what is not listed here, so that what a later kernel adds is.

use std::ffi::OsString;
use std::fs::FileType;

/// Processes themselves, and what runtimes ask about processors, memory and the kernel. `net` and `mounts` are links to
/// what the process's own namespaces have.
const SHOWN: [&str; 11] = [
    "self",
    "thread-self",
    "net",
    "mounts",
    "cpuinfo",
    "meminfo",
    "stat",
    "loadavg",
    "uptime",
    "version",
    "filesystems",
];

/// Arguments that cover the rest of a `/proc` that is mounted already. A device can't be opened where bubblewrap binds it,
/// so that a covered file is one that may not be read; a covered folder is empty.
pub fn cover_arguments() -> Vec<OsString> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?)));
    named.filter(|(name, kind)| is_covered(name, *kind)).flat_map(|(name, kind)| cover_entry(&name, kind)).collect()
}

fn is_covered(name: &str, kind: FileType) -> bool {
    !kind.is_symlink() && !SHOWN.contains(&name) && !name.bytes().all(|byte| byte.is_ascii_digit())
}

fn cover_entry(name: &str, kind: FileType) -> Vec<OsString> {
    let place = format!("/proc/{name}");
    let words: &[&str] = if kind.is_dir() {
        &["--size", "4096", "--perms", "0555", "--tmpfs", &place, "--remount-ro", &place]
    } else {
        &["--ro-bind", "/dev/null", &place]
    };
    words.iter().map(OsString::from).collect()
}
