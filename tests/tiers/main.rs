//! The tiers besides cells, and Pyodide for comparison. What a test needs and this machine lacks is said beside its name, and
//! the test counts as ignored.

#[path = "../common/mod.rs"]
mod common;

mod container;
mod pyodide;
mod second_runtime;
mod subprocess;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = libtest_mimic::Arguments::from_args();
    let processes = subprocess::trials().into_iter().chain(pyodide::trials()).chain(second_runtime::trials()).collect();
    let mut failed = libtest_mimic::run(&arguments, processes).has_failed();
    // Each of them starts processes by the dozen, and looks for containers that were left.
    arguments.test_threads.get_or_insert(1);
    failed |= libtest_mimic::run(&arguments, container::trials()).has_failed();
    if failed { ExitCode::from(101) } else { ExitCode::SUCCESS }
}
