//! Work under way: files and folders in `v1/tmp`, each locked by its writer for as long as it lives.
//!
//! The lock, not the process id in the name, tells a leftover from work under way: process ids are reused, and differ
//! between containers that share a cache.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::digest::update_hasher;
use super::lock::{Guard, is_still_at};
use super::seal::Seal;
use super::{Bucket, Cache, Error, Result, files, location};

/// From here on hashing in parallel is worth waking other threads.
const PARALLEL_BYTES: usize = 256 << 10;

/// Takes an artefact's data. What is dropped without being published is removed.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    hasher: blake3::Hasher,
    bytes: u64,
    needed: u64,
    failure: Option<io::Error>,
}

impl Writer {
    pub(super) fn new(cache: &Cache) -> Result<Writer> {
        let (path, file) = create_locked(&cache.tmp_dir(), files::create_new)?;
        Ok(Writer { file, path, hasher: blake3::Hasher::new(), bytes: 0, needed: 0, failure: None })
    }

    /// What was written, for reading. It is the file that will be published.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Fails if any write failed, with that first error: the producer may have wrapped or swallowed it.
    pub(super) fn check_written(&mut self) -> Result<()> {
        match self.failure.take() {
            Some(source) => Err(self.write_error(source)),
            None => Ok(()),
        }
    }

    fn write_error(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), needed: self.needed, source }
    }

    /// Puts the data in place, then its seal. The guard is the artefact's own.
    pub(super) fn publish(
        mut self,
        cache: &Cache,
        _guard: &Guard,
        bucket: Bucket,
        name: &str,
        meta: Value,
    ) -> Result<()> {
        self.check_written()?;
        let seal = Seal::new(format!("{bucket}/{name}"), self.hasher.finalize(), self.bytes, meta).encode()?;
        let mut sealing = Writer::new(cache)?;
        let sealed = sealing.write_all(&seal);
        sealing.check_written()?;
        sealed.map_err(|source| sealing.write_error(source))?;
        // The old seal goes first: a crash in between must not leave new data under the old seal.
        files::remove_any(&cache.seal_path(bucket, name))?;
        self.rename_to(&cache.data_path(bucket, name))?;
        sealing.rename_to(&cache.seal_path(bucket, name))
    }

    fn rename_to(&self, target: &Path) -> Result<()> {
        self.file.sync_all().map_err(|source| self.write_error(source))?;
        fs::rename(&self.path, target).map_err(Error::io("create", target))?;
        files::sync_dir(target.parent().expect("a file of the cache is in a folder"))
    }
}

impl Write for Writer {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.needed = self.needed.max(self.bytes + buf.len() as u64);
        let done = match self.file.write(buf) {
            Ok(done) => done,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                let kind = error.kind();
                self.failure.get_or_insert(error);
                return Err(kind.into());
            }
        };
        if done < PARALLEL_BYTES {
            self.hasher.update(&buf[..done]);
        } else {
            update_hasher(&mut self.hasher, &buf[..done]);
        }
        self.bytes += done as u64;
        Ok(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // After publishing, nothing has this name any more.
        let _ = fs::remove_file(&self.path);
    }
}

/// A private folder for work such as downloads; removed, with all that is in it, when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _locked: File,
}

impl Scratch {
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl Cache {
    /// A new private folder on the cache's disk.
    pub fn scratch(&self) -> Result<Scratch> {
        let make = |path: &Path| files::create_dir(path).and_then(|()| File::open(path));
        let (path, locked) = create_locked(&self.tmp_dir(), make)?;
        Ok(Scratch { path, _locked: locked })
    }

    /// These bytes in a file on the cache's disk that has no name: it is gone when it is closed, and no one else can open it.
    pub fn unnamed_file(&self, parts: &[&[u8]]) -> Result<File> {
        let (path, mut file) = create_locked(&self.tmp_dir(), files::create_new)?;
        files::remove_any(&path)?;
        let needed = parts.iter().map(|part| part.len() as u64).sum();
        let written = parts.iter().try_for_each(|part| file.write_all(part));
        written.map_err(|source| Error::Write { path, needed, source })?;
        Ok(file)
    }

    /// Removes what dead processes left behind. Best effort: what can't be removed now can be later.
    pub(super) fn remove_leftovers(&self) {
        let Ok(entries) = fs::read_dir(self.tmp_dir()) else {
            return;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            // A new file may not be locked yet. If it is removed here, `create_locked` notices and takes another name.
            let left = files::open_plain(&path).map(|f| f.try_lock().is_ok() && is_still_at(&f, &path));
            // These errors mean that it is no plain file, so not a draft. Any other error, such as too many open files, says
            // nothing about it.
            let odd = |error: io::Error| {
                use rustix::io::Errno;
                let odd = [Errno::LOOP, Errno::NXIO, Errno::ACCESS];
                odd.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
            };
            if left.unwrap_or_else(odd) {
                let _ = files::remove_any(&path);
            }
        }
    }
}

/// Creates something under a new name and locks it, before `remove_leftovers` can take it for a leftover.
pub(super) fn create_locked(dir: &Path, create: impl Fn(&Path) -> io::Result<File>) -> Result<(PathBuf, File)> {
    loop {
        let random = getrandom::u64().map_err(|e| Error::io("name a file in", dir)(io::Error::other(e)))?;
        let path = dir.join(format!("{}-{random:016x}", std::process::id()));
        let file = match create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) if location::is_read_only(&error) => return Err(Error::ReadOnly { path: dir.to_owned() }),
            Err(source) => {
                return Err(Error::Write { path, needed: 0, source });
            }
            Ok(file) => file,
        };
        match file.try_lock() {
            Ok(()) if is_still_at(&file, &path) => return Ok((path, file)),
            Ok(()) | Err(fs::TryLockError::WouldBlock) => continue,
            Err(fs::TryLockError::Error(error)) => {
                let _ = files::remove_any(&path);
                return Err(Error::io("lock", &path)(error));
            }
        }
    }
}
