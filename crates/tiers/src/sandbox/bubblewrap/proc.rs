//! What a process sees in `/proc`: its own processes, and a few figures that programs ask for. Everything else describes the
//! host and is covered: the operator's kernel keys, the kernel's command line and settings, disks, locks, interrupts.
//!
//! This is an allow list, so that files which later kernels add are covered too.

use std::ffi::OsString;
use std::fs::FileType;

/// What runtimes ask about processes, processors, memory and the kernel. `net` and `mounts` are links into the process's own
/// namespaces.
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

/// Arguments that cover the rest of a mounted `/proc`: files with `/dev/null`, which can't be opened there since bubblewrap
/// binds it `nodev`; folders with an empty tmpfs.
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
