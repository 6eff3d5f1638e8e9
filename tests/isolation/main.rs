//! What holds a skill in a cell: grants, limits, freshness, HTTP on the host's side and on the guest's, and that no secret
//! leaves. Each file is one promise.

#[path = "../common/mod.rs"]
mod common;

mod freshness;
mod grants;
mod http;
mod leaks;
mod limits;
mod second_runtime;
mod sessions;
mod web;
