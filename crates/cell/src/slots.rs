//! Slots for live cells. The engine's pool has a fixed number of them; a call that finds none free waits for one instead
//! of failing.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use skillcell_limits::cancel::CancelToken;

#[derive(Clone)]
pub struct Slots(Arc<Shared>);

struct Shared {
    places: Mutex<Places>,
    freed: Condvar,
}

struct Places {
    free: u32,
    /// Waiting threads. Without any, notifying would be a wasted system call.
    waiting: u32,
}

/// A place that is taken until this is dropped.
pub struct Slot(Arc<Shared>);

impl Slots {
    pub fn new(count: u32) -> Slots {
        Slots(Arc::new(Shared { places: Mutex::new(Places { free: count, waiting: 0 }), freed: Condvar::new() }))
    }

    /// Waits for a free slot; `None` if there is none until `deadline`, or if the call is cancelled meanwhile.
    pub fn acquire(&self, deadline: Instant, cancel: &CancelToken) -> Option<Slot> {
        if self.take_now() {
            return Some(Slot(self.0.clone()));
        }
        // A cancellation takes the lock of the places, so the token is never touched while that is held.
        let shared = self.0.clone();
        let _wakes = cancel.on_cancel(move || {
            drop(shared.lock());
            shared.freed.notify_all();
        });
        self.wait_for_slot(deadline, cancel)
    }

    fn take_now(&self) -> bool {
        let mut places = self.0.lock();
        let is_free = places.free > 0;
        places.free -= u32::from(is_free);
        is_free
    }

    fn wait_for_slot(&self, deadline: Instant, cancel: &CancelToken) -> Option<Slot> {
        let mut places = self.0.lock();
        while places.free == 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || cancel.is_cancelled() {
                return None;
            }
            places.waiting += 1;
            let waited = self.0.freed.wait_timeout(places, left);
            places = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(places, _)| places);
            places.waiting -= 1;
        }
        places.free -= 1;
        Some(Slot(self.0.clone()))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut places = self.0.lock();
        places.free += 1;
        if places.waiting > 0 {
            self.0.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_finds_no_slot_waits_for_one() {
        let slots = Slots::new(1);
        let (far, never) = (Instant::now() + Duration::from_secs(600), CancelToken::default());
        let first = slots.acquire(far, &never);
        let waiting = std::thread::spawn({
            let slots = slots.clone();
            move || slots.acquire(far, &never).is_some()
        });
        assert!(!waiting.is_finished());
        drop(first);
        assert!(waiting.join().unwrap());
    }

    #[test]
    fn a_wait_ends_at_the_deadline_and_with_a_cancellation() {
        let (slots, token) = (Slots::new(1), CancelToken::new());
        let far = Instant::now() + Duration::from_secs(600);
        let _first = slots.acquire(far, &token).unwrap();
        assert!(slots.acquire(Instant::now() + Duration::from_millis(5), &token).is_none());
        let waiting = std::thread::spawn({
            let (slots, token) = (slots.clone(), token.clone());
            move || slots.acquire(far, &token).is_none()
        });
        token.cancel();
        assert!(waiting.join().unwrap());
    }
}
