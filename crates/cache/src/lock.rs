//! Advisory locks between processes (and threads) that share a cache. They order producers; they don't
//! guard readers, who trust digests. (That data is in use is a lock on the data itself: see `trim.rs`.)

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{Bucket, Cache, Error, MAX_NAME, Result, check_file_name};
use crate::progress::Progress;
use skillcell_quote::one_line;

/// A held lock, released by dropping it or by the end of the process. In a read-only cache there are no producers to order,
/// and it holds nothing.
#[derive(Debug)]
pub struct Guard {
    held: Option<(File, PathBuf)>,
}

impl Guard {
    /// Writes the holder's process id and purpose into the lock file. If that fails, only messages are vaguer.
    fn new(file: File, path: PathBuf, purpose: &str) -> Guard {
        let _ = file.set_len(0);
        let _ = file.write_all_at(format!("{} {purpose}\n", std::process::id()).as_bytes(), 0);
        Guard { held: Some((file, path)) }
    }

    /// Removes the lock's file too. Whoever waits for it finds it gone and starts over.
    pub(super) fn release_and_remove(self) {
        if let Some((_, path)) = &self.held {
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some((file, _)) = &self.held else { return };
        let _ = file.set_len(0);
        // Closing the file is not enough: a child that another thread is just starting has a copy of every open file until
        // its `exec`, and with it the lock.
        let _ = file.unlock();
    }
}

impl Cache {
    /// Takes the lock `name`, waiting as long as another holds it. `purpose` completes the sentence
    /// "waiting for another skillcell that is …".
    pub fn lock(&self, name: &str, purpose: &str, progress: &dyn Progress) -> Result<Guard> {
        let guard = match self.try_lock(name, purpose)? {
            Some(guard) => guard,
            None => self.wait_for_lock(name, purpose, progress)?,
        };
        self.remove_leftovers();
        Ok(guard)
    }

    fn wait_for_lock(&self, name: &str, purpose: &str, progress: &dyn Progress) -> Result<Guard> {
        let mut told = false;
        loop {
            let (path, file) = self.lock_file(name)?;
            if !std::mem::replace(&mut told, true) {
                progress.note(&waiting_message(&file));
            }
            lock_blocking(&file).map_err(Error::io("lock", &path))?;
            if is_still_at(&file, &path) {
                return Ok(Guard::new(file, path, purpose));
            }
        }
    }

    /// Takes the lock `name` if nobody holds it.
    pub(super) fn try_lock(&self, name: &str, purpose: &str) -> Result<Option<Guard>> {
        loop {
            let (path, file) = match self.lock_file(name) {
                Err(Error::Io { .. }) if !self.is_writable() => return Ok(Some(Guard { held: None })),
                opened => opened?,
            };
            match file.try_lock() {
                Ok(()) if is_still_at(&file, &path) => {
                    return Ok(Some(Guard::new(file, path, purpose)));
                }
                Ok(()) => {} // the last holder removed the file: open the new one, or create it
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
            }
        }
    }

    fn lock_file(&self, name: &str) -> Result<(PathBuf, File)> {
        check_file_name(name, MAX_NAME + 16)?;
        let path = self.locks_dir().join(name);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
        let file = options.open(&path).map_err(Error::io("open", &path))?;
        Ok((path, file))
    }
}

/// The name of an artefact's lock.
pub(super) fn lock_name(bucket: Bucket, name: &str) -> String {
    format!("{bucket}-{name}")
}

/// Whether `path` still names this open file.
pub(super) fn is_still_at(file: &File, path: &Path) -> bool {
    let identity = |meta: fs::Metadata| (meta.dev(), meta.ino());
    let (ours, theirs) = (file.metadata().map(identity), fs::symlink_metadata(path).map(identity));
    matches!((ours, theirs), (Ok(ours), Ok(theirs)) if ours == theirs)
}

fn lock_blocking(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn waiting_message(file: &File) -> String {
    let mut text = String::new();
    let _ = file.take(512).read_to_string(&mut text);
    match one_line(text.trim_end()).split_once(' ') {
        Some((pid, purpose)) => {
            format!("waiting for another skillcell (process {pid}) that is {purpose}")
        }
        None => "waiting for another skillcell".to_owned(),
    }
}
