//! Makes objects of CPython immortal, so that using them no longer writes to their pages. Both runtimes are of versions and a word
//! size in which that is one number.

/// What CPython's `_Py_IMMORTAL_INITIAL_REFCNT` is on a 32-bit machine, and the count from which on an object counts as immortal.
const IMMORTAL: u32 = 5 << 28;
const IMMORTAL_FROM: u32 = 1 << 30;

/// Makes the objects at `pins` (packed u32) immortal, so that using them does not write to their pages.
pub fn make_immortal(memory: &mut [u8], pins: &[u8]) -> u64 {
    let mut made = 0;
    for pin in pins.chunks_exact(4) {
        let place = u32::from_le_bytes(pin.try_into().unwrap_or_default()) as usize;
        let Some(count) = memory.get_mut(place..place.saturating_add(4)) else { continue };
        if u32::from_le_bytes((&*count).try_into().unwrap_or_default()) < IMMORTAL_FROM {
            count.copy_from_slice(&IMMORTAL.to_le_bytes());
            made += 1;
        }
    }
    made
}
