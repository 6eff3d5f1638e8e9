//! What programs rely on from a file system, and what a cell must not be able to do. Limits are in `tests/isolation/limits.rs`.

mod limits;
mod seeded;
mod watching;

use std::io;
use std::sync::Arc;

use super::*;

const ROOMY: Caps = Caps { open_files: 64, scratch_bytes: 1 << 20, scratch_files: 100 };
const READ: Open = Open {
    read: true,
    write: false,
    append: false,
    create: false,
    exclusive: false,
    truncate: false,
    directory: false,
};
const CREATE: Open = Open { write: true, create: true, ..READ };

struct Broken;

impl Source for Broken {
    fn byte_len(&self) -> u64 {
        10
    }
    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        Err(io::Error::other("digest mismatch"))
    }
}

fn vfs(caps: Caps) -> Vfs {
    let mut packages = Tree::new();
    packages.insert("yaml/__init__.py", Content::Bytes(b"import yaml".as_slice().into())).unwrap();
    packages.insert("broken.bin", Content::Lazy(Arc::new(Broken))).unwrap();
    packages.insert_directory("nested").unwrap();
    let mut lib = Tree::new();
    lib.insert("python315.zip", Content::Bytes(b"PK".as_slice().into())).unwrap();
    let mounts = vec![
        Mount::tree("/packages", Arc::new(packages)).unwrap(),
        Mount::tree("/usr/local/lib", Arc::new(lib)).unwrap(),
        Mount::devices("/dev").unwrap(),
        Mount::scratch("/tmp").unwrap(),
        Mount::scratch("/packages/nested/cache").unwrap(),
    ];
    Vfs::new(mounts, caps, Output::new(8), Output::new(8))
}

impl Vfs {
    fn try_open(&mut self, path: &str, how: Open) -> Result<u32, Errno> {
        self.open(ROOT, path.as_bytes(), how)
    }

    fn put(&mut self, path: &str, data: &[u8]) -> Result<(), Errno> {
        let fd = self.try_open(path, Open { truncate: true, ..CREATE })?;
        let written = self.write(fd, data);
        self.close(fd)?;
        match written {
            Ok(count) if count == data.len() => Ok(()),
            Ok(_) => Err(Errno::Nospc),
            Err(WriteError::Errno(errno)) => Err(errno),
            Err(other) => panic!("{other}"),
        }
    }

    fn text(&mut self, path: &str) -> Result<String, Errno> {
        let fd = self.try_open(path, READ)?;
        let mut buf = [0; 256];
        let count = self.read(fd, &mut buf);
        self.close(fd)?;
        Ok(String::from_utf8_lossy(&buf[..count?]).into())
    }

    fn list(&mut self, path: &str) -> Vec<String> {
        let fd = self.try_open(path, Open { directory: true, ..READ }).unwrap();
        let mut names = Vec::new();
        let mut cookie = 0;
        // One entry a call, as with the smallest buffer.
        loop {
            let before = names.len();
            self.read_dir(fd, cookie, &mut |entry| {
                assert_ne!(entry.ino, 0);
                cookie = entry.next;
                names.push(entry.name.to_owned());
                false
            })
            .unwrap();
            if names.len() == before {
                break;
            }
        }
        self.close(fd).unwrap();
        assert_eq!(&names[..2], [".", ".."]);
        names.split_off(2)
    }

    fn mkdir(&mut self, path: &str) -> Result<(), Errno> {
        self.make_directory(ROOT, path.as_bytes())
    }

    fn rm(&mut self, path: &str) -> Result<(), Errno> {
        self.unlink(ROOT, path.as_bytes())
    }

    fn rmdir(&mut self, path: &str) -> Result<(), Errno> {
        self.remove_directory(ROOT, path.as_bytes())
    }

    fn mv(&mut self, from: &str, to: &str) -> Result<(), Errno> {
        self.rename(ROOT, from.as_bytes(), ROOT, to.as_bytes())
    }

    fn info(&mut self, path: &str) -> Result<Stat, Errno> {
        self.stat_at(ROOT, path.as_bytes())
    }
}

