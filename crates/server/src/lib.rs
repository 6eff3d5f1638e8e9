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
pub mod api;
mod catalogue;
mod client;
mod listen;
pub mod mcp;
mod page;
mod pages_elsewhere;
mod queue;
mod script_body;
mod serve;
mod service;
mod sessions;
#[cfg(feature = "opentelemetry")]
mod spans;
mod systemd;
mod tokens;
mod warm;

pub use self::activity::{Activity, CallEvent, LATENCY_BOUNDS, Latency, SkillActivity};
pub use self::api::{Api, ApiOptions, Problem, RequestInfo};
pub use self::catalogue::{Catalogue, LeftOut, Selection};
pub use self::client::{Client, Rate, Rights};
pub use self::listen::{ListenError, Listeners};
pub use self::page::Page;
pub use self::pages_elsewhere::admit_pages;
pub use self::serve::{ServeOptions, Server};
pub use self::service::{
    CallError, CallRequest, Load, OpenedSession, ScriptRequest, Service, ServiceOptions, SkillView,
};
pub use self::sessions::{NoSession, SessionTable, SessionTableLimits};
#[cfg(feature = "opentelemetry")]
pub use self::spans::SpanSender;
pub use self::systemd::notify as notify_systemd;
pub use self::tokens::{Tokens, mint_token};
pub use self::warm::{SkillCard, Warmth};
