//! The cache's verbs: open, make, replace, meta. Each is a few steps of the files beside this one.

use serde_json::Value;

use super::artefact::Found;
use super::lock::{Guard, lock_name};
use super::{Artefact, Bucket, Cache, Error, Flaw, Result, Writer, check_name, files, seal};
use crate::progress::Progress;

impl Cache {
    /// The artefact, if there is a whole one. A damaged one is removed, with a note, unless someone is
    /// making it right now; either way the answer is `None`.
    pub fn open(&self, bucket: Bucket, name: &str, progress: &dyn Progress) -> Result<Option<Artefact>> {
        check_name(name)?;
        match self.verify(bucket, name)? {
            Found::Whole(artefact) => Ok(Some(artefact)),
            Found::Absent => Ok(None),
            Found::Flawed(flaw) if !self.is_writable() => {
                let path = self.data_path(bucket, name);
                progress.note(&format!("the cache file `{}` is damaged: {flaw}", path.display()));
                Ok(None)
            }
            // What looks damaged may be half published; with the lock held it can't be.
            Found::Flawed(_) => match self.try_lock(&lock_name(bucket, name), "checking a cached file")? {
                Some(guard) => self.open_or_discard(&guard, bucket, name, progress),
                None => Ok(None),
            },
        }
    }

    /// The artefact, made by `produce` if there is no whole one. One process makes it, others wait for it.
    /// `produce` writes the data and returns what the seal is to say about it.
    pub fn make<E: From<Error>>(
        &self,
        bucket: Bucket,
        name: &str,
        purpose: &str,
        progress: &dyn Progress,
        produce: impl FnOnce(&mut Writer) -> Result<Value, E>,
    ) -> Result<Artefact, E> {
        if let Some(artefact) = self.open(bucket, name, progress)? {
            return Ok(artefact);
        }
        let guard = self.lock(&lock_name(bucket, name), purpose, progress)?;
        // Someone may have made it while we waited.
        if let Some(artefact) = self.open_or_discard(&guard, bucket, name, progress)? {
            return Ok(artefact);
        }
        self.produce_and_publish(&guard, bucket, name, progress, produce)
    }

    /// Makes the artefact anew, whether or not there is one.
    pub fn replace<E: From<Error>>(
        &self,
        bucket: Bucket,
        name: &str,
        purpose: &str,
        progress: &dyn Progress,
        produce: impl FnOnce(&mut Writer) -> Result<Value, E>,
    ) -> Result<Artefact, E> {
        check_name(name)?;
        let guard = self.lock(&lock_name(bucket, name), purpose, progress)?;
        self.produce_and_publish(&guard, bucket, name, progress, produce)
    }

    /// What the maker wrote about an artefact, from a valid seal; the data is not looked at.
    pub fn meta(&self, bucket: Bucket, name: &str) -> Result<Option<Value>> {
        Ok(self.valid_seal(bucket, name)?.map(|seal| seal.meta))
    }

    /// The size of an artefact's data, from a valid seal; the data is not looked at.
    pub fn bytes(&self, bucket: Bucket, name: &str) -> Result<Option<u64>> {
        Ok(self.valid_seal(bucket, name)?.map(|seal| seal.bytes))
    }

    fn valid_seal(&self, bucket: Bucket, name: &str) -> Result<Option<seal::Seal>> {
        check_name(name)?;
        let path = self.seal_path(bucket, name);
        match seal::read_seal(&path, &format!("{bucket}/{name}")) {
            Ok((_, seal)) => Ok(seal),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &path)(error)),
        }
    }

    fn produce_and_publish<E: From<Error>>(
        &self,
        guard: &Guard,
        bucket: Bucket,
        name: &str,
        progress: &dyn Progress,
        produce: impl FnOnce(&mut Writer) -> Result<Value, E>,
    ) -> Result<Artefact, E> {
        let mut writer = Writer::new(self)?;
        let made = produce(&mut writer);
        // A failed write is the cause of whatever error the producer returns.
        writer.check_written()?;
        writer.publish(self, guard, bucket, name, made?)?;
        let artefact = self.open_or_discard(guard, bucket, name, progress)?;
        Ok(artefact.ok_or_else(|| Error::Vanished { path: self.data_path(bucket, name) })?)
    }

    fn open_or_discard(
        &self,
        guard: &Guard,
        bucket: Bucket,
        name: &str,
        progress: &dyn Progress,
    ) -> Result<Option<Artefact>> {
        match self.verify(bucket, name)? {
            Found::Whole(artefact) => Ok(Some(artefact)),
            Found::Absent => Ok(None),
            Found::Flawed(_) if !self.is_writable() => Ok(None),
            Found::Flawed(flaw) => self.discard_damaged(guard, bucket, name, &flaw, progress).map(|()| None),
        }
    }

    fn discard_damaged(
        &self,
        guard: &Guard,
        bucket: Bucket,
        name: &str,
        flaw: &Flaw,
        progress: &dyn Progress,
    ) -> Result<()> {
        self.remove_artefact(guard, bucket, name)?;
        let path = self.data_path(bucket, name);
        progress.note(&format!("discarded the damaged cache file `{}`: {flaw}", path.display()));
        Ok(())
    }

    /// Removes an artefact, its seal first: data without a seal is never used.
    pub(super) fn remove_artefact(&self, _guard: &Guard, bucket: Bucket, name: &str) -> Result<()> {
        files::remove_any(&self.seal_path(bucket, name))?;
        files::remove_any(&self.data_path(bucket, name))?;
        files::remove_any(&self.stamp_path(bucket, name))?;
        if bucket == Bucket::Venv { files::remove_any(&self.tree_path(name)?) } else { Ok(()) }
    }
}
