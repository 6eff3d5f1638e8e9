//! The doors for agents: an MCP server and an HTTP server, over one [`Service`].
//!
//! ```text
//!   stdio ─▶ mcp ─┐
//!   HTTP ─▶ mcp ──┼─▶ Service::call ─▶ queue ─▶ Host::call
//!   HTTP ─▶ api ──┘        │
//!                     catalogue: which skills, and what is shown of them
//! ```
//!
//! A client asks for calls; it can't widen what they are granted, see a secret, or approve.

mod catalogue;
mod service;
mod sessions;

pub use self::catalogue::Catalogue;
pub use self::service::{CallError, CallRequest, Client, Service};
pub use self::sessions::{NoSession, SessionTable, SessionTableLimits};
