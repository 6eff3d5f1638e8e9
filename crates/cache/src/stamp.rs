//! Stamps: which artefacts had their digest checked since this machine started, so that a program that starts soon after does
//! not read hundreds of megabytes again to find them as they were.
//!
//! ```text
//! {"digest":"<as the seal has it>","boot":"<the kernel's id of this boot>","checked":<unix s>,
//!  "device":N,"inode":N,"bytes":N,"modified":[s,ns],"changed":[s,ns]}
//! ```
//!
//! A stamp counts for an open file of which the kernel says all of this. Whatever writes to a file, cuts it, or puts another one
//! in its place gives it another inode or another `changed`, which nobody can set: the kernel takes it from its clock. So who
//! could make a stamp hold for other bytes would have to set the machine's clock, write to the disk beside its file system, or
//! write in the cache's folder; and that one can write a seal as well. What a stamp does not see is a disk that
//! loses bits after the check: therefore it ends with the boot, and after a day. It is left out where `changed` is not the local
//! kernel's (network file systems, FUSE), where a write through a mapping does not show in it (tmpfs), and where the file was
//! changed so recently that another write could have the same time.

use std::fs::{self, File, Metadata};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{Bucket, Cache, draft, files};

/// How long a check counts.
const LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// A file that was changed within this time could be changed again with the same time in its inode.
const SETTLED: Duration = Duration::from_secs(2);
/// Smaller files are hashed sooner than a stamp is read.
const WORTH_IT: u64 = 128 << 10;
const MAX_BYTES: u64 = 4096;
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Numbers of file systems by `statfs`: ext4, XFS, Btrfs, F2FS, and overlayfs, which shows the times of those below it.
const LOCAL: [u32; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x794c_7630];

/// A file as the kernel shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    fn of(meta: &Metadata) -> Identity {
        Identity {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    fn is_settled(&self) -> bool {
        let changed = u64::try_from(self.changed.0).map(Duration::from_secs);
        let age = changed.ok().and_then(|changed| since_epoch().checked_sub(changed));
        age.is_some_and(|age| age > SETTLED)
    }
}

#[derive(Serialize, Deserialize)]
struct Stamp {
    digest: String,
    boot: String,
    checked: u64,
    #[serde(flatten)]
    file: Identity,
}

/// A file that is about to be hashed, as it is before that.
pub(super) struct BeforeCheck(Option<Identity>);

impl Cache {
    /// Whether this open file was found to have this digest, and was not changed since.
    pub(super) fn is_stamped(&self, bucket: Bucket, name: &str, file: &File, digest: &str) -> bool {
        let Some(Identity { .. }) = worth_a_stamp(file) else { return false };
        let (Some(stamp), Some(boot)) = (read_stamp(&self.stamp_path(bucket, name)), boot_id()) else { return false };
        let age = since_epoch().checked_sub(Duration::from_secs(stamp.checked));
        // Looked at last: what is true of the file then is true of what is mapped next.
        stamp.digest == digest
            && stamp.boot == boot
            && age.is_some_and(|age| age < LIFETIME)
            && worth_a_stamp(file).is_some_and(|now| now == stamp.file)
    }

    /// Looks at a file before it is hashed.
    pub(super) fn before_check(&self, file: &File) -> BeforeCheck {
        BeforeCheck(worth_a_stamp(file).filter(|file| file.is_settled()))
    }

    /// Records that a file has this digest, if nothing changed it while it was hashed. Where that fails, the next program hashes
    /// it again.
    pub(super) fn stamp(&self, bucket: Bucket, name: &str, file: &File, digest: &str, before: BeforeCheck) {
        let (Some(before), Some(boot)) = (before.0, boot_id()) else { return };
        if !is_local(file) || worth_a_stamp(file).is_none_or(|after| after != before) {
            return;
        }
        let stamp = Stamp { digest: digest.to_owned(), boot, checked: since_epoch().as_secs(), file: before };
        let Ok(text) = serde_json::to_vec(&stamp) else { return };
        let Ok((draft, mut out)) = draft::create_locked(&self.tmp_dir(), files::create_new) else { return };
        let written = out.write_all(&text).and_then(|()| fs::rename(&draft, self.stamp_path(bucket, name)));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
    }

    pub(super) fn stamp_path(&self, bucket: Bucket, name: &str) -> PathBuf {
        self.root.join(super::LAYOUT).join("stamps").join(format!("{bucket}-{name}"))
    }
}

fn worth_a_stamp(file: &File) -> Option<Identity> {
    let meta = file.metadata().ok()?;
    (meta.len() >= WORTH_IT).then(|| Identity::of(&meta))
}

