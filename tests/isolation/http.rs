//! The host's side of HTTP against real servers on loopback. Each file is one promise.

mod addresses;
mod answers;
mod audit;
mod forward_proxy;
mod inflating;
mod requests;
mod scrubbing;
mod secrets;
mod support;
mod time;
mod tls;
