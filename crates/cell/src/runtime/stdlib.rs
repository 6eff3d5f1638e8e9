//! The second runtime's standard library, which comes as sources only: its bytecode is made once, in a cell of the runtime itself,
//! so that it is this Python's.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::{Runtime, RuntimeError};
use crate::runtime_kind::{boot_interpreter, run_source};
use crate::{Inputs, Machine, pyodide};
use skillcell_assets::GUEST_FILES;
use skillcell_cache::progress::Progress;
use skillcell_cache::{Artefact, Bucket, Cache};
use skillcell_door::Door;
use skillcell_limits::Limits;
use skillcell_limits::cancel::CancelToken;
use skillcell_packages::provision;
use skillcell_vfs::{Content, Mount, Tree};

/// Where the cell sees the sources, the guest's own file, and what it is to make.
const SOURCES_FOLDER: &str = "/lib";
const GUEST_FOLDER: &str = "/usr/local/lib/skillcell";
const OUT_FOLDER: &str = "/out";
const COMPILER: &str = "skillcell_guest/bytecode.py";
/// Generous: it is done once.
const TIMEOUT: Duration = Duration::from_secs(600);
const MAX_BYTES: u64 = 256 << 20;

impl Runtime<'_> {
    /// The library with its bytecode, from the cache; made by `machine` if it is not there.
    pub fn compiled_stdlib(&self, machine: &Machine) -> Result<Artefact, RuntimeError> {
        let purpose = "compiling the standard library";
        self.cache.make(Bucket::Runtime, &compiled_stdlib_name(), purpose, self.progress, |out| {
            let sources = provision::pyodide_files(self.cache, self.fetch, self.progress)?.stdlib()?;
            self.progress.step(purpose);
            out.write_all(&self.compile_in_cell(machine, sources)?)?;
            let pin = provision::pyodide_pin();
            Ok::<_, RuntimeError>(json!({"part": "stdlib", "runtime": pin.name, "version": pin.version}))
        })
    }

    fn compile_in_cell(&self, machine: &Machine, sources: Vec<u8>) -> Result<Vec<u8>, RuntimeError> {
        let mut limits = Limits::within(TIMEOUT);
        (limits.scratch_bytes, limits.memory_bytes, limits.host_calls) = (MAX_BYTES, MAX_BYTES * 2, u64::MAX);
        let inputs = Inputs {
            mounts: mounts(sources),
            door: Door::default(),
            limits,
            monotonic_ns: 0,
            cancel: CancelToken::default(),
        };
        let mut cell = machine.new_cell(&self.base_image(machine)?, inputs)?;
        let (from, to) = (format!("{SOURCES_FOLDER}/{}", pyodide::STDLIB_NAME), format!("{OUT_FOLDER}/stdlib.zip"));
        let source = format!(
            "import sys; sys.path.append({GUEST_FOLDER:?})\nfrom skillcell_guest import bytecode; bytecode.compile_zip({from:?}, {to:?})"
        );
        let ran = boot_interpreter(&mut cell).and_then(|()| run_source(&mut cell, &source));
        let is_done = matches!(ran, Ok(true));
        let ending = cell.take_ending(ran.map(drop));
        match ending.files.into_iter().find(|file| is_done && file.path == "stdlib.zip") {
            Some(file) => Ok(file.bytes),
            None => {
                let said = String::from_utf8_lossy(&ending.stderr);
                Err(RuntimeError::Stdlib(format!("{}: {}", ending.outcome.describe(), said.trim_end())))
            }
        }
    }
}

/// The library with its bytecode, if it was made.
pub fn open_compiled_stdlib(cache: &Cache, progress: &dyn Progress) -> skillcell_cache::Result<Option<Artefact>> {
    cache.open(Bucket::Runtime, &compiled_stdlib_name(), progress)
}

fn mounts(sources: Vec<u8>) -> Vec<Mount> {
    let (mut library, mut guest) = (Tree::new(), Tree::new());
    let inserted = library.insert(pyodide::STDLIB_NAME, Content::Bytes(sources.into()));
    debug_assert!(inserted.is_ok());
    for (path, bytes) in
        GUEST_FILES.iter().filter(|(path, _)| *path == COMPILER || path.ends_with("skillcell_guest/__init__.py"))
    {
        let inserted = guest.insert(path, Content::Bytes((*bytes).into()));
        debug_assert!(inserted.is_ok());
    }
    let mounts = [
        Mount::tree(SOURCES_FOLDER, Arc::new(library)),
        Mount::tree(GUEST_FOLDER, Arc::new(guest)),
        Mount::seeded(OUT_FOLDER, Arc::new(Tree::new())),
        Mount::scratch("/tmp"),
    ];
    mounts.into_iter().flatten().collect()
}

/// Its name in the cache: the sources, and how they are compiled.
pub(super) fn compiled_stdlib_name() -> String {
    let mut hasher = blake3::Hasher::new();
    for (_, bytes) in GUEST_FILES.iter().filter(|(path, _)| *path == COMPILER) {
        hasher.update(bytes);
    }
    format!("pyodide-stdlib-{}-{}.zip", provision::pyodide_pin().id(), &hasher.finalize().to_hex()[..8])
}
