//! Paths of a cell: whatever it asks of its file system, nothing outside of a granted folder is read, listed or changed,
//! and nothing is changed in one that is read-only.
//!
//! An input is lines: an operation, then a path, and for `mv` another after a tab. The cell has `/tmp` (scratch), `/ro` and
//! `/rw`, two folders of the host with links that lead out of them, and `/rw/in`, a scratch folder over the second.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use skillcell_vfs::{Caps, Errno, HostFolder, Mount, Open, Output, ROOT, Vfs};

const MAX_LINES: usize = 24;
const CANARY: &[u8] = b"canary: nobody is to read this";
const CAPS: Caps = Caps { open_files: 8, scratch_bytes: 4096, scratch_files: 16 };

/// `outside` with a canary in it, `ro` and `rw` beside it.
struct Disk {
    folder: TempDir,
    /// The inodes of what no cell may see: the folder above, `outside`, the canary.
    hidden: Vec<u64>,
}

thread_local! {
    /// Lives as long as the thread. Each input finds it in its initial state.
    static DISK: Disk = Disk::new();
}

impl Disk {
    fn new() -> Disk {
        let mut disk = Disk { folder: tempfile::tempdir().expect("a temporary folder"), hidden: Vec::new() };
        fs::create_dir(disk.at("outside")).expect("a folder");
        fs::write(disk.at("outside/canary"), CANARY).expect("a file");
        for name in ["ro", "rw"] {
            disk.fill_folder(name);
        }
        disk.hidden =
            ["", "outside", "outside/canary"].map(|at| fs::metadata(disk.at(at)).expect("it is there").ino()).into();
        disk
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn fill_folder(&self, name: &str) {
        let at = |path: &str| self.at(name).join(path);
        fs::create_dir_all(at("d/e")).expect("a folder");
        fs::write(at("f"), "inside").expect("a file");
        fs::write(at("d/g"), "inside").expect("a file");
        for (link, to) in
            [("up", ".."), ("d/out", "../../outside"), ("d/canary", "../../outside/canary"), ("near", "d/g")]
        {
            symlink(to, at(link)).expect("a link");
        }
        symlink(self.at("outside"), at("absolute")).expect("a link");
        symlink("/", at("d/root")).expect("a link");
    }

    /// Every name below, with what is in it or where it leads.
    fn list_tree(&self, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut found, mut folders) = (Vec::new(), vec![self.at(name)]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
                let content = match kind {
                    kind if kind.is_symlink() => {
                        fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
                    }
                    kind if kind.is_file() => fs::read(&path).expect("a file"),
                    _ => Vec::new(),
                };
                if kind.is_dir() {
                    folders.push(path.clone());
                }
                found.push((path, content));
            }
        }
        found.sort();
        found
    }

    /// Puts `rw` back into its initial state, which `ro` still has.
    fn restore_writable(&self) {
        let is_whole = |path: &Path| path.exists() || path.is_symlink();
        if self.list_tree("rw").len() != self.list_tree("ro").len()
            || self.list_tree("ro").iter().any(|(path, content)| {
                let twin = self.at("rw").join(path.strip_prefix(self.at("ro")).unwrap_or(path));
                !is_whole(&twin)
                    || (twin.is_file() && !twin.is_symlink() && fs::read(&twin).ok().as_ref() != Some(content))
            })
        {
            fs::remove_dir_all(self.at("rw")).expect("it can be removed");
            self.fill_folder("rw");
        }
    }
}

pub fn run(data: &[u8]) {
    DISK.with(|disk| run_on(disk, data));
}

