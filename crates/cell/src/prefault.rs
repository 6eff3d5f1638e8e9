//! Copies the pages that a call is known to write, all at once, before it runs.
//!
//! A cell's memory is the image's, mapped copy-on-write. Left to itself, a page that a call first reads and then
//! writes costs two faults, and the second has to tell every other core that runs this process to forget the first:
//! with two threads calling, that is where the time went. The pages are learnt when an image is baked, by a rehearsal.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use serde::{Deserialize, Serialize};

pub const PAGE: usize = 4096;
/// Ranges that are closer than this are taken as one: a page more costs less than a system call.
const GAP: u32 = 1;
/// A rehearsal that wrote more than this is no guide to an ordinary call.
const MAX_PAGES: usize = 512;

/// `/proc/self/pagemap` has eight bytes a page; these are bits of the last: in memory, and a file's page.
const ENTRY: usize = 8;
const PRESENT: u8 = 1 << 7;
const FILE: u8 = 1 << 5;

/// Pages of an image that calls write to, as ranges of page numbers, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HotPages(Vec<(u32, u32)>);

impl HotPages {
    /// The pages of `memory`, a cell's, that it wrote to: those that are its own and no longer the image's. A page
    /// that holds what it held before, such as a reference count that went up and down again, counts too, so comparing would not do.
    pub fn written_pages(memory: &[u8]) -> std::io::Result<HotPages> {
        let first = memory.as_ptr() as usize / PAGE;
        let mut flags = vec![0; memory.len() / PAGE * ENTRY];
        File::open("/proc/self/pagemap")?.read_exact_at(&mut flags, (first * ENTRY) as u64)?;
        let pages = flags.chunks_exact(ENTRY).zip(0u32..);
        let own = pages.filter(|(entry, _)| entry.last().is_some_and(|flags| flags & (PRESENT | FILE) == PRESENT));
        Ok(HotPages::from_pages(own.map(|(_, page)| page)))
    }

    fn from_pages(pages: impl Iterator<Item = u32>) -> HotPages {
        let pages: Vec<u32> = pages.collect();
        if pages.len() > MAX_PAGES {
            return HotPages::default();
        }
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for page in pages {
            match ranges.last_mut() {
                Some((_, end)) if page <= *end + GAP => *end = page + 1,
                _ => ranges.push((page, page + 1)),
            }
        }
        HotPages(ranges)
    }

    /// The pages that at least half of these have.
    pub fn of_most(several: &[HotPages]) -> HotPages {
        let mut counts = std::collections::BTreeMap::<u32, usize>::new();
        for page in several.iter().flat_map(|pages| pages.0.iter().flat_map(|&(start, end)| start..end)) {
            *counts.entry(page).or_default() += 1;
        }
        HotPages::from_pages(counts.into_iter().filter(|(_, count)| 2 * count >= several.len()).map(|(page, _)| page))
    }

    fn byte_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.iter().map(|&(start, end)| start as usize * PAGE..end as usize * PAGE)
    }

    /// Copies the pages now. Where the kernel can't, each is copied when it is first written.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    pub fn prefault(&self, memory: &mut [u8]) {
        use rustix::mm::{Advice, madvise};
        for range in self.byte_ranges() {
            let Some(pages) = memory.get_mut(range) else { return };
            // SAFETY: the range is whole pages of `memory`, which is mapped and borrowed mutably. Populating for
            // writing changes no byte of it.
            if unsafe { madvise(pages.as_mut_ptr().cast(), pages.len(), Advice::LinuxPopulateWrite) }.is_err() {
                return;
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn prefault(&self, _: &mut [u8]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_range() {
        assert_eq!(HotPages::from_pages([1, 2, 4, 7].into_iter()), HotPages(vec![(1, 5), (7, 8)]));
    }

    #[test]
    fn prefaulting_changes_nothing_and_stays_inside() {
        let mut memory = vec![7; 4 * PAGE];
        HotPages(vec![(1, 2), (3, 9)]).prefault(&mut memory);
        assert!(memory.iter().all(|byte| *byte == 7));
    }
}
