//! A folder of the host, shown to a cell: read-only or writable. The one backend that touches the host's disk.
//!
//! Every path goes through `cap-std`, which resolves it inside the folder: neither `..` nor a symbolic link leads out, and the
//! folder's own place on the host is never looked at again. Only plain files and folders are offered. Opening never waits,
//! so a pipe put there can't hold the host up.

use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::{Dir, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};

use super::errno::Errno;
use super::stat::{Entry, Kind, NewTimes, Stat, Times};
use super::{Open, Sink};

/// A folder that was opened for cells. Cheap to clone.
#[derive(Clone)]
pub struct HostFolder {
    dir: Arc<Dir>,
    writable: bool,
}

/// An open file of such a folder.
pub struct HostFile {
    file: std::fs::File,
    /// Whether it was opened for writing.
    writable: bool,
    /// Whether times may be set. Depends on the folder, not on how the file was opened.
    dated: bool,
}

impl HostFolder {
    /// Opens a host folder. Only here is its path resolved, following symbolic links.
    pub fn open(path: &std::path::Path, writable: bool) -> std::io::Result<HostFolder> {
        let dir = Dir::open_ambient_dir(path, cap_std::ambient_authority())?;
        Ok(HostFolder { dir: Arc::new(dir), writable })
    }

    pub(super) fn is_writable(&self) -> bool {
        self.writable
    }

    pub(super) fn stat(&self, path: &str, dev: u64) -> Result<Stat, Errno> {
        let metadata = if path.is_empty() { self.dir.dir_metadata() } else { self.dir.metadata(path) };
        Ok(stat_of(&metadata.map_err(errno_from)?, dev))
    }

    pub(super) fn open_file(&self, path: &str, how: Open) -> Result<HostFile, Errno> {
        if !self.writable && (how.write || how.truncate) {
            return Err(if self.dir.metadata(path).is_ok() || how.create { Errno::Rofs } else { Errno::Noent });
        }
        if !self.writable && how.create && self.dir.metadata(path).is_err() {
            return Err(Errno::Rofs);
        }
        let mut options = OpenOptions::new();
        options.read(how.read || !how.write).write(how.write).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
        if self.writable {
            // Creating and truncating need write access even if the cell opens the file only for reading.
            options.write(how.write || how.create || how.truncate);
            options.create(how.create && !how.exclusive).create_new(how.create && how.exclusive);
        } else if how.create && how.exclusive {
            return Err(Errno::Exist);
        }
        let file = self.dir.open_with(path, &options).map_err(errno_from)?.into_std();
        // Check the opened file, not its path, to avoid a race.
        if !file.metadata().map_err(errno_from)?.is_file() {
            return Err(Errno::Acces);
        }
        if how.truncate {
            file.set_len(0).map_err(errno_from)?;
        }
        Ok(HostFile { file, writable: self.writable && how.write, dated: self.writable })
    }

    /// The names in a folder, in order; more than `most` are an error.
    pub(super) fn sorted_names(&self, path: &str, most: usize) -> Result<Box<[Box<str>]>, Errno> {
        let listed = if path.is_empty() { self.dir.entries() } else { self.dir.read_dir(path) };
        let names = listed.map_err(errno_from)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<Box<str>> = names.take(most + 1).map(String::into_boxed_str).collect();
        if names.len() > most {
            return Err(Errno::Nomem);
        }
        names.sort_unstable();
        Ok(names.into())
    }

    /// The entries of these names, starting at `cookie`. Names that were removed since are left out.
    pub(super) fn read_dir(&self, path: &str, names: &[Box<str>], cookie: u64, sink: &mut Sink<'_>) -> bool {
        for (name, at) in names.iter().zip(0u64..).skip(usize::try_from(cookie).unwrap_or(usize::MAX)) {
            let place = if path.is_empty() { name.to_string() } else { format!("{path}/{name}") };
            // A link that leads out, or nowhere, is a name without a kind. Its number is its own: for 0, the guest's C
            // library would ask again and fail.
            let (ino, kind) = match (self.stat(&place, 0), self.dir.symlink_metadata(&place)) {
                (Ok(stat), _) => (stat.ino, stat.kind),
                (Err(_), Ok(own)) => (own.ino(), Kind::Stream),
                (Err(_), Err(_)) => continue,
            };
            if !sink(Entry { name, ino, kind, next: at + 1 }) {
                return false;
            }
        }
        true
    }

