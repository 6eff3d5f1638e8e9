//! Unlinked files that a session's processes still hold, open or mapped: they take disk space, but a walk of the folder does
//! not find them. Descriptors in flight in a socket are not found here either.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::Pid;

use crate::session::session_processes;

/// What the kernel appends to the path of such a file.
const DELETED: &[u8] = b" (deleted)";

/// Bytes of held files that were below `folder`. If a live process can't be inspected, the answer is `u64::MAX`, since it may
/// hold any number of them.
pub fn held_bytes(folder: &Path, session: Pid) -> u64 {
    let mut found = HashMap::new();
    for process in session_processes(session) {
        if !add_open_files(&process, folder, &mut found) && has_memory(&process) {
            return u64::MAX;
        }
        add_mapped_files(&process, folder, &mut found);
    }
    found.values().fold(0, |sum, bytes| sum.saturating_add(*bytes))
}

/// Adds the files that it has open. Returns whether the process could be inspected.
fn add_open_files(process: &Path, folder: &Path, found: &mut HashMap<u64, u64>) -> bool {
    let Ok(entries) = std::fs::read_dir(process.join("fd")) else { return false };
    for entry in entries.flatten() {
        let Ok(target) = std::fs::read_link(entry.path()) else { continue };
        if is_deleted_below(target.as_os_str().as_bytes(), folder)
            && let Ok(file) = std::fs::metadata(entry.path())
            && file.nlink() == 0
        {
            found.insert(file.ino(), file.blocks().saturating_mul(512));
        }
    }
    true
}

/// Whether it still has an address space. An exiting process has none; it can't be inspected, but holds nothing for long.
fn has_memory(process: &Path) -> bool {
    std::fs::read_to_string(process.join("status")).is_ok_and(|status| status.contains("\nVmSize:"))
}

/// Adds the files that it has mapped, with the size of the mapping: their size on disk is not visible.
fn add_mapped_files(process: &Path, folder: &Path, found: &mut HashMap<u64, u64>) {
    let maps = std::fs::read(process.join("maps")).unwrap_or_default();
    for line in maps.split(|byte| *byte == b'\n') {
        let Some(path) = line.iter().position(|byte| *byte == b'/').map(|at| &line[at..]) else { continue };
        if !is_deleted_below(path, folder) {
            continue;
        }
        let head = String::from_utf8_lossy(&line[..line.len() - path.len()]);
        let mut words = head.split_whitespace();
        let range = words.next().and_then(|range| range.split_once('-'));
        let number = words.nth(3).and_then(|number| number.parse().ok());
        if let (Some((start, end)), Some(number)) = (range, number) {
            let address = |text| u64::from_str_radix(text, 16).unwrap_or_default();
            let bytes = found.entry(number).or_default();
            *bytes = (*bytes).max(address(end).saturating_sub(address(start)));
        }
    }
}

fn is_deleted_below(path: &[u8], folder: &Path) -> bool {
    path.ends_with(DELETED)
        && path.strip_prefix(folder.as_os_str().as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_process_that_hides_is_told_from_one_that_ends() {
        let place = tempfile::tempdir().unwrap();
        let (process, mut found) = (place.path(), HashMap::new());
        assert!(!add_open_files(process, Path::new("/"), &mut found));
        std::fs::write(process.join("status"), "Name:\tpython3\nState:\tR (running)\nThreads:\t1\n").unwrap();
        assert!(!has_memory(process));
        let own = PathBuf::from(format!("/proc/{}", std::process::id()));
        assert!(add_open_files(&own, Path::new("/"), &mut found) && has_memory(&own));
    }

    #[test]
    fn a_file_without_a_name_counts_while_it_is_open() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap();
        let session = rustix::process::getsid(None).unwrap();
        assert_eq!(held_bytes(&folder, session), 0);
        let path = folder.join("file");
        let file = std::fs::File::create(&path).unwrap();
        std::io::Write::write_all(&mut &file, &[1; 1 << 20]).unwrap();
        assert_eq!(held_bytes(&folder, session), 0, "it has a name");
        std::fs::remove_file(&path).unwrap();
        assert!(held_bytes(&folder, session) >= 1 << 20);
        drop(file);
        assert_eq!(held_bytes(&folder, session), 0);
    }
}
