//! What a watcher is told of what a cell does to a folder of the host.

use std::sync::Mutex;

use super::*;

/// Keeps what it is told; denies changes if it is to.
#[derive(Default)]
struct Kept {
    told: Mutex<Vec<String>>,
    denies: bool,
}

impl Watch for Kept {
    fn entering(&self, _: &str, path: &str, changing: bool) -> Result<(), Errno> {
        self.told.lock().unwrap().push(format!("{} {path}", if changing { "change" } else { "open" }));
        if changing && self.denies { Err(Errno::Acces) } else { Ok(()) }
    }

    fn denied(&self, doing: &'static str, path: &str, _: Errno) {
        self.told.lock().unwrap().push(format!("denied {doing} {path}"));
    }
}

/// Opens a file to read it, and sets its times by its descriptor.
fn set_times(writable: bool, denies: bool) -> (Vec<String>, bool) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    std::fs::write(&file, "a").unwrap();
    let opened = HostFolder::open(folder.path(), writable).unwrap();
    let mut vfs = vfs(ROOMY);
    vfs.add_mounts(vec![Mount::host("/data", opened).unwrap()]);
    let kept = Arc::new(Kept { denies, ..Kept::default() });
    vfs.watch(kept.clone());
    let fd = vfs.try_open("/data/a.txt", READ).unwrap();
    let set = vfs.set_times(fd, NewTimes { accessed_ns: None, modified_ns: Some(1_000_000_000) });
    let modified = std::fs::metadata(&file).unwrap().modified().unwrap();
    let changed = modified == std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
    assert_eq!(changed, set.is_ok());
    (std::mem::take(&mut kept.told.lock().unwrap()), changed)
}

#[test]
fn times_set_by_a_descriptor_are_told_before_they_are_set() {
    let told = |lines: [&str; 2]| lines.map(str::to_owned).to_vec();
    assert_eq!(set_times(true, false), (told(["open /data/a.txt", "change /data/a.txt"]), true));
    assert!(!set_times(true, true).1, "what can't be recorded is not done");
    assert_eq!(set_times(false, false), (told(["open /data/a.txt", "denied set the times of /data/a.txt"]), false));
}

#[test]
fn the_end_of_a_call_takes_its_folders_back_and_leaves_scratch() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "a").unwrap();
    let mount = || vec![Mount::host("/data", HostFolder::open(folder.path(), true).unwrap()).unwrap()];
    let mut vfs = vfs(ROOMY);
    vfs.add_mounts(mount());
    vfs.put("/tmp/kept", b"kept").unwrap();
    let fd = vfs.try_open("/data/a.txt", Open { write: true, ..READ }).unwrap();
    vfs.end_call();
    assert_eq!(vfs.try_open("/data/a.txt", READ), Err(Errno::Noent));
    let caps = Caps { scratch_bytes: 4, ..ROOMY };
    vfs.begin_call(caps, Output::new(8), Output::new(8));
    vfs.add_mounts(mount());
    assert_eq!(vfs.read(fd, &mut [0; 1]), Err(Errno::Badf), "opened in the call before");
    assert_eq!(vfs.write(fd, b"b"), Err(WriteError::Errno(Errno::Badf)));
    let next = vfs.try_open("/data/a.txt", READ).unwrap();
    assert_ne!(next, fd, "a stale number names no other file");
    assert_eq!(vfs.put("/tmp/more", b"x"), Err(Errno::Nospc), "what was written before still counts");
    assert_eq!(std::fs::read(folder.path().join("a.txt")).unwrap(), b"a");
}
