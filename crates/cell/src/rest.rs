//! Cells at rest. A cell whose call ended well is put back as its image has it and waits for that image's next call:
//! its pages are there already, so that call costs hardly a page fault, and threads don't meet in the kernel.
//!
//! Invariant: the memory of a cell at rest equals its image's, byte for byte. The kernel names every page that is the
//! cell's own; those are copied from a mapping of the image that nothing ever ran in. A page that is swapped out, or
//! is being moved, is named too: Wasmtime's own reset by the same means skips those, which is why it stays off.
//! What else an instance has is set anew for each call (globals), or never written by the code (its table, whose slots only parts of
//! the code fill, each with the function that belongs there).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use wasmtime::{Engine, Memory, Module, Store};

use super::Body;
use super::machine::MEMORY_EXPORT;
use super::pagemap::PageMap;

/// Calls that one instance serves: whatever an engine might gather in a store stays small.
const MAX_USES: u32 = 1000;
/// A cell that wrote more than this is thrown away: mapping its memory anew costs less, and resting costs memory.
const MAX_PAGES: usize = 2048;
/// Cells that rest at once, at most.
pub const MAX_RESTING: u32 = 16;

pub struct Rest {
    pagemap: Option<PageMap>,
    cells: Mutex<VecDeque<Resting>>,
    cap: usize,
}

struct Resting {
    body: Body,
    uses: u32,
    original: Arc<PristineMemory>,
    /// Where it last ran: its memory is in that core's caches.
    thread: ThreadId,
}

/// An image's memory as it was made.
pub struct PristineMemory {
    module: Module,
    mapped: OnceLock<Option<(Store<()>, Memory)>>,
}

impl PristineMemory {
    pub fn new(module: &Module) -> PristineMemory {
        PristineMemory { module: module.clone(), mapped: OnceLock::new() }
    }

    /// `None` if the pool has no slot for the mapping.
    fn bytes(&self) -> Option<&[u8]> {
        let mapped = self.mapped.get_or_init(|| self.map_image(self.module.engine()));
        mapped.as_ref().map(|(store, memory)| memory.data(store))
    }

    fn map_image(&self, engine: &Engine) -> Option<(Store<()>, Memory)> {
        let mut store = Store::new(engine, ());
        let image = wasmtime::Instance::new(&mut store, &self.module, &[]).ok()?;
        let memory = image.get_memory(&mut store, MEMORY_EXPORT)?;
        Some((store, memory))
    }
}

impl Rest {
    pub fn new() -> Rest {
        let cap = thread::available_parallelism().map_or(1, usize::from).min(MAX_RESTING as usize);
        Rest { pagemap: PageMap::open(), cells: Mutex::default(), cap }
    }

    /// A cell of this image, with the calls that it has served.
    pub fn take_cell(&self, original: &Arc<PristineMemory>) -> Option<(Body, u32)> {
        let here = thread::current().id();
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |cell: &Resting| Arc::ptr_eq(&cell.original, original);
        let place = cells.iter().rposition(|cell| cell.thread == here && fits(cell));
        let place = place.or_else(|| cells.iter().rposition(fits))?;
        cells.remove(place).map(|cell| (cell.body, cell.uses))
    }

    /// Puts a cell back, or drops it.
    pub fn put_back(&self, mut body: Body, uses: u32, original: &Arc<PristineMemory>) {
        if uses >= MAX_USES || self.restore(&mut body, original).is_none() {
            return;
        }
        let thread = thread::current().id();
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        cells.push_back(Resting { body, uses, original: original.clone(), thread });
        // Evict the oldest; it is dropped only after the lock is released.
        let _left = if cells.len() > self.cap { cells.pop_front() } else { None };
        drop(cells);
    }

