//! Clocks and random numbers for calls that are made while an image is baked: such calls are compared with each other, so two of
//! them with the same number see the same time and draw the same bytes.

use std::cell::Cell;
use std::time::Duration;

/// Who reads a clock more often than this is waiting for time to pass, so it does.
const PATIENT_READS: u64 = 10_000;
const STEP: Duration = Duration::from_millis(1);
/// What the clock of one number shows after that of another: more than a year, and no whole number of days.
const APART: Duration = Duration::from_secs(400 * 24 * 3600 + 5 * 3600 + 7 * 60 + 11);

pub struct Practice {
    wall_ns: u64,
    passed: Cell<Duration>,
    reads: Cell<u64>,
    random: blake3::OutputReader,
}

impl Practice {
    /// `now_ns` is the wall clock's time, of which the numbers' clocks are apart.
    pub fn new(number: u32, now_ns: u64) -> Practice {
        let apart = APART.saturating_mul(number);
        let random = blake3::Hasher::new().update(b"skillcell practice").update(&number.to_le_bytes()).finalize_xof();
        let wall_ns = now_ns.saturating_add(u64::try_from(apart.as_nanos()).unwrap_or_default());
        Practice { wall_ns, passed: Cell::default(), reads: Cell::default(), random }
    }

    pub(super) fn wall_ns(&self) -> u64 {
        self.wall_ns.saturating_add(u64::try_from(self.passed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// What has passed since the beginning.
    pub(super) fn passed(&self) -> Duration {
        self.reads.set(self.reads.get() + 1);
        if self.reads.get() > PATIENT_READS {
            self.pass(STEP);
        }
        self.passed.get()
    }

    pub(super) fn pass(&self, time: Duration) {
        self.passed.set(self.passed.get().saturating_add(time));
    }

    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        self.random.fill(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(number: u32) -> ([u8; 32], u64) {
        let mut practice = Practice::new(number, 1000);
        let mut bytes = [0; 32];
        practice.fill(&mut bytes);
        (bytes, practice.wall_ns())
    }

    #[test]
    fn the_same_number_gives_the_same_and_another_another() {
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1).0, drawn(2).0);
        assert_ne!(drawn(1).1, drawn(2).1);
    }

    #[test]
    fn time_stands_still_until_somebody_waits_for_it() {
        let practice = Practice::new(0, 0);
        assert_eq!((practice.passed(), practice.passed()), (Duration::ZERO, Duration::ZERO));
        practice.pass(Duration::from_secs(3));
        assert_eq!(practice.passed(), Duration::from_secs(3));
        for _ in 0..PATIENT_READS + 10 {
            practice.passed();
        }
        assert!(practice.passed() > Duration::from_secs(3));
    }
}
