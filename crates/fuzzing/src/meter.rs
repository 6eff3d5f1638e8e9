//! How much memory a target takes: an allocator that counts. One thread fuzzes, so a thread's own count is enough.

#![allow(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Meter;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

#[global_allocator]
static METER: Meter = Meter;

fn count_bytes(bytes: isize) {
    // Thread-locals are gone while a thread ends.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now.get())));
    });
}

// SAFETY: every call is handed to the system's allocator as it came; counting does not allocate.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_bytes(layout.size() as isize);
        // SAFETY: the arguments are the caller's, who keeps the contract of the same method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_bytes(layout.size() as isize);
        // SAFETY: the arguments are the caller's, who keeps the contract of the same method.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new block exist at the same time.
        count_bytes(size as isize);
        // SAFETY: the arguments are the caller's, who keeps the contract of the same method.
        let moved = unsafe { System.realloc(place, layout, size) };
        count_bytes(-(layout.size() as isize));
        moved
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count_bytes(-(layout.size() as isize));
        // SAFETY: the arguments are the caller's, who keeps the contract of the same method.
        unsafe { System.dealloc(place, layout) }
    }
}

/// The most bytes that were allocated at once in `work`, beyond those that were before.
pub fn peak_of(work: impl FnOnce()) -> usize {
    let before = NOW.get();
    PEAK.set(before);
    work();
    usize::try_from(PEAK.get() - before).unwrap_or(0)
}

/// What a target may allocate at once for an input of this length.
pub fn allowed_bytes(name: &str, input: usize) -> usize {
    match name {
        // These make regular expressions, some of them with Unicode's classes.
        "manifest" | "schema" | "url_policy" => (32 << 20) + 256 * input,
        // A map for each few bytes of a table: why a policy file is short.
        "policy_file" => (2 << 20) + 1024 * input,
        // The harness looks at what reached its server in a large buffer.
        "door" => (2 << 20) + 64 * input,
        // Three codings, the last in two readings each: fourteen streams that are inflated.
        "http_answer" => (2 << 20) + 64 * input,
        // Of the smallest functions and exports: what is kept of each is a struct. Programs are larger than what they are made of.
        "link" => (2 << 20) + 1024 * input,
        _ => (1 << 20) + 64 * input,
    }
}
