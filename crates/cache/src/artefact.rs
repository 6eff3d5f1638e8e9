//! Opening an artefact: everything that is checked before its bytes are trusted. Removes nothing.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use rustix::io::Errno;
use serde_json::Value;

use super::{Bucket, Cache, Error, Result, digest, files, seal};

/// Verified data: `file` is the open file whose digest was checked, at offset 0.
#[derive(Debug)]
pub struct Artefact {
    /// The open data, for reading or mapping.
    pub file: File,
    /// What its maker wrote about it.
    pub meta: Value,
    /// The size of the data.
    pub bytes: u64,
    /// blake3 of the data.
    pub digest: blake3::Hash,
    /// Where it is; for messages, since only `file` was checked.
    pub path: PathBuf,
}

/// Why an entry of the cache is not an artefact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The data has no seal: its maker was interrupted.
    #[error("it was never completed")]
    Unsealed,
    /// The seal itself is damaged, foreign or another artefact's.
    #[error("its seal is not valid")]
    Seal,
    /// A seal without data.
    #[error("its data is missing")]
    Missing,
    /// Not a file that the cache wrote.
    #[error("{0}")]
    Foreign(&'static str),
    /// Truncated or grown.
    #[error("it has {found} bytes instead of {sealed}")]
    Size { sealed: u64, found: u64 },
    /// Altered.
    #[error("its content is not what was sealed")]
    Digest,
    /// The disk or the permissions keep its bytes from being read.
    #[error("it can't be read")]
    Unreadable,
}

/// What is under a name.
pub(super) enum Found<T> {
    Absent,
    Whole(T),
    Flawed(Flaw),
}

/// An artefact whose digest is not verified yet.
pub(super) struct Unverified {
    pub(super) file: File,
    pub(super) seal: seal::Seal,
    pub(super) seal_file: File,
}

impl Cache {
    /// Checks all but the content: cheap, and enough for a listing.
    pub(super) fn inspect_files(&self, bucket: Bucket, name: &str) -> Result<Found<Unverified>> {
        let (seal_file, seal) = match self.read_seal(bucket, name)? {
            Found::Whole(read) => read,
            Found::Absent => return Ok(Found::Absent),
            Found::Flawed(flaw) => return Ok(Found::Flawed(flaw)),
        };
        let data = self.data_path(bucket, name);
        let file = match files::open_plain(&data) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(Found::Flawed(Flaw::Missing)),
            Err(error) if blames_the_file(&error) => return Ok(Found::Flawed(Flaw::Unreadable)),
            Err(error) => return Err(Error::io("open", &data)(error)),
        };
        let meta = file.metadata().map_err(Error::io("inspect", &data))?;
        if let Some(why) = files::why_foreign(&meta) {
            return Ok(Found::Flawed(Flaw::Foreign(why)));
        }
        let (sealed, found) = (seal.bytes, meta.len());
        if sealed != found {
            return Ok(Found::Flawed(Flaw::Size { sealed, found }));
        }
        Ok(Found::Whole(Unverified { file, seal, seal_file }))
    }

    fn read_seal(&self, bucket: Bucket, name: &str) -> Result<Found<(File, seal::Seal)>> {
        let path = self.seal_path(bucket, name);
        match seal::read_seal(&path, &format!("{bucket}/{name}")) {
            Ok((file, Some(seal))) => Ok(Found::Whole((file, seal))),
            Ok((_, None)) => Ok(Found::Flawed(Flaw::Seal)),
            Err(error) if is_absent(&error) => {
                let bare = fs::symlink_metadata(self.data_path(bucket, name)).is_ok();
                Ok(if bare { Found::Flawed(Flaw::Unsealed) } else { Found::Absent })
            }
            Err(error) if blames_the_file(&error) => Ok(Found::Flawed(Flaw::Seal)),
            Err(error) => Err(Error::io("read", &path)(error)),
        }
    }

    /// What is wrong with an artefact, if anything; it is left as it is.
    pub fn find_flaw(&self, bucket: Bucket, name: &str) -> Result<Option<Flaw>> {
        Ok(match self.verify_anew(bucket, name)? {
            Found::Flawed(flaw) => Some(flaw),
            Found::Absent | Found::Whole(_) => None,
        })
    }

    /// Checks everything, but for the content of a file that was checked before and that nothing changed since.
    pub(super) fn verify(&self, bucket: Bucket, name: &str) -> Result<Found<Artefact>> {
        let unverified = match self.inspect_files(bucket, name)? {
            Found::Whole(unverified) => unverified,
            Found::Absent => return Ok(Found::Absent),
            Found::Flawed(flaw) => return Ok(Found::Flawed(flaw)),
        };
        let sealed = unverified.seal.digest();
        match blake3::Hash::from_hex(sealed) {
            Ok(digest) if self.is_stamped(bucket, name, &unverified.file, sealed) => {
                Ok(Found::Whole(self.use_verified(bucket, name, unverified, digest)))
            }
            _ => self.verify_content(bucket, name, unverified),
        }
    }

    /// Checks everything, whatever was checked before.
    fn verify_anew(&self, bucket: Bucket, name: &str) -> Result<Found<Artefact>> {
        match self.inspect_files(bucket, name)? {
            Found::Whole(unverified) => self.verify_content(bucket, name, unverified),
            Found::Absent => Ok(Found::Absent),
            Found::Flawed(flaw) => Ok(Found::Flawed(flaw)),
        }
    }

    fn verify_content(&self, bucket: Bucket, name: &str, unverified: Unverified) -> Result<Found<Artefact>> {
        let (file, sealed) = (&unverified.file, unverified.seal.digest());
        let before = self.before_check(file);
        let digest = match digest::hash_file(file) {
            Ok(digest) => digest,
            Err(error) if blames_the_file(&error) => return Ok(Found::Flawed(Flaw::Unreadable)),
            Err(error) => return Err(Error::io("read", &self.data_path(bucket, name))(error)),
        };
        if !unverified.seal.matches_digest(&digest) {
            return Ok(Found::Flawed(Flaw::Digest));
        }
        self.stamp(bucket, name, file, sealed, before);
        Ok(Found::Whole(self.use_verified(bucket, name, unverified, digest)))
    }

    fn use_verified(&self, bucket: Bucket, name: &str, unverified: Unverified, digest: blake3::Hash) -> Artefact {
        let Unverified { file, seal, seal_file } = unverified;
        // The shared lock lasts until the file is neither open nor mapped any more; `trim` sees by it that the data is in use.
        let _ = file.try_lock_shared();
        // Records the last use. Where that fails, cleaning by age is only less exact.
        let _ = seal_file.set_modified(SystemTime::now());
        Artefact { file, meta: seal.meta, bytes: seal.bytes, digest, path: self.data_path(bucket, name) }
    }
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Whether the file itself causes the error, so that making the artefact again helps. Others, such as too many open files,
/// must not discard a good artefact.
fn blames_the_file(error: &io::Error) -> bool {
    let blamed = [Errno::LOOP, Errno::NXIO, Errno::ACCESS, Errno::PERM, Errno::IO];
    Errno::from_io_error(error).is_some_and(|errno| blamed.contains(&errno))
}
