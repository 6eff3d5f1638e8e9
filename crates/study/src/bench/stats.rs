//! Times of one kind of call, and their percentiles.

use std::time::Duration;

use serde_json::{Value, json};

/// A named series of times.
#[derive(Debug, Clone)]
pub struct Series {
    pub name: &'static str,
    times: Vec<Duration>,
}

impl Series {
    pub fn new(name: &'static str) -> Series {
        Series { name, times: Vec::new() }
    }

    pub fn add(&mut self, time: Duration) {
        self.times.push(time);
    }

    pub fn count(&self) -> usize {
        self.times.len()
    }

    /// The time that `percent` of the calls stayed within; `None` without calls.
    pub fn percentile_ms(&self, percent: usize) -> Option<f64> {
        let mut times = self.times.clone();
        times.sort_unstable();
        let index = (times.len() * percent / 100).min(times.len().checked_sub(1)?);
        Some((times[index].as_secs_f64() * 1e6).round() / 1e3)
    }

    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "p50_ms": self.percentile_ms(50),
            "p90_ms": self.percentile_ms(90),
            "p99_ms": self.percentile_ms(99),
            "calls": self.count(),
        })
    }
}

pub fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
