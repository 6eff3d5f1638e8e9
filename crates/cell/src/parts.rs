//! The parts of a runtime's code that are not in its main module (`runtime/parts`): found in the cache, or compiled, when a
//! cell first calls into one, while its call waits.
//!
//! ```text
//!   cell ── stub ── load(slot) ──▶ Parts ── this process has it ─────────────┐
//!                                    ├───── the cache has it ────────────────┤──▶ an instance, which fills its slots ──▶ cell goes on
//!                                    └───── compiled, by a thread of its own ┘
//! ```
//!
//! What a call waits does not count against its deadline (`Turn::pause`); a cancellation ends the call and not the work, whose result
//! the next call finds. A part that can't be made or loaded is the host's fault, never the skill's: a [`PartFault`].

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde_json::json;
use wasmtime::{Caller, Engine, Extern, Instance, Linker, Module};

use super::machine::{MEMORY_IMPORT, compile_module, load_code};
use super::{EngineError, State};
use crate::interrupt::OWN_CHECKS;
use crate::runtime::checks::{Checks, add_checks};
use crate::runtime::parts::{Divided, LOAD, MAIN, NO_PART};
use crate::runtime::split::SplitError;
use crate::wasi::Stop;
use skillcell_cache::progress::{Progress, Silent};
use skillcell_cache::{self as cache, Artefact, Bucket, Cache};

/// Where called functions are noted, in the program that finds out which are (`examples/used_functions.rs`): each function is a part then, so
/// that which ones are loaded says which are called.
pub static NOTED: OnceLock<Mutex<BTreeSet<u32>>> = OnceLock::new();

/// Why a cell can't go on where its code needs a part.
#[derive(Debug, Clone, thiserror::Error)]
#[error("part {part} of the runtime's code can't be had: {cause}")]
pub struct PartFault {
    part: u32,
    cause: String,
}

