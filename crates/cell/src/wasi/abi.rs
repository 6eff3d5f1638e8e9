//! WASI preview 1 as bytes and bits: the layouts and constants of the specification, and nothing that acts.

use skillcell_vfs::{Access, Entry, Errno, Kind, NewTimes, Open, Stat, now_ns};

pub const OPEN_CREATE: u32 = 1;
pub const OPEN_DIRECTORY: u32 = 2;
pub const OPEN_EXCLUSIVE: u32 = 4;
pub const OPEN_TRUNCATE: u32 = 8;

pub const FLAG_APPEND: u32 = 1;

const RIGHT_FD_READ: u64 = 1 << 1;
const RIGHT_FD_SEEK: u64 = 1 << 2;
const RIGHT_FD_TELL: u64 = 1 << 5;
const RIGHT_FD_WRITE: u64 = 1 << 6;
const RIGHT_FD_ALLOCATE: u64 = 1 << 8;
const RIGHT_SET_SIZE: u64 = 1 << 22;
/// All thirty rights of preview 1.
const RIGHTS_ALL: u64 = (1 << 30) - 1;

const SET_ACCESSED: u32 = 1;
const SET_ACCESSED_NOW: u32 = 2;
const SET_MODIFIED: u32 = 4;
const SET_MODIFIED_NOW: u32 = 8;

/// The fixed part of a directory entry; the name follows it.
pub const DIRENT_BYTES: usize = 24;
pub const FDSTAT_BYTES: usize = 24;
pub const FILESTAT_BYTES: usize = 64;

/// The flags and rights of `path_open` as a request.
pub fn open_request(how: u32, rights: u64, flags: u32) -> Open {
    Open {
        read: rights & RIGHT_FD_READ != 0,
        write: rights & RIGHT_FD_WRITE != 0,
        append: flags & FLAG_APPEND != 0,
        create: how & OPEN_CREATE != 0,
        exclusive: how & OPEN_EXCLUSIVE != 0,
        truncate: how & OPEN_TRUNCATE != 0,
        directory: how & OPEN_DIRECTORY != 0,
    }
}

/// ```text
/// 0 type u8 | 2 flags u16 | 8 rights u64 | 16 inheriting rights u64
/// ```
pub fn encode_fdstat(kind: Kind, access: Access) -> [u8; FDSTAT_BYTES] {
    let mut rights = RIGHTS_ALL;
    if !access.write {
        rights &= !(RIGHT_FD_WRITE | RIGHT_FD_ALLOCATE | RIGHT_SET_SIZE);
    }
    if !access.read {
        rights &= !RIGHT_FD_READ;
    }
    if kind == Kind::Stream {
        rights &= !(RIGHT_FD_SEEK | RIGHT_FD_TELL);
    }
    // wasi-libc opens files with no more rights than their directory passes on.
    let inheriting = if kind == Kind::Directory { RIGHTS_ALL } else { 0 };
    let mut out = [0; FDSTAT_BYTES];
    out[0] = kind as u8;
    out[2] = u8::from(access.append && kind != Kind::Stream);
    out[8..16].copy_from_slice(&rights.to_le_bytes());
    out[16..24].copy_from_slice(&inheriting.to_le_bytes());
    out
}

/// ```text
/// 0 device u64 | 8 inode u64 | 16 type u8 | 24 links u64 | 32 size u64 | 40 accessed | 48 modified | 56 changed
/// ```
pub fn encode_filestat(stat: &Stat) -> [u8; FILESTAT_BYTES] {
    let times = stat.times;
    let fields = [
        stat.dev,
        stat.ino,
        u64::from(stat.kind as u8),
        stat.nlink,
        stat.size,
        times.accessed_ns,
        times.modified_ns,
        times.changed_ns,
    ];
    let mut out = [0; FILESTAT_BYTES];
    for (bytes, field) in out.chunks_exact_mut(8).zip(fields) {
        bytes.copy_from_slice(&field.to_le_bytes());
    }
    out
}

/// ```text
/// 0 next cookie u64 | 8 inode u64 | 16 name length u32 | 20 type u8 | 24 name
/// ```
pub fn encode_dirent(entry: &Entry<'_>) -> [u8; DIRENT_BYTES] {
    let mut out = [0; DIRENT_BYTES];
    out[0..8].copy_from_slice(&entry.next.to_le_bytes());
    out[8..16].copy_from_slice(&entry.ino.to_le_bytes());
    out[16..20].copy_from_slice(&(entry.name.len() as u32).to_le_bytes());
    out[20] = entry.kind as u8;
    out
}

/// The times that `*_filestat_set_times` asks for.
pub fn new_times(accessed_ns: u64, modified_ns: u64, flags: u32) -> Result<NewTimes, Errno> {
    let pick = |given: u32, now: u32, value: u64| match (flags & given != 0, flags & now != 0) {
        (true, true) => Err(Errno::Inval),
        (true, false) => Ok(Some(value)),
        (false, true) => Ok(Some(now_ns())),
        (false, false) => Ok(None),
    };
    Ok(NewTimes {
        accessed_ns: pick(SET_ACCESSED, SET_ACCESSED_NOW, accessed_ns)?,
        modified_ns: pick(SET_MODIFIED, SET_MODIFIED_NOW, modified_ns)?,
    })
}
