//! Bounds what a bucket takes on disk: removes what is too old, then what was used least recently.
//!
//! Data that a process has open or mapped stays; a shared lock on it says so ([`Cache::verify`]). Removing it would be
//! harmless, since the process keeps its file, but would free no space, and the next process would make it again.

use std::fs::TryLockError;
use std::time::{Duration, SystemTime};

use super::lock::lock_name;
use super::{Bucket, Cache, Entry, Result, files};

impl Cache {
    /// What a bucket takes on disk.
    pub fn bucket_bytes(&self, bucket: Bucket) -> Result<u64> {
        Ok(self.list_bucket(bucket)?.iter().map(|entry| entry.bytes).sum())
    }

    /// Removes from a bucket what was made longer ago than `max_age`, and then, until the rest takes `max_bytes`, what
    /// was not used for longest. What is in use or being made stays. Gives what it removed.
    pub fn trim(&self, bucket: Bucket, max_bytes: u64, max_age: Duration) -> Result<Vec<Entry>> {
        let mut entries = self.list_bucket(bucket)?;
        entries.sort_by_key(|entry| entry.last_used.unwrap_or(SystemTime::UNIX_EPOCH));
        let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let mut removed = Vec::new();
        for entry in entries {
            let too_old = is_older_than(entry.made, max_age);
            if !too_old && total <= max_bytes {
                continue;
            }
            // If it is locked, another process is making it.
            let Some(guard) = self.try_lock(&lock_name(bucket, &entry.name), "making room in the cache")? else {
                continue;
            };
            // It may have been used, or made anew, since it was listed.
            let now = self.survey_entry(bucket, &entry.name)?;
            let as_listed = now.is_some_and(|now| now.last_used == entry.last_used);
            if as_listed && !self.is_in_use(bucket, &entry.name) {
                self.remove_artefact(&guard, bucket, &entry.name)?;
                total = total.saturating_sub(entry.bytes);
                removed.push(entry);
            }
            guard.release_and_remove();
        }
        Ok(removed)
    }

    /// Whether a live process has the data open or mapped. False where the file system has no locks.
    fn is_in_use(&self, bucket: Bucket, name: &str) -> bool {
        let data = files::open_plain(&self.data_path(bucket, name));
        data.is_ok_and(|data| matches!(data.try_lock(), Err(TryLockError::WouldBlock)))
    }
}

fn is_older_than(time: Option<SystemTime>, age: Duration) -> bool {
    time.and_then(|time| time.elapsed().ok()).is_some_and(|elapsed| elapsed > age)
}
