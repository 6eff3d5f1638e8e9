//! Waiting for the first of several connections that has something to read, as an event loop does.
//!
//! The standard library can't wait for several sockets at once, so they are looked at again and again, less and less
//! often. Where all but one have nothing under way, that one is waited for.

use std::time::{Duration, Instant};

use crate::exchange::Exchange;

const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// What reading a connection would do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It would wait: an answer is under way.
    Waiting,
    /// It would give bytes, the end or an error.
    Ready,
    /// Nothing was asked that could be answered.
    Idle,
}

/// Waits until one is ready, nothing is under way, or time is up. A connection that is not there is ready: reading it
/// says so.
pub fn wait(all: &mut [Option<&mut Exchange>], deadline: Instant) -> Vec<Readiness> {
    let mut pause = FIRST_PAUSE;
    loop {
        let states: Vec<Readiness> =
            all.iter_mut().map(|one| one.as_mut().map_or(Readiness::Ready, |exchange| exchange.readiness())).collect();
        let waiting = states.iter().filter(|state| **state == Readiness::Waiting).count();
        if states.contains(&Readiness::Ready) || waiting == 0 || Instant::now() >= deadline {
            return states;
        }
        let mut under_way = all.iter_mut().zip(&states).filter(|(_, state)| **state == Readiness::Waiting);
        match under_way.next() {
            Some((Some(only), _)) if waiting == 1 => only.wait_for_bytes(deadline),
            _ => {
                std::thread::sleep(pause.min(deadline.saturating_duration_since(Instant::now())));
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}