    fn restore(&self, body: &mut Body, original: &PristineMemory) -> Option<()> {
        let original = original.bytes()?;
        let memory = body.memory.data_mut(&mut body.store);
        // A memory does not shrink: one that has grown can't be put back.
        if memory.len() != original.len() {
            return None;
        }
        for range in self.pagemap.as_ref()?.changed_ranges(memory, MAX_PAGES).ok()?? {
            memory.get_mut(range.clone())?.copy_from_slice(original.get(range)?);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{ConstExpr, DataSection, ExportKind, ExportSection, MemorySection, MemoryType};

    use super::super::interrupt::Gate;
    use super::super::runtime::checks::{Checks, add_checks};
    use super::super::{RuntimeKind, State, engine};
    use super::*;

    const PAGES: u64 = 200;
    const BYTES: usize = PAGES as usize * 65536;

    /// A memory with something in its first half and nothing in its second.
    fn image(engine: &Engine) -> Module {
        let mut module = wasm_encoder::Module::new();
        let memory = MemoryType { minimum: PAGES, maximum: None, memory64: false, shared: false, page_size_log2: None };
        module.section(MemorySection::new().memory(memory));
        module.section(ExportSection::new().export(MEMORY_EXPORT, ExportKind::Memory, 0));
        let bytes = (0..BYTES / 2).map(|place| (place % 251) as u8);
        module.section(DataSection::new().active(0, &ConstExpr::i32_const(0), bytes));
        Module::new(engine, module.finish()).unwrap()
    }

    fn body(image: &Module) -> Body {
        let mut store = Store::new(image.engine(), State::at_rest());
        let memory = wasmtime::Instance::new(&mut store, image, &[]).unwrap();
        let memory = memory.get_memory(&mut store, MEMORY_EXPORT).unwrap();
        let mut exports = wasm_encoder::Module::new();
        exports.section(&ExportSection::new());
        let code = add_checks(&exports.finish(), Checks::Own).unwrap();
        let code = wasmtime::Instance::new(&mut store, &Module::new(image.engine(), code).unwrap(), &[]).unwrap();
        Body { gate: Gate::new(&mut store, &code).unwrap(), kind: RuntimeKind::default(), store, memory, code }
    }

    fn resting() -> Option<(Rest, Arc<PristineMemory>, Body)> {
        let image = image(&engine::running_engine(false).unwrap().0);
        let rest = Rest::new();
        rest.pagemap.is_some().then(|| (rest, Arc::new(PristineMemory::new(&image)), body(&image)))
    }

    fn is_original(body: &Body, original: &PristineMemory) -> bool {
        body.memory.data(&body.store) == original.bytes().unwrap()
    }

    /// Where the machine has swap space, every second of the cell's pages goes there.
    #[allow(unsafe_code)]
    fn swap_out(body: &mut Body) {
        for page in body.memory.data_mut(&mut body.store).chunks_mut(65536).step_by(2) {
            // SAFETY: the range is mapped and borrowed, and paging it out changes no byte of it.
            let _ =
                unsafe { rustix::mm::madvise(page.as_mut_ptr().cast(), page.len(), rustix::mm::Advice::LinuxPageOut) };
        }
    }

    #[test]
    fn a_cell_that_is_put_back_is_its_image_again() {
        let Some((rest, original, mut body)) = resting() else { return };
        for round in 0..50_usize {
            for place in (round * 977..BYTES).step_by(300_007 + round) {
                body.memory.data_mut(&mut body.store)[place] ^= 0xa5;
            }
            assert!(!is_original(&body, &original));
            swap_out(&mut body);
            rest.put_back(body, 1, &original);
            body = rest.take_cell(&original).expect("it rests").0;
            assert!(is_original(&body, &original), "round {round}");
        }
    }

    #[test]
    fn a_cell_that_wrote_much_or_grew_or_is_worn_out_is_thrown_away() {
        let Some((rest, original, mut much)) = resting() else { return };
        much.memory.data_mut(&mut much.store).fill(7);
        rest.put_back(much, 1, &original);
        let mut grown = body(&original.module);
        grown.store.data_mut().memory.cap = u64::MAX;
        grown.memory.grow(&mut grown.store, 1).unwrap();
        rest.put_back(grown, 1, &original);
        rest.put_back(body(&original.module), MAX_USES, &original);
        assert!(rest.take_cell(&original).is_none());
    }

    #[test]
    fn a_cell_rests_for_its_own_image_only() {
        let Some((rest, original, body)) = resting() else { return };
        rest.put_back(body, 3, &original);
        assert!(rest.take_cell(&Arc::new(PristineMemory::new(&original.module))).is_none());
        assert_eq!(rest.take_cell(&original).map(|(_, uses)| uses), Some(3));
        assert!(rest.take_cell(&original).is_none());
    }

    #[test]
    fn no_more_rest_than_there_is_room_for() {
        let Some((rest, original, _)) = resting() else { return };
        for _ in 0..rest.cap + 3 {
            rest.put_back(body(&original.module), 1, &original);
        }
        assert_eq!(std::iter::from_fn(|| rest.take_cell(&original)).count(), rest.cap);
    }
}
