//! A control group for one call, where this process may create one: root can, others rarely. It bounds the number of
//! processes, since `RLIMIT_NPROC` does not apply to root; and their total memory, where the memory controller is on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::Pid;

const UNIFIED: &str = "/sys/fs/cgroup";
/// cgroup v1 has one hierarchy for each controller.
const PIDS: &str = "/sys/fs/cgroup/pids";
const MEMORY: &str = "/sys/fs/cgroup/memory";
const V1_MEMORY_LIMIT: &str = "memory.limit_in_bytes";
/// The name is this, the process id of its creator, and a random number.
const PREFIX: &str = "skillcell-";
/// How long removal is retried after the group's processes were killed.
const REMOVAL_TIMEOUT: Duration = Duration::from_millis(300);
/// Younger groups may be empty only because their first process was not added yet.
const MIN_ORPHAN_AGE: Duration = Duration::from_secs(10);

/// Removed when dropped; by then its processes must have been killed.
pub struct Cgroup {
    folder: PathBuf,
    /// The folder of the memory controller, if memory is bounded.
    memory: Option<PathBuf>,
    unified: bool,
}

impl Cgroup {
    /// Creates a group for this many processes and threads and this much memory. `None` if processes can't be bounded;
    /// memory is bounded if possible.
    pub fn new(processes: u64, bytes: u64) -> Option<Cgroup> {
        let unified = Path::new(UNIFIED).join("cgroup.controllers").is_file();
        remove_abandoned_groups();
        let name = format!("{PREFIX}{}-{:016x}", std::process::id(), getrandom::u64().ok()?);
        let folder = Path::new(if unified { UNIFIED } else { PIDS }).join(&name);
        fs::create_dir(&folder).ok()?;
        let mut cgroup = Cgroup { folder, memory: None, unified };
        fs::write(cgroup.folder.join("pids.max"), processes.to_string()).ok()?;
        cgroup.bound_memory(&name, bytes);
        Some(cgroup)
    }

    fn bound_memory(&mut self, name: &str, bytes: u64) {
        let folder = if self.unified { self.folder.clone() } else { Path::new(MEMORY).join(name) };
        if !self.unified && fs::create_dir(&folder).is_err() {
            return;
        }
        let [most, with_swap] = if self.unified {
            ["memory.max", "memory.swap.max"]
        } else {
            [V1_MEMORY_LIMIT, "memory.memsw.limit_in_bytes"]
        };
        let swap = if self.unified { 0 } else { bytes };
        match fs::write(folder.join(most), bytes.to_string()) {
            Ok(()) => {
                // Not every kernel has swap accounting.
                let _ = fs::write(folder.join(with_swap), swap.to_string());
                self.memory = Some(folder);
            }
            Err(_) if self.unified => {}
            Err(_) => drop(fs::remove_dir(&folder)),
        }
    }

    /// Adds a process. Children that it starts from now on are in the group too.
    pub fn add_process(&self, pid: u32) -> io::Result<()> {
        for folder in self.folders() {
            fs::write(folder.join("cgroup.procs"), pid.to_string())?;
        }
        Ok(())
    }

    /// Whether the kernel's OOM killer ended a process in the group.
    pub fn ran_out_of_memory(&self) -> bool {
        let events = if self.unified { "memory.events" } else { "memory.oom_control" };
        let text = self.memory.as_ref().and_then(|folder| fs::read_to_string(folder.join(events)).ok());
        let killed = |line: &str| line.strip_prefix("oom_kill ").is_some_and(|count| count.trim() != "0");
        text.is_some_and(|text| text.lines().any(killed))
    }

    fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        [Some(&self.folder), self.memory.as_ref().filter(|_| !self.unified)].into_iter().flatten()
    }

    /// Whether this process can create one.
    pub fn is_available() -> bool {
        Cgroup::new(1, 1 << 30).is_some()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let until = Instant::now() + REMOVAL_TIMEOUT;
        self.folders().for_each(|folder| remove_when_empty(folder, until));
    }
}

/// Retries until `until`. A group that is still busy then is tried again by a later call.
fn remove_when_empty(folder: &Path, until: Instant) {
    // A killed process leaves its group a moment after its parent could reap it.
    while is_busy_on_removal(folder) {
        if Instant::now() >= until {
            return lock_unremoved().push(folder.to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Tries to remove a group, and returns whether the kernel refused because a process is still in it.
fn is_busy_on_removal(folder: &Path) -> bool {
    fs::remove_dir(folder).is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
}

/// Groups that this process could not remove when it was done with them.
static UNREMOVED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn lock_unremoved() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNREMOVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes empty groups that were left behind: by calls that took too long to end and, once per process, by hosts that were
/// killed.
fn remove_abandoned_groups() {
    lock_unremoved().retain(|folder| is_busy_on_removal(folder));
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for folder in [UNIFIED, PIDS, MEMORY] {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| is_abandoned(entry).unwrap_or(false)) {
                is_busy_on_removal(&entry.path());
            }
        }
    });
}

fn is_abandoned(entry: &fs::DirEntry) -> Option<bool> {
    let age = entry.metadata().ok()?.modified().ok()?.elapsed().ok()?;
    Some(is_orphaned(entry.file_name().to_str()?, age))
}

/// Whether it is a group of skillcell's whose creator is dead, and is not new. A creator in another pid namespace looks dead
/// from here, and its new group may have no process in it yet.
fn is_orphaned(name: &str, age: Duration) -> bool {
    let maker = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()?.parse().ok());
    let is_dead = |maker| rustix::process::test_kill_process(maker) == Err(Errno::SRCH);
    age > MIN_ORPHAN_AGE && maker.and_then(Pid::from_raw).is_some_and(is_dead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_was_busy_is_removed_by_a_later_call() {
        let Some(group) = Cgroup::new(8, 1 << 30) else { return };
        let folders: Vec<PathBuf> = group.folders().cloned().collect();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        group.add_process(child.id()).unwrap();
        drop(group);
        assert!(folders.iter().all(|folder| folder.is_dir()), "a process is in it");
        child.kill().unwrap();
        child.wait().unwrap();
        drop(Cgroup::new(8, 1 << 30));
        assert!(!folders.iter().any(|folder| folder.is_dir()));
    }

    #[test]
    fn only_groups_of_the_dead_are_nobodys() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let (dead, old) = (format!("skillcell-{}-00", child.id()), MIN_ORPHAN_AGE * 2);
        assert!(is_orphaned(&dead, old));
        assert!(!is_orphaned(&dead, Duration::ZERO), "it may be of another process namespace");
        assert!(!is_orphaned(&format!("skillcell-{}-00", std::process::id()), old), "its maker lives");
        assert!(
            !["skillcell-x-00", "system.slice", "skillcell-", "skillcell--1-0"].iter().any(|it| is_orphaned(it, old))
        );
    }
}
