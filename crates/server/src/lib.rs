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

mod activity;
mod catalogue;
mod client;
pub mod mcp;
mod queue;
mod service;
mod sessions;

pub use self::activity::{Activity, CallEvent, LATENCY_BOUNDS, Latency, SkillActivity};
pub use self::catalogue::{Catalogue, LeftOut, Selection};
pub use self::client::{Client, Rate, Rights};
pub use self::service::{CallError, CallRequest, Load, Service, ServiceOptions};
pub use self::sessions::{NoSession, SessionTable, SessionTableLimits};
