//! Asks the kernel which pages of a memory are no longer the image's (`PAGEMAP_SCAN`, Linux 6.7).

use std::fs::File;
use std::io;
use std::ops::Range;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use super::prefault::PAGE;

/// What can be said of a page, as the kernel numbers it.
const FILE: u64 = 1 << 2;
const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
const ZERO: u64 = 1 << 5;

/// The kernel's `struct pm_scan_arg`.
#[repr(C)]
#[derive(Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    regions: u64,
    regions_len: u64,
    max_pages: u64,
    inverted: u64,
    all_of: u64,
    any_of: u64,
    returned: u64,
}

/// The kernel's `struct page_region`.
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

const SCAN: Opcode = opcode::read_write::<Scan>(b'f', 16);
/// Stretches of changed pages that are asked for. A memory with more is not worth restoring.
const MAX_REGIONS: usize = 2048;

pub struct PageMap {
    file: File,
    /// The file means the memory of the process that opened it, also in a child that inherits it.
    process: u32,
}

impl PageMap {
    /// `None` where the kernel lacks the ioctl, or a probe shows that it behaves differently.
    pub fn open() -> Option<PageMap> {
        let map = PageMap { file: File::open("/proc/self/pagemap").ok()?, process: std::process::id() };
        let probe = vec![1; 3 * PAGE];
        let inside = &probe[probe.as_ptr().align_offset(PAGE)..][..2 * PAGE];
        let found = map.changed_ranges(inside, 2).ok()??;
        let all = std::iter::once(0..2 * PAGE);
        found.into_iter().eq(all).then_some(map)
    }

    /// The parts of `memory` that are its own: written, whether in memory now or swapped out or just being moved. The
    /// others are the file's that is mapped there, zero, or were never touched. `None` if there are more than `max_pages`.
    #[allow(unsafe_code)]
    pub fn changed_ranges(&self, memory: &[u8], max_pages: usize) -> io::Result<Option<Vec<Range<usize>>>> {
        if std::process::id() != self.process {
            return Err(io::Error::other("the process was forked"));
        }
        let (start, end) = (memory.as_ptr() as u64, memory.as_ptr() as u64 + memory.len() as u64);
        let mut regions = [Region::default(); MAX_REGIONS];
        let mut scan = Scan {
            size: size_of::<Scan>() as u64,
            start,
            end,
            regions: regions.as_mut_ptr() as u64,
            regions_len: MAX_REGIONS as u64,
            // One more than the limit, to tell whether it is exceeded.
            max_pages: max_pages as u64 + 1,
            inverted: FILE | ZERO,
            all_of: FILE | ZERO,
            any_of: PRESENT | SWAPPED,
            ..Scan::default()
        };
        // SAFETY: the opcode takes a `Scan`; `regions` and its length are those of an array that outlives the call, and
        // nothing else is written. Nothing of the memory is changed.
        unsafe { ioctl(&self.file, Updater::<SCAN, Scan>::new(&mut scan)) }?;
        let found = regions.iter().take_while(|region| region.end > 0);
        let ranges: Vec<_> = found.map(|it| (it.start - start) as usize..(it.end - start) as usize).collect();
        let pages = ranges.iter().map(|range| range.len() / PAGE).sum::<usize>();
        Ok((scan.walk_end == end && pages <= max_pages).then_some(ranges))
    }
}

#[cfg(test)]
mod tests {
    use rustix::mm::{Advice, madvise};

    use super::*;

    #[test]
    #[allow(unsafe_code)]
    fn a_page_is_changed_once_it_is_written() {
        let Some(map) = PageMap::open() else { return };
        // Large enough to be mapped for itself, and zero without having been written. glibc's bound for that grows with
        // what other tests freed, up to 32 MiB.
        let mut mapped = vec![0; 1 << 26];
        let start = mapped.as_ptr().align_offset(PAGE);
        let mapped = &mut mapped[start..];
        // SAFETY: it begins with a page, is borrowed, and keeps its bytes. A huge page would be changed as a whole.
        unsafe { madvise(mapped.as_mut_ptr().cast(), 8 << 20, Advice::LinuxNoHugepage) }.unwrap();
        let memory = &mut mapped[1 << 20..][..8 * PAGE];
        assert_eq!(map.changed_ranges(memory, 8).unwrap(), Some(vec![]));
        (memory[PAGE], memory[2 * PAGE], memory[5 * PAGE + 7]) = (1, 1, 1);
        assert_eq!(map.changed_ranges(memory, 8).unwrap(), Some(vec![PAGE..3 * PAGE, 5 * PAGE..6 * PAGE]));
        assert_eq!(map.changed_ranges(memory, 3).unwrap().map(|ranges| ranges.len()), Some(2));
        assert_eq!(map.changed_ranges(memory, 2).unwrap(), None);
    }

    #[test]
    fn the_map_of_another_process_is_of_no_use() {
        let Some(map) = PageMap::open() else { return };
        let inherited = PageMap { process: map.process + 1, ..map };
        assert!(inherited.changed_ranges(&[0; 2 * PAGE], 2).is_err());
    }
}
