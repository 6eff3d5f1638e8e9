//! What users and authors of skills see: the program and its words, the guest's Python, packages, approvals, the audit, and
//! the study of the registry. Each file is one promise.

#[path = "../common/mod.rs"]
mod common;

mod analysis;
mod approve;
mod audit;
mod cli;
mod compare;
mod contract;
mod demo;
mod guest;
mod jpeg;
mod matrix;
mod mcp;
mod packages;
mod page;
mod parity;
mod python;
mod runtimes;
mod script;
mod serve;
mod serve_bounds;
mod serve_restart;
#[cfg(feature = "opentelemetry")]
mod serve_spans;
mod skill_tests;
mod standins;
mod venv;
mod warm;
