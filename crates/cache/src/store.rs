//! The cache's verbs: open, make, replace, meta. Each is a few steps of the files beside this one.

use serde_json::Value;

use super::artefact::Found;
use super::lock::{Guard, name_for};
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
            // What looks damaged may be half published: only the lock's holder can tell.
            Found::Flawed(_) => match self.try_lock(&name_for(bucket, name), "checking a cached file")? {
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
        let guard = self.lock(&name_for(bucket, name), purpose, progress)?;
        // Someone may have made it while we waited.
        if let Some(artefact) = self.open_or_discard(&guard, bucket, name, progress)? {
            return Ok(artefact);
        }
        self.produce(&guard, bucket, name, progress, produce)
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
        let guard = self.lock(&name_for(bucket, name), purpose, progress)?;
        self.produce(&guard, bucket, name, progress, produce)
    }

    /// What the maker wrote about an artefact, from a valid seal; the data is not looked at.
    pub fn meta(&self, bucket: Bucket, name: &str) -> Result<Option<Value>> {
        Ok(self.seal(bucket, name)?.map(|seal| seal.meta))
    }

    /// How long an artefact is, likewise.
    pub fn bytes(&self, bucket: Bucket, name: &str) -> Result<Option<u64>> {
        Ok(self.seal(bucket, name)?.map(|seal| seal.bytes))
    }

    fn seal(&self, bucket: Bucket, name: &str) -> Result<Option<seal::Seal>> {
        check_name(name)?;
        let path = self.seal_path(bucket, name);
        match seal::read(&path, &format!("{bucket}/{name}")) {
            Ok((_, seal)) => Ok(seal),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &path)(error)),
        }
    }

    fn produce<E: From<Error>>(
        &self,
        guard: &Guard,
        bucket: Bucket,
        name: &str,
        progress: &dyn Progress,
        produce: impl FnOnce(&mut Writer) -> Result<Value, E>,
    ) -> Result<Artefact, E> {
        let mut writer = Writer::new(self)?;
        let made = produce(&mut writer);
        // A failed write explains whatever the producer made of it.
        writer.check()?;
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
            Found::Flawed(flaw) => self.discard(guard, bucket, name, &flaw, progress).map(|()| None),
        }
    }

    fn discard(&self, guard: &Guard, bucket: Bucket, name: &str, flaw: &Flaw, progress: &dyn Progress) -> Result<()> {
        self.remove(guard, bucket, name)?;
        let path = self.data_path(bucket, name);
        progress.note(&format!("discarded the damaged cache file `{}`: {flaw}", path.display()));
        Ok(())
    }

    /// Removes an artefact, its seal first: data without a seal is nothing.
    pub(super) fn remove(&self, _guard: &Guard, bucket: Bucket, name: &str) -> Result<()> {
        files::remove(&self.seal_path(bucket, name))?;
        files::remove(&self.data_path(bucket, name))?;
        if bucket == Bucket::Venv { files::remove(&self.tree_path(name)?) } else { Ok(()) }
    }
}
