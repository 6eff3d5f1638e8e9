//! The runtime: from its wheel to compiled code, and the files that cells see of it.
//!
//! ```text
//!   wheel ──▶ python.wasm ──split──▶ code.wasm, base.wasm ──compile──▶ code.cwasm, base.cwasm
//!         └─▶ stdlib.zip
//! ```
//!
//! Everything to the right of the wheel is an artefact of the cache, made when it is missing, under a lock, so that
//! two programs that start at once do the work once. The wheel is not kept.

pub mod files;
pub mod split;

use std::io::{Read, Write};

use serde_json::json;

use crate::{EngineError, HotPages, Machine, MemoryImage, engine, wasi_python};
use skillcell_cache::progress::Progress;
use skillcell_cache::{self as cache, Artefact, Bucket, Cache};
use skillcell_packages::provision::{self, Fetch, RuntimePin};
use split::SplitError;

/// The parts of the pinned runtime, obtained as they are needed.
pub struct Runtime<'a> {
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
    Engine(#[from] EngineError),
    #[error("a file of the runtime can't be read or written")]
    Io(#[from] std::io::Error),
}

impl Runtime<'_> {
    /// The runtime's code, compiled for this machine and loaded.
    pub fn load_machine(&self, metered: bool) -> Result<Machine, RuntimeError> {
        let (engine, cells) = engine::running_engine(metered).map_err(EngineError::from)?;
        let name = code_name(&engine);
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
        Ok(Machine::load(engine, cells, metered, code, globals).map_err(EngineError::from)?)
    }

    /// Whether the code is compiled already, by its seal alone.
    pub fn is_compiled(&self) -> Result<bool, RuntimeError> {
        let engine = engine::running_engine(false).map_err(EngineError::from)?;
        Ok(self.cache.bytes(Bucket::Code, &code_name(&engine.0))?.is_some())
    }

    /// The memory that the runtime boots from.
    pub fn base_image(&self, machine: &Machine) -> Result<MemoryImage, RuntimeError> {
        let name = format!("base-{}-{}.cwasm", runtime_id(), machine.fingerprint());
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
        Ok(json!({"part": "code", "globals": code.meta["globals"], "metered": metered}))
    }

    /// `code` or `base`, as WebAssembly.
    fn split_part(&self, part: &str) -> Result<Artefact, RuntimeError> {
        if let Some(found) = self.cache.open(Bucket::Runtime, &part_name(part), self.progress)? {
            return Ok(found);
        }
        let (code, base) = provision::runtime_files(self.cache, self.fetch, self.progress, |files| {
            self.split_runtime(&files.python_wasm)
        })?;
        Ok(if part == "code" { code } else { base })
    }

    fn split_runtime(&self, python_wasm: &[u8]) -> Result<(Artefact, Artefact), RuntimeError> {
        self.progress.step("splitting the runtime");
        let split = split::split_module(python_wasm, wasi_python::ENTRIES)?;
        let keep = |part: &str, wasm: &[u8]| {
            self.cache.make(Bucket::Runtime, &part_name(part), "splitting the runtime", self.progress, |out| {
                out.write_all(wasm)?;
                Ok::<_, RuntimeError>(json!({
                    "part": part, "globals": split.globals, "functions": split.functions, "runtime": pinned_runtime().wheel.name,
                    "version": pinned_runtime().wheel.version,
                }))
            })
        };
        Ok((keep("code", &split.code)?, keep("base", &split.base_image)?))
    }
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

/// Names the pinned runtime, and how it is split, in cache keys.
pub fn runtime_id() -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(pinned_runtime().wheel.sha256.as_bytes());
    for entry in wasi_python::ENTRIES {
        hasher.update(entry.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

fn code_name(engine: &wasmtime::Engine) -> String {
    format!("{}-{}.cwasm", runtime_id(), engine::fingerprint(engine))
}

fn part_name(part: &str) -> String {
    format!("{part}-{}.wasm", runtime_id())
}
