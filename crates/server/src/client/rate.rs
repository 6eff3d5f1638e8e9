//! How often a client may call: so many in a time, and at most that many at once.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A bound on calls in time. It lets a burst of one period's calls through, and then one for each share of it.
#[derive(Debug)]
pub struct Rate {
    calls: u32,
    per: Duration,
    /// When everything that was counted would have been let through evenly.
    even_until: Mutex<Option<Instant>>,
}

impl Rate {
    /// At most this many calls in this time; at least one.
    pub fn new(calls: u32, per: Duration) -> Rate {
        Rate { calls: calls.max(1), per, even_until: Mutex::default() }
    }

    /// Counts a call; how long to wait if that is one too many.
    pub fn count(&self) -> Result<(), Duration> {
        self.count_at(Instant::now())
    }

    fn count_at(&self, now: Instant) -> Result<(), Duration> {
        let mut even_until = self.even_until.lock().unwrap_or_else(PoisonError::into_inner);
        let from = even_until.map_or(now, |until| until.max(now));
        let until = from + self.per / self.calls;
        match until.checked_duration_since(now + self.per) {
            Some(early) if !early.is_zero() => Err(early),
            _ => {
                *even_until = Some(until);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_then_calls_come_evenly() {
        let (rate, start) = (Rate::new(4, Duration::from_secs(2)), Instant::now());
        assert!((0..4).all(|_| rate.count_at(start).is_ok()));
        assert_eq!(rate.count_at(start), Err(Duration::from_millis(500)));
        let later = start + Duration::from_millis(500);
        assert!(rate.count_at(later).is_ok() && rate.count_at(later).is_err());
        let much_later = start + Duration::from_secs(60);
        assert_eq!((0..9).filter(|_| rate.count_at(much_later).is_ok()).count(), 4);
    }
}
