//! Finds out on demand what this machine has: a container engine, a sandbox. A positive answer is cached until it fails; a
//! negative one for some seconds, since an engine may be installed or started while this process runs.

use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// How long a negative answer is kept.
const ABSENT: Duration = Duration::from_secs(5);
/// How long a second choice is kept before the better one is tried again.
const LESSER: Duration = Duration::from_secs(60);
/// Probing takes at most one part in this many of the time: a broken engine may take seconds to fail.
const SHARE: u32 = 20;

/// One thing to probe for, and the last answer.
pub struct Probe<T> {
    last: Mutex<Option<Last<T>>>,
    /// Held while a thread probes.
    looking: Mutex<()>,
}

#[derive(Clone)]
struct Last<T> {
    answer: Result<T, String>,
    /// When to probe again; `None` for as long as it works.
    retry_at: Option<Instant>,
}

impl<T: Clone> Probe<T> {
    pub const fn new() -> Probe<T> {
        Probe { last: Mutex::new(None), looking: Mutex::new(()) }
    }

    /// What was found, or why nothing was. `is_best` says whether probing again could not find anything better.
    pub fn get(&self, find: impl FnOnce() -> Result<T, String>, is_best: impl Fn(&T) -> bool) -> Result<T, String> {
        self.get_at(Instant::now(), find, is_best)
    }

    fn get_at(
        &self,
        now: Instant,
        find: impl FnOnce() -> Result<T, String>,
        is_best: impl Fn(&T) -> bool,
    ) -> Result<T, String> {
        let last = self.last_answer();
        if let Some(Last { answer, .. }) = last.as_ref().filter(|last| last.is_current(now)) {
            return answer.clone();
        }
        let _one_at_a_time = match (self.looking.try_lock(), last) {
            (Ok(looking), _) => looking,
            (Err(TryLockError::Poisoned(looking)), _) => looking.into_inner(),
            // Another thread is probing: its result is not worth waiting for if there is an older answer.
            (Err(TryLockError::WouldBlock), Some(last)) => return last.answer,
            (Err(TryLockError::WouldBlock), None) => self.looking.lock().unwrap_or_else(PoisonError::into_inner),
        };
        // Another thread may have probed while this one waited.
        if let Some(last) = self.last_answer().filter(|last| last.is_current(now)) {
            return last.answer;
        }
        let started = Instant::now();
        let answer = find();
        let took = started.elapsed();
        let wait = match &answer {
            Ok(found) if is_best(found) => None,
            Ok(_) => Some(LESSER),
            Err(_) => Some(ABSENT),
        };
        let retry_at = wait.map(|wait| now + took + wait.max(took * SHARE));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Last { answer: answer.clone(), retry_at });
        answer
    }

    /// Drops the answer, so that the next caller probes again.
    pub fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn last_answer(&self) -> Option<Last<T>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<T> Last<T> {
    fn is_current(&self, now: Instant) -> bool {
        self.retry_at.is_none_or(|again| now < again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never() -> Result<u8, String> {
        panic!("it is not looked for now")
    }

    #[test]
    fn what_is_absent_is_looked_for_again_later_and_what_is_found_is_kept() {
        let (probe, start) = (Probe::new(), Instant::now());
        let absent = || Err("not there".to_owned());
        assert_eq!(probe.get_at(start, absent, |_: &u8| true), absent());
        assert_eq!(probe.get_at(start + ABSENT / 2, never, |_| true), absent());
        let later = start + ABSENT * 2;
        assert_eq!(probe.get_at(later, || Ok(1), |_| true), Ok(1));
        assert_eq!(probe.get_at(later + LESSER * 1000, never, |_| true), Ok(1));
        probe.forget();
        assert_eq!(probe.get_at(later, || Ok(2), |_| true), Ok(2));
    }

    #[test]
    fn the_lesser_of_two_gives_way_to_the_better_one() {
        let (probe, start) = (Probe::new(), Instant::now());
        let is_best = |found: &u8| *found == 2;
        assert_eq!(probe.get_at(start, || Ok(1), is_best), Ok(1));
        assert_eq!(probe.get_at(start + ABSENT * 2, never, is_best), Ok(1));
        assert_eq!(probe.get_at(start + LESSER * 2, || Ok(2), is_best), Ok(2));
    }

    #[test]
    fn looking_takes_a_small_part_of_the_time_however_long_it_takes() {
        let (probe, start) = (Probe::new(), Instant::now());
        let slow = || {
            std::thread::sleep(ABSENT / 10);
            Err("it hangs".to_owned())
        };
        assert!(probe.get_at(start, slow, |_: &u8| true).is_err());
        assert!(probe.get_at(start + ABSENT + ABSENT / 2, never, |_| true).is_err());
    }

    #[test]
    fn who_asks_while_another_looks_again_is_not_held_up() {
        let (probe, start) = (Probe::new(), Instant::now());
        let absent = || Err("not there".to_owned());
        assert!(probe.get_at(start, absent, |_: &u8| true).is_err());
        let later = start + LESSER;
        let found = probe.get_at(
            later,
            || {
                std::thread::scope(|scope| {
                    let other = scope.spawn(|| probe.get_at(later, never, |_| true));
                    assert_eq!(other.join().unwrap(), absent());
                });
                Ok(1)
            },
            |_| true,
        );
        assert_eq!(found, Ok(1));
    }
}
