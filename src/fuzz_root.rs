//! Not part of the library: the root of the crate in `fuzz/`, which has the same modules but those that need Wasmtime.
//!
//! Depending on the library instead would build Wasmtime and Cranelift with instrumentation, for nothing: no target runs
//! them. A module that comes to need one that is not here fails to compile; it is never left out unnoticed.

#![allow(dead_code, unused_imports, reason = "half of what is here is for the rest of the library")]

mod audit;
mod call;
mod cancel;
mod door;
mod fuzz;
mod http;
mod limits;
#[path = "../fuzz/meter.rs"]
mod meter;
mod outcome;
mod policy;
mod schema;
mod vfs;

/// Of WASI, what the door needs: the rest is written for Wasmtime's linker.
mod wasi {
    mod stop;
    pub use self::stop::Stop;
}

/// Runs one target on one input, and holds it to the memory that it may take.
pub fn run(name: &str, data: &[u8]) {
    let target = fuzz::target(name);
    let peak = meter::peak_of(|| (target.run)(data));
    assert!(peak <= meter::allowed(name, data.len()), "{name} took {peak} bytes for an input of {}", data.len());
}