fn run_on(disk: &Disk, data: &[u8]) {
    let (read_only, outside) = (disk.list_tree("ro"), disk.list_tree("outside"));
    let mut cell = Cell { vfs: mount_folders(disk), open: Vec::new(), hidden: &disk.hidden };
    for line in data.split(|&byte| byte == b'\n').take(MAX_LINES) {
        let mut words = line.splitn(2, |&byte| byte == b' ');
        let (what, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        cell.run_operation(what, rest);
    }
    // Closes what is open before the folders are compared.
    drop(cell);
    assert_eq!(disk.list_tree("outside"), outside, "something outside was changed");
    assert_eq!(disk.list_tree("ro"), read_only, "something read-only was changed");
    let mut names: Vec<_> =
        fs::read_dir(disk.folder.path()).expect("a folder").flatten().map(|e| e.file_name()).collect();
    names.sort();
    assert_eq!(names, ["outside", "ro", "rw"]);
    disk.restore_writable();
}

fn mount_folders(disk: &Disk) -> Vfs {
    let host = |name: &str, writable| HostFolder::open(&disk.at(name), writable).expect("a folder");
    let mounts = [
        Mount::scratch("/tmp"),
        Mount::host("/ro", host("ro", false)),
        Mount::host("/rw", host("rw", true)),
        Mount::scratch("/rw/in"),
        Mount::devices("/dev"),
    ];
    Vfs::new(mounts.into_iter().flatten().collect(), CAPS, Output::new(64), Output::new(64))
}

struct Cell<'d> {
    vfs: Vfs,
    hidden: &'d [u64],
    /// Open folders that paths may be relative to.
    open: Vec<u32>,
}

impl Cell<'_> {
    fn run_operation(&mut self, what: &[u8], path: &[u8]) {
        // An upper-case operation starts from the folder that was opened last.
        let dir = if what.first().is_some_and(u8::is_ascii_uppercase) { self.open.last().copied() } else { None };
        let dir = dir.unwrap_or(ROOT);
        let create = Open { read: true, write: true, create: true, ..Open::default() };
        match what.to_ascii_lowercase().as_slice() {
            b"read" => self.try_read(dir, path, Open { read: true, ..Open::default() }),
            b"new" => self.try_read(dir, path, Open { exclusive: true, ..create }),
            b"write" => self.try_write(dir, path, create),
            b"append" => self.try_write(dir, path, Open { append: true, ..create }),
            b"cut" => self.try_write(dir, path, Open { truncate: true, ..create }),
            b"cd" => {
                let how = Open { read: true, directory: true, ..Open::default() };
                self.open.extend(self.vfs.open(dir, path, how));
            }
            b"ls" => self.try_list(dir, path),
            b"stat" => self.try_stat(dir, path),
            b"mkdir" => drop(self.vfs.make_directory(dir, path)),
            b"rm" => drop(self.vfs.unlink(dir, path)),
            b"rmdir" => drop(self.vfs.remove_directory(dir, path)),
            b"mv" => {
                let mut paths = path.splitn(2, |&byte| byte == b'\t');
                let (from, to) = (paths.next().unwrap_or_default(), paths.next().unwrap_or_default());
                let _ = self.vfs.rename(dir, from, ROOT, to);
            }
            _ => {}
        }
    }

    fn try_read(&mut self, dir: u32, path: &[u8], how: Open) {
        let Ok(fd) = self.vfs.open(dir, path, how) else { return };
        let mut buffer = [0; 64];
        let count = self.vfs.read(fd, &mut buffer).unwrap_or(0);
        assert!(!buffer[..count].starts_with(b"canary"), "a file outside is read: {}", String::from_utf8_lossy(path));
        self.vfs.close(fd).expect("it was open");
    }

    fn try_write(&mut self, dir: u32, path: &[u8], how: Open) {
        let Ok(fd) = self.vfs.open(dir, path, how) else { return };
        let _ = self.vfs.write(fd, b"written");
        self.vfs.close(fd).expect("it was open");
    }

    fn try_list(&mut self, dir: u32, path: &[u8]) {
        let how = Open { read: true, directory: true, ..Open::default() };
        let Ok(fd) = self.vfs.open(dir, path, how) else { return };
        let (mut dots, mut left) = (Vec::new(), 200);
        let listed = self.vfs.read_dir(fd, 0, &mut |entry| {
            assert!(!self.hidden.contains(&entry.ino), "a folder outside is listed, or above: {}", entry.name);
            assert!(!entry.name.is_empty() && !entry.name.contains(['/', '\0']));
            dots.extend(["."].contains(&entry.name).then_some(entry.next));
            left -= 1;
            left > 0
        });
        assert!(listed.is_err() || dots.len() == 1, "one `.` in a folder");
        self.vfs.close(fd).expect("it was open");
    }

    fn try_stat(&mut self, dir: u32, path: &[u8]) {
        match self.vfs.stat_at(dir, path) {
            Ok(stat) => assert!(!self.hidden.contains(&stat.ino), "it is seen from inside"),
            Err(errno) => assert_ne!(errno, Errno::Io, "{}", String::from_utf8_lossy(path)),
        }
    }
}
