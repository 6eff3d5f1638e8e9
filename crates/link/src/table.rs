//! The function table: main's slots, those of sides, then one for each function that only its address is asked of.

use std::collections::HashMap;

use crate::layout::Layout;
use crate::limits::{MAX_SEGMENTS, MAX_TABLE_SLOTS, check_amount};
use crate::unit::Unit;
use crate::{LinkError, Refusal};

/// Slots with functions of the output.
pub(crate) struct Segment {
    pub start: u32,
    pub functions: Vec<u32>,
}

/// The table while it grows. A function that is in it several times is known by its first slot, so its address is one.
pub(crate) struct Table {
    pub segments: Vec<Segment>,
    slots: HashMap<u32, u32>,
    extra: Segment,
}

impl Table {
    /// Takes the slots that modules fill themselves.
    pub fn fill(units: &[Unit<'_>], layout: &Layout) -> Result<Table, LinkError> {
        let extra = Segment { start: layout.slots as u32, functions: Vec::new() };
        let mut table = Table { segments: Vec::new(), slots: HashMap::new(), extra };
        for unit in units {
            for elements in &unit.input.elements {
                let (start, length) = (unit.constant(&elements.offset)? as u32, elements.functions.len() as u64);
                if !unit.space.table.holds(start, length) {
                    return unit.input.refuse(Refusal::SegmentOutside { offset: start, length });
                }
                let functions: Result<Vec<u32>, LinkError> =
                    elements.functions.iter().map(|&function| unit.function(function)).collect();
                table.add_segment(Segment { start, functions: functions? });
            }
        }
        check_amount("segments of elements", table.segments.len() as u64 + 1, MAX_SEGMENTS)?;
        Ok(table)
    }

    fn add_segment(&mut self, segment: Segment) {
        for (slot, &function) in (segment.start..).zip(&segment.functions) {
            self.slots.entry(function).or_insert(slot);
        }
        self.segments.push(segment);
    }

    /// The address of a function of the output.
    pub fn slot_of(&mut self, function: u32) -> Result<u32, LinkError> {
        if let Some(&slot) = self.slots.get(&function) {
            return Ok(slot);
        }
        let slot = self.extra.start + self.extra.functions.len() as u32;
        check_amount("table slots", u64::from(slot) + 1, MAX_TABLE_SLOTS)?;
        self.extra.functions.push(function);
        self.slots.insert(function, slot);
        Ok(slot)
    }

    /// How many slots there are, and what is in them.
    pub fn finish(mut self) -> (u32, Vec<Segment>) {
        let size = self.extra.start + self.extra.functions.len() as u32;
        if !self.extra.functions.is_empty() {
            self.segments.push(self.extra);
        }
        (size, self.segments)
    }
}
