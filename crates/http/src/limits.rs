//! What one call may use of the network. Bounds that no operator would move are constants beside what they bound.

use std::time::{Duration, Instant};

/// The bounds of one call's HTTP.
///
/// Defaults: 256 requests, 100 connections at once; 16 MiB in a request and 64 MiB in all; 64 MiB in an answer, as sent and
/// decompressed, and 256 MiB in all as sent; 10 s to connect, 30 s to the first byte of an answer, 30 s between two pieces of it. The call's own deadline
/// cuts all of these short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLimits {
    /// Requests in one call, refused ones included. The skill sees `too_large`.
    pub requests: u64,
    /// Connections that the guest has open at once.
    pub connections: usize,
    /// Bytes of one request's body.
    pub request_bytes: u64,
    /// Bytes of all requests' bodies.
    pub total_request_bytes: u64,
    /// Bytes of one answer's body as sent by the server: compressed, if it is.
    pub answer_bytes: u64,
    /// Bytes of one compressed answer's body once it is decompressed, which the guest does.
    pub inflated_bytes: u64,
    /// Bytes of all answers' bodies.
    pub total_answer_bytes: u64,
    /// Resolving the name, connecting, TLS handshake: each.
    pub connect: Duration,
    /// From the last byte of the request to the first of the answer.
    pub first_byte: Duration,
    /// Between two pieces of an answer, or while the server takes nothing of a request.
    pub idle: Duration,
}

impl Default for HttpLimits {
    fn default() -> HttpLimits {
        HttpLimits {
            requests: 256,
            connections: 100,
            request_bytes: 16 << 20,
            total_request_bytes: 64 << 20,
            answer_bytes: 64 << 20,
            inflated_bytes: 64 << 20,
            total_answer_bytes: 256 << 20,
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(30),
            idle: Duration::from_secs(30),
        }
    }
}

/// The end of a wait that starts now. Bounded to a year, because a huge duration would overflow `Instant`.
pub fn from_now(wait: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
    Instant::now() + wait.min(LONGEST)
}
