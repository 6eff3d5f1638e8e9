//! Hash functions that the host computes in place of the runtime's own code (`runtime/by_host`): one block for each call.
//!
//! A block is bounded work, and what asks for many is a loop of the runtime's, which has interrupt checks: deadlines and
//! cancellations need nothing here. It is the guest's own computing, so it counts as no call to the host; on a metered
//! machine it burns about what the code burned that it replaces.

use wasmtime::{Caller, Linker, Trap};

use crate::State;
use crate::wasi::Stop;
use skillcell_door::digests::{fuel, sha1_block, sha256_block, sha512_block};

/// The module that these functions are imported from.
pub const MODULE: &str = "digests";

/// A hash function, by what it does with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Digest {
    Sha1,
    Sha256,
    Sha512,
}

impl Digest {
    pub const fn name(self) -> &'static str {
        match self {
            Digest::Sha1 => "sha1",
            Digest::Sha256 => "sha256",
            Digest::Sha512 => "sha512",
        }
    }

    pub const fn block_bytes(self) -> i32 {
        match self {
            Digest::Sha1 | Digest::Sha256 => 64,
            Digest::Sha512 => 128,
        }
    }
}

/// Offers all of them: `(block, state)`, both addresses in the guest's memory.
pub fn add_to_linker(linker: &mut Linker<State>, metered: bool) -> wasmtime::Result<()> {
    let cost = |fuel| metered.then_some(fuel);
    offer(linker, Digest::Sha1, cost(fuel::SHA1), sha1_block)?;
    offer(linker, Digest::Sha256, cost(fuel::SHA256), sha256_block)?;
    offer(linker, Digest::Sha512, cost(fuel::SHA512), sha512_block)
}

fn offer<const STATE: usize, const BLOCK: usize>(
    linker: &mut Linker<State>,
    digest: Digest,
    cost: Option<u64>,
    compress: fn(&mut [u8; STATE], &[u8; BLOCK]),
) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, digest.name(), move |mut caller: Caller<'_, State>, block: u32, state: u32| {
        if let Some(cost) = cost {
            burn_fuel(&mut caller, cost)?;
        }
        let memory = caller.data().wasi.memory.ok_or_else(|| wasmtime::Error::new(Stop::NoMemory))?;
        let done = compress_in(memory.data_mut(&mut caller), block, state, compress);
        // What the code that this replaces would have met.
        done.ok_or_else(|| Trap::MemoryOutOfBounds.into())
    })?;
    Ok(())
}

fn compress_in<const STATE: usize, const BLOCK: usize>(
    memory: &mut [u8],
    block: u32,
    state: u32,
    compress: fn(&mut [u8; STATE], &[u8; BLOCK]),
) -> Option<()> {
    // A copy: the two may overlap.
    let block = *memory.get(block as usize..)?.first_chunk()?;
    compress(memory.get_mut(state as usize..)?.first_chunk_mut()?, &block);
    Some(())
}

/// Takes fuel for work of the host's, where fuel is counted.
pub fn burn_fuel(caller: &mut Caller<'_, State>, cost: u64) -> wasmtime::Result<()> {
    let Ok(left) = caller.get_fuel() else { return Ok(()) };
    caller.set_fuel(left.saturating_sub(cost))?;
    if left < cost { Err(Trap::OutOfFuel.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