fn read_stamp(path: &Path) -> Option<Stamp> {
    let file = files::open_plain(path).ok()?;
    let meta = file.metadata().ok()?;
    if files::why_foreign(&meta).is_some() || meta.len() > MAX_BYTES {
        return None;
    }
    let mut text = Vec::new();
    (&file).take(MAX_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn boot_id() -> Option<String> {
    let id = fs::read_to_string(BOOT_ID).ok()?;
    Some(id.trim_end().to_owned()).filter(|id| !id.is_empty())
}

#[cfg(target_os = "linux")]
fn is_local(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|about| u32::try_from(about.f_type).is_ok_and(|kind| LOCAL.contains(&kind)))
}

#[cfg(not(target_os = "linux"))]
fn is_local(_: &File) -> bool {
    false
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs::FileTimes;
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::progress::Silent;
    use crate::{Artefact, Error};

    const NAME: &str = "x";

    /// A cache with one artefact, whose file has not been changed for long enough; none where the file system of temporary files
    /// is not one of those whose times count.
    struct Stamped(tempfile::TempDir, Cache);

    fn stamped() -> Option<Stamped> {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(&dir.path().join("cache")).unwrap();
        let data = vec![7; WORTH_IT as usize];
        let make = |out: &mut crate::Writer| {
            out.write_all(&data).unwrap();
            Ok::<_, Error>(serde_json::Value::Null)
        };
        cache.make(Bucket::Code, NAME, "testing", &Silent, make).unwrap();
        assert!(!cache.stamp_path(Bucket::Code, NAME).exists(), "a file that was just written gets no stamp");
        std::thread::sleep(SETTLED + Duration::from_millis(1100));
        let file = open(&cache).unwrap().file;
        if !is_local(&file) {
            eprintln!("skipped: temporary files are on a file system that gets no stamps");
            return None;
        }
        assert!(is_trusted(&cache, &file));
        Some(Stamped(dir, cache))
    }

    fn open(cache: &Cache) -> Option<Artefact> {
        cache.open(Bucket::Code, NAME, &Silent).unwrap()
    }

    fn is_trusted(cache: &Cache, file: &File) -> bool {
        let digest = blake3::hash(&vec![7; WORTH_IT as usize]).to_hex();
        cache.is_stamped(Bucket::Code, NAME, file, &digest)
    }

    fn rewrite(cache: &Cache, change: impl FnOnce(&mut Stamp)) {
        let path = cache.stamp_path(Bucket::Code, NAME);
        let mut stamp = read_stamp(&path).unwrap();
        change(&mut stamp);
        fs::write(path, serde_json::to_vec(&stamp).unwrap()).unwrap();
    }

    /// One after the other, since a file has to lie untouched for seconds before it gets a stamp.
    #[test]
    fn a_stamp_ends_with_the_first_change_with_the_boot_and_after_a_day() {
        let Some(Stamped(_dir, cache)) = stamped() else { return };
        let path = cache.data_path(Bucket::Code, NAME);
        let file = open(&cache).unwrap().file;
        rewrite(&cache, |stamp| stamp.boot.push('x'));
        assert!(!is_trusted(&cache, &file), "another boot");
        // It is checked anew then, and stamped anew.
        assert!(open(&cache).is_some() && is_trusted(&cache, &file));
        rewrite(&cache, |stamp| stamp.checked -= LIFETIME.as_secs());
        assert!(!is_trusted(&cache, &file), "a day later");
        rewrite(&cache, |stamp| stamp.checked += 2 * LIFETIME.as_secs());
        assert!(!is_trusted(&cache, &file), "from the future");
        assert!(open(&cache).is_some() && is_trusted(&cache, &file));
        rewrite(&cache, |stamp| stamp.digest.replace_range(..1, "z"));
        assert!(!is_trusted(&cache, &file), "another digest");
        assert!(open(&cache).is_some() && is_trusted(&cache, &file));
        // Someone changes a byte through an open file, and puts back what can be put back: size and times.
        let times = file.metadata().unwrap();
        let writing = File::options().write(true).open(&path).unwrap();
        writing.write_all_at(b"!", 4000).unwrap();
        writing.set_times(FileTimes::new().set_modified(times.modified().unwrap())).unwrap();
        assert_eq!(file.metadata().unwrap().modified().unwrap(), times.modified().unwrap());
        assert!(!is_trusted(&cache, &file), "a changed byte");
        assert!(open(&cache).is_none(), "and the digest tells");
        assert!(!cache.stamp_path(Bucket::Code, NAME).exists(), "a stamp goes with its artefact");
    }

    #[test]
    fn another_file_in_its_place_is_hashed() {
        let Some(Stamped(_dir, cache)) = stamped() else { return };
        let path = cache.data_path(Bucket::Code, NAME);
        let copy = path.with_extension("copy");
        fs::copy(&path, &copy).unwrap();
        fs::rename(copy, &path).unwrap();
        assert!(!is_trusted(&cache, &File::open(&path).unwrap()));
        assert!(open(&cache).is_some(), "it has the same bytes");
    }

    #[test]
    fn whoever_asks_for_flaws_has_all_of_it_read() {
        let Some(Stamped(_dir, cache)) = stamped() else { return };
        let path = cache.data_path(Bucket::Code, NAME);
        File::options().write(true).open(&path).unwrap().write_all_at(b"!", 0).unwrap();
        // As a disk would lose a bit: nobody wrote, as far as the stamp knows.
        let file = File::open(&path).unwrap();
        rewrite(&cache, |stamp| stamp.file = worth_a_stamp(&file).unwrap());
        assert!(is_trusted(&cache, &file));
        assert_eq!(cache.find_flaw(Bucket::Code, NAME).unwrap(), Some(crate::Flaw::Digest));
    }
}
