//! Ending a call from outside, at any time and from any thread.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};

/// Cancels calls that carry it. Clones are the same token; the default one is never cancelled, and costs nothing.
///
/// A cell ends at its next host call or interrupt check, also while it sleeps or waits for a server; the processes of other tiers are ended at
/// once. The call's outcome is [`Outcome::Cancelled`](crate::outcome::Outcome::Cancelled).
#[derive(Clone, Default)]
pub struct CancelToken(Option<Arc<Shared>>);

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    listeners: Mutex<Listeners>,
    changed: Condvar,
}

type Listener = Box<dyn Fn() + Send>;

#[derive(Default)]
struct Listeners {
    next_id: u64,
    by_id: BTreeMap<u64, Listener>,
    /// Made for the first who polls.
    event: Option<Arc<OwnedFd>>,
}

/// Someone who is told of a cancellation, until this is dropped.
pub struct Registration {
    shared: Arc<Shared>,
    id: u64,
}

impl CancelToken {
    /// A token that can be cancelled.
    pub fn new() -> CancelToken {
        CancelToken(Some(Arc::default()))
    }

    /// Ends every call that carries this token, now and in future. Once is enough.
    pub fn cancel(&self) {
        let Some(shared) = &self.0 else { return };
        let listeners = shared.lock();
        shared.cancelled.store(true, Ordering::Release);
        shared.changed.notify_all();
        listeners.by_id.values().for_each(|tell| tell());
        if let Some(event) = &listeners.event {
            // Never read from, so it stays readable. It can only fail where it was written to before.
            let _ = rustix::io::write(event, &1u64.to_ne_bytes());
        }
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_some_and(|shared| shared.cancelled.load(Ordering::Acquire))
    }

    /// Has `tell` called when it is cancelled; at once if it was. It must not wait, nor touch the token.
    pub fn on_cancel(&self, tell: impl Fn() + Send + 'static) -> Option<Registration> {
        let shared = self.0.as_ref()?;
        let mut listeners = shared.lock();
        if shared.cancelled.load(Ordering::Acquire) {
            tell();
        }
        let id = listeners.next_id;
        listeners.next_id += 1;
        listeners.by_id.insert(id, Box::new(tell));
        Some(Registration { shared: shared.clone(), id })
    }

    /// A descriptor that can be read from once it is cancelled, and for ever after: for who polls. None for a token that
    /// is never cancelled.
    pub fn event(&self) -> io::Result<Option<Arc<OwnedFd>>> {
        let Some(shared) = &self.0 else { return Ok(None) };
        // Under the lock, so that a cancellation either shows here or finds the descriptor.
        let mut listeners = shared.lock();
        let event = match &listeners.event {
            Some(event) => event.clone(),
            None => {
                let start = u32::from(shared.cancelled.load(Ordering::Acquire));
                Arc::new(eventfd(start, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
            }
        };
        listeners.event = Some(event.clone());
        Ok(Some(event))
    }

    /// Sleeps, unless it is cancelled. Whether it was.
    pub fn sleep(&self, wait: Duration) -> bool {
        let Some(shared) = &self.0 else {
            std::thread::sleep(wait);
            return false;
        };
        let until = Instant::now().checked_add(wait);
        let mut listeners = shared.lock();
        while !shared.cancelled.load(Ordering::Acquire) {
            let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return false;
            }
            listeners = shared
                .changed
                .wait_timeout(listeners, left)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(listeners, _)| listeners);
        }
        true
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelToken").field(&self.is_cancelled()).finish()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.shared.lock().by_id.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn who_registered_is_told_once_and_who_left_is_not() {
        let (token, (sender, told)) = (CancelToken::new(), mpsc::channel());
        let stays = token.on_cancel({
            let sender = sender.clone();
            move || sender.send("stays").unwrap()
        });
        drop(token.on_cancel(move || sender.send("left").unwrap()));
        token.cancel();
        assert!(token.is_cancelled() && token.clone().is_cancelled());
        drop(stays);
        assert_eq!(told.iter().collect::<Vec<_>>(), ["stays"]);
    }

    #[test]
    fn the_event_shows_a_cancellation_before_and_after_it_was_asked_for() {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let ready = |token: &CancelToken| {
            let event = token.event().unwrap().unwrap();
            poll(&mut [PollFd::new(&event, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() == 1
        };
        let [early, late] = [CancelToken::new(), CancelToken::new()];
        assert!(!ready(&early));
        early.cancel();
        late.cancel();
        assert!(ready(&early) && ready(&early) && ready(&late));
        assert!(CancelToken::default().event().unwrap().is_none());
    }

    #[test]
    fn a_sleep_ends_with_the_cancellation_and_otherwise_by_itself() {
        let token = CancelToken::new();
        assert!(!token.sleep(Duration::from_millis(1)));
        let sleeper = std::thread::spawn({
            let token = token.clone();
            move || token.sleep(Duration::from_secs(600))
        });
        token.cancel();
        assert!(sleeper.join().unwrap());
        assert!(!CancelToken::default().sleep(Duration::ZERO));
    }
}
