//! A control group for one call, where this process may make one: root can, others rarely. It bounds the number of
//! processes, which a user's limit does not do for root.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const UNIFIED: &str = "/sys/fs/cgroup";
/// Version 1 has a tree for each controller.
const PIDS: &str = "/sys/fs/cgroup/pids";

/// Removed when dropped; by then no process may be in it.
pub struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    /// One for at most so many processes and threads; none where that can't be had.
    pub fn new(processes: u64) -> Option<Cgroup> {
        let unified = Path::new(UNIFIED).join("cgroup.controllers").is_file();
        let root = Path::new(if unified { UNIFIED } else { PIDS });
        let name = format!("skillcell-{}-{:016x}", std::process::id(), getrandom::u64().ok()?);
        let folder = root.join(name);
        fs::create_dir(&folder).ok()?;
        let cgroup = Cgroup { folder };
        fs::write(cgroup.folder.join("pids.max"), processes.to_string()).ok()?;
        Some(cgroup)
    }

    /// Puts a process in it; what that starts from now on is in it too.
    pub fn add(&self, pid: u32) -> io::Result<()> {
        fs::write(self.folder.join("cgroup.procs"), pid.to_string())
    }

    /// Whether one can be made here.
    pub fn available() -> bool {
        Cgroup::new(1).is_some()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A process that was killed leaves it a moment later than it ends for its parent.
        for _ in 0..200 {
            match fs::remove_dir(&self.folder) {
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                _ => return,
            }
        }
    }
}
