//! Threads that make calls for others: for event loops, which must not block, and for the main thread, which has to look
//! at signals meanwhile. They are started when there is work, and end when there was none for a while.
//!
//! Twice as many of them work as there are processors, so that one that the system holds up costs nothing; what comes then waits
//! for one of those to be done, which is faster than a thread for each. But a call may wait for a server, and use nothing but
//! its thread. So one thread watches a queue that is not empty, and takes a job from it whenever nobody else did for a while, up
//! to the most threads that there may be.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many calls of event loops run at once, unless the host is told otherwise. Calls may wait for servers, so it is more
/// than there are processors.
pub const DEFAULT_THREADS: usize = 64;
/// How long a queue stands still before another thread takes from it.
const PATIENCE: Duration = Duration::from_millis(1);
/// How long a thread waits for work before it ends.
const IDLE_TIME: Duration = Duration::from_secs(10);
type Job = Box<dyn FnOnce() + Send>;

/// A bounded set of threads. Dropping it lets them finish what was given to them.
pub struct Workers(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Tells threads that wait for work.
    work_came: Condvar,
    /// Tells the thread that watches the queue.
    look_again: Condvar,
    /// How many work before anybody's patience is tried.
    busy_threads: usize,
    max_threads: usize,
}

struct State {
    /// Taken at once, whoever else works: somebody blocks until they are done.
    urgent: VecDeque<Job>,
    jobs: VecDeque<Job>,
    /// When a job was last taken.
    taken: Instant,
    threads: usize,
    /// Threads that were started and did not look at the queue yet.
    starting: usize,
    running: usize,
    idle: usize,
    watched: bool,
    closed: bool,
}

impl Workers {
    pub fn new(max_threads: usize) -> Workers {
        let state = State {
            urgent: VecDeque::new(),
            jobs: VecDeque::new(),
            taken: Instant::now(),
            threads: 0,
            starting: 0,
            running: 0,
            idle: 0,
            watched: false,
            closed: false,
        };
        Workers(Arc::new(Shared {
            state: Mutex::new(state),
            work_came: Condvar::new(),
            look_again: Condvar::new(),
            busy_threads: 2 * thread::available_parallelism().map_or(2, usize::from),
            max_threads,
        }))
    }

    /// Has a thread do this, after what was given before.
    pub fn submit(&self, job: Job) -> std::io::Result<()> {
        let mut state = self.0.lock();
        if state.jobs.is_empty() {
            state.taken = Instant::now();
        }
        state.jobs.push_back(job);
        self.0.wake_thread(&mut state)
    }

    /// Has a thread do this at once, with one more thread if all are busy.
    pub fn submit_urgent(&self, job: Job) -> std::io::Result<()> {
        let mut state = self.0.lock();
        state.urgent.push_back(job);
        self.0.wake_thread(&mut state)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.work_came.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes sure that someone looks at what is queued. Whoever takes a job calls this again for the rest.
    fn wake_thread(self: &Arc<Shared>, state: &mut State) -> std::io::Result<()> {
        let is_free = state.running < self.busy_threads || !state.urgent.is_empty();
        if state.starting > 0 || (state.watched && !is_free) {
            return Ok(());
        }
        if state.watched {
            self.look_again.notify_one();
        } else if state.idle > 0 {
            self.work_came.notify_one();
        } else if state.threads < self.max_threads + usize::from(!state.urgent.is_empty()) {
            return self.start_thread(state);
        }
        Ok(())
    }

    fn start_thread(self: &Arc<Shared>, state: &mut State) -> std::io::Result<()> {
        let shared = self.clone();
        let worker = thread::Builder::new().name("skillcell-call".into()).stack_size(skillcell_host::CALLER_STACK);
        match worker.spawn(move || shared.do_jobs()) {
            Ok(_) => {
                state.threads += 1;
                state.starting += 1;
                Ok(())
            }
            // Those that there are will get to it.
            Err(_) if state.threads > 0 => Ok(()),
            Err(error) => {
                state.jobs.clear();
                state.urgent.clear();
                Err(error)
            }
        }
    }

    fn do_jobs(self: Arc<Shared>) {
        self.lock().starting -= 1;
        while let Some(job) = self.next_job() {
            // A job tells of its own panics; what is left here is to keep the counts right.
            let _ = catch_unwind(AssertUnwindSafe(job));
            self.lock().running -= 1;
        }
    }

    /// Waits for a job; `None` if this thread is to end, and is no longer counted.
    fn next_job(self: &Arc<Shared>) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = self.take_job(&mut state) {
                return Some(job);
            }
            if state.jobs.is_empty() && state.closed {
                break;
            }
            if !state.jobs.is_empty() && !state.watched {
                state.watched = true;
                state = wait(&self.look_again, state, PATIENCE).0;
                state.watched = false;
                continue;
            }
            state.idle += 1;
            let (waited, timed_out) = wait(&self.work_came, state, IDLE_TIME);
            state = waited;
            state.idle -= 1;
            if timed_out && state.jobs.is_empty() && state.urgent.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        None
    }

    /// A job that may be done now.
    fn take_job(self: &Arc<Shared>, state: &mut State) -> Option<Job> {
        let may_take = state.running < self.busy_threads || state.taken.elapsed() >= PATIENCE;
        let job = match state.urgent.pop_front() {
            Some(urgent) => urgent,
            None if may_take => state.jobs.pop_front()?,
            None => return None,
        };
        state.running += 1;
        state.taken = Instant::now();
        if !state.jobs.is_empty() || !state.urgent.is_empty() {
            // If no thread can be started for the rest, this one comes back for it.
            let _ = self.wake_thread(state);
        }
        Some(job)
    }
}

/// Waits to be told something, for this long at most; whether it was that long.
fn wait<'a>(condvar: &Condvar, state: MutexGuard<'a, State>, time: Duration) -> (MutexGuard<'a, State>, bool) {
    let (state, waited) = condvar.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner);
    (state, waited.timed_out())
}
