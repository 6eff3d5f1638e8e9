//! The page that compiled code loads from at each check, and how it is taken away.
//!
//! Why that is sound:
//!
//! - The page is the beginning of a memory that the code module has for this alone (`runtime/checks.rs`). Nothing else uses it: no
//!   instruction of the runtime can name it, since its binary is read as one that may name only one memory, and no host
//!   function is given it. So the one thing that an inaccessible page changes is that a check faults; Wasmtime's compiler
//!   marks every load from a memory as one that may, and its handler makes a trap of it.
//! - Protection is changed only between the making of an instance and its end: `Gate` is dropped before the store that it
//!   belongs to (`Body` declares it first), opens the page then, and refuses to close it from then on. So Wasmtime never resets or reuses a
//!   slot whose page is inaccessible; and should opening fail, the next instance in the slot opens its page before it runs.
//! - Which fault it was is known by its address, which the kernel gives: in the page, and it was a check of this cell, since
//!   nothing else can reach it; anywhere else, and it was not. The handler only notes that, in one atomic, and leaves the fault to Wasmtime.
//!   A real fault can't be taken for the end of a call: memory that is out of bounds lies elsewhere. Nor the other way round: a check
//!   faults only after [`Barrier::close`].
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{MprotectFlags, mprotect};
use wasmtime::unix::StoreExt;
use wasmtime::{Instance, Store};

use crate::runtime::checks::CHECKS_BYTES;
use crate::{CHECKS, State};

pub struct Barrier {
    page: Range<usize>,
    hit: Arc<AtomicBool>,
}

impl Barrier {
    pub fn new(store: &mut Store<State>, code: &Instance) -> wasmtime::Result<Barrier> {
        let memory = code.get_memory(&mut *store, CHECKS);
        let memory = memory.filter(|memory| memory.data_size(&*store) == CHECKS_BYTES);
        let memory = memory.ok_or_else(|| wasmtime::Error::msg("the code has no interrupt checks"))?;
        let start = memory.data_ptr(&*store) as usize;
        let barrier = Barrier { page: start..start + CHECKS_BYTES, hit: Arc::default() };
        let (page, hit) = (barrier.page.clone(), barrier.hit.clone());
        // SAFETY: what it does is safe in a handler of signals: it reads what it was given, and stores to an atomic.
        // `info` is the kernel's, for a signal that was just received; only faults have an address.
        unsafe {
            store.set_signal_handler(move |signal, info, _| {
                if matches!(signal, libc::SIGSEGV | libc::SIGBUS) && page.contains(&((*info).si_addr() as usize)) {
                    hit.store(true, Ordering::Relaxed);
                }
                false
            });
        }
        barrier.open()?;
        Ok(barrier)
    }

    /// `false` if the kernel could not.
    pub fn close(&self) -> bool {
        self.protect(MprotectFlags::empty()).is_ok()
    }

    pub fn open(&self) -> wasmtime::Result<()> {
        self.protect(MprotectFlags::READ | MprotectFlags::WRITE)
            .map_err(|error| wasmtime::Error::msg(format!("a cell's page can't be made accessible: {error}")))
    }

    /// Whether a check met the closed page since [`forget`](Barrier::forget). Asked on the thread that ran the code.
    pub fn was_hit(&self) -> bool {
        self.hit.load(Ordering::Relaxed)
    }

    pub fn forget(&self) {
        self.hit.store(false, Ordering::Relaxed);
    }

    fn protect(&self, access: MprotectFlags) -> rustix::io::Result<()> {
        // SAFETY: the range is all of a memory of an instance that is alive, as the head of this file has it, and begins with a
        // page: Wasmtime maps memories so. Nothing in this process refers to it but checks.
        unsafe { mprotect(self.page.start as *mut _, self.page.len(), access) }
    }
}
