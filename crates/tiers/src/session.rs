//! Finds the processes of a session in `/proc`, for processes without a pid namespace.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

/// The `/proc` folders of a session's processes, zombies excluded.
pub fn session_processes(session: Pid) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbered = entries.filter(|entry| entry.file_name().as_bytes().iter().all(u8::is_ascii_digit));
    numbered.map(|entry| entry.path()).filter(move |path| is_live_in_session(path, session).unwrap_or(false))
}

/// Parses `stat`: after the name in parentheses, which may contain anything, come state, ppid, pgrp and session.
fn is_live_in_session(process: &Path, session: Pid) -> Option<bool> {
    let stat = std::fs::read(process.join("stat")).ok()?;
    let after = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut words = std::str::from_utf8(&stat[after..]).ok()?.split_whitespace();
    let lives = !matches!(words.next()?, "Z" | "X");
    Some(lives && words.nth(2)?.parse() == Ok(session.as_raw_nonzero().get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_of_its_session_while_it_lives() {
        let session = rustix::process::getsid(None).unwrap();
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let path = PathBuf::from(format!("/proc/{}", child.id()));
        let is_there = || session_processes(session).any(|found| found == path);
        assert!(is_there());
        assert!(!session_processes(Pid::from_raw(i32::MAX).unwrap()).any(|_| true));
        child.kill().unwrap();
        while is_there() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }
}
