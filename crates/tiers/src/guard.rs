//! Cleans up after a call whose host was killed, and so could not clean up itself: a process that waits for the host's end.
//!
//! *Life cycle*: started with a call and ended with it. If the host dies before, the guard kills the process group of the
//! call's first process and removes the call's folders.

use std::io::{self, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command};

use rustix::process::{Pid, PidfdFlags};

use skillcell_child::spawn::spawn_after_parent_exit;

/// Tries twice, since a killed process may still have been writing there.
const REMOVE: &str = r#"rm -rf -- "$@" || { sleep 0.2; rm -rf -- "$@"; }"#;

/// Dropping it ends the process without any cleanup.
pub struct Guard {
    child: Child,
    /// The pipe to the guard. A byte ends the guard; the pipe's end without one means that the host is dead.
    release: Option<PipeWriter>,
}

impl Guard {
    /// `session` is the leader of the process group to kill.
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
