//! How long calls took, counted by size: a fixed number of counts, however many calls.

use std::time::Duration;

/// Upper bounds of the buckets but for the last, in seconds: four to each doubling would be finer than a shared machine is
/// steady, so there are two.
pub const LATENCY_BOUNDS: [f64; BUCKETS - 1] = make_bounds();
const BUCKETS: usize = 48;
/// The first bound, in seconds. The last one is then 2^23 times as much, 209 s.
const FIRST: f64 = 25e-6;

/// A histogram of times.
#[derive(Debug, Clone)]
pub struct Latency {
    counts: [u64; BUCKETS],
    sum: Duration,
}

impl Default for Latency {
    fn default() -> Latency {
        Latency { counts: [0; BUCKETS], sum: Duration::ZERO }
    }
}

impl Latency {
    /// Counts one time.
    pub fn add(&mut self, time: Duration) {
        let seconds = time.as_secs_f64();
        let place = LATENCY_BOUNDS.partition_point(|bound| *bound < seconds);
        self.counts[place] += 1;
        self.sum += time;
    }

    /// Counts what another counted.
    pub fn add_all(&mut self, other: &Latency) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.sum += other.sum;
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All of them together.
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// How many there are up to each of [`LATENCY_BOUNDS`].
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut total = 0;
        LATENCY_BOUNDS.into_iter().zip(self.counts).map(move |(bound, count)| {
            total += count;
            (bound, total)
        })
    }

    /// The time that this share of them (0 to 1) did not exceed, to within its bucket; none without any.
    pub fn percentile(&self, share: f64) -> Option<Duration> {
        let wanted = (self.count() as f64 * share).ceil().max(1.0) as u64;
        let bound = self.cumulative().find(|(_, total)| *total >= wanted).map(|(bound, _)| bound);
        let last = LATENCY_BOUNDS[BUCKETS - 2];
        (self.count() > 0).then(|| Duration::from_secs_f64(bound.unwrap_or(last)))
    }
}

const fn make_bounds() -> [f64; BUCKETS - 1] {
    let mut bounds = [0.0; BUCKETS - 1];
    let (mut place, mut bound) = (0, FIRST);
    while place < bounds.len() {
        bounds[place] = bound;
        bound *= if place % 2 == 0 { std::f64::consts::SQRT_2 } else { 2.0 / std::f64::consts::SQRT_2 };
        place += 1;
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_bucket_of_the_truth() {
        let mut latency = Latency::default();
        assert_eq!(latency.percentile(0.5), None);
        (1..=1000).for_each(|ms| latency.add(Duration::from_millis(ms)));
        for (share, truth) in [(0.5, 0.5), (0.99, 0.99), (1.0, 1.0)] {
            let told = latency.percentile(share).unwrap().as_secs_f64();
            assert!(told >= truth && told <= truth * 1.42, "{share}: {told}");
        }
        assert_eq!((latency.count(), latency.sum()), (1000, Duration::from_millis(500_500)));
        latency.add(Duration::from_secs(100_000));
        assert_eq!(latency.cumulative().last().unwrap().1, 1000, "what is beyond the last bound is only in the count");
    }
}
