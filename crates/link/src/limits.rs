//! What is taken on the inputs' word, and how much of it. The largest set that was linked has a tenth of these.

use crate::LinkError;

/// Bytes of all inputs together.
pub const MAX_INPUT_BYTES: u64 = 256 << 20;
/// Side modules.
pub const MAX_SIDES: u64 = 512;
/// Memory that the linked module starts with. It declares this much; nothing is allocated for it here.
pub const MAX_MEMORY_BYTES: u64 = 1 << 30;
/// Slots of the function table, which an engine allocates for each cell.
pub const MAX_TABLE_SLOTS: u64 = 1 << 20;
/// An alignment, as a power of two: a page of WebAssembly.
pub const MAX_ALIGNMENT: u32 = 16;
/// Tags: C++ exceptions and `longjmp` are two.
pub const MAX_TAGS: u64 = 16;
/// How far an import may lead through exports of imports.
pub const MAX_REEXPORTS: usize = 16;
/// What engines agreed on for a module (wasmparser's own limits, which it does not export).
pub const MAX_FUNCTIONS: u64 = 1_000_000;
pub const MAX_TYPES: u64 = 1_000_000;
pub const MAX_GLOBALS: u64 = 1_000_000;
pub const MAX_SEGMENTS: u64 = 100_000;
pub const MAX_FUNCTION_BYTES: usize = 7_654_321;
pub const MAX_LOCALS: u64 = 50_000;

/// Refuses an amount that is over its limit.
pub(crate) fn check_amount(what: &'static str, amount: u64, limit: u64) -> Result<(), LinkError> {
    if amount > limit { Err(LinkError::TooMuch { what, limit }) } else { Ok(()) }
}
