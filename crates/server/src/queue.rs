//! The queue between clients and workers: bounded, and fair to clients and skills.
//!
//! ```text
//!   Service::call ─▶ push ─▶ lanes: by client, then by skill ─▶ take ─▶ a worker's thread
//!                      └──▶ full: Busy
//! ```
//!
//! Clients take turns, and within a client its skills do. A client and a skill each run on at most their share of the
//! workers at a time: calls that only burn their deadlines leave the other workers to others.
//! It knows nothing of calls: a job is a closure.

mod lanes;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use self::lanes::Lanes;

/// How often a worker lets others run before it sleeps. On an idle machine that is a few microseconds.
const LOOKS: usize = 8;

/// What runs on a worker.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

/// How much waits and runs at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Jobs that wait, of all clients.
    pub waiting: usize,
    /// Jobs that wait, of one client.
    pub waiting_per_client: usize,
    /// Jobs of one client that run at once.
    pub running_per_client: usize,
    /// Jobs of one skill that run at once.
    pub running_per_skill: usize,
}

/// Whose job it is, by number: small, and the same for as long as the queue lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub client: usize,
    pub skill: usize,
}

/// A job that a worker took. It counts as running until it is given back.
pub(crate) struct Taken {
    pub owner: Owner,
    pub work: Work,
}

/// Why a job was not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotQueued {
    Full,
    Closed,
}

/// See the module.
pub(crate) struct Queue {
    state: Mutex<State>,
}

struct State {
    lanes: Lanes,
    /// Workers without a job, the one that had one last at the end: its caches are the warmest.
    idle: Vec<Thread>,
    /// Workers that look for a job before they sleep: the next job needs nobody woken.
    looking: usize,
    closed: bool,
}

impl Queue {
    pub fn new(bounds: Bounds) -> Queue {
        Queue { state: Mutex::new(State { lanes: Lanes::new(bounds), idle: Vec::new(), looking: 0, closed: false }) }
    }

    /// Takes a job in, and wakes a worker for it. The number is for [`withdraw`](Queue::withdraw).
    pub fn push(&self, owner: Owner, work: Work) -> Result<u64, NotQueued> {
        let mut state = self.lock();
        if state.closed {
            return Err(NotQueued::Closed);
        }
        let number = state.lanes.push(owner, work).ok_or(NotQueued::Full)?;
        let worker = state.worker_to_wake();
        drop(state);
        wake(worker);
        Ok(number)
    }

    /// Takes a job back that no worker has taken. Whether there was one.
    pub fn withdraw(&self, owner: Owner, number: u64) -> bool {
        let withdrawn = self.lock().lanes.withdraw(owner, number);
        // Dropped without the lock: it holds a stranger's params.
        withdrawn.is_some()
    }

    /// The next job, on a worker's thread; it waits for one. `None` once the queue is closed and empty.
    pub fn take(&self) -> Option<Taken> {
        let mut state = self.lock();
        loop {
            if let Some(taken) = state.lanes.take() {
                // One end may let two others begin: one here, one on another worker.
                let worker = state.worker_to_wake();
                drop(state);
                wake(worker);
                return Some(taken);
            }
            if state.closed && state.lanes.is_empty() {
                return None;
            }
            state = self.look_for_jobs(state);
            // While it looked, it was in nobody's list to be woken: neither for a job nor for the end.
            if state.lanes.has_next() || (state.closed && state.lanes.is_empty()) {
                continue;
            }
            let this = thread::current();
            state.idle.push(this.clone());
            drop(state);
            thread::park();
            state = self.lock();
            // Woken by nobody: it must not be in the list twice.
            state.idle.retain(|idle| idle.id() != this.id());
        }
    }

    /// Lets others run for a moment: with short calls the next job is there by then, and waking a thread costs more than half
    /// of such a call.
    fn look_for_jobs<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if state.looking > 0 || state.closed {
            return state;
        }
        state.looking += 1;
        for _ in 0..LOOKS {
            drop(state);
            thread::yield_now();
            state = self.lock();
            if state.lanes.has_next() {
                break;
            }
        }
        state.looking -= 1;
        state
    }

    /// A job is over.
    pub fn give_back(&self, owner: Owner) {
        let mut state = self.lock();
        state.lanes.give_back(owner);
        if state.closed && state.lanes.is_empty() {
            state.idle.drain(..).for_each(|worker| worker.unpark());
        }
    }

    /// Takes in no more. What waits is still done.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.idle.drain(..).for_each(|worker| worker.unpark());
    }

    /// How many jobs wait and run.
    pub fn load(&self) -> (usize, usize) {
        let state = self.lock();
        (state.lanes.waiting(), state.lanes.running())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A worker without a job, if there is a job that may begin.
    fn worker_to_wake(&mut self) -> Option<Thread> {
        if self.looking > 0 || self.idle.is_empty() || !self.lanes.has_next() {
            return None;
        }
        self.idle.pop()
    }
}

/// Outside of the lock, which the woken thread takes first.
fn wake(worker: Option<Thread>) {
    if let Some(worker) = worker {
        worker.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use super::*;

    const BOUNDS: Bounds = Bounds { waiting: 4, waiting_per_client: 4, running_per_client: 4, running_per_skill: 4 };
    const OWNER: Owner = Owner { client: 0, skill: 0 };

    fn start_worker(queue: &Arc<Queue>) -> thread::JoinHandle<()> {
        let queue = queue.clone();
        thread::spawn(move || {
            while let Some(Taken { owner, work }) = queue.take() {
                work();
                queue.give_back(owner);
            }
        })
    }

    #[test]
    fn a_closed_queue_does_what_waits_and_takes_no_more() {
        let (queue, (done, told)) = (Arc::new(Queue::new(BOUNDS)), mpsc::channel());
        for number in 0..3 {
            let done = done.clone();
            queue.push(OWNER, Box::new(move || done.send(number).unwrap())).unwrap();
        }
        queue.close();
        assert_eq!(queue.push(OWNER, Box::new(|| {})).unwrap_err(), NotQueued::Closed);
        start_worker(&queue).join().unwrap();
        drop(done);
        assert_eq!(told.iter().collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn workers_that_wait_are_woken_for_each_job_and_by_the_end() {
        let (queue, (done, told)) = (Arc::new(Queue::new(BOUNDS)), mpsc::channel());
        let workers: Vec<_> = (0..3).map(|_| start_worker(&queue)).collect();
        for number in 0..500 {
            let done = done.clone();
            // A full queue is the workers' to empty.
            while queue
                .push(
                    OWNER,
                    Box::new({
                        let done = done.clone();
                        move || done.send(number).unwrap()
                    }),
                )
                .is_err()
            {
                thread::yield_now();
            }
        }
        drop(done);
        let mut numbers: Vec<i32> = told.iter().take(500).collect();
        numbers.sort();
        assert_eq!(numbers, (0..500).collect::<Vec<_>>());
        queue.close();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    }

    #[test]
    fn a_job_that_is_withdrawn_is_never_done() {
        let queue = Arc::new(Queue::new(BOUNDS));
        let number = queue.push(OWNER, Box::new(|| panic!("it was withdrawn"))).unwrap();
        assert!(queue.withdraw(OWNER, number));
        assert!(!queue.withdraw(OWNER, number));
        queue.close();
        start_worker(&queue).join().unwrap();
    }
}
