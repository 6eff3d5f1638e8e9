//! Files by path: Emscripten's system calls over the [`Vfs`](skillcell_vfs::Vfs), which judges the paths. There are no links, so
//! whether to follow them never matters.

use wasmtime::Linker;

use super::guest::{Guest, Host, offer};
use super::notes;
use crate::State;
use skillcell_vfs::{Errno, Kind, NewTimes, Open, ROOT, Stat, now_ns};

/// The working folder, where a call takes a descriptor of one.
const AT_FOLDER: i32 = -100;
const REMOVE_DIRECTORY: u32 = 0x200;

const WRITE_ONLY: u32 = 1;
const READ_WRITE: u32 = 2;
const CREATE: u32 = 0o100;
const EXCLUSIVE: u32 = 0o200;
const TRUNCATE: u32 = 0o1000;
pub const APPEND: u32 = 0o2000;
const DIRECTORY: u32 = 0o200_000;

const STAT_BYTES: usize = 96;
/// A directory entry with room for the longest name.
const DIRENT_BYTES: usize = 280;
const NAME_AT: usize = 19;
const LONGEST_NAME: usize = DIRENT_BYTES - NAME_AT - 1;

/// A time that is now, or one that stays, where `utimensat` takes nanoseconds.
const NOW: u32 = 0x3fff_ffff;
const UNCHANGED: u32 = 0x3fff_fffe;

pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    offer! { linker:
        __syscall_openat(host, guest, dir: i32, path: u32, flags: u32, _varargs: u32) {
            let (dir, path) = host.path(guest, dir, path)?;
            Ok(host.wasi.vfs.open(dir, &path, open_request(flags))? as i32)
        }
        __syscall_stat64(host, guest, path: u32, out: u32) { host.stat_at(guest, AT_FOLDER, path, out) }
        __syscall_lstat64(host, guest, path: u32, out: u32) { host.stat_at(guest, AT_FOLDER, path, out) }
        __syscall_newfstatat(host, guest, dir: i32, path: u32, out: u32, _flags: u32) { host.stat_at(guest, dir, path, out) }
        __syscall_fstat64(host, guest, fd: u32, out: u32) {
            guest.put_bytes(out, &encode_stat(&host.wasi.vfs.stat(fd)?))?;
            Ok(0)
        }
        __syscall_getdents64(host, guest, fd: u32, out: u32, len: u32) { Ok(host.list(guest, fd, out, len)?) }
        __syscall_getcwd(host, guest, out: u32, len: u32) {
            let mut folder = notes::folder(guest, host.program)?;
            folder.push(0);
            if folder.len() as u64 > u64::from(len) {
                return Err(Errno::Range.into());
            }
            guest.put_bytes(out, &folder)?;
            Ok(folder.len() as i32)
        }
        __syscall_chdir(host, guest, path: u32) { Ok(host.change_folder(guest, path)?) }
        __syscall_mkdirat(host, guest, dir: i32, path: u32, _mode: u32) {
            let (dir, path) = host.path(guest, dir, path)?;
            host.wasi.vfs.make_directory(dir, &path)?;
            Ok(0)
        }
        __syscall_unlinkat(host, guest, dir: i32, path: u32, flags: u32) {
            let (dir, path) = host.path(guest, dir, path)?;
            if flags & REMOVE_DIRECTORY == 0 { host.wasi.vfs.unlink(dir, &path)?; } else { host.wasi.vfs.remove_directory(dir, &path)?; }
            Ok(0)
        }
        __syscall_rmdir(host, guest, path: u32) {
            let (dir, path) = host.path(guest, AT_FOLDER, path)?;
            host.wasi.vfs.remove_directory(dir, &path)?;
            Ok(0)
        }
        __syscall_renameat(host, guest, dir: i32, path: u32, new_dir: i32, new_path: u32) {
            let ((dir, path), (new_dir, new_path)) = (host.path(guest, dir, path)?, host.path(guest, new_dir, new_path)?);
            host.wasi.vfs.rename(dir, &path, new_dir, &new_path)?;
            Ok(0)
        }
        __syscall_faccessat(host, guest, dir: i32, path: u32, _mode: u32, _flags: u32) { host.look(guest, dir, path) }
        // Files have no permission bits; what exists takes any. `standins/modes.py` says where that would be a lie.
        __syscall_chmod(host, guest, path: u32, _mode: u32) { host.look(guest, AT_FOLDER, path) }
        __syscall_fchmodat2(host, guest, dir: i32, path: u32, _mode: u32, _flags: u32) { host.look(guest, dir, path) }
        // What exists is no link.
        __syscall_readlinkat(host, guest, dir: i32, path: u32, _out: u32, _len: u32) {
            host.look(guest, dir, path)?;
            Err(Errno::Inval.into())
        }
        __syscall_symlinkat(_host, guest, target: u32, _dir: i32, path: u32) {
            guest.text(target)?;
            guest.text(path)?;
            Err(Errno::Notsup.into())
        }
        __syscall_utimensat(host, guest, dir: i32, path: u32, times: u32, _flags: u32) {
            let times = new_times(guest, times)?;
            if path == 0 {
                host.wasi.vfs.set_times(dir as u32, times)?;
            } else {
                let (dir, path) = host.path(guest, dir, path)?;
                host.wasi.vfs.set_times_at(dir, &path, times)?;
            }
            Ok(0)
        }
        __syscall_truncate64(host, guest, path: u32, size: i64) {
            let (dir, path) = host.path(guest, AT_FOLDER, path)?;
            let fd = host.wasi.vfs.open(dir, &path, Open { write: true, ..Open::default() })?;
            let set = host.wasi.vfs.set_size(fd, u64::try_from(size).map_err(|_| Errno::Inval)?);
            host.wasi.vfs.close(fd)?;
            set?;
            Ok(0)
        }
    }
    Ok(())
}

