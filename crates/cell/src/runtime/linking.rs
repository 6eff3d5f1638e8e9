//! Makes one program of the core and the libraries of a set of wheels, and splits it as the first runtime's binary is split.

use std::sync::Arc;

use skillcell_link::{LinkError, Linked, Side, VERSION, Wanted, link};

use super::split::{FORMAT, Split, SplitError, split_module};
use crate::EngineError;
use crate::pyodide::{ADDRESSES, FUNCTIONS, Program, door, javascript};

/// Why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("the packages' native parts can't be used")]
    Link(#[from] LinkError),
    #[error(transparent)]
    Split(#[from] SplitError),
    /// A newer core than this program knows: better refused than found out in a call.
    #[error("this version of the runtime wants `{0}` of the host, which is not offered")]
    Unknown(String),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("the linker did not tell what it was asked for")]
    Untold,
}

/// A library of a wheel: where cells see it, and what is in it.
#[derive(Debug, Clone)]
pub struct SideModule {
    pub path: String,
    pub bytes: Arc<[u8]>,
}

/// The libraries of a skill's wheels, in the order of their paths, whatever the order of the wheels.
#[derive(Debug, Clone, Default)]
pub struct Sides {
    modules: Vec<SideModule>,
    digest: Option<blake3::Hash>,
}

impl Sides {
    pub fn new(mut modules: Vec<SideModule>) -> Sides {
        modules.sort_by(|one, other| one.path.cmp(&other.path));
        let mut hasher = blake3::Hasher::new();
        for SideModule { path, bytes } in &modules {
            for part in [path.as_bytes(), bytes] {
                hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
            }
        }
        let digest = (!modules.is_empty()).then(|| hasher.finalize());
        Sides { modules, digest }
    }

    pub fn is_empty(&self) -> bool {
        self.modules.is_empty()
    }

    pub fn len(&self) -> usize {
        self.modules.len()
    }
}

/// Names a program: the core, the rules of the linker and of this host, the libraries.
pub fn program_id(core: &str, sides: &Sides) -> String {
    let mut hasher = blake3::Hasher::new();
    let digest = sides.digest.map(|digest| digest.to_hex().to_string()).unwrap_or_default();
    hasher.update(&VERSION.to_le_bytes());
    let names = FUNCTIONS.iter().chain(ADDRESSES).copied().chain([door::CALLBACK.name, core, FORMAT, &digest]);
    for part in names {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Links and splits.
pub fn make_program(core: &[u8], sides: &Sides) -> Result<(Split, Program), ProgramError> {
    let linked = link_core(core, sides)?;
    let program = Program::of_linked(&linked).ok_or(ProgramError::Untold)?;
    Ok((split_module(&linked.module, &[])?, program))
}

/// Whether this host has all that a core imports; for who provides a version of it.
pub fn check_core(core: &[u8]) -> Result<(), ProgramError> {
    link_core(core, &Sides::default()).map(drop)
}

fn link_core(core: &[u8], sides: &Sides) -> Result<Linked, ProgramError> {
    let wanted = Wanted { functions: FUNCTIONS, addresses: ADDRESSES, callbacks: &[door::CALLBACK] };
    let modules: Vec<Side<'_>> =
        sides.modules.iter().map(|side| Side { name: &side.path, bytes: &side.bytes }).collect();
    let linked = link(core, &modules, &wanted)?;
    match javascript::check_imports(&linked.imports).map_err(EngineError::from)? {
        Some(name) => Err(ProgramError::Unknown(name)),
        None => Ok(linked),
    }
}
