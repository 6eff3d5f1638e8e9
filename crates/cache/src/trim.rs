//! Keeps the images from filling the disk: what can't be used any more goes, then what was not used for longest.
//!
//! An image that is removed while a process has it mapped goes on serving that process, and is baked again by the next.

use std::time::{Duration, SystemTime};

use super::lock::name_for;
use super::{Bucket, Cache, Entry, Result};

/// What was used no longer ago than this is in use, and stays whatever it takes.
pub const IN_USE: Duration = Duration::from_secs(3600);

impl Cache {
    /// What a bucket takes on disk.
    pub fn bucket_bytes(&self, bucket: Bucket) -> Result<u64> {
        Ok(self.list_bucket(bucket)?.iter().map(|entry| entry.bytes).sum())
    }

    /// Removes from a bucket what was made longer ago than `max_age`, and then, until the rest takes `max_bytes`, what
    /// was not used for longest. Gives what it removed.
    pub fn trim(&self, bucket: Bucket, max_bytes: u64, max_age: Duration) -> Result<Vec<Entry>> {
        let mut entries = self.list_bucket(bucket)?;
        entries.sort_by_key(|entry| entry.last_used.unwrap_or(SystemTime::UNIX_EPOCH));
        let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let mut removed = Vec::new();
        for entry in entries {
            let too_old = older(entry.made, max_age);
            if !older(entry.last_used, IN_USE) || !(too_old || total > max_bytes) {
                continue;
            }
            // Whoever holds the lock is making it.
            let Some(guard) = self.try_lock(&name_for(bucket, &entry.name), "making room in the cache")? else {
                continue;
            };
            let now = self.survey(bucket, &entry.name)?;
            if now.is_some_and(|now| older(now.last_used, IN_USE)) {
                self.remove(&guard, bucket, &entry.name)?;
                total = total.saturating_sub(entry.bytes);
                removed.push(entry);
            }
            guard.retire();
        }
        Ok(removed)
    }
}

fn older(time: Option<SystemTime>, age: Duration) -> bool {
    time.and_then(|time| time.elapsed().ok()).is_some_and(|elapsed| elapsed > age)
}