impl Host<'_> {
    /// A path, and the descriptor that it is seen from.
    fn path(&self, guest: &Guest<'_>, dir: i32, path: u32) -> Result<(u32, Vec<u8>), Errno> {
        let path = guest.text(path)?;
        if path.starts_with(b"/") {
            return Ok((ROOT, path));
        }
        if dir != AT_FOLDER || path.is_empty() {
            return Ok((dir as u32, path));
        }
        let mut whole = notes::folder(guest, self.program)?;
        whole.push(b'/');
        whole.extend(path);
        // A relative one, should the guest have written over its folder, is relative to the root.
        Ok((ROOT, whole))
    }

    fn look(&mut self, guest: &Guest<'_>, dir: i32, path: u32) -> super::guest::Outcome {
        let (dir, path) = self.path(guest, dir, path)?;
        self.wasi.vfs.stat_at(dir, &path)?;
        Ok(0)
    }

    fn stat_at(&mut self, guest: &mut Guest<'_>, dir: i32, path: u32, out: u32) -> super::guest::Outcome {
        let (dir, path) = self.path(guest, dir, path)?;
        // An empty path is the descriptor itself, which is how `fstat` is asked for.
        let vfs = &mut self.wasi.vfs;
        let stat = if path.is_empty() && dir as i32 != AT_FOLDER { vfs.stat(dir)? } else { vfs.stat_at(dir, &path)? };
        guest.put_bytes(out, &encode_stat(&stat))?;
        Ok(0)
    }

    fn change_folder(&mut self, guest: &mut Guest<'_>, path: u32) -> Result<i32, Errno> {
        let (dir, path) = self.path(guest, AT_FOLDER, path)?;
        if self.wasi.vfs.stat_at(dir, &path)?.kind != Kind::Directory {
            return Err(Errno::Notdir);
        }
        notes::set_folder(guest, self.program, &clean_path(&path))?;
        Ok(0)
    }

    /// As many whole entries as fit; 0 at the end.
    fn list(&mut self, guest: &mut Guest<'_>, fd: u32, out: u32, len: u32) -> Result<i32, Errno> {
        let from = self.wasi.vfs.listing_place(fd)?;
        let room = guest.slice_mut(out, len)?;
        if room.len() < DIRENT_BYTES {
            return Err(Errno::Inval);
        }
        let (mut used, mut next) = (0, from);
        self.wasi.vfs.read_dir(fd, from, &mut |entry| {
            let Some(place) = room.get_mut(used..used + DIRENT_BYTES) else { return false };
            place.copy_from_slice(&encode_entry(&entry));
            (used, next) = (used + DIRENT_BYTES, entry.next);
            true
        })?;
        self.wasi.vfs.set_listing_place(fd, next)?;
        Ok(used as i32)
    }
}