/// What a part's making fails with.
#[derive(Debug, thiserror::Error)]
enum MakeError {
    #[error(transparent)]
    Cache(#[from] cache::Error),
    #[error(transparent)]
    Split(#[from] SplitError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl From<wasmtime::Error> for MakeError {
    fn from(error: wasmtime::Error) -> MakeError {
        EngineError::from(error).into()
    }
}

/// The parts of one machine's code.
pub struct Parts {
    engine: Engine,
    metered: bool,
    cache: Cache,
    /// What compiled parts are called in the cache, before their numbers.
    name: String,
    pack: File,
    ranges: Vec<Part>,
    part_of_slot: Vec<u32>,
    modules: Vec<OnceLock<Module>>,
    /// Held by who makes a part.
    making: Vec<Mutex<()>>,
    /// Who is told that a part is made.
    told: OnceLock<Arc<dyn Progress + Send + Sync>>,
}

/// Where a part lies in the pack, and which functions it has.
struct Part {
    at: u64,
    stored: usize,
    length: usize,
    first_function: u32,
}

/// The parts of a division in one file: what it begins with says where they are.
///
/// ```text
/// slots u32 | parts u32 | the part of each slot, u32 | of each part its length, that when it is inflated, and its first function, u32 | parts, deflated
/// ```
pub fn write_pack(divided: &Divided, out: &mut impl Write) -> std::io::Result<()> {
    let Divided { parts, part_of_slot, first_functions, .. } = divided;
    let counts = [part_of_slot.len() as u32, parts.len() as u32];
    let mut deflated = Vec::with_capacity(parts.len());
    for part in parts {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(part)?;
        deflated.push(encoder.finish()?);
    }
    let about_parts = deflated.iter().zip(parts).zip(first_functions);
    let about_parts = about_parts.flat_map(|((stored, part), first)| [stored.len() as u32, part.len() as u32, *first]);
    for number in counts.into_iter().chain(part_of_slot.iter().copied()).chain(about_parts) {
        out.write_all(&number.to_le_bytes())?;
    }
    deflated.iter().try_for_each(|part| out.write_all(part))
}

fn read_numbers(file: &File, count: usize, at: u64) -> std::io::Result<Vec<u32>> {
    let mut bytes = vec![0; count * 4];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes.chunks_exact(4).map(|number| u32::from_le_bytes(number.try_into().unwrap_or_default())).collect())
}

impl Parts {
    /// `pack` is what [`write_pack`] wrote; `name` tells compiled parts of this engine from others.
    pub fn open(engine: &Engine, metered: bool, cache: &Cache, name: String, pack: Artefact) -> std::io::Result<Parts> {
        let counts = read_numbers(&pack.file, 2, 0)?;
        let (slots, parts) = (counts[0] as usize, counts[1] as usize);
        let head = 8 + 4 * (slots as u64 + 3 * parts as u64);
        if head > pack.bytes {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let part_of_slot = read_numbers(&pack.file, slots, 8)?;
        let mut at = head;
        let mut ranges = Vec::with_capacity(parts);
        for about in read_numbers(&pack.file, 3 * parts, 8 + 4 * slots as u64)?.chunks_exact(3) {
            ranges.push(Part { at, stored: about[0] as usize, length: about[1] as usize, first_function: about[2] });
            at += u64::from(about[0]);
        }
        let modules = (0..parts).map(|_| OnceLock::new()).collect();
        let making = (0..parts).map(|_| Mutex::default()).collect();
        let (engine, cache) = (engine.clone(), cache.clone());
        let (pack, told) = (pack.file, OnceLock::new());
        Ok(Parts { engine, metered, cache, name, pack, ranges, part_of_slot, modules, making, told })
    }

    /// Has this told when a part is made, unless another already is.
    pub fn tell(&self, progress: impl FnOnce() -> Arc<dyn Progress + Send + Sync>) {
        self.told.get_or_init(progress);
    }

    /// The part if it needs no compiling.
    fn find(&self, part: u32) -> Result<Option<Module>, MakeError> {
        if let Some(module) = self.modules[part as usize].get() {
            return Ok(Some(module.clone()));
        }
        if NOTED.get().is_some() {
            return Ok(None);
        }
        let found = self.cache.open(Bucket::Code, &self.file_name(part), &Silent)?;
        Ok(match found {
            Some(code) => Some(self.keep(part, code)?),
            None => None,
        })
    }

    fn keep(&self, part: u32, code: Artefact) -> Result<Module, MakeError> {
        let module = load_code(&self.engine, code)?;
        Ok(self.modules[part as usize].get_or_init(|| module).clone())
    }

    fn make(&self, part: u32) -> Result<Module, MakeError> {
        let _one_at_a_time = self.making[part as usize].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = self.modules[part as usize].get() {
            return Ok(module.clone());
        }
        if let Some(noted) = NOTED.get() {
            noted.lock().unwrap_or_else(PoisonError::into_inner).insert(self.ranges[part as usize].first_function);
        }
        if NOTED.get().is_some() || !self.cache.is_writable() {
            let module = Module::new(&self.engine, self.read_part(part)?)?;
            return Ok(self.modules[part as usize].get_or_init(|| module).clone());
        }
        let what = "compiling what is called of the runtime for the first time";
        if let Some(told) = self.told.get() {
            told.step(what);
        }
        let code = self.cache.make(Bucket::Code, &self.file_name(part), what, &Silent, |out| {
            out.write_all(&compile_module(&self.read_part(part)?, self.metered, |_| ())?)?;
            Ok::<_, MakeError>(json!({"part": part, "metered": self.metered}))
        })?;
        self.keep(part, code)
    }

    /// A part as WebAssembly, with interrupt checks.
    fn read_part(&self, part: u32) -> Result<Vec<u8>, MakeError> {
        let Part { at, stored, length, .. } = self.ranges[part as usize];
        let mut deflated = vec![0; stored];
        self.pack.read_exact_at(&mut deflated, at)?;
        let mut wasm = vec![0; length];
        DeflateDecoder::new(&*deflated).read_exact(&mut wasm)?;
        if OWN_CHECKS {
            wasm = add_checks(&wasm, Checks::From(MAIN))?;
        }
        Ok(wasm)
    }

    fn file_name(&self, part: u32) -> String {
        format!("{}-part-{part}.cwasm", self.name)
    }
}

/// Makes a part on a thread of its own, which tells when it is done.
fn make_beside(parts: &Arc<Parts>, part: u32, done: Sender<Option<Result<Module, MakeError>>>) -> std::io::Result<()> {
    let parts = parts.clone();
    std::thread::Builder::new().name("skillcell-part".into()).spawn(move || {
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| parts.make(part)));
        let panicked = |_| Err(std::io::Error::other("the compiler panicked").into());
        // Who waited for it may have been cancelled.
        let _ = done.send(Some(made.unwrap_or_else(panicked)));
    })?;
    Ok(())
}

