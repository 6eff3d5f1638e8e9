//! Takes a cell's memory and globals, and writes them as an image.

use super::Frozen;
use crate::cell::{Cell, EngineError, HotPages, Machine, Precompiled};
use crate::runtime::{split, wasi_python};

const PAGE: usize = 4096;

/// A cell's state, about to become an image.
pub struct Snapshot {
    pub state: Frozen,
    pub immortal_objects: u64,
    pages: u64,
    start: usize,
    bytes: Vec<u8>,
}

impl Snapshot {
    /// `entry` is the address of the function that calls will enter.
    pub fn take(machine: &Machine, cell: &mut Cell, entry: u32) -> Result<Snapshot, EngineError> {
        let globals = cell.globals(machine.global_names())?;
        let memory = cell.memory();
        let pages = memory.size(&mut *cell.store());
        let mut bytes = memory.data(&mut *cell.store()).to_vec();
        let dead = wasi_python::dead_memory(&globals);
        let dead = dead.start.min(bytes.len())..dead.end.min(bytes.len());
        bytes[dead].fill(0);
        let state = Frozen {
            globals,
            entry,
            monotonic_ns: u64::try_from(cell.state().wasi.monotonic_now().as_nanos()).unwrap_or(u64::MAX),
            memory_bytes: bytes.len() as u64,
            hot: HotPages::default(),
        };

        let range = used(&bytes);
        bytes.truncate(range.end);
        Ok(Snapshot { state, immortal_objects: cell.state().immortal_objects, pages, start: range.start, bytes })
    }

    /// The image, precompiled.
    pub fn precompile(&self, machine: &Machine) -> Result<Precompiled, EngineError> {
        let module = split::image_module(self.pages, self.start as u32, &self.bytes[self.start..]);
        machine.precompile_image(&module)
    }

    /// Learns from a cell of this image, after a call, which pages calls write to.
    pub fn learn(&mut self, cell: &mut Cell) {
        let memory = cell.memory();
        self.state.hot = HotPages::written(memory.data(&mut *cell.store())).unwrap_or_default();
    }

    pub fn image_bytes(&self) -> u64 {
        (self.bytes.len() - self.start) as u64
    }
}

/// From the first page that is not all zeros to the last.
fn used(bytes: &[u8]) -> std::ops::Range<usize> {
    let zero = |page: &[u8]| page.iter().all(|byte| *byte == 0);
    let mut pages = bytes.chunks(PAGE).enumerate().filter(|(_, page)| !zero(page)).map(|(index, _)| index);
    let Some(first) = pages.next() else { return 0..0 };
    let last = pages.last().unwrap_or(first);
    first * PAGE..((last + 1) * PAGE).min(bytes.len())
}
