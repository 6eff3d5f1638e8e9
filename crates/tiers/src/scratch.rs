//! Scratch space in a folder of the host, for a process without a mount namespace. A folder has no size limit, so it is
//! watched; and its content is untrusted, so it is removed without recursion. It is in memory (`/dev/shm`) if possible, where
//! many files can be removed as fast as they were created.
//!
//! *Life cycle*: created empty, watched while the process lives, removed when dropped. By then no process may use it.

mod remove;
mod unlinked;
mod used;

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::process::Pid;
use tempfile::TempDir;

use super::watch::Watch;
use skillcell_limits::{LimitKind, Limits};

/// A tmpfs that every process may write to.
const IN_MEMORY: &str = "/dev/shm";
const TMPFS: i64 = 0x0102_1994;

/// How many files a tmpfs has, unlinked ones included, its root excluded.
pub fn count_files(found: rustix::fs::StatFs) -> u64 {
    found.f_files.saturating_sub(found.f_ffree).saturating_sub(1)
}

pub struct Scratch {
    folder: PathBuf,
    /// The private folder around it, if it is in memory.
    outer: Option<TempDir>,
    watch: Option<Watch>,
}

impl Scratch {
    /// Creates a folder in memory or, if that is not possible, `otherwise`, which must not exist yet.
    pub fn new(otherwise: PathBuf) -> io::Result<Scratch> {
        let outer = create_in_memory();
        let folder = outer.as_ref().map_or(otherwise, |outer| outer.path().join("scratch"));
        Scratch::create_at(folder, outer)
    }

    /// Creates the folder, with `tmp` and `home` in it.
    fn create_at(folder: PathBuf, outer: Option<TempDir>) -> io::Result<Scratch> {
        std::fs::create_dir(&folder)?;
        // The canonical path, to be compared with paths in `/proc`.
        let scratch = Scratch { folder: folder.canonicalize()?, outer, watch: None };
        std::fs::create_dir(scratch.tmp())?;
        std::fs::create_dir(scratch.home())?;
        Ok(scratch)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The outermost folder that belongs to it.
    pub fn outer_folder(&self) -> &Path {
        self.outer.as_ref().map_or(&self.folder, |outer| outer.path())
    }

    pub fn tmp(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// From now on, shuts down `wake` once the folder exceeds the limits, which ends a blocked read from that socket. Unlinked
    /// files that processes of this session still hold count too.
    pub fn watch(&mut self, limits: &Limits, session: Pid, wake: UnixStream) {
        let most = used::Used { bytes: limits.scratch_bytes, files: u64::from(limits.scratch_files) };
        let folder = self.folder.clone();
        self.watch = Some(Watch::start(wake, move || find_exceeded(&folder, session, &most)));
    }

    /// The limit that was exceeded, if one was.
    pub fn exceeded_limit(&self) -> Option<LimitKind> {
        self.watch.as_ref().and_then(Watch::exceeded_limit)
    }
}

fn create_in_memory() -> Option<TempDir> {
    let is_memory = rustix::fs::statfs(IN_MEMORY).is_ok_and(|found| found.f_type == TMPFS);
    let only_ours = std::fs::Permissions::from_mode(0o700);
    let folder = || tempfile::Builder::new().prefix("skillcell-").permissions(only_ours).tempdir_in(IN_MEMORY).ok();
    if is_memory { folder() } else { None }
}

fn find_exceeded(folder: &Path, session: Pid, most: &used::Used) -> Option<LimitKind> {
    // `tmp` and `home` are not the skill's.
    let most = used::Used { files: most.files.saturating_add(2), ..*most };
    let mut used = used::measure_tree(folder, &most);
    if used.bytes <= most.bytes {
        used.bytes = used.bytes.saturating_add(unlinked::held_bytes(folder, session));
    }
    match () {
        () if used.bytes > most.bytes => Some(LimitKind::ScratchBytes),
        () if used.files > most.files => Some(LimitKind::ScratchFiles),
        () => None,
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.watch = None;
        // If this fails, the folder around it is removed next.
        let _ = remove::remove_tree(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn make_scratch(at: &Path) -> Scratch {
        Scratch::create_at(at.join("scratch"), None).unwrap()
    }

    #[test]
    fn too_many_bytes_files_or_levels_wake_who_waits() {
        let place = tempfile::tempdir().unwrap();
        let mut limits = Limits::default();
        limits.scratch_bytes = 1 << 20;
        limits.scratch_files = 40;
        for (what, limit) in [
            ("nothing", None),
            ("bytes", Some(LimitKind::ScratchBytes)),
            ("files", Some(LimitKind::ScratchFiles)),
            ("levels", Some(LimitKind::ScratchFiles)),
        ] {
            let mut scratch = make_scratch(place.path());
            match what {
                "bytes" => std::fs::write(scratch.tmp().join("big"), vec![1; 2 << 20]).unwrap(),
                "files" => (0..41).for_each(|n| std::fs::write(scratch.home().join(n.to_string()), "").unwrap()),
                "levels" => std::fs::create_dir_all(scratch.tmp().join("d/".repeat(41))).unwrap(),
                _ => {}
            }
            let (ours, theirs) = UnixStream::pair().unwrap();
            scratch.watch(&limits, rustix::process::getpid(), theirs);
            ours.set_read_timeout(Some(Duration::from_millis(if limit.is_some() { 5000 } else { 200 }))).unwrap();
            let woken = io::Read::read(&mut &ours, &mut [0]).is_ok();
            assert_eq!((woken, scratch.exceeded_limit()), (limit.is_some(), limit), "{what}");
            drop(scratch);
            assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "{what}");
        }
    }

    #[test]
    fn nobody_else_can_look_into_it() {
        let place = tempfile::tempdir().unwrap();
        std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let scratch = Scratch::new(place.path().join("scratch")).unwrap();
        let around = scratch.folder().parent().unwrap();
        assert_eq!(around.metadata().unwrap().permissions().mode() & 0o77, 0, "{}", around.display());
    }

    #[test]
    fn however_deep_or_closed_a_tree_is_nothing_is_left() {
        let place = tempfile::tempdir().unwrap();
        let scratch = make_scratch(place.path());
        let mut folder = std::fs::File::open(scratch.tmp()).unwrap();
        for _ in 0..5000 {
            rustix::fs::mkdirat(&folder, "d", rustix::fs::Mode::from_raw_mode(0o300)).unwrap();
            let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY;
            folder = rustix::fs::openat(&folder, "d", flags, rustix::fs::Mode::empty()).unwrap().into();
        }
        let outside = place.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("kept"), "").unwrap();
        std::os::unix::fs::symlink(&outside, scratch.home().join("link")).unwrap();
        std::fs::create_dir(scratch.home().join("closed")).unwrap();
        std::fs::write(scratch.home().join("closed/file"), "").unwrap();
        std::fs::set_permissions(scratch.home().join("closed"), std::fs::Permissions::from_mode(0o000)).unwrap();
        drop(scratch);
        let left: Vec<_> = std::fs::read_dir(place.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, ["outside"]);
        assert!(outside.join("kept").is_file());
    }
}
