//! skillcell runs a Python skill in a *cell*: a fresh CPython inside WebAssembly, restored copy-on-write from the
//! skill's own memory image, that can touch only what it was granted. One call, one cell, then it is thrown away.
//!
//! Start at [`Host`]. The modules are listed in the order in which a call goes through them:
//! [`Host::call`] checks params ([`schema`]), takes the skill's [`image`] (baked over the [`runtime`]), makes a
//! [`cell`] of it, whose only ways out are [`wasi`] over its own [`vfs`] and the [`door`]. [`packages`]
//! is what a skill requires, [`cache`] and [`provision`] are where runtime, framework and images come from.
//!
//! `unsafe` is denied but in four files: `cell/machine.rs`, which loads compiled code that this program wrote,
//! `cell/prefault.rs`, which asks the system to copy pages of a cell's memory ahead, and `cell/pagemap.rs`, which asks it
//! which pages a cell wrote, and `tier/spawn.rs`, which sets limits, and holds a process, between `fork` and `exec`.

#![deny(unsafe_code)]

pub mod analysis;
mod approvals;
pub mod audit;
pub mod bench;
mod cache;
pub mod call;
mod cell;
pub mod cli;
pub mod compare;
mod door;
#[cfg(test)]
mod fuzz;
mod host;
pub mod http;
mod image;
mod limits;
pub mod matrix;
pub mod packages;
pub mod policy;
mod progress;
mod provision;
mod runtime;
mod schema;
mod skill;
pub mod testing;
pub mod tier;
mod venv;
mod vfs;
mod wasi;

pub use approvals::{Approval, ApprovalError, Approvals, Difference, FileChange, Standing};
pub use audit::{AuditError, AuditLog};
pub use call::{Call, ImageUse, Outcome, Raised, Report, Usage};
pub use host::{Host, HostBuilder, HostError};
pub use image::{BakeReport, WarmUp};
pub use limits::{LimitKind, Limits};
pub use progress::Progress;
pub use skill::{Origin, Roots, Skill};
pub use testing::{TestCall, TestReport};
pub use tier::{BadTier, Choice, Tier, TierError};
pub use venv::{BasePython, Lock, Locked, Venv, VenvError};