#[test]
fn directories_above_mount_points_exist_and_list_them() {
    let mut vfs = vfs(ROOMY);
    assert_eq!(vfs.list("/"), ["packages", "usr", "dev", "tmp"]);
    assert_eq!(vfs.list("/usr"), ["local"]);
    assert_eq!(vfs.list("/usr/local/lib"), ["python315.zip"]);
    assert_eq!(vfs.list("/packages"), ["broken.bin", "yaml", "nested"]);
    assert_eq!(vfs.list("/packages/nested"), ["cache"]);
    assert_eq!(vfs.list("/dev"), ["null", "random", "stderr", "stdin", "stdout", "urandom", "zero"]);
    assert_eq!(vfs.list("/tmp"), [""; 0]);
}

#[test]
fn every_place_has_its_own_device_and_inode() {
    let mut vfs = vfs(ROOMY);
    vfs.put("/tmp/a", b"").unwrap();
    vfs.put("/tmp/b", b"").unwrap();
    let paths =
        ["/", "/usr", "/usr/local", "/usr/local/lib", "/packages", "/packages/yaml", "/tmp", "/tmp/a", "/tmp/b"];
    let mut seen: Vec<_> = paths.iter().map(|path| vfs.info(path).unwrap()).map(|stat| (stat.dev, stat.ino)).collect();
    assert_eq!(vfs.info("/tmp").unwrap().ino, self::vfs(ROOMY).info("/tmp").unwrap().ino);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), paths.len());
}

#[test]
fn read_only_trees_refuse_every_change() {
    let mut vfs = vfs(ROOMY);
    let file = "/packages/yaml/__init__.py";
    let times = NewTimes { modified_ns: Some(1), ..NewTimes::default() };
    assert_eq!(vfs.try_open(file, Open { write: true, ..READ }), Err(Errno::Rofs));
    assert_eq!(vfs.try_open(file, Open { truncate: true, ..READ }), Err(Errno::Rofs));
    assert_eq!(vfs.try_open("/packages/new", CREATE), Err(Errno::Rofs));
    assert_eq!(vfs.try_open("/new", CREATE), Err(Errno::Rofs));
    assert_eq!(vfs.try_open("/packages/nested/new", CREATE), Err(Errno::Rofs));
    assert_eq!(vfs.mkdir("/packages/new"), Err(Errno::Rofs));
    assert_eq!(vfs.mkdir("/new"), Err(Errno::Rofs));
    assert_eq!(vfs.rm(file), Err(Errno::Rofs));
    assert_eq!(vfs.rmdir("/packages/yaml"), Err(Errno::Rofs));
    assert_eq!(vfs.mv(file, "/packages/moved"), Err(Errno::Rofs));
    assert_eq!(vfs.set_times_at(ROOT, file.as_bytes(), times), Err(Errno::Rofs));
    assert_eq!(vfs.set_times_at(ROOT, b"usr", times), Err(Errno::Rofs));
    let fd = vfs.try_open(file, READ).unwrap();
    assert_eq!(vfs.write(fd, b"x"), Err(Errno::Badf.into()));
    assert_eq!(vfs.set_size(fd, 0), Err(Errno::Inval));
    assert_eq!(vfs.set_times(fd, times), Err(Errno::Rofs));
    assert_eq!(vfs.text(file).unwrap(), "import yaml");
}

#[test]
fn what_is_missing_is_missing_before_it_is_read_only() {
    let mut vfs = vfs(ROOMY);
    assert_eq!(vfs.try_open("/packages/no/new", CREATE), Err(Errno::Noent));
    assert_eq!(vfs.try_open("/no/new", CREATE), Err(Errno::Noent));
    assert_eq!(vfs.rm("/packages/no"), Err(Errno::Noent));
    assert_eq!(vfs.mkdir("/packages/yaml"), Err(Errno::Exist));
    assert_eq!(vfs.mkdir("/usr"), Err(Errno::Exist));
    assert_eq!(vfs.info("/packages/yaml/__init__.py/x"), Err(Errno::Notdir));
    assert_eq!(vfs.info("/packages/yaml/__init__.py/"), Err(Errno::Notdir));
}

#[test]
fn mount_points_cannot_be_moved_or_removed() {
    let mut vfs = vfs(ROOMY);
    for path in ["/tmp", "/usr", "/packages/nested", "/"] {
        assert_eq!(vfs.rmdir(path), Err(Errno::Busy), "{path}");
        assert_eq!(vfs.rm(path), Err(Errno::Isdir), "{path}");
        assert_eq!(vfs.mv(path, "/tmp/x"), Err(Errno::Busy), "{path}");
    }
    vfs.mkdir("/tmp/d").unwrap();
    assert_eq!(vfs.mv("/tmp/d", "/packages/nested/cache"), Err(Errno::Busy));
}