/// Offers what stubs call.
pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap(LOAD.0, LOAD.1, |mut caller: Caller<'_, State>, slot: u32, fuel: u32| {
        let parts = caller.data().parts.clone();
        let part = parts.as_ref().and_then(|parts| parts.part_of_slot.get(slot as usize).copied());
        let (Some(parts), Some(part)) = (parts, part.filter(|part| *part != NO_PART)) else {
            let cause = format!("no part belongs to slot {slot}");
            return Err(wasmtime::Error::new(PartFault { part: NO_PART, cause }));
        };
        let fault = |cause: String| wasmtime::Error::new(PartFault { part, cause });
        let module = match parts.find(part).map_err(|error| fault(error.to_string()))? {
            Some(module) => module,
            None => wait_for_part(&mut caller, &parts, part)?,
        };
        // What a call burns does not depend on whether its cell has the part already.
        if let Ok(left) = caller.get_fuel() {
            caller.set_fuel(left.saturating_add(u64::from(fuel)))?;
        }
        fill_slots(&mut caller, &module).map_err(|error| fault(format!("{error:#}")))
    })?;
    Ok(())
}

/// Has a part made while the call waits.
fn wait_for_part(caller: &mut Caller<'_, State>, parts: &Arc<Parts>, part: u32) -> wasmtime::Result<Module> {
    let fault = |cause: String| wasmtime::Error::new(PartFault { part, cause });
    let state = caller.data_mut();
    let (started, cancel) = (Instant::now(), state.wasi.cancel.clone());
    let (done, waited) = channel();
    let cancelled = done.clone();
    let paused = state.turn.as_ref().map(|turn| turn.pause());
    let _registered = cancel.on_cancel(move || drop(cancelled.send(None)));
    make_beside(parts, part, done).map_err(|error| fault(error.to_string()))?;
    let made = waited.recv().map_err(|_| fault("its maker is gone".to_owned()))?;
    drop(paused);
    let took = started.elapsed();
    state.deadline += took;
    state.wasi.deadline = state.wasi.deadline.map(|deadline| deadline + took);
    state.waited_for_parts += took;
    match made {
        None => Err(wasmtime::Error::new(Stop::Cancelled)),
        Some(Err(error)) => Err(fault(error.to_string())),
        Some(Ok(module)) => Ok(module),
    }
}

/// An instance of a part beside the main module's, whose stub this is called by.
fn fill_slots(caller: &mut Caller<'_, State>, module: &Module) -> wasmtime::Result<()> {
    let mut imports = Vec::with_capacity(16);
    for import in module.imports() {
        let found = match (import.module(), import.name()) {
            name if name == MEMORY_IMPORT => caller.data().wasi.memory.map(Extern::from),
            (MAIN, name) => caller.get_export(name),
            _ => None,
        };
        imports.push(found.ok_or_else(|| wasmtime::Error::msg(format!("it wants `{}`", import.name())))?);
    }
    Instance::new(caller, module, &imports).map(drop)
}

#[cfg(test)]
mod tests;
