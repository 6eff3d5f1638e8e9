//! The files of the runtime and the framework that every cell sees, read-only.

use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, OnceLock};

use super::{Runtime, RuntimeError, stdlib};
use crate::{pyodide, wasi_python};
use skillcell_assets::GUEST_FILES;
use skillcell_cache::{Artefact, Pack};
use skillcell_packages::pack_tree;
use skillcell_packages::provision;
use skillcell_vfs::{Content, Mount, Source, Tree};

/// Where cells see what.
pub const PACKAGES_FOLDER: &str = "/usr/local/lib/site-packages";
pub const GUEST_FOLDER: &str = "/usr/local/lib/skillcell";
/// Only in cells that run tests.
pub const TEST_PACKAGES_FOLDER: &str = "/usr/local/lib/test-packages";
pub const HOME_FOLDER: &str = "/home/skill";

/// What is the same for every cell: mounts to start from, and a digest of what they hold.
pub struct CommonFiles {
    mounts: Vec<Mount>,
    /// Of the packages and the guest's own files; the runtime has its own id.
    pub digest: String,
}

impl CommonFiles {
    /// The same for the second runtime, whose library has been made ready: `stdlib` is its size. `packages` are those that the first
    /// runtime brings along.
    pub fn open_pyodide(
        runtime: &Runtime<'_>,
        open: StdlibOpener,
        bytes: u64,
        packages: Pack,
    ) -> Result<CommonFiles, RuntimeError> {
        let framework = provision::framework_pack(runtime.cache, runtime.fetch, runtime.progress)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(framework.digest().as_bytes()).update(packages.digest().as_bytes());
        // Unlike the first runtime's library, this one is made here.
        hasher.update(stdlib::compiled_stdlib_name().as_bytes());
        let guest = guest_tree(&mut hasher);
        let mut library = Tree::new();
        let stdlib = Stdlib { open, bytes, artefact: OnceLock::new() };
        insert_checked(&mut library, pyodide::STDLIB_NAME, Content::Lazy(Arc::new(stdlib)));
        let mounts = [
            Mount::tree(pyodide::STDLIB_FOLDER, Arc::new(library)),
            Mount::tree(pyodide::PACKAGES_FOLDER, Arc::new(pack_tree(packages))),
            Mount::tree(PACKAGES_FOLDER, Arc::new(pack_tree(framework))),
            Mount::tree(GUEST_FOLDER, Arc::new(guest)),
        ];
        Ok(CommonFiles::new(mounts.into_iter().flatten().collect(), hasher.finalize()))
    }

    fn new(mut mounts: Vec<Mount>, digest: blake3::Hash) -> CommonFiles {
        let writable = [Mount::scratch("/tmp"), Mount::scratch(HOME_FOLDER), Mount::devices("/dev")];
        mounts.extend(writable.into_iter().flatten());
        CommonFiles { mounts, digest: digest.to_hex().to_string() }
    }

    pub fn open(
        runtime: &Runtime<'_>,
        open: StdlibOpener,
        open_plots: PackOpener,
    ) -> Result<CommonFiles, RuntimeError> {
        let bytes = provision::stdlib_bytes(runtime.cache, runtime.fetch, runtime.progress)?;
        let stdlib = Stdlib { open, bytes, artefact: OnceLock::new() };
        let packages = provision::framework_pack(runtime.cache, runtime.fetch, runtime.progress)?;
        // The digest is part of every image's key; the runtime, and with it the standard library, has an id of its own.
        let mut hasher = blake3::Hasher::new();
        hasher.update(packages.digest().as_bytes());
        let guest = guest_tree(&mut hasher);
        let mut library = Tree::new();
        insert_checked(&mut library, wasi_python::STDLIB_NAME, Content::Lazy(Arc::new(stdlib)));
        let plots = Arc::new(DeferredPack { open: open_plots, pack: OnceLock::new() });
        for (path, bytes) in provision::matplotlib_data(runtime.cache, runtime.fetch, runtime.progress)? {
            let content = DeferredFile { pack: plots.clone(), path: path.clone(), bytes };
            insert_checked(
                &mut library,
                &format!("{}/{path}", wasi_python::MATPLOTLIB_DATA),
                Content::Lazy(Arc::new(content)),
            );
        }
        let mounts = [
            Mount::tree(wasi_python::STDLIB_FOLDER, Arc::new(library)),
            Mount::tree(PACKAGES_FOLDER, Arc::new(pack_tree(packages))),
            Mount::tree(GUEST_FOLDER, Arc::new(guest)),
        ];
        Ok(CommonFiles::new(mounts.into_iter().flatten().collect(), hasher.finalize()))
    }

    /// The mounts of a cell that sees `more` besides.
    pub fn mounts_with(&self, more: impl IntoIterator<Item = Mount>) -> Vec<Mount> {
        let mut mounts = self.mounts.clone();
        mounts.extend(more);
        mounts
    }
}

fn guest_tree(hasher: &mut blake3::Hasher) -> Tree {
    let mut tree = Tree::new();
    for (path, bytes) in GUEST_FILES {
        hasher.update(path.as_bytes()).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        insert_checked(&mut tree, path, Content::Bytes((*bytes).into()));
    }
    tree
}

/// Paths here come from this program's own build, or were checked when their pack was made.
fn insert_checked(tree: &mut Tree, path: &str, content: Content) {
    if let Err(error) = tree.insert(path, content) {
        debug_assert!(false, "{error}");
    }
}

/// Opens a pack and verifies it. Must not download anything: a call may be waiting.
pub type PackOpener = Box<dyn Fn() -> io::Result<Pack> + Send + Sync>;

/// A pack that few calls look at: opened, and checked, on first use.
struct DeferredPack {
    open: PackOpener,
    pack: OnceLock<Pack>,
}

impl DeferredPack {
    fn open_pack(&self) -> io::Result<&Pack> {
        if self.pack.get().is_none() {
            let _ = self.pack.set((self.open)()?);
        }
        self.pack.get().ok_or_else(|| io::Error::other("the pack is not open"))
    }
}

/// One file of such a pack.
struct DeferredFile {
    pack: Arc<DeferredPack>,
    path: String,
    bytes: u64,
}

impl Source for DeferredFile {
    fn byte_len(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let pack = self.pack.open_pack()?;
        let entry = pack.entry(&self.path).ok_or(io::ErrorKind::NotFound)?;
        pack.read_at(entry, buf, offset)
    }
}

/// Opens the standard library's artefact and verifies it. Must not download anything: a call may be waiting.
pub type StdlibOpener = Box<dyn Fn() -> io::Result<Artefact> + Send + Sync>;

/// The standard library is 54 MB and most calls never look at it, so it is opened, and checked, on first use.
struct Stdlib {
    open: StdlibOpener,
    bytes: u64,
    artefact: OnceLock<Artefact>,
}

impl Stdlib {
    fn open_artefact(&self) -> io::Result<&Artefact> {
        if self.artefact.get().is_none() {
            // Two threads may open it at once; one result is discarded.
            let _ = self.artefact.set((self.open)()?);
        }
        self.artefact.get().ok_or_else(|| io::Error::other("the standard library is not open"))
    }
}

impl Source for Stdlib {
    fn byte_len(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.open_artefact()?.file.read_at(buf, offset)
    }
}