#[test]
fn renaming_between_mounts_is_refused() {
    let mut vfs = vfs(ROOMY);
    vfs.put("/tmp/f", b"x").unwrap();
    assert_eq!(vfs.mv("/tmp/f", "/packages/nested/cache/f"), Err(Errno::Xdev));
    assert_eq!(vfs.mv("/tmp/f", "/packages/f"), Err(Errno::Xdev));
    assert_eq!(vfs.mv("/packages/broken.bin", "/tmp/b"), Err(Errno::Xdev));
    assert_eq!(vfs.mv("/tmp/no", "/packages/f"), Err(Errno::Noent));
}

#[test]
fn open_flags_mean_what_posix_says() {
    let mut vfs = vfs(ROOMY);
    let exclusive = Open { exclusive: true, ..CREATE };
    let fd = vfs.try_open("/tmp/f", exclusive).unwrap();
    vfs.write(fd, b"hello").unwrap();
    vfs.close(fd).unwrap();
    assert_eq!(vfs.try_open("/tmp/f", exclusive), Err(Errno::Exist));
    assert_eq!(vfs.try_open("/tmp", exclusive), Err(Errno::Exist));
    assert_eq!(vfs.try_open("/tmp/f", Open { directory: true, ..READ }), Err(Errno::Notdir));
    assert_eq!(vfs.try_open("/tmp", CREATE), Err(Errno::Isdir));
    assert_eq!(vfs.try_open("/tmp/new/", CREATE), Err(Errno::Isdir));
    let fd = vfs.try_open("/tmp/f", Open { write: true, append: true, ..READ }).unwrap();
    vfs.seek(fd, 0, Whence::Start).unwrap();
    vfs.write(fd, b"!").unwrap();
    assert_eq!(vfs.text("/tmp/f").unwrap(), "hello!");
    let cut = vfs.try_open("/tmp/f", Open { write: true, truncate: true, ..READ }).unwrap();
    assert_eq!(vfs.stat(cut).unwrap().size, 0);
    assert_eq!(vfs.scratch_usage().0, 0);
}

#[test]
fn a_trailing_slash_reaches_directories_only() {
    let mut vfs = vfs(ROOMY);
    vfs.put("/tmp/f", b"x").unwrap();
    vfs.mkdir("/tmp/d/").unwrap();
    assert_eq!(vfs.try_open("/tmp/f/", READ), Err(Errno::Notdir));
    assert_eq!(vfs.rm("/tmp/f/"), Err(Errno::Notdir));
    assert_eq!(vfs.rmdir("/tmp/f/"), Err(Errno::Notdir));
    assert_eq!(vfs.mv("/tmp/f/", "/tmp/g"), Err(Errno::Notdir));
    assert_eq!(vfs.mv("/tmp/f", "/tmp/g/"), Err(Errno::Notdir));
    vfs.mv("/tmp/d/", "/tmp/e/").unwrap();
    vfs.rmdir("/tmp/e/").unwrap();
}

#[test]
fn renaming_replaces_files_and_empty_directories_only() {
    let mut vfs = vfs(ROOMY);
    vfs.put("/tmp/f", b"new").unwrap();
    vfs.put("/tmp/g", b"old").unwrap();
    vfs.mkdir("/tmp/d").unwrap();
    vfs.mkdir("/tmp/d/inner").unwrap();
    vfs.mkdir("/tmp/empty").unwrap();
    assert_eq!(vfs.mv("/tmp/f", "/tmp/d"), Err(Errno::Isdir));
    assert_eq!(vfs.mv("/tmp/d", "/tmp/f"), Err(Errno::Notdir));
    assert_eq!(vfs.mv("/tmp/empty", "/tmp/d"), Err(Errno::Notempty));
    assert_eq!(vfs.mv("/tmp/d", "/tmp/d/inner/x"), Err(Errno::Inval));
    assert_eq!(vfs.mv("/tmp/d/inner", "/tmp/d"), Err(Errno::Notempty));
    vfs.mv("/tmp/d", "/tmp/empty").unwrap();
    assert_eq!(vfs.list("/tmp/empty"), ["inner"]);
    vfs.mv("/tmp/f", "/tmp/g").unwrap();
    vfs.mv("/tmp/g", "/tmp/g").unwrap();
    assert_eq!(vfs.text("/tmp/g").unwrap(), "new");
    assert_eq!(vfs.scratch_usage(), (3, 3));
    assert_eq!(vfs.rmdir("/tmp/empty"), Err(Errno::Notempty));
}

