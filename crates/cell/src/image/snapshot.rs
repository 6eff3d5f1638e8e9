//! Takes a cell's memory and globals, and writes them as an image.
//!
//! A memory may be hundreds of megabytes, so it goes from the cell to a file and not through a buffer of ours; what the
//! compiler then takes is drawn in [`source`](super::source). The cell is to be gone by then.

use super::source::ModuleSource;
use super::{BakeError, Frozen};
use crate::runtime::split;
use crate::runtime_kind;
use crate::{Cell, EngineError, HotPages, Machine, Precompiled};
use skillcell_cache::Cache;

const PAGE: usize = 4096;

/// A cell's state, about to become an image.
pub struct Snapshot {
    pub state: Frozen,
    pub immortal_objects: u64,
    /// What of the memory is not all zeros.
    pub image_bytes: u64,
    module: ModuleSource,
}

impl Snapshot {
    /// `entry` is the address of the function that calls will enter. The cell is of no use afterwards: what it does not
    /// need again is cleared in its own memory.
    pub fn take(machine: &Machine, cell: &mut Cell, entry: u32, cache: &Cache) -> Result<Snapshot, BakeError> {
        let globals = cell.global_values(machine.global_names()).map_err(EngineError::from)?;
        let monotonic = cell.state().wasi.monotonic_now();
        let immortal_objects = cell.state().immortal_objects;
        let dead = runtime_kind::dead_memory(cell, &globals).map_err(EngineError::from)?;
        let memory = cell.memory();
        let pages = memory.size(&mut *cell.store());
        let bytes = memory.data_mut(&mut *cell.store());
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
        let head = split::image_head(pages, range.start as u32, range.len());
        let module = ModuleSource::map_file(&cache.unnamed_file(&[&head, &bytes[range.clone()]])?)?;
        Ok(Snapshot { state, immortal_objects, image_bytes: range.len() as u64, module })
    }

    /// The image, precompiled.
    pub fn precompile(&self, machine: &Machine) -> Result<Precompiled, EngineError> {
        machine.precompile_source(&self.module)
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
