//! Tests that share the machine with no other group: what is measured is what a process keeps after many calls, and what is
//! left by programs that are killed at any moment of their first start.

#[path = "../common/mod.rs"]
mod common;

mod first_start;
mod soak;

use std::process::ExitCode;

use common::trials::trial;

fn main() -> ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut failed = libtest_mimic::run(&arguments, first_start::trials()).has_failed();
    // By itself: it counts the threads and descriptors of this process.
    let name = "soak::calls_of_which_a_tenth_hit_limits_leave_no_memory_threads_or_descriptors";
    let soak =
        vec![trial(name, || None, soak::calls_of_which_a_tenth_hit_limits_leave_no_memory_threads_or_descriptors)];
    failed |= libtest_mimic::run(&arguments, soak).has_failed();
    let name = "soak::thousands_of_calls_in_one_session_leave_no_memory_threads_or_descriptors";
    let session =
        vec![trial(name, || None, soak::thousands_of_calls_in_one_session_leave_no_memory_threads_or_descriptors)];
    failed |= libtest_mimic::run(&arguments, session).has_failed();
    if failed { ExitCode::from(101) } else { ExitCode::SUCCESS }
}