#[test]
fn an_unlinked_file_stays_usable_and_charged_until_closed() {
    let mut vfs = vfs(ROOMY);
    let fd = vfs.try_open("/tmp/f", CREATE).unwrap();
    vfs.rm("/tmp/f").unwrap();
    assert_eq!(vfs.info("/tmp/f"), Err(Errno::Noent));
    vfs.write(fd, b"still here").unwrap();
    let mut buf = [0; 5];
    assert_eq!(vfs.read_at(fd, &mut buf, 6).unwrap(), 4);
    assert_eq!((vfs.stat(fd).unwrap().nlink, vfs.scratch_usage()), (0, (10, 1)));
    vfs.close(fd).unwrap();
    assert_eq!(vfs.scratch_usage(), (0, 0));
}

#[test]
fn removing_entries_while_listing_skips_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut vfs = vfs(ROOMY);
    vfs.add_mounts(Mount::host("/host", HostFolder::open(folder.path(), true).unwrap()).into_iter().collect());
    for place in ["/tmp", "/host"] {
        for index in 0..20 {
            vfs.put(&format!("{place}/{index}"), b"").unwrap();
        }
        let fd = vfs.try_open(place, READ).unwrap();
        let (mut cookie, mut removed) = (2, 0);
        loop {
            let mut name = None;
            vfs.read_dir(fd, cookie, &mut |entry| {
                (cookie, name) = (entry.next, Some(entry.name.to_owned()));
                false
            })
            .unwrap();
            let Some(name) = name else { break };
            vfs.unlink(fd, name.as_bytes()).unwrap();
            removed += 1;
        }
        assert_eq!(removed, 20, "{place}");
    }
}

#[test]
fn a_listing_that_starts_over_sees_what_is_there_now() {
    let folder = tempfile::tempdir().unwrap();
    let mut vfs = vfs(ROOMY);
    vfs.add_mounts(Mount::host("/host", HostFolder::open(folder.path(), true).unwrap()).into_iter().collect());
    vfs.put("/host/a", b"").unwrap();
    vfs.put("/host/b", b"").unwrap();
    let fd = vfs.try_open("/host", READ).unwrap();
    let names = |vfs: &mut Vfs, cookie| {
        let mut names = Vec::new();
        vfs.read_dir(fd, cookie, &mut |entry| {
            names.push(entry.name.to_owned());
            true
        })
        .unwrap();
        names
    };
    assert_eq!(names(&mut vfs, 2), ["a", "b"]);
    vfs.rm("/host/a").unwrap();
    vfs.put("/host/c", b"").unwrap();
    // What is gone is not told of, and what came later may be left out; a new start tells of all.
    assert_eq!(names(&mut vfs, 2), ["b"]);
    assert_eq!(names(&mut vfs, 0), [".", "..", "b", "c"]);
}

#[test]
fn listings_hold_a_bounded_number_of_names() {
    let folder = tempfile::tempdir().unwrap();
    let open = HostFolder::open(folder.path(), false).unwrap();
    for index in 0..5 {
        std::fs::write(folder.path().join(index.to_string()), "").unwrap();
    }
    assert_eq!(open.sorted_names("", 5).unwrap().len(), 5);
    assert_eq!(open.sorted_names("", 4), Err(Errno::Nomem));
}

#[test]
fn hostile_cookies_end_the_listing() {
    let mut vfs = vfs(ROOMY);
    for path in ["/", "/packages", "/tmp", "/dev"] {
        let fd = vfs.try_open(path, READ).unwrap();
        for cookie in [u64::MAX, 1 << 63, (1 << 62) + 99, (1 << 62) - 1, 1 << 32] {
            vfs.read_dir(fd, cookie, &mut |entry| entry.ino != 0).unwrap();
        }
    }
}

#[test]
fn a_broken_source_is_an_io_error_and_the_host_hears_why() {
    let mut vfs = vfs(ROOMY);
    assert_eq!(vfs.text("/packages/broken.bin"), Err(Errno::Io));
    assert_eq!(vfs.source_fault().unwrap().to_string(), "digest mismatch");
}