    pub(super) fn make_directory(&self, path: &str) -> Result<(), Errno> {
        if !self.writable {
            return Err(if self.dir.metadata(path).is_ok() { Errno::Exist } else { Errno::Rofs });
        }
        self.dir.create_dir(path).map_err(errno_from)
    }

    pub(super) fn unlink(&self, path: &str) -> Result<(), Errno> {
        self.writable_dir()?.remove_file(path).map_err(errno_from)
    }

    pub(super) fn remove_directory(&self, path: &str) -> Result<(), Errno> {
        self.writable_dir()?.remove_dir(path).map_err(errno_from)
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> Result<(), Errno> {
        let dir = self.writable_dir()?;
        dir.rename(from, dir, to).map_err(errno_from)
    }

    pub(super) fn set_times(&self, path: &str, times: NewTimes) -> Result<(), Errno> {
        let dir = self.writable_dir()?;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
        let file = dir.open_with(if path.is_empty() { "." } else { path }, &options).map_err(errno_from)?.into_std();
        let metadata = file.metadata().map_err(errno_from)?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(Errno::Acces);
        }
        HostFile { file, writable: false, dated: true }.set_times(times)
    }

    fn writable_dir(&self) -> Result<&Dir, Errno> {
        if self.writable { Ok(&self.dir) } else { Err(Errno::Rofs) }
    }
}

impl HostFile {
    pub(super) fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize, Errno> {
        self.file.read_at(buf, offset).map_err(errno_from)
    }

    pub(super) fn write_at(&self, data: &[u8], offset: u64) -> Result<usize, Errno> {
        self.writable_file()?.write_at(data, offset).map_err(errno_from)
    }

    pub(super) fn set_size(&self, size: u64) -> Result<(), Errno> {
        self.writable_file()?.set_len(size).map_err(errno_from)
    }

    pub(super) fn set_times(&self, times: NewTimes) -> Result<(), Errno> {
        if !self.dated {
            return Err(Errno::Rofs);
        }
        let time = |ns: u64| UNIX_EPOCH + Duration::from_nanos(ns);
        let mut set = std::fs::FileTimes::new();
        if let Some(ns) = times.accessed_ns {
            set = set.set_accessed(time(ns));
        }
        if let Some(ns) = times.modified_ns {
            set = set.set_modified(time(ns));
        }
        self.file.set_times(set).map_err(errno_from)
    }

    pub(super) fn stat(&self, dev: u64) -> Stat {
        match self.file.metadata() {
            Ok(metadata) => stat_of(&Metadata::from_just_metadata(metadata), dev),
            Err(_) => Stat { dev, ino: 0, kind: Kind::File, nlink: 1, size: 0, times: Times::FIXED },
        }
    }

    fn writable_file(&self) -> Result<&std::fs::File, Errno> {
        if self.writable { Ok(&self.file) } else { Err(Errno::Rofs) }
    }
}

fn stat_of(metadata: &Metadata, dev: u64) -> Stat {
    let kind = match () {
        () if metadata.is_dir() => Kind::Directory,
        () if metadata.is_file() => Kind::File,
        () => Kind::Stream,
    };
    let modified = metadata.modified().map_or(0, |time| unix_ns(time.into_std()));
    let times = Times {
        accessed_ns: metadata.accessed().map_or(modified, |time| unix_ns(time.into_std())),
        modified_ns: modified,
        changed_ns: modified,
    };
    Stat { dev, ino: metadata.ino(), kind, nlink: metadata.nlink(), size: metadata.len(), times }
}

fn unix_ns(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Maps an error of the host to the errno that a cell gets.
fn errno_from(error: std::io::Error) -> Errno {
    if rustix::io::Errno::from_io_error(&error) == Some(rustix::io::Errno::LOOP) {
        return Errno::Loop;
    }
    match error.kind() {
        ErrorKind::NotFound => Errno::Noent,
        ErrorKind::AlreadyExists => Errno::Exist,
        ErrorKind::NotADirectory => Errno::Notdir,
        ErrorKind::IsADirectory => Errno::Isdir,
        ErrorKind::DirectoryNotEmpty => Errno::Notempty,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Errno::Nospc,
        ErrorKind::FileTooLarge => Errno::Fbig,
        ErrorKind::ReadOnlyFilesystem => Errno::Rofs,
        ErrorKind::InvalidInput | ErrorKind::InvalidFilename => Errno::Inval,
        // Also a path that would have led out of the folder.
        ErrorKind::PermissionDenied => Errno::Acces,
        _ => Errno::Io,
    }
}
