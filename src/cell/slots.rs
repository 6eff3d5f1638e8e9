//! A place for every live cell. The pool has so many slots and no more; a call that finds none free waits for one
//! instead of failing.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

#[derive(Clone)]
pub struct Slots(Arc<Shared>);

struct Shared {
    places: Mutex<Places>,
    freed: Condvar,
}

struct Places {
    free: u32,
    /// Who waits for one. Waking nobody would be a system call, too.
    waiting: u32,
}

/// A place that is taken until this is dropped.
pub struct Slot(Arc<Shared>);

impl Slots {
    pub fn new(count: u32) -> Slots {
        Slots(Arc::new(Shared { places: Mutex::new(Places { free: count, waiting: 0 }), freed: Condvar::new() }))
    }

    pub fn take(&self) -> Slot {
        let mut places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
        while places.free == 0 {
            places.waiting += 1;
            places = self.0.freed.wait(places).unwrap_or_else(PoisonError::into_inner);
            places.waiting -= 1;
        }
        places.free -= 1;
        Slot(self.0.clone())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.free += 1;
        if places.waiting > 0 {
            self.0.freed.notify_one();
        }
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
