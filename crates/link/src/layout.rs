//! Where the data and the table slots of each side go: behind main's, one side after the other.

use crate::input::Input;
use crate::limits::{MAX_MEMORY_BYTES, MAX_TABLE_SLOTS, check_amount};
use crate::{LinkError, Refusal};

pub(crate) const PAGE_BYTES: u64 = 65_536;
/// Compilers assume that the stack and allocations are aligned so; data that asks for less gets it too.
const LEAST_ALIGNMENT: u32 = 4;

/// A part of memory or of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub start: u32,
    pub length: u32,
}

impl Range {
    /// Whether `length` things from `offset` on are in it.
    pub fn holds(&self, offset: u32, length: u64) -> bool {
        let end = u64::from(self.start) + u64::from(self.length);
        offset >= self.start && u64::from(offset) + length <= end
    }
}

/// The spaces of one module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    pub memory: Range,
    pub table: Range,
}

/// The spaces of all modules: main's first.
pub(crate) struct Layout {
    pub spaces: Vec<Space>,
    /// From where on the guest may allocate, as whole pages behind the last side's data.
    pub heap_start: u64,
    /// Pages that the memory begins with.
    pub pages: u64,
    /// Slots of the table that have been given away.
    pub slots: u64,
}

impl Layout {
    /// `heap_base` is where main's own data, and its stack, end.
    pub fn plan(main: &Input<'_>, sides: &[Input<'_>], heap_base: u32) -> Result<Layout, LinkError> {
        let memory = main.memory.ok_or_else(|| Refusal::NoMemory.of(main.name))?;
        let mut slots = main.tables.first().map_or(0, |table| table.initial);
        check_amount("table slots", slots, MAX_TABLE_SLOTS)?;
        let mut end = u64::from(heap_base);
        let mut spaces = vec![Space {
            memory: Range { start: 0, length: heap_base },
            table: Range { start: 0, length: slots as u32 },
        }];
        for side in sides {
            let dylink = side.dylink.as_ref().ok_or_else(|| Refusal::NoDylink.of(side.name))?;
            let start = end.next_multiple_of(1 << dylink.memory_alignment.max(LEAST_ALIGNMENT));
            end = start + u64::from(dylink.memory_bytes);
            check_amount("bytes of memory", end, MAX_MEMORY_BYTES)?;
            let first = slots.next_multiple_of(1 << dylink.table_alignment);
            slots = first + u64::from(dylink.table_slots);
            check_amount("table slots", slots, MAX_TABLE_SLOTS)?;
            spaces.push(Space {
                memory: Range { start: start as u32, length: dylink.memory_bytes },
                table: Range { start: first as u32, length: dylink.table_slots },
            });
        }
        let heap_start = if sides.is_empty() { end } else { end.next_multiple_of(PAGE_BYTES) };
        let pages = memory.initial.max(heap_start.div_ceil(PAGE_BYTES));
        check_amount("bytes of memory", pages.saturating_mul(PAGE_BYTES), MAX_MEMORY_BYTES)?;
        Ok(Layout { spaces, heap_start, pages, slots })
    }
}