#[test]
fn devices_behave() {
    let mut vfs = vfs(ROOMY);
    let null = vfs.try_open("/dev/null", Open { truncate: true, ..CREATE }).unwrap();
    assert_eq!(vfs.write(null, b"gone"), Ok(4));
    assert_eq!(vfs.text("/dev/null").unwrap(), "");
    assert_eq!(vfs.text("/dev/zero").unwrap(), "\0".repeat(256));
    assert_eq!(vfs.entropy_bytes(), 0);
    assert_ne!(vfs.text("/dev/urandom"), vfs.text("/dev/urandom"));
    assert_eq!(vfs.entropy_bytes(), 512);
    assert_eq!(vfs.try_open("/dev/sda", CREATE), Err(Errno::Rofs));
    assert_eq!(vfs.rm("/dev/null"), Err(Errno::Rofs));
    assert_eq!(vfs.info("/dev/null/x"), Err(Errno::Notdir));
}

#[test]
fn the_standard_streams_are_devices_too_each_in_its_direction() {
    let mut vfs = vfs(ROOMY);
    vfs.set_stdin(Input::Bytes(b"given".to_vec().into()));
    let stdin = vfs.try_open("/dev/stdin", READ).unwrap();
    let mut read = [0; 8];
    assert_eq!((vfs.read(stdin, &mut read), &read[..5]), (Ok(5), &b"given"[..]));
    let write = Open { read: false, ..CREATE };
    let stdout = vfs.try_open("/dev/stdout", Open { truncate: true, ..write }).unwrap();
    assert_eq!((vfs.write(stdout, b"told"), vfs.stdout.take()), (Ok(4), b"told".to_vec()));
    assert_eq!(vfs.try_open("/dev/stdin", write), Err(Errno::Acces));
    assert_eq!(vfs.try_open("/dev/stderr", READ), Err(Errno::Acces));
    assert_eq!(vfs.try_open("/dev/stdout", Open { exclusive: true, ..write }), Err(Errno::Exist));
}

#[test]
fn seeking_never_leaves_the_range_of_offsets() {
    let mut vfs = vfs(ROOMY);
    let fd = vfs.try_open("/tmp/f", CREATE).unwrap();
    assert_eq!(vfs.seek(fd, -1, Whence::Start), Err(Errno::Inval));
    assert_eq!(vfs.seek(fd, i64::MAX, Whence::Start), Ok(i64::MAX as u64));
    assert_eq!(vfs.seek(fd, 1, Whence::Current), Err(Errno::Inval));
    assert_eq!(vfs.write(fd, b"x"), Err(Errno::Nospc.into()));
    assert_eq!(vfs.seek(1, 0, Whence::Current), Err(Errno::Spipe));
    assert_eq!(vfs.seek(ROOT, 0, Whence::Current), Err(Errno::Isdir));
}

#[test]
fn the_lowest_free_descriptor_is_reused() {
    let mut vfs = vfs(ROOMY);
    let fds: Vec<_> = (0..3).map(|_| vfs.try_open("/dev/null", READ).unwrap()).collect();
    assert_eq!(fds, [4, 5, 6]);
    vfs.close(5).unwrap();
    assert_eq!(vfs.try_open("/dev/null", READ), Ok(5));
    assert_eq!(vfs.close(7), Err(Errno::Badf));
    assert_eq!(vfs.renumber(4, 1 << 20), Err(Errno::Badf));
    vfs.renumber(4, 1).unwrap();
    assert_eq!(vfs.kind(1), Ok(Kind::Device));
    assert_eq!(vfs.try_open("/dev/null", READ), Ok(4));
    assert_eq!(vfs.renumber(4, ROOT), Err(Errno::Notsup));
}

#[test]
fn times_are_fixed_in_trees_and_real_in_scratch() {
    let mut vfs = vfs(ROOMY);
    let before = now_ns();
    vfs.put("/tmp/f", b"x").unwrap();
    assert!(vfs.info("/tmp/f").unwrap().times.modified_ns >= before);
    assert_eq!(vfs.info("/packages/broken.bin").unwrap().times, stat::Times::FIXED);
    vfs.set_times_at(ROOT, b"tmp/f", NewTimes { modified_ns: Some(7), ..NewTimes::default() }).unwrap();
    assert_eq!(vfs.info("/tmp/f").unwrap().times.modified_ns, 7);
}
