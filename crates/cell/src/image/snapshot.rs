//! Takes a cell's memory and globals, and writes them as an image.
//!
//! A memory may be hundreds of megabytes, so there is never more than one copy of it besides the cell's own: the cell is
//! gone before the image is compiled, and the module that it is compiled from right after.

use super::Frozen;
use crate::runtime::split;
use crate::wasi_python;
use crate::{Cell, EngineError, HotPages, Machine, Precompiled};

const PAGE: usize = 4096;

/// A cell's state, about to become an image.
pub struct Snapshot {
    pub state: Frozen,
    pub immortal_objects: u64,
    /// What of the memory is not all zeros.
    pub image_bytes: u64,
    module: Vec<u8>,
}

impl Snapshot {
    /// `entry` is the address of the function that calls will enter. The cell is of no use afterwards: what it does not
    /// need again is cleared in its own memory.
    pub fn take(machine: &Machine, cell: &mut Cell, entry: u32) -> Result<Snapshot, EngineError> {
        let globals = cell.global_values(machine.global_names())?;
        let monotonic = cell.state().wasi.monotonic_now();
        let immortal_objects = cell.state().immortal_objects;
        let memory = cell.memory();
        let pages = memory.size(&mut *cell.store());
        let bytes = memory.data_mut(&mut *cell.store());
        let dead = wasi_python::dead_memory(&globals);
        let dead = dead.start.min(bytes.len())..dead.end.min(bytes.len());
        bytes[dead].fill(0);
        let range = nonzero_range(bytes);
        let state = Frozen {
            globals,
            entry,
            monotonic_ns: u64::try_from(monotonic.as_nanos()).unwrap_or(u64::MAX),
            memory_bytes: bytes.len() as u64,
            hot: HotPages::default(),
        };
        let module = split::image_module(pages, range.start as u32, &bytes[range.clone()]);
        Ok(Snapshot { state, immortal_objects, image_bytes: range.len() as u64, module })
    }

    /// The image, precompiled.
    pub fn precompile(&mut self, machine: &Machine) -> Result<Precompiled, EngineError> {
        machine.precompile_image(&std::mem::take(&mut self.module))
    }
}

/// From the first page that is not all zeros to the last.
fn nonzero_range(bytes: &[u8]) -> std::ops::Range<usize> {
    let zero = |page: &[u8]| page.iter().all(|byte| *byte == 0);
    let mut pages = bytes.chunks(PAGE).enumerate().filter(|(_, page)| !zero(page)).map(|(index, _)| index);
    let Some(first) = pages.next() else { return 0..0 };
    let last = pages.next_back().unwrap_or(first);
    first * PAGE..((last + 1) * PAGE).min(bytes.len())
}