/// Without `.`, `..` and empty names, as the file system reads it: what `getcwd` then says.
fn clean_path(path: &[u8]) -> Vec<u8> {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => _ = names.pop(),
            _ => names.push(name),
        }
    }
    [b"/".as_slice(), &names.join(&b'/')].concat()
}

fn open_request(flags: u32) -> Open {
    Open {
        read: flags & 3 != WRITE_ONLY,
        write: matches!(flags & 3, WRITE_ONLY | READ_WRITE),
        append: flags & APPEND != 0,
        create: flags & CREATE != 0,
        exclusive: flags & EXCLUSIVE != 0,
        truncate: flags & TRUNCATE != 0,
        directory: flags & DIRECTORY != 0,
    }
}

/// Emscripten's `struct stat`:
/// ```text
/// 0 device u32 | 4 mode u32 | 8 links u32 | 24 size u64 | 32 block size u32 | 36 blocks u32
/// 40 accessed | 56 modified | 72 changed (seconds u64, nanoseconds u32) | 88 inode u64
/// ```
fn encode_stat(stat: &Stat) -> [u8; STAT_BYTES] {
    let mode = match stat.kind {
        Kind::Stream => 0o010_600,
        Kind::Device => 0o020_666,
        Kind::Directory => 0o040_755,
        Kind::File => 0o100_644_u32,
    };
    let blocks = u32::try_from(stat.size.div_ceil(512)).unwrap_or(u32::MAX);
    let mut out = [0; STAT_BYTES];
    let words = [(0, stat.dev as u32), (4, mode), (8, stat.nlink as u32), (32, 4096), (36, blocks)];
    for (place, word) in words {
        out[place..place + 4].copy_from_slice(&word.to_le_bytes());
    }
    out[24..32].copy_from_slice(&stat.size.to_le_bytes());
    let times = [stat.times.accessed_ns, stat.times.modified_ns, stat.times.changed_ns];
    for (place, time_ns) in [40, 56, 72].into_iter().zip(times) {
        out[place..place + 8].copy_from_slice(&(time_ns / 1_000_000_000).to_le_bytes());
        out[place + 8..place + 12].copy_from_slice(&((time_ns % 1_000_000_000) as u32).to_le_bytes());
    }
    out[88..].copy_from_slice(&stat.ino.to_le_bytes());
    out
}

/// ```text
/// 0 inode u64 | 8 next u64 | 16 length u16 | 18 type u8 | 19 name, ended by a zero
/// ```
fn encode_entry(entry: &skillcell_vfs::Entry<'_>) -> [u8; DIRENT_BYTES] {
    let kind = match entry.kind {
        Kind::Stream => 1,
        Kind::Device => 2,
        Kind::Directory => 4,
        Kind::File => 8,
    };
    let mut out = [0; DIRENT_BYTES];
    out[..8].copy_from_slice(&entry.ino.to_le_bytes());
    out[8..16].copy_from_slice(&entry.next.to_le_bytes());
    out[16..18].copy_from_slice(&(DIRENT_BYTES as u16).to_le_bytes());
    out[18] = kind;
    let name = entry.name.as_bytes();
    let name = &name[..name.len().min(LONGEST_NAME)];
    out[NAME_AT..NAME_AT + name.len()].copy_from_slice(name);
    out
}

/// Two times of seconds (u64) and nanoseconds (u32), 16 bytes each; both are now if there are none.
fn new_times(guest: &Guest<'_>, times: u32) -> Result<NewTimes, Errno> {
    if times == 0 {
        return Ok(NewTimes { accessed_ns: Some(now_ns()), modified_ns: Some(now_ns()) });
    }
    let read = |place: u32| -> Result<Option<u64>, Errno> {
        let place = times.checked_add(place).ok_or(Errno::Fault)?;
        let seconds = u64::from_le_bytes(guest.read_array(place)?);
        match guest.read_u32(place.checked_add(8).ok_or(Errno::Fault)?)? {
            NOW => Ok(Some(now_ns())),
            UNCHANGED => Ok(None),
            nanoseconds if nanoseconds < 1_000_000_000 => {
                let whole = seconds.checked_mul(1_000_000_000).ok_or(Errno::Inval)?;
                whole.checked_add(u64::from(nanoseconds)).map(Some).ok_or(Errno::Inval)
            }
            _ => Err(Errno::Inval),
        }
    };
    Ok(NewTimes { accessed_ns: read(0)?, modified_ns: read(16)? })
}
