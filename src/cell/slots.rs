//! A place for every live cell. The pool has so many slots and no more; a call that finds none free waits for one
//! instead of failing.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

#[derive(Clone)]
pub struct Slots(Arc<Shared>);

struct Shared {
    free: Mutex<u32>,
    freed: Condvar,
}

/// A place that is taken until this is dropped.
pub struct Slot(Arc<Shared>);

impl Slots {
    pub fn new(count: u32) -> Slots {
        Slots(Arc::new(Shared { free: Mutex::new(count), freed: Condvar::new() }))
    }

    pub fn take(&self) -> Slot {
        let free = self.0.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.0.freed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Slot(self.0.clone())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_finds_no_slot_waits_for_one() {
        let slots = Slots::new(1);
        let first = slots.take();
        let waiting = std::thread::spawn({
            let slots = slots.clone();
            move || drop(slots.take())
        });
        assert!(!waiting.is_finished());
        drop(first);
        waiting.join().unwrap();
    }
}
