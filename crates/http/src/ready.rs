//! Waiting for the first of several connections that has something to read, as an event loop does.

use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;
use std::time::Instant;

use rustix::event::PollFlags;

use crate::exchange::Exchange;
use crate::wait::{Wait, is_readable, is_timeout};

/// What a read on a connection would do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It would wait for a pending response.
    Waiting,
    /// It would return bytes, the end or an error.
    Ready,
    /// No request is pending.
    Idle,
}

/// A socket on which a response is expected, and the deadline for its first byte.
pub struct Awaited<'a> {
    pub socket: BorrowedFd<'a>,
    pub by: Option<Instant>,
}

/// Waits until one is ready, nothing is under way, or the wait is over. A connection that is not there is ready: reading
/// it says so.
pub fn wait_for_any(all: &mut [Option<&mut Exchange>], wait: Wait<'_>) -> Vec<Readiness> {
    loop {
        let states: Vec<Readiness> =
            all.iter_mut().map(|one| one.as_mut().map_or(Readiness::Ready, |exchange| exchange.readiness())).collect();
        if states.contains(&Readiness::Ready) || !states.contains(&Readiness::Waiting) || wait.is_over() {
            return states;
        }
        let awaited: Vec<Awaited<'_>> = all.iter().flatten().filter_map(|exchange| exchange.awaited_socket()).collect();
        let turn = awaited.iter().filter_map(|one| one.by).fold(wait, Wait::no_later_than);
        let sockets: Vec<_> = awaited.iter().map(|one| (one.socket, PollFlags::IN)).collect();
        // The received bytes may be TLS's own records and not a response: check again and keep waiting.
        if turn.poll_sockets(&sockets).is_err_and(|error| !is_timeout(&error)) {
            return states;
        }
    }
}

/// Waits until a connection is ready or another descriptor can be read: what reading the one would do, and whether the
/// other can be. An error when the wait is over before either.
pub fn wait_beside(exchange: &mut Exchange, other: BorrowedFd<'_>, wait: Wait<'_>) -> io::Result<(Readiness, bool)> {
    loop {
        let (state, readable) = (exchange.readiness(), is_readable(other)?);
        if state == Readiness::Ready || readable {
            return Ok((state, readable));
        }
        if wait.is_over() {
            return Err(ErrorKind::TimedOut.into());
        }
        let awaited = exchange.awaited_socket();
        let turn = awaited.iter().filter_map(|one| one.by).fold(wait, Wait::no_later_than);
        let sockets: Vec<_> =
            awaited.iter().map(|one| one.socket).chain([other]).map(|one| (one, PollFlags::IN)).collect();
        match turn.poll_sockets(&sockets) {
            Err(error) if !is_timeout(&error) => return Err(error),
            _ => {}
        }
    }
}
