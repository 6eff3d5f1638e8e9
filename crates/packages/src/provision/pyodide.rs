//! The second runtime's files, out of its npm package: the core, the standard library, and the list of what Pyodide's own
//! distribution has. Not linking, compiling, or anything of its JavaScript.

use std::ffi::OsStr;

use super::npm::{NpmSource, npm_package, pack_name};
use super::{Error, Fetch, NpmPin, Result, pins};
use skillcell_cache::progress::Progress;
use skillcell_cache::{Bucket, Cache, Pack};
use skillcell_child::find_program;

const CORE: &str = "pyodide.asm.wasm";
const STDLIB: &str = "python_stdlib.zip";
const LOCK: &str = "pyodide-lock.json";

/// The pinned npm package's files.
#[derive(Debug)]
pub struct PyodideFiles {
    package: Pack,
}

impl PyodideFiles {
    /// The interpreter, a WebAssembly module.
    pub fn core(&self) -> Result<Vec<u8>> {
        self.read(CORE)
    }

    /// The standard library, a zip of sources.
    pub fn stdlib(&self) -> Result<Vec<u8>> {
        self.read(STDLIB)
    }

    /// What Pyodide's own distribution has, as JSON.
    pub fn lock(&self) -> Result<Vec<u8>> {
        self.read(LOCK)
    }

    /// All of it.
    pub fn package(&self) -> &Pack {
        &self.package
    }

    fn read(&self, file: &str) -> Result<Vec<u8>> {
        self.package.read(file).map_err(Error::io("read", self.package.path()))
    }
}

/// The files, from the cache, else with npm.
pub fn pyodide_files(cache: &Cache, how: &Fetch, progress: &dyn Progress) -> Result<PyodideFiles> {
    let source = match (&how.archive, how.offline) {
        (Some(path), _) => NpmSource::File(path),
        (None, true) => NpmSource::Nowhere,
        (None, false) => NpmSource::Npm,
    };
    let package = npm_package(pyodide_pin(), cache, source, progress)?;
    for file in [CORE, STDLIB, LOCK] {
        if package.entry(file).is_none() {
            let what = format!("it has no `{file}`");
            return Err(Error::NpmArchive { package: pyodide_pin().archive(), what });
        }
    }
    Ok(PyodideFiles { package })
}

/// Why the files can't be had: they are not in the cache, and npm is not there or may not be used.
pub fn why_no_pyodide(cache: &Cache, how: &Fetch) -> Option<Error> {
    let package = pyodide_pin().archive();
    if has_pyodide(cache) || how.archive.is_some() {
        return None;
    }
    if how.offline {
        return Some(Error::NpmOffline { package });
    }
    find_program(OsStr::new("npm")).is_err().then_some(Error::NoNpm { package })
}

/// Whether they are in the cache, by their seal alone.
pub fn has_pyodide(cache: &Cache) -> bool {
    matches!(cache.bytes(Bucket::Pack, &pyodide_pack_name()), Ok(Some(_)))
}

/// Their name in the cache.
pub fn pyodide_pack_name() -> String {
    pack_name(pyodide_pin())
}

/// The pinned npm package.
pub fn pyodide_pin() -> &'static NpmPin {
    pins().pyodide()
}
