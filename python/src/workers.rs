//! Threads that make calls for others: for event loops, which must not block, and for the main thread, which has to look
//! at signals meanwhile. They are started when there is work, and end when there was none for a while.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How many calls of event loops run at once, unless the host is told otherwise. Calls may wait for servers, so it is more
/// than there are processors.
pub const DEFAULT_THREADS: usize = 64;
/// How long a thread waits for work before it ends.
const IDLE_TIME: Duration = Duration::from_secs(10);
/// Enough for a cell and the host functions below it, so that no other stack is needed for them.
const STACK_BYTES: usize = 4 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// A bounded set of threads. Dropping it lets them finish what was given to them.
pub struct Workers(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    max_threads: usize,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    idle: usize,
    threads: usize,
    closed: bool,
}

impl Workers {
    pub fn new(max_threads: usize) -> Workers {
        Workers(Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), max_threads }))
    }

    /// Has a thread do this, after what was given before.
    pub fn submit(&self, job: Job) -> std::io::Result<()> {
        let mut state = self.0.lock();
        state.jobs.push_back(job);
        self.0.wake_thread(state, self.0.max_threads)
    }

    /// Has a thread do this before all that waits, and has one more for it if all are busy: somebody blocks until it is done.
    pub fn submit_first(&self, job: Job) -> std::io::Result<()> {
        let mut state = self.0.lock();
        state.jobs.push_front(job);
        self.0.wake_thread(state, self.0.max_threads + 1)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes sure that someone will take the job that was added.
    fn wake_thread(self: &Arc<Shared>, mut state: MutexGuard<'_, State>, max_threads: usize) -> std::io::Result<()> {
        if state.idle >= state.jobs.len() {
            drop(state);
            self.changed.notify_one();
            return Ok(());
        }
        if state.threads >= max_threads {
            return Ok(());
        }
        let shared = self.clone();
        let worker = thread::Builder::new().name("skillcell-call".into()).stack_size(STACK_BYTES);
        match worker.spawn(move || shared.do_jobs()) {
            Ok(_) => state.threads += 1,
            // Those that there are will get to it.
            Err(_) if state.threads > 0 => {}
            Err(error) => {
                state.jobs.clear();
                return Err(error);
            }
        }
        Ok(())
    }

    fn do_jobs(&self) {
        while let Some(job) = self.next_job() {
            // A job tells of its own panics; what is left here is to keep the count of threads right.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    /// Waits for a job; `None` if this thread is to end, and is no longer counted.
    fn next_job(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            let (waited, timeout) = self.changed.wait_timeout(state, IDLE_TIME).unwrap_or_else(PoisonError::into_inner);
            state = waited;
            state.idle -= 1;
            if timeout.timed_out() && state.jobs.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        None
    }
}
