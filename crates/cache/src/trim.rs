//! Keeps the images from filling the disk: what can't be used any more goes, then what was not used for longest.
//!
//! What a process has open or mapped stays: it holds a shared lock on the data ([`Cache::verify`]). Removing it would harm
//! nobody (the process goes on with the file that it has), but free nothing either, and the next process would make it again.

use std::fs::TryLockError;
use std::time::{Duration, SystemTime};

use super::lock::name_for;
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
            let too_old = older(entry.made, max_age);
            if !too_old && total <= max_bytes {
                continue;
            }
            // Whoever holds the lock is making it.
            let Some(guard) = self.try_lock(&name_for(bucket, &entry.name), "making room in the cache")? else {
                continue;
            };
            // It may have been used, or made anew, since it was listed.
            let now = self.survey(bucket, &entry.name)?;
            let as_listed = now.is_some_and(|now| now.last_used == entry.last_used);
            if as_listed && !self.is_in_use(bucket, &entry.name) {
                self.remove(&guard, bucket, &entry.name)?;
                total = total.saturating_sub(entry.bytes);
                removed.push(entry);
            }
            guard.retire();
        }
        Ok(removed)
    }

    /// Whether a process that lives has the data open or mapped. Where files can't be locked, nobody can tell.
    fn is_in_use(&self, bucket: Bucket, name: &str) -> bool {
        let data = files::open_plain(&self.data_path(bucket, name));
        data.is_ok_and(|data| matches!(data.try_lock(), Err(TryLockError::WouldBlock)))
    }
}

fn older(time: Option<SystemTime>, age: Duration) -> bool {
    time.and_then(|time| time.elapsed().ok()).is_some_and(|elapsed| elapsed > age)
}
