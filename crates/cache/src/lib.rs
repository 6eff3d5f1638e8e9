//! The cache folder: artefacts that are costly to make and dangerous to trust blindly.
//!
//! It holds files that this program wrote and can make again; it is not a store of record. Nothing in it is trusted
//! because of its location: an artefact is returned only after the digest of the open file that the caller gets was checked, now
//! or, if the kernel says that the file was not changed since, earlier since this machine started (`stamp`).
//!
//! ```text
//! <cache>/              0700, ours or the administrator's; others can't write anything in it, and may read it
//!   v1/
//!     runtime/ code/ image/ pack/ venv/ one folder for each `Bucket`
//!       <name>                         the data, 0600
//!       <name>.seal                    its seal, 0600; renamed in last: the seal is the commit
//!     trees/<name>                     the folder of a `venv`, whose data is only its lock
//!     stamps/<bucket>-<name>           that its digest was checked, and what the kernel said of the file then
//!     locks/<bucket>-<name>            advisory locks: pid and purpose of the holder
//!     tmp/<pid>-<random>               work under way, locked by its writer
//! ```
//!
//! *Invariant*: data is replaced or removed only under the artefact's lock, and only while no seal names
//! it. So a process killed at any point leaves either a whole artefact or one that has no valid seal.

mod artefact;
mod digest;
mod draft;
mod error;
mod files;
mod forked;
mod inventory;
mod location;
mod lock;
mod pack;
#[deny(missing_docs)]
pub mod progress;
mod seal;
mod stamp;
mod store;
mod trim;

pub use artefact::{Artefact, Flaw};
pub use draft::{Scratch, Writer};
pub use error::{Error, is_shared};
pub use files::tree_size;
pub use forked::has_rayon_threads;
pub use inventory::{Entry, Selection};
pub use lock::Guard;
pub use pack::{Pack, PackEntry, check_path};

use std::path::{Path, PathBuf};

/// The result of cache work.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The version of the layout above: a change of it is a new folder, so old programs keep their own.
const LAYOUT: &str = "v1";

/// The kinds of artefact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bucket {
    /// Parts of a runtime: the standard library, the split modules.
    Runtime,
    /// Compiled code.
    Code,
    /// Memory images of skills.
    Image,
    /// File trees.
    Pack,
    /// Virtual environments: what is in them, each beside a tree.
    Venv,
}

impl Bucket {
    /// Every bucket, in the order that `list` reports them.
    pub const ALL: [Bucket; 5] = [Bucket::Runtime, Bucket::Code, Bucket::Image, Bucket::Pack, Bucket::Venv];

    /// The bucket's folder.
    pub fn as_str(self) -> &'static str {
        match self {
            Bucket::Runtime => "runtime",
            Bucket::Code => "code",
            Bucket::Image => "image",
            Bucket::Pack => "pack",
            Bucket::Venv => "venv",
        }
    }
}

impl std::fmt::Display for Bucket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A checked cache folder: owned by this user or root, and not writable for others. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
    named: PathBuf,
}

impl Cache {
    /// Chooses the folder (`explicit`, else `SKILLCELL_CACHE_DIR`, else the user's cache folder),
    /// creates it when absent, and refuses it when others could write there.
    pub fn locate(explicit: Option<&Path>) -> Result<Cache> {
        Cache::at(&location::choose_folder(explicit, &|name| std::env::var_os(name))?)
    }

    /// Uses this folder, under the same conditions as `locate`.
    pub fn at(folder: &Path) -> Result<Cache> {
        let named = std::path::absolute(folder).map_err(Error::io("resolve", folder))?;
        Ok(Cache { root: location::prepare_folder(folder)?, named })
    }

    /// The cache folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The cache folder as the caller named it, symbolic links not resolved.
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// Whether artefacts can be made here. A cache that is only read serves what is in it: nothing is locked, and last uses
    /// are not recorded.
    pub fn is_writable(&self) -> bool {
        rustix::fs::access(self.tmp_dir(), rustix::fs::Access::WRITE_OK).is_ok()
    }

    /// Fails early, before work whose result could not be stored.
    pub fn check_writable(&self) -> Result<()> {
        if self.is_writable() { Ok(()) } else { Err(Error::ReadOnly { path: self.root.clone() }) }
    }

    fn bucket_dir(&self, bucket: Bucket) -> PathBuf {
        self.root.join(LAYOUT).join(bucket.as_str())
    }

    /// Where the tree of a virtual environment is. It is written under the artefact's lock, while no seal names it.
    pub fn tree_path(&self, name: &str) -> Result<PathBuf> {
        check_name(name)?;
        Ok(self.trees_dir().join(name))
    }

    fn trees_dir(&self) -> PathBuf {
        self.root.join(LAYOUT).join("trees")
    }

    fn tmp_dir(&self) -> PathBuf {
        self.root.join(LAYOUT).join("tmp")
    }

    fn locks_dir(&self) -> PathBuf {
        self.root.join(LAYOUT).join("locks")
    }

    fn data_path(&self, bucket: Bucket, name: &str) -> PathBuf {
        self.bucket_dir(bucket).join(name)
    }

    fn seal_path(&self, bucket: Bucket, name: &str) -> PathBuf {
        self.bucket_dir(bucket).join(format!("{name}{}", seal::SUFFIX))
    }
}

/// The longest name of an artefact; its seal's and its lock's are a little longer.
const MAX_NAME: usize = 160;

/// A name is one plain file name that can't be mistaken for a seal, a hidden file or a path.
fn check_name(name: &str) -> Result<()> {
    check_file_name(name, MAX_NAME)
}

fn check_file_name(name: &str, longest: usize) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    let fine = (1..=longest).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with('.')
        && !name.ends_with(seal::SUFFIX);
    if fine { Ok(()) } else { Err(Error::Name { name: name.to_owned() }) }
}

#[cfg(test)]
mod tests;
