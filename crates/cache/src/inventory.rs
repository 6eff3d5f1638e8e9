//! What is in the cache, and getting rid of it. Content is not verified here: `open` does that.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::artefact::Found;
use super::lock::lock_name;
use super::{Bucket, Cache, Error, Flaw, Result, check_name, files, seal};

/// One name in a bucket.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Where it belongs.
    pub bucket: Bucket,
    /// Its name there.
    pub name: String,
    /// What it takes on disk: data and seal.
    pub bytes: u64,
    /// When it was made; unknown when damaged.
    pub made: Option<SystemTime>,
    /// When it was last opened, or made.
    pub last_used: Option<SystemTime>,
    /// What is wrong with it, as far as can be seen without reading the data.
    pub flaw: Option<Flaw>,
}

/// What to remove.
#[derive(Debug, Clone)]
pub enum Selection {
    /// Everything.
    All,
    /// One kind.
    Bucket(Bucket),
    /// Those of a kind whose names are such.
    Named(Bucket, fn(&str) -> bool),
    /// What was not opened for this long.
    UnusedFor(Duration),
    /// What could not be opened anyway.
    Damaged,
}

/// What `clean` did.
#[derive(Debug, Clone, Default)]
pub struct Cleaned {
    /// These are gone.
    pub removed: Vec<Entry>,
    /// These are being made by another process, and were left alone.
    pub busy: Vec<Entry>,
}

impl Cleaned {
    /// How much disk was freed.
    pub fn bytes(&self) -> u64 {
        self.removed.iter().map(|entry| entry.bytes).sum()
    }
}

impl Cache {
    /// Everything in the cache, by bucket and name.
    pub fn list(&self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for bucket in Bucket::ALL {
            entries.extend(self.list_bucket(bucket)?);
        }
        Ok(entries)
    }

    pub(super) fn list_bucket(&self, bucket: Bucket) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for name in self.candidate_names(bucket)? {
            entries.extend(self.survey_entry(bucket, &name)?);
        }
        Ok(entries)
    }

    /// Removes what is selected and not being made, and what dead processes left behind.
    pub fn clean(&self, selection: &Selection) -> Result<Cleaned> {
        self.remove_leftovers();
        let mut cleaned = Cleaned::default();
        for entry in self.list()?.into_iter().filter(|entry| selection.covers(entry)) {
            let Some(guard) = self.try_lock(&lock_name(entry.bucket, &entry.name), "cleaning the cache")? else {
                cleaned.busy.push(entry);
                continue;
            };
            // It may have been completed, or used, between the listing and the lock.
            let now = self.survey_entry(entry.bucket, &entry.name)?;
            if let Some(entry) = now.filter(|entry| selection.covers(entry)) {
                self.remove_artefact(&guard, entry.bucket, &entry.name)?;
                cleaned.removed.push(entry);
            }
            guard.release_and_remove();
        }
        Ok(cleaned)
    }

    /// The names in a bucket that could be artefacts', from data and seals alike.
    fn candidate_names(&self, bucket: Bucket) -> Result<BTreeSet<String>> {
        let dir = self.bucket_dir(bucket);
        let files = read_entries(&dir)?.into_iter().filter_map(|entry| entry.file_name().into_string().ok());
        let stems = files.map(|file| file.strip_suffix(seal::SUFFIX).unwrap_or(&file).to_owned());
        let trees = match bucket {
            Bucket::Venv => read_entries(&self.trees_dir())?,
            _ => Vec::new(),
        };
        let trees = trees.into_iter().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(stems.chain(trees).filter(|name| check_name(name).is_ok()).collect())
    }

    pub(super) fn survey_entry(&self, bucket: Bucket, name: &str) -> Result<Option<Entry>> {
        let paths = [self.data_path(bucket, name), self.seal_path(bucket, name)];
        let [data, seal] = paths.map(|path| fs::symlink_metadata(path).ok());
        let tree = Some(self.trees_dir().join(name)).filter(|tree| bucket == Bucket::Venv && tree.is_dir());
        let bytes =
            data.iter().chain(&seal).map(MetadataExt::size).sum::<u64>() + tree.as_deref().map_or(0, files::tree_size);
        let last_used = seal.or(data).and_then(|meta| meta.modified().ok());
        let (made, flaw) = match self.inspect_files(bucket, name)? {
            Found::Absent if tree.is_some() => (None, Some(Flaw::Unsealed)),
            Found::Absent => return Ok(None),
            Found::Whole(it) => (Some(UNIX_EPOCH + Duration::from_secs(it.seal.made)), None),
            Found::Flawed(flaw) => (None, Some(flaw)),
        };
        Ok(Some(Entry { bucket, name: name.to_owned(), bytes, made, last_used, flaw }))
    }
}

/// The entries of a folder. A read-only cache may lack the folder, which is the same as an empty one.
fn read_entries(dir: &Path) -> Result<Vec<fs::DirEntry>> {
    match fs::read_dir(dir) {
        Ok(entries) => Ok(entries.flatten().collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::io("list", dir)(error)),
    }
}

impl Selection {
    fn covers(&self, entry: &Entry) -> bool {
        match self {
            Selection::All => true,
            Selection::Bucket(bucket) => entry.bucket == *bucket,
            Selection::Named(bucket, is_such) => entry.bucket == *bucket && is_such(&entry.name),
            Selection::Damaged => entry.flaw.is_some(),
            Selection::UnusedFor(age) => {
                entry.last_used.and_then(|used| used.elapsed().ok()).is_some_and(|idle| idle >= *age)
            }
        }
    }
}
