//! The host's side of HTTP: a strict parser for untrusted request bytes, and the client that makes the request.
//!
//! In the cell, a socket-shaped shim writes HTTP/1.1 to [`Exchanges`] and reads HTTP/1.1 back. Nothing is relayed: a
//! request is parsed, checked by the [`Gate`], written anew and sent to an address that was checked; an answer is parsed,
//! scrubbed of secrets and written anew. What is allowed is decided elsewhere: this module asks the gate, and makes sure
//! that what was asked is what is sent.
//!
//! ```text
//!   guest bytes ─▶ head ─▶ request ─▶ Gate::request ─▶ addresses ─▶ Gate::address ─▶ secrets in ─▶ connection
//!   guest bytes ◀─ framing ◀─ secrets out ◀─ caps ◀─ answer head and body ◀───────────────────────┘
//! ```
//!
//! Redirects are answers like any other: the guest's library follows them, and each hop is a new request to check.
//! No proxy variable is read: a proxy is a setting of the host (`ClientSettings::forward_proxy`).

mod answer;
mod call_context;
mod client;
mod connect;
mod connection;
mod error;
mod event;
mod exchange;
mod exchanges;
pub mod framing;
mod gate;
mod guard;
pub mod head;
pub mod inflate;
mod limits;
pub mod outgoing;
mod pattern;
mod place;
mod pool;
mod ready;
pub mod replace;
pub mod request;
mod resolve;
pub mod response;
mod scrub;
mod secrets;
mod spelling;
mod target;
mod tls;
mod upload;
mod wait;

pub use call_context::CallContext;
pub use client::{ClientError, ClientSettings, HttpClient};
pub use error::HttpError;
pub use event::{Audit, Event};
pub use exchange::Exchange;
pub use exchanges::Exchanges;
pub use gate::{Asked, Gate, Refusal};
pub use limits::HttpLimits;
pub use place::Place;
pub use ready::Readiness;
pub use resolve::Lookup;
pub use scrub::{Scrubber, Scrubbing};
pub use secrets::{Secret, SecretError, Secrets};
