//! The threads that calls run on: a fixed number, with the stack that a cell needs. A call that panics is lost, its worker
//! goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use crate::queue::{Bounds, Queue, Taken};

/// Workers, for as long as this lives; then they end with what they do.
pub(super) struct Workers {
    queue: Arc<Queue>,
    count: usize,
}

impl Workers {
    pub fn new(count: usize, bounds: Bounds) -> Workers {
        let queue = Arc::new(Queue::new(bounds));
        // Without a single thread nothing can be served; with fewer than asked for, it can.
        let started = (0..count).filter(|number| start_worker(*number, queue.clone())).count();
        Workers { queue, count: started.max(1) }
    }

    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    pub fn count(&self) -> usize {
        self.count
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.close();
    }
}

fn start_worker(number: usize, queue: Arc<Queue>) -> bool {
    let builder = thread::Builder::new().name(format!("call-{number}")).stack_size(skillcell_host::CALLER_STACK);
    builder.spawn(move || do_jobs(&queue)).is_ok()
}

fn do_jobs(queue: &Queue) {
    while let Some(Taken { owner, work }) = queue.take() {
        // A panic drops the sender of the answer, so whoever waits for it is told.
        let _ = catch_unwind(AssertUnwindSafe(work));
        queue.give_back(owner);
    }
}
