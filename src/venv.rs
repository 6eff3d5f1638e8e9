//! Virtual environments: a skill's requirements as real packages, native ones too, for the tiers that run a Python of
//! this machine.
//!
//! pip resolves the requirements once; what it chose is locked by sha256 and installed from that lock. Only wheels are
//! taken: building a package would run its code on the host. The tree is made in place, under the lock of its artefact
//! in the cache, and is there for others once its seal is. What is in it is a stranger's: **its Python is to be started
//! in a sandbox only**, since a package may have put anything there, even in place of the interpreter.

mod error;
mod foreign;
mod lock;
mod pip;
mod python;
mod requirement;
mod resolve;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

pub use error::VenvError;
pub use foreign::Foreign;
pub use lock::{Lock, Locked};
pub use python::BasePython;

use self::pip::Pip;
use self::requirement::Wanted;
use crate::cache::{Artefact, Bucket, Cache, Writer, size};
use crate::progress::Progress;
use crate::provision::{Fetch, Pin, pins};

type Result<T, E = VenvError> = std::result::Result<T, E>;

/// Raise it when environments must be made anew.
const FORMAT: &str = "3";
/// The longest lock that is read back.
const MAX_LOCK_BYTES: u64 = 4 << 20;

/// An environment that is whole: Skillware as pinned, what a skill requires, and what those need.
#[derive(Debug, Clone)]
pub struct Venv {
    root: PathBuf,
    base: BasePython,
    lock: Lock,
    bytes: u64,
    downloaded: u64,
}

impl Venv {
    /// The environment with these requirements and `extras` besides (pytest, say), made if it is not in the cache.
    pub(crate) fn for_requirements(
        cache: &Cache,
        fetch: &Fetch,
        progress: &dyn Progress,
        requirements: &[String],
        extras: &[String],
    ) -> Result<Venv> {
        let wanted = Wanted::new(requirements.iter().chain(extras))?;
        Venv::made(cache, fetch, progress, &wanted, None)
    }

    /// The same packages in a plain folder, for the Python of another system, such as a container's.
    pub(crate) fn for_foreign(
        cache: &Cache,
        fetch: &Fetch,
        progress: &dyn Progress,
        requirements: &[String],
        foreign: &Foreign,
    ) -> Result<Venv> {
        Venv::made(cache, fetch, progress, &Wanted::new(requirements.iter())?, Some(foreign))
    }

    fn made(
        cache: &Cache,
        fetch: &Fetch,
        progress: &dyn Progress,
        wanted: &Wanted,
        foreign: Option<&Foreign>,
    ) -> Result<Venv> {
        let base = BasePython::find(fetch.python.as_deref())?;
        let name = name(wanted, &base, foreign);
        let root = cache.tree_path(&name)?;
        let produce = |writer: &mut Writer| {
            let maker = Maker { cache, fetch, progress, base: &base, root: &root, foreign };
            let (lock, downloaded) = maker.make(wanted)?;
            writer.write_all(lock.to_json().as_bytes()).map_err(VenvError::io("write", &root))?;
            let (lines, bytes) = (wanted.lines(), size(&root));
            let python = &base.version;
            Ok::<_, VenvError>(
                json!({"python": python, "requirements": lines, "bytes": bytes, "downloaded": downloaded}),
            )
        };
        let purpose = "making a virtual environment";
        // A tree that was removed by hand takes its seal's word with it.
        let lost = cache.meta(Bucket::Venv, &name)?.is_some() && !root.join(lock::FILE).is_file();
        let artefact = if lost {
            cache.replace(Bucket::Venv, &name, purpose, progress, produce)?
        } else {
            cache.make(Bucket::Venv, &name, purpose, progress, produce)?
        };
        let number = |name: &str| artefact.meta[name].as_u64().unwrap_or_default();
        let (bytes, downloaded) = (number("bytes"), number("downloaded"));
        Ok(Venv { lock: read_lock(artefact, &root)?, root, base, bytes, downloaded })
    }

    /// The interpreter, to be started in a sandbox.
    pub fn python(&self) -> PathBuf {
        self.root.join("bin/python")
    }

    /// The folder of the environment.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The Python that it was made with, whose standard library it uses.
    pub fn base(&self) -> &BasePython {
        &self.base
    }

    /// What it takes on disk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How long its wheels are together.
    pub fn downloaded(&self) -> u64 {
        self.downloaded
    }

    /// Exactly which packages are in it.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }
}

/// Makes one environment at its final place: scripts in it have that path written into them.
struct Maker<'a> {
    cache: &'a Cache,
    fetch: &'a Fetch,
    progress: &'a dyn Progress,
    base: &'a BasePython,
    root: &'a Path,
    foreign: Option<&'a Foreign>,
}

impl Maker<'_> {
    /// What is in it, and the bytes of its wheels.
    fn make(&self, wanted: &Wanted) -> Result<(Lock, u64)> {
        let work = self.cache.scratch()?;
        let Maker { base, fetch, root, foreign, .. } = *self;
        let pip = Pip { base, fetch, work: work.path(), root, foreign };
        self.empty()?;
        if foreign.is_none() {
            self.progress.step(&format!("making a virtual environment with Python {}", self.base.version));
        }
        pip.make_environment(self.progress)?;
        self.progress.step(&format!("resolving {}", wanted.describe()));
        let lock = resolve::resolve(&pip, wanted, self.progress)?;
        self.progress.step(&format!("installing {} packages for {}", lock.packages.len(), wanted.describe()));
        let downloaded = pip.install(&lock, self.progress)?;
        let path = self.root.join(lock::FILE);
        std::fs::write(&path, lock.requirements()).map_err(VenvError::io("write", &path))?;
        Ok((lock, downloaded))
    }

    fn empty(&self) -> Result<()> {
        match std::fs::remove_dir_all(self.root) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(VenvError::io("remove", self.root)(error))
            }
            _ => Ok(()),
        }
    }
}

/// Everything that decides what is in it.
fn name(wanted: &Wanted, base: &BasePython, foreign: Option<&Foreign>) -> String {
    let mut hasher = blake3::Hasher::new();
    let pinned =
        pins().packages().iter().map(|Pin { name, version, sha256, .. }| format!("{name}=={version} {sha256}"));
    let place = foreign.map(|foreign| foreign.options().join(" ")).unwrap_or_default();
    let parts = [FORMAT.to_owned(), base.identity(), wanted.lines().join("\n"), place];
    for part in parts.into_iter().chain(pinned) {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

fn read_lock(artefact: Artefact, root: &Path) -> Result<Lock> {
    let mut text = String::new();
    let read = artefact.file.take(MAX_LOCK_BYTES).read_to_string(&mut text);
    read.map_err(VenvError::io("read the lock of", root))?;
    Lock::from_json(&text)
}
