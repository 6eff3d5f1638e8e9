//! What cleans up after a call whose host was killed: a process that waits for that, and otherwise does nothing. A host
//! that is killed can't, and one that gets a signal has no time to.
//!
//! *Life cycle*: started with its call, ended when that is over. If the host is gone before, it kills the group of the
//! call's first process, and removes the call's folders.

use std::io::{self, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command};

use rustix::process::{Pid, PidfdFlags};

use skillcell_child::spawn::spawn_after_parent_exit;

/// A second time, since what was killed may have been writing there.
const REMOVE: &str = r#"rm -rf -- "$@" || { sleep 0.2; rm -rf -- "$@"; }"#;

/// Dropping it ends it.
pub struct Guard {
    child: Child,
    /// Open for as long as the host lives.
    release: Option<PipeWriter>,
}

impl Guard {
    /// `session` is the first process of a group that is to be killed.
    pub fn start(folders: &[&Path], session: Option<Pid>) -> io::Result<Guard> {
        let (wait, release) = io::pipe()?;
        let session = session.map(|first| rustix::process::pidfd_open(first, PidfdFlags::empty())).transpose()?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", REMOVE, "sh"]).args(folders).env_clear().env("PATH", "/usr/bin:/bin").current_dir("/");
        let child = spawn_after_parent_exit(&mut command, OwnedFd::from(wait), session)?;
        Ok(Guard { child, release: Some(release) })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut release) = self.release.take() {
            let _ = release.write_all(b"x");
        }
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_left_while_the_host_lives_and_removed_when_it_does_not() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        drop(Guard::start(&[&folder], None).unwrap());
        assert!(folder.is_dir());
        let mut guard = Guard::start(&[&folder], None).unwrap();
        guard.release = None;
        drop(guard);
        assert!(!folder.exists());
    }
}
