//! The Python module `skillcell._skillcell`: hosts, calls and reports for Python programs. What is written in Python (the
//! exceptions, `acall`, the command's entry point) is beside it, in `python/skillcell`.
//!
//! ```text
//!   Host.call  ─▶ options ─▶ Job ─▶ this thread, or a worker if it is the main one ─▶ Host::call ─▶ Report
//!   Host.acall ─▶ options ─▶ Job ─▶ a worker ─▶ inbox ─▶ the event loop's future
//! ```
//!
//! Workers never touch Python: they can't wait for the GIL, nor be caught by the interpreter's end.

mod command;
mod errors;
mod host;
mod inbox;
mod job;
mod json;
mod options;
mod plan;
mod process;
mod program;
mod report;
mod secret;
mod session;
mod skill;
mod traps;
mod workers;

use pyo3::prelude::*;

// Every class is frozen, and what changes in one is behind a lock of Rust's: no GIL is needed.
#[pymodule(gil_used = false)]
mod _skillcell {
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::errors::escape_text;
    #[pymodule_export]
    use crate::host::{Cancellation, Host};
    #[pymodule_export]
    use crate::inbox::Inbox;
    #[pymodule_export]
    use crate::plan::Plan;
    #[pymodule_export]
    use crate::program::Program;
    #[pymodule_export]
    use crate::report::pickled::{restore_report, restore_usage};
    #[pymodule_export]
    use crate::report::{Denial, Error, Note, Report, Usage};
    #[pymodule_export]
    use crate::secret::Secret;
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::skill::Skill;

    /// The version of the package, which is that of the program.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
